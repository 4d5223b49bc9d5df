// SPDX-License-Identifier: Apache-2.0
// Prints matrix products: each program computes a block of the result by a loop over k with
// pipelined loads; the epilogue uses the accumulator while it is in registers.
//
//   for k0 in range(0, 4096, BLOCK_K):
//       acc = tl.dot(tl.load(in0 + (4096*row + ka)), tl.load(in1 + (4096*column + kb)), acc)
//   tl.store(out0 + (11008*m + n), gelu(acc + tl.load(in2 + n)))
//
// A persistent kernel is another form of it (graph/emit/emit_persistent.c).
#include "graph/emit/emit_operand.h"
#include "graph/emit/product_writer.h"

#include <inttypes.h>

// ---- program ids ----

static void write_batch(struct product_writer *w) {
  struct emitter *e = w->e;
  if (w->g->folds_batch) {
    const char *m = emit_extent(e, axis_extent(w->g->m)), *n = emit_extent(e, axis_extent(w->g->n));
    emit_line(e, 0, "programs = tl.cdiv(%s, BLOCK_M) * tl.cdiv(%s, BLOCK_N)", m, n);
    emit_line(e, 0, "pid = tl.program_id(0) %% programs");
    emit_line(e, 0, "batch = tl.program_id(0) // programs");
  } else {
    emit_line(e, 0, "pid = tl.program_id(0)");
    if (w->g->is_batched)
      emit_line(e, 0, "batch = tl.program_id(1)");
  }
  if (w->g->is_batched)
    emit_axis(e, w->g->batch, "batch", NULL, 0);
}

// ---- the loop over k ----

// Rows and columns beyond the end wrap around to existing ones: their results are not stored, and
// the loop needs no masks for them.
static const struct expr *wrapped(struct product_writer *w, const struct expr *axis,
                                  const char *name, const char *of, unsigned block) {
  const struct expr *t = emit_axis_alias(w->e, axis, name);
  int64_t extent;
  if (expr_is_const(axis_extent(axis), &extent) && 2 * extent <= block &&
      !(axis == w->g->m && product_has_groups_of_rows(w))) { // few rows: not loaded twice
    emit_axis(w->e, t, of, arena_printf(w->e->arena, "(%s < %" PRId64 ")", of, extent), w->level);
    return t;
  }
  if (w->g->plan.masks_edges && !product_divides(axis, block)) {
    const char *end = emit_extent(w->e, axis_extent(axis));
    emit_axis(w->e, t, of, arena_printf(w->e->arena, "(%s < %s)", of, end), w->level);
    return t;
  }
  // A block of a group's rows may end beyond all rows.
  bool is_inside =
      product_divides(axis, block) && !(axis == w->g->m && product_has_groups_of_rows(w));
  if (!is_inside)
    emit_line(w->e, w->level, "%s = %s %% %s", name, of, emit_extent(w->e, axis_extent(axis)));
  emit_axis(w->e, t, is_inside ? of : name, NULL, w->level);
  return t;
}

static const struct expr *inner_axis(struct product_writer *w, const char *name,
                                     const char *shape) {
  struct emitter *e = w->e;
  const struct product *g = w->g;
  if (g->group) { // blocks within groups: no masks
    const struct expr *low = emit_axis_alias(e, g->low, name);
    emit_line(e, 1, "%s = k0 %% %u + tl.arange(0, BLOCK_K)%s", name, g->group, shape);
    emit_axis(e, low, name, NULL, 1);
    return low;
  }
  const struct expr *t = emit_axis_alias(e, g->k, name);
  emit_line(e, 1, "%s = k0 + tl.arange(0, BLOCK_K)%s", name, shape);
  bool ends_with_group = g->groups && !g->groups->of_rows;
  const char *end = ends_with_group ? "k_end" : emit_extent(e, axis_extent(w->g->k));
  const char *mask = product_divides(w->g->k, w->g->plan.block_k) && !ends_with_group
                         ? NULL
                         : arena_printf(e->arena, "(%s < %s)", name, end);
  emit_axis(e, t, name, mask, 1);
  return t;
}

