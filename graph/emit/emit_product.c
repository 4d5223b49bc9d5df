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
  if (!product_divides(axis, block))
    emit_line(w->e, w->level, "%s = %s %% %s", name, of, emit_extent(w->e, axis_extent(axis)));
  emit_axis(w->e, t, product_divides(axis, block) ? of : name, NULL, w->level);
  return t;
}

static const struct expr *inner_axis(struct product_writer *w, const char *name,
                                     const char *shape) {
  struct emitter *e = w->e;
  const struct expr *t = emit_axis_alias(w->e, w->g->k, name);
  emit_line(e, 1, "%s = k0 + tl.arange(0, BLOCK_K)%s", name, shape);
  const char *mask =
      product_divides(w->g->k, w->g->plan.block_k)
          ? NULL
          : arena_printf(e->arena, "(%s < %s)", name, emit_extent(e, axis_extent(w->g->k)));
  emit_axis(e, t, name, mask, 1);
  return t;
}

static const char *loop_header(struct product_writer *w) {
  struct emitter *e = w->e;
  const char *end = emit_extent(e, axis_extent(w->g->k));
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

static void emit_loop(struct product_writer *w) {
  struct emitter *e = w->e;
  const struct expr *row = wrapped(w, w->g->m, "row", "m", w->g->plan.block_m);
  const struct expr *column = wrapped(w, w->g->n, "column", "n", w->g->plan.block_n);
  product_write_sums(w);
  emit_open(e, loop_header(w));
  const struct expr *ka = inner_axis(w, "ka", "[None, :]"), *kb = inner_axis(w, "kb", "[:, None]");
  const struct expr *from[3] = {w->g->m, w->g->n, w->g->k}, *to_a[3] = {row, column, ka},
                    *to_b[3] = {row, column, kb};
  const struct scalar *a[MOST_PRODUCTS], *b[MOST_PRODUCTS];
  for (unsigned i = 0; i < w->g->count; i++) {
    a[i] = batch_value(w->s, w->x, w->g->batch,
                       scalar_substitute(w->s, w->g->stages[i]->a, 3, from, to_a));
    b[i] = batch_value(w->s, w->x, w->g->batch,
                       scalar_substitute(w->s, w->g->stages[i]->b, 3, from, to_b));
    emit_count(e, a[i]);
    emit_count(e, b[i]);
  }
  const char *x = NULL, *y = NULL;
  for (unsigned i = 0; i < w->g->count; i++) {
    if (i == 0 || a[i] != a[i - 1]) {
      const char *text = operand_text(e, a[i], w->g->dtype, row, ka, ka, "[BLOCK_M, BLOCK_K]");
      x = product_numbered(w, "a", i);
      emit_line(e, 1, "%s = %s", x, text);
    }
    if (i == 0 || b[i] != b[i - 1]) {
      const char *text = operand_text(e, b[i], w->g->dtype, kb, column, kb, "[BLOCK_K, BLOCK_N]");
      y = product_numbered(w, "b", i);
      emit_line(e, 1, "%s = %s", y, text);
    }
    product_write_dot(w, i, x, y);
  }
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
  product_write_block(w, "pid");
  product_write_result_axes(w);
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
