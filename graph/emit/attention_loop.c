// SPDX-License-Identifier: Apache-2.0
// The loops of attention over keys: scores, online softmax, and accumulation of values. Blocks that
// every query sees completely have a loop of their own, without masks.
#include "graph/emit/attention_internal.h"
#include "graph/emit/emit_operand.h"

#include <math.h>

static const double log2_of_e = 1.4426950408889634;

struct step {
  const struct expr *inner, *columns; // depth for k, columns for v
  bool has_remainder;                 // the last block may extend beyond the keys
  bool has_mask;                      // tests `seen`
};

const struct scalar *attention_with_axes(struct attention_writer *w, const struct scalar *v,
                                         const struct expr *a, const struct expr *a_now,
                                         const struct expr *b, const struct expr *b_now) {
  const struct expr *from[2] = {a, b}, *to[2] = {a_now, b_now};
  return batch_value(w->s, w->x, w->p->batch, scalar_substitute(w->s, v, b ? 2 : 1, from, to));
}

static const struct expr *key_axis(struct attention_writer *w, const char *name, const char *shape,
                                   const struct step *step) {
  struct emitter *e = w->e;
  const struct expr *t = emit_axis_alias(e, w->p->t->key, name);
  emit_line(e, w->level + 1, "%s = (k0 + tl.arange(0, BLOCK_N))%s", name, shape);
  const char *mask = !step->has_remainder ? NULL
                                          : arena_printf(e->arena, "(%s < %s)", name,
                                                         emit_extent(e, axis_extent(w->p->t->key)));
  emit_axis(e, t, name, mask, w->level + 1);
  return t;
}

// The scaled product of queries and keys.
static const char *scaled_product(struct attention_writer *w) {
  const char *scale = emit_number(w->e, DTYPE_F32, (union element){.real = w->p->score.scale});
  return w->p->score.scale == 1 ? "s" : arena_printf(w->e->arena, "s * %s", scale);
}

static const char *precision(enum dtype t) {
  return t == DTYPE_F32 ? ", input_precision=\"ieee\"" : "";
}

// A general score: its expression tree for each pair of query and key.
static void put_score_expr(struct attention_writer *w, const struct expr *key) {
  struct emitter *e = w->e;
  if (w->p->score.scale != 1)
    emit_line(e, w->level + 1, "s = %s", scaled_product(w));
  const struct scalar *v = attention_with_axes(w, w->p->score.expr, w->p->t->key, key, NULL, NULL);
  uint32_t axes = emit_index_axes(e, w->p->m) | emit_index_axes(e, key);
  emit_given(e, w->p->t->product, "s", axes, w->level + 1);
  emit_count(e, v);
  emit_line(e, w->level + 1, "s = %s", emit_value(e, v).s);
}

// The product and the bias. If the product needs no scale, the bias is the initial accumulator.
static void emit_product_of_keys(struct attention_writer *w, const struct expr *key) {
  struct emitter *e = w->e;
  const struct scalar *v = w->p->score.added;
  const char *start = "", *precise = precision(w->p->dtype);
  if (v) {
    v = scalar_convert(w->s, attention_with_axes(w, v, w->p->t->key, key, NULL, NULL), w->p->sum);
    emit_count(e, v);
  }
  if (v && w->p->scales_queries) {
    uint32_t tile = emit_index_axes(e, w->p->m) | emit_index_axes(e, key);
    bool is_tile = (emit_axes_of(e, v) & tile) == tile;
    start = arena_printf(e->arena, is_tile ? ", %s" : ", tl.broadcast_to(%s, [BLOCK_M, BLOCK_N])",
                         emit_value(e, v).s);
  }
  emit_line(e, w->level + 1, "s = tl.dot(q, k%s%s)", start, precise);
  if (v && !w->p->scales_queries)
    emit_line(e, w->level + 1, "s = %s + %s", scaled_product(w), emit_operand(e, v, PREC_TERM));
  else if (w->p->score.expr)
    put_score_expr(w, key);
}

static void emit_mask_of_keys(struct attention_writer *w, const struct expr *key,
                              const struct step *step) {
  struct emitter *e = w->e;
  const char *mask = emit_mask(e, emit_index_axes(e, key));
  if (step->has_mask && w->p->score.seen) {
    const struct scalar *seen =
        attention_with_axes(w, w->p->score.seen, w->p->t->key, key, NULL, NULL);
    emit_count(e, seen);
    const char *text = emit_operand(e, seen, mask ? PREC_AND : PREC_COMPARE);
    mask = mask ? arena_printf(e->arena, "%s & %s", mask, text) : text;
  }
  if (mask)
    emit_line(e, w->level + 1, "s = tl.where(%s, s, float(\"-inf\"))", mask);
}

