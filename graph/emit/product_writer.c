// SPDX-License-Identifier: Apache-2.0
// Parts that all kernels of products have: blocks, accumulators, what the epilogue gets.
#include "graph/emit/product_writer.h"

bool product_divides(const struct expr *axis, unsigned block) {
  return expr_is_multiple(axis_extent(axis), block);
}

static const char *row_blocks(struct product_writer *w) {
  return product_has_groups_of_rows(w) ? "row_blocks"
                                       : arena_printf(w->e->arena, "tl.cdiv(%s, BLOCK_M)",
                                                      emit_extent(w->e, axis_extent(w->g->m)));
}

// m_first, and with groups of rows what the block has of its group.
static void write_first_row(struct product_writer *w, const char *block, const char *open,
                            const char *close) {
  if (product_has_groups_of_rows(w)) {
    emit_line(w->e, w->level, "block = %s%s%s", open, block, close);
    product_write_group_of_rows(w);
  } else {
    emit_line(w->e, w->level, "m_first = %s%s * BLOCK_M%s", open, block, close);
  }
}

void product_write_block(struct product_writer *w, const char *pid) {
  struct emitter *e = w->e;
  const char *n = emit_extent(e, axis_extent(w->g->n));
  // Sizes may have 64 bits; offsets of descriptors have 32.
  const char *open = "", *close = "";
  if (w->g->plan.resident &&
      !(expr_is_const(axis_extent(w->g->m), NULL) && expr_is_const(axis_extent(w->g->n), NULL) &&
        expr_is_const(axis_extent(w->g->batch), NULL)))
    open = "(", close = ").to(tl.int32)";
  if (w->k->group_m > 1) {
    emit_line(e, w->level,
              "# Programs that run side by side share rows and columns: they go down GROUP_M");
    emit_line(e, w->level, "# blocks, then one to the right.");
    emit_line(e, w->level, "width = GROUP_M * tl.cdiv(%s, BLOCK_N)", n);
    emit_line(e, w->level, "first = %s // width * GROUP_M", pid);
    emit_line(e, w->level, "height = min(%s - first, GROUP_M)", row_blocks(w));
    write_first_row(w, arena_printf(e->arena, "(first + %s %% width %% height)", pid), open, close);
    emit_line(e, w->level, "n_first = %s%s %% width // height * BLOCK_N%s", open, pid, close);
  } else {
    write_first_row(w, arena_printf(e->arena, "%s // tl.cdiv(%s, BLOCK_N)", pid, n), open, close);
    emit_line(e, w->level, "n_first = %s%s %% tl.cdiv(%s, BLOCK_N) * BLOCK_N%s", open, pid, n,
              close);
  }
}

// An axis of the result: with a mask unless the block divides its extent.
static void write_axis(struct product_writer *w, const struct expr *axis, const char *name,
                       const char *block, const char *shape, bool is_whole) {
  struct emitter *e = w->e;
  bool ends_with_group = axis == w->g->m && product_has_groups_of_rows(w);
  emit_line(e, w->level, "%s = (%s_first + tl.arange(0, %s))%s%s", name, name, block,
            emit_axis_is_wide(axis) ? ".to(tl.int64)" : "", shape);
  const char *end = ends_with_group ? "m_end" : emit_extent(e, axis_extent(axis));
  const char *mask =
      is_whole && !ends_with_group ? NULL : arena_printf(e->arena, "(%s < %s)", name, end);
  emit_axis(e, axis, name, mask, w->level);
}

void product_write_result_axes(struct product_writer *w) {
  write_axis(w, w->g->m, "m", "BLOCK_M", "[:, None]", product_divides(w->g->m, w->k->block_m));
  write_axis(w, w->g->n, "n", "BLOCK_N", "[None, :]", product_divides(w->g->n, w->k->block_n));
  if (w->g->every) {
    w->n_first = emit_axis_alias(w->e, w->g->n, "n_first");
    emit_axis(w->e, w->n_first, "n_first", NULL, w->level);
  }
  if (w->g->every && !product_has_groups_of_rows(w)) {
    w->m_first = emit_axis_alias(w->e, w->g->m, "m_first");
    emit_axis(w->e, w->m_first, "m_first", NULL, w->level);
  }
}

// ---- accumulators ----

const char *product_sum_name(struct product_writer *w, unsigned i) {
  return w->g->count == 1 ? "acc" : arena_printf(w->e->arena, "acc%u", i);
}