// The left operand's elements along k, all digits.
static const struct expr *whole_axis(struct product_writer *w) {
  struct emitter *e = w->e;
  const struct product *g = w->g;
  const struct expr *t = emit_axis_alias(e, g->whole_k, "ka");
  const char *by = g->pack > 1 ? arena_printf(e->arena, "%u * ", g->pack) : "";
  emit_line(e, 1, "ka = %sk0 + tl.arange(0, %sBLOCK_K)[None, :]", by, by);
  bool is_whole = g->group || product_divides(g->k, g->plan.block_k);
  const char *end = emit_extent(e, axis_extent(g->whole_k));
  emit_axis(e, t, "ka", is_whole ? NULL : arena_printf(e->arena, "(ka < %s)", end), 1);
  return t;
}

static const char *loop_header(struct product_writer *w) {
  struct emitter *e = w->e;
  const char *end = emit_extent(e, axis_extent(w->g->k));
  if (w->g->groups)
    return w->g->groups->of_rows ? "for k0 in range(0, k_end, BLOCK_K):"
                                 : "for k0 in range(k_begin, k_end, BLOCK_K):";
  if (w->g->plan.split_k == 1)
    return arena_printf(e->arena, "for k0 in range(0, %s, BLOCK_K):", end);
  // Each part of k is a number of whole blocks.
  const struct expr *block = expr_const(w->x, w->g->plan.block_k), *k = axis_extent(w->g->k),
                    *blocks = expr_cdiv(w->x, k, expr_muli(w->x, block, w->g->plan.split_k));
  const char *share = "share";
  if (expr_is_const(blocks, NULL))
    share = emit_extent(e, expr_mul(w->x, blocks, block));
  else
    emit_line(e, 0, "share = %s", emit_extent(e, expr_mul(w->x, blocks, block)));
  if (expr_is_multiple(k, w->g->plan.split_k * (int64_t)w->g->plan.block_k))
    return arena_printf(e->arena, "for k0 in range(part * %s, (part + 1) * %s, BLOCK_K):", share,
                        share);
  return arena_printf(e->arena,
                      "for k0 in range(part * %s, min((part + 1) * %s, %s), BLOCK_K):", share,
                      share, end);
}

struct inner {
  const struct expr *row, *column; // aliases of m and n
  const struct expr *ka, *kb;      // of elements of a and b along k
};

// The right operand of a product for one digit of k.
static const struct scalar *right_operand(struct product_writer *w, unsigned i,
                                          const struct inner *in, unsigned digit) {
  const struct expr *from[2] = {w->g->n, w->g->whole_k};
  const struct expr *to[2] = {in->column, product_inner(w->x, w->g, in->kb, digit)};
  return batch_value(w->s, w->x, w->g->batch, scalar_substitute(w->s, w->g->right[i], 2, from, to));
}

static const char *right_text(struct product_writer *w, const struct scalar *b,
                              const struct inner *in) {
  return operand_text(w->e, b, w->g->dtype, in->kb, in->column, in->kb, "[BLOCK_K, BLOCK_N]");
}

// Digits lie side by side along k, as in the left operand.
static void put_digits(struct product_writer *w, unsigned i, const char *name,
                       const struct inner *in) {
  struct emitter *e = w->e;
  const struct scalar *b[MOST_PACKED];
  const char *parts[MOST_PACKED];
  for (unsigned d = 0; d < w->g->pack; d++) {
    b[d] = right_operand(w, i, in, d);
    emit_count(e, b[d]);
  }
  for (unsigned d = 0; d < w->g->pack; d++) {
    parts[d] = arena_printf(e->arena, "%s_%u", name, d);
    emit_line(e, 1, "%s = %s", parts[d], right_text(w, b[d], in));
  }
  emit_line(e, 1, "%s = tl.join(%s, %s).permute(0, 2, 1).reshape(2 * BLOCK_K, BLOCK_N)", name,
            parts[0], parts[1]);
}

static void put_right(struct product_writer *w, unsigned i, const char *name,
                      const struct inner *in) {
  if (w->g->pack > 1) {
    put_digits(w, i, name, in);
    return;
  }
  const struct scalar *b = right_operand(w, i, in, 0);
  emit_line(w->e, 1, "%s = %s", name, right_text(w, b, in));
}

static bool has_whole_rows(const struct product *g) {
  return (g->k != g->whole_k || g->group) && !g->groups_left;
}

static const struct scalar *left_operand(struct product_writer *w, unsigned i,
                                         const struct inner *in) {
  const struct expr *from[2] = {w->g->m, w->g->whole_k}, *to[2] = {in->row, in->ka};
  if (!has_whole_rows(w->g))
    to[1] = product_inner(w->x, w->g, in->ka, 0);
  return batch_value(w->s, w->x, w->g->batch, scalar_substitute(w->s, w->g->left[i], 2, from, to));
}