// A row of -inf so far has no maximum to subtract. Scores near the largest number (as in additive
// masks) are not multiplied by log2(e), which would overflow: any difference of them is effectively
// infinite. The selections depend only on the maximum, so they do not form a chain.
static void emit_softmax_of_any(struct attention_writer *w) {
  struct emitter *e = w->e;
  bool is_double = w->p->sum == DTYPE_F64;
  const char *log2e = emit_number(e, w->p->sum, (union element){.real = log2_of_e});
  emit_line(e, w->level + 1, "above = tl.maximum(top, tl.max(s, 1))");
  emit_line(e, w->level + 1, "huge = tl.abs(above) > %s", is_double ? "1e300" : "1e38");
  emit_line(e, w->level + 1, "unit = tl.where(huge, 1.0, %s)", log2e);
  emit_line(e, w->level + 1, "base = tl.where(huge, tl.maximum(above, %s), above * %s)",
            is_double ? "-1.797693e308" : "-3.4028234e38", log2e);
  emit_line(e, w->level + 1, "p = tl.exp2(s * unit[:, None] - base[:, None])");
  emit_line(e, w->level + 1, "keep = tl.exp2(top * unit - base)");
}

static void emit_softmax(struct attention_writer *w) {
  struct emitter *e = w->e;
  if (w->p->score.expr || w->p->score.added) {
    emit_softmax_of_any(w);
    return;
  }
  const char *scale =
      emit_number(e, DTYPE_F32, (union element){.real = w->p->score.scale * log2_of_e});
  emit_line(e, w->level + 1, "above = tl.maximum(top, tl.max(s, 1) * %s)", scale);
  emit_line(e, w->level + 1, "p = tl.exp2(s * %s - above[:, None])", scale);
  emit_line(e, w->level + 1, "keep = tl.exp2(top - above)");
}

void attention_put_tile(struct attention_writer *w, const struct attention_tile *t,
                        const char *name, const char *rows, unsigned columns) {
  struct emitter *e = w->e;
  const char *stride = emit_extent(e, t->stride);
  emit_line(e, 0, "%s_tiles = tl.make_tensor_descriptor(%s, [%s, %s], [%s, 1], [%s, %u])", name,
            emit_buffer(e, t->buffer), emit_extent(e, t->rows), stride, stride, rows, columns);
  emit_line(e, w->level, "%s_row = %s", name, emit_index(e, t->row).s);
  emit_line(e, w->level, "%s_column = %s", name, emit_index(e, t->column).s);
}

static const char *keys_text(struct attention_writer *w, const struct step *step,
                             const struct expr *across) {
  if (w->p->blocks.by_tiles)
    return "k_tiles.load([k_row + k0, k_column]).T";
  const struct scalar *k =
      attention_with_axes(w, w->p->score.k, w->p->t->key, across, w->p->t->depth, step->inner);
  emit_count(w->e, k);
  return operand_text(w->e, k, w->p->dtype, step->inner, across, step->inner,
                      arena_printf(w->e->arena, "[%u, BLOCK_N]", w->p->blocks.depth));
}

static const char *values_text(struct attention_writer *w, const struct step *step) {
  if (w->p->blocks.by_tiles)
    return "v_tiles.load([v_row + k0, v_column])";
  const struct expr *down = key_axis(w, "row", "[:, None]", step);
  const struct scalar *v =
      attention_with_axes(w, w->p->t->v, w->p->t->key, down, w->p->n, step->columns);
  emit_count(w->e, v);
  return operand_text(w->e, v, w->p->weights, down, step->columns, down,
                      arena_printf(w->e->arena, "[BLOCK_N, %u]", w->p->blocks.columns));
}

// Dropout: the sums above are of all weights.
static void emit_kept(struct attention_writer *w, const struct expr *key) {
  const struct scalar *kept = attention_with_axes(w, w->p->t->kept, w->p->t->key, key, NULL, NULL);
  emit_count(w->e, kept);
  emit_line(w->e, w->level + 1, "p = p * %s", emit_operand(w->e, kept, PREC_TERM));
}