static const char *precision(struct product_writer *w) {
  return w->g->dtype == DTYPE_F32 ? ", input_precision=\"ieee\"" : "";
}

const char *product_numbered(struct product_writer *w, const char *name, unsigned i) {
  return w->g->count == 1 ? name : arena_printf(w->e->arena, "%s%u", name, i);
}

void product_write_sums(struct product_writer *w) {
  for (unsigned i = 0; i < w->g->count; i++)
    emit_line(w->e, w->level, "%s = tl.zeros([BLOCK_M, BLOCK_N], %s)", product_sum_name(w, i),
              emit_type(w->g->sum));
}

// At the first row or column of the block where the scale is equal for all of them.
static const struct scalar *scale_at(struct product_writer *w, unsigned i, const struct expr *k) {
  const struct product *g = w->g;
  const struct expr *from[3] = {g->whole_k, g->m, g->n};
  const struct expr *to[3] = {expr_muli(w->x, k, g->pack), g->m, g->n};
  const struct scalar *v = g->scales[i];
  if (w->m_first && product_is_equal_in_blocks(w->x, w->s, v, g->m, g->plan.block_m))
    to[1] = w->m_first;
  if (w->n_first && product_is_equal_in_blocks(w->x, w->s, v, g->n, g->plan.block_n))
    to[2] = w->n_first;
  return batch_value(w->s, w->x, g->batch, scalar_substitute(w->s, v, 3, from, to));
}

static const char *scale_name(struct product_writer *w, unsigned i) {
  return product_numbered(w, "scale", i);
}

void product_write_scales(struct product_writer *w) {
  const struct product *g = w->g;
  struct emitter *e = w->e;
  const struct expr *k0 = g->every ? emit_axis_alias(e, g->k, "k0") : NULL;
  if (k0)
    emit_axis(e, k0, "k0", NULL, w->level + 1);
  for (unsigned i = 0; i < g->count; i++)
    if (g->is_scaled_in_blocks[i])
      emit_count(e, scale_at(w, i, k0));
  for (unsigned i = 0; i < g->count; i++)
    if (g->is_scaled_in_blocks[i])
      emit_line(e, w->level + 1, "%s = %s", scale_name(w, i),
                emit_operand(e, scale_at(w, i, k0), PREC_COMPARE));
}

// Sums of 8-bit floats are promoted after 128 elements of k, or after a block of fewer.
static const char *bound(struct product_writer *w) {
  bool promotes = w->g->shape.is_promoted && dtype_bits(w->g->dtype) == 8;
  return promotes ? ", max_num_imprecise_acc=min(BLOCK_K, 128)" : "";
}

void product_write_dot(struct product_writer *w, unsigned i, const char *a, const char *b) {
  const char *sum = product_sum_name(w, i);
  if (w->g->is_scaled_in_blocks[i])
    emit_line(w->e, w->level + 1, "%s += tl.dot(%s, %s%s) * %s", sum, a, b, precision(w),
              scale_name(w, i));
  else
    emit_line(w->e, w->level + 1, "%s = tl.dot(%s, %s, %s%s%s)", sum, a, b, sum, precision(w),
              bound(w));
}

// Scales that are equal along k.
static void scale_sum(struct product_writer *w, unsigned i) {
  if (!w->g->scales[i] || w->g->is_scaled_in_blocks[i])
    return;
  const struct scalar *scale = scale_at(w, i, expr_const(w->x, 0));
  emit_count(w->e, scale);
  const char *text = emit_operand(w->e, scale, PREC_TERM);
  emit_line(w->e, w->level, "%s *= %s", product_sum_name(w, i), text);
}

// The epilogue refers to a product by a load of its buffer.
void product_give_sum(struct product_writer *w, unsigned i) {
  struct emitter *e = w->e;
  const struct stage *s = w->g->stages[i];
  scale_sum(w, i);
  uint32_t axes =
      emit_index_axes(e, w->g->batch) | emit_index_axes(e, w->g->m) | emit_index_axes(e, w->g->n);
  const struct scalar *load =
      scalar_load(w->s, s->out, batch_offset(w->s, w->x, w->g->batch, s->offset));
  emit_given_result(e, load, w->g->sum, w->g->rounds, product_sum_name(w, i), axes, w->level);
}

void product_emit_sizes(struct product_writer *w) {
  emit_sizes(w->e, axis_extent(w->g->m));
  emit_sizes(w->e, axis_extent(w->g->n));
  emit_sizes(w->e, axis_extent(w->g->batch));
}