static void put_products(struct product_writer *w, const struct inner *in) {
  struct emitter *e = w->e;
  const struct scalar *a[MOST_PRODUCTS];
  const char *shape = w->g->pack > 1 ? "[BLOCK_M, 2 * BLOCK_K]" : "[BLOCK_M, BLOCK_K]";
  for (unsigned i = 0; i < w->g->count; i++) {
    a[i] = left_operand(w, i, in);
    emit_count(e, a[i]);
    if (w->g->pack == 1)
      emit_count(e, right_operand(w, i, in, 0));
  }
  const char *x = NULL, *y = NULL;
  for (unsigned i = 0; i < w->g->count; i++) {
    if (i == 0 || a[i] != a[i - 1]) {
      const char *text = operand_text(e, a[i], w->g->dtype, in->row, in->ka, in->ka, shape);
      x = product_numbered(w, "a", i);
      emit_line(e, 1, "%s = %s", x, text);
    }
    if (i == 0 || right_operand(w, i, in, 0) != right_operand(w, i - 1, in, 0)) {
      y = product_numbered(w, "b", i);
      put_right(w, i, y, in);
    }
    product_write_dot(w, i, x, y);
  }
}

static void emit_loop(struct product_writer *w) {
  struct emitter *e = w->e;
  struct inner in = {wrapped(w, w->g->m, "row", "m", w->g->plan.block_m),
                     wrapped(w, w->g->n, "column", "n", w->g->plan.block_n)};
  product_write_sums(w);
  emit_open(e, loop_header(w));
  if (w->g->group) {
    emit_line(e, 1, "high = k0 // %u", w->g->group);
    emit_axis(e, w->g->high, "high", NULL, 1);
  }
  in.ka = has_whole_rows(w->g) ? whole_axis(w) : inner_axis(w, "ka", "[None, :]");
  in.kb = inner_axis(w, "kb", "[:, None]");
  product_write_scales(w);
  put_products(w, &in);
  emit_close(e);
}

// ---- split-K ----

static void store_part(struct product_writer *w) {
  struct emitter *e = w->e;
  uint32_t axes = emit_index_axes(e, w->g->m) | emit_index_axes(e, w->g->n);
  emit_store_name(e, w->g->parts, w->g->part_offset, "acc", axes);
}

// Adds the partial sums, in a fixed order.
static void put_sum_of_parts(struct product_writer *w) {
  struct emitter *e = w->e;
  emit_line(e, 0, "acc = tl.zeros([BLOCK_M, BLOCK_N], %s)", emit_type(w->g->sum));
  emit_open(e, arena_printf(e->arena, "for part in tl.static_range(%u):", w->g->plan.split_k));
  emit_axis(e, w->g->part, "part", NULL, 1);
  const struct scalar *one = scalar_load(w->s, w->g->parts, w->g->part_offset);
  emit_count(e, one);
  const char *text = emit_operand(e, one, PREC_SUM);
  emit_line(e, 1, "acc += %s", text);
  emit_close(e);
}

// ---- the kernel ----

void emit_product_kernel(struct emitter *e, const struct product_kernel *k) {
  struct product_writer writer = {.g = k->product, .k = k, .x = e->x, .s = e->s, .e = e},
                        *w = &writer;
  if (w->g->plan.resident) {
    emit_persistent_product(w);
    return;
  }
  write_batch(w);
  if (k->step == PRODUCT_PARTS) {
    emit_line(e, 0, "part = tl.program_id(2)");
    emit_axis(e, w->g->part, "part", NULL, 0);
  }
  product_write_row_blocks(w);
  product_write_block(w, "pid");
  product_write_result_axes(w);
  if (w->g->groups && !w->g->groups->of_rows)
    product_write_group_of_inner(w);
  if (k->step == PRODUCT_SUM)
    put_sum_of_parts(w);
  else
    emit_loop(w);
  for (unsigned i = 0; i < w->g->count && k->step != PRODUCT_PARTS; i++)
    product_give_sum(w, i);
  if (k->step == PRODUCT_PARTS)
    store_part(w);
  else
    emit_epilogue(e, &w->g->epilogue);
  if (k->step != PRODUCT_SUM)
    product_emit_sizes(w);
}