static void emit_keys(struct attention_writer *w, const char *begin, const char *end,
                      const struct step *step) {
  struct emitter *e = w->e;
  emit_open(e, arena_printf(e->arena, "for k0 in range(%s, %s, BLOCK_N):", begin, end));
  const struct expr *across = key_axis(w, "key", "[None, :]", step);
  emit_line(e, w->level + 1, "k = %s", keys_text(w, step, across));
  emit_product_of_keys(w, across);
  emit_mask_of_keys(w, across, step);
  emit_softmax(w);
  if (w->p->sums_by_product) {
    emit_line(e, w->level + 1, "p = p.to(%s)", emit_type(w->p->weights));
    emit_line(e, w->level + 1, "total = tl.dot(p, ones, total * keep[:, None])");
  } else {
    emit_line(e, w->level + 1, "total = total * keep + tl.sum(p, 1)");
  }
  if (w->p->t->kept)
    emit_kept(w, across);
  emit_line(e, w->level + 1, "v = %s", values_text(w, step));
  const char *p = w->p->weights == w->p->sum || w->p->sums_by_product
                      ? "p"
                      : arena_printf(e->arena, "p.to(%s)", emit_type(w->p->weights));
  emit_line(e, w->level + 1, "acc = tl.dot(%s, v, acc * keep[:, None]%s)", p,
            precision(w->p->weights));
  emit_line(e, w->level + 1, "top = above");
  emit_close(e);
}

// A bound of keys for the block's first or last query.
static const char *bound_text(struct attention_writer *w, const struct expr *bound, bool of_last,
                              int plus) {
  struct emitter *e = w->e;
  const struct expr *at =
      expr_symbol(w->x, "m_first", 0, w->p->m->symbol->hi, axis_extent(w->p->m));
  bound = batch_offset(w->s, w->x, w->p->batch,
                       expr_addi(w->x, index_substitute(w->s, bound, 1, &w->p->m, &at), plus));
  const char *last = "m_first + BLOCK_M - 1";
  if (w->p->t->first || w->p->t->end) // read from tables: one that exists
    last = arena_printf(e->arena, "min(m_first + BLOCK_M, %s) - 1",
                        emit_extent(e, axis_extent(w->p->m)));
  emit_axis(e, at, of_last ? arena_printf(e->arena, "(%s)", last) : "m_first", NULL, w->level);
  return emit_index(e, bound).s;
}

static const char *at_least_zero(struct attention_writer *w, const char *text,
                                 const struct expr *bound) {
  return bound->lo >= 0 ? text : arena_printf(w->e->arena, "max(%s, 0)", text);
}

void attention_put_loops(struct attention_writer *w, const struct expr *inner,
                         const struct expr *columns) {
  struct emitter *e = w->e;
  const char *keys = emit_extent(e, axis_extent(w->p->t->key)), *begin = "0", *end = keys;
  const struct score *c = &w->p->score;
  if (c->last) {
    const char *last = bound_text(w, c->last, true, 1);
    end = "end";
    emit_line(e, w->level, "end = min(%s, %s)", at_least_zero(w, last, c->last), keys);
  }
  if (c->first) {
    begin = "begin";
    emit_line(e, w->level, "begin = %s // BLOCK_N * BLOCK_N",
              arena_printf(e->arena, "max(%s, 0)", bound_text(w, c->first, false, 0)));
  }
  if (w->p->blocks.by_tiles) {
    attention_put_tile(w, &w->p->k_tile, "k", "BLOCK_N", w->p->blocks.depth);
    attention_put_tile(w, &w->p->v_tile, "v", "BLOCK_N", w->p->blocks.columns);
  }
  if (w->p->step == ATTENTION_PARTS) {
    attention_put_part(w, begin, end);
    begin = "first", end = "last";
  }
  struct step rest = {inner, columns, w->p->has_remainder, true};
  if (!w->p->has_whole) {
    emit_keys(w, begin, end, &rest);
    return;
  }
  // Whole blocks that every query of the program sees, without masks; then the rest.
  struct step all = {inner, columns, false, false};
  if (c->seen) {
    const char *seen = at_least_zero(w, bound_text(w, c->last, false, 1), c->last);
    emit_line(e, w->level,
              "whole = min(%s, %s) // BLOCK_N * BLOCK_N if " KERNEL_LOOPS " == 2 else 0", seen,
              keys);
  } else {
    emit_line(e, w->level, "whole = %s // BLOCK_N * BLOCK_N", keys);
  }
  emit_keys(w, "0", "whole", &all);
  emit_keys(w, "whole", end, &rest);
}
