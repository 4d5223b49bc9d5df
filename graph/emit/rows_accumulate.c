// SPDX-License-Identifier: Apache-2.0
// Reductions over a row: of a tile with the whole row, or by accumulators over a pass.
#include "graph/emit/rows_writer.h"

static const char log2_e[] = "1.44269504";

// ---- reductions ----

// A reduced axis.
struct reduced_axis {
  const struct expr *axis;
  uint32_t bit;
  const char *name, *mask; // NULL: all lanes are within the extent
};

// The value within the extent, and the neutral element beyond it; always a tile along the axis.
static const char *inside_text(struct row_writer *w, const struct row_reduction *d,
                               const struct reduced_axis *a) {
  struct emitter *e = w->e;
  const char *neutral = reduce_neutral(e, d);
  bool truth =
      d->stage->op == REDUCE_ANY || d->stage->op == REDUCE_ALL || d->body->dtype == DTYPE_I1;
  bool along = emit_axes_of(e, d->body) & a->bit;
  struct text t = emit_value(e, d->body);
  const char *v = t.s;
  enum dtype want = reduce_dtype(d);
  if (truth && d->body->dtype == DTYPE_I1)
    v = arena_printf(e->arena, "%s.to(%s)",
                     t.is_number ? arena_printf(e->arena, "tl.full([], %s, tl.int1)", v)
                                 : text_within(e, t, PREC_ATOM),
                     emit_type(want));
  else if (truth)
    v = arena_printf(e->arena, "(%s != 0).to(%s)", text_within(e, t, PREC_SUM), emit_type(want));
  else if (t.is_narrow || (d->body->dtype != want && !t.is_number))
    v = arena_printf(e->arena, "%s.to(%s)", text_within(e, t, PREC_ATOM), emit_type(want));
  bool zeros = d->stage->op == REDUCE_SUM && reduce_keeps_zero(d->body, a->axis);
  if (along && (!a->mask || zeros))
    return v;
  if (!along && !a->mask)
    return arena_printf(e->arena, "tl.where(%s >= 0, %s, %s)", a->name, v, neutral);
  return arena_printf(e->arena, "tl.where(%s, %s, %s)", a->mask, v, neutral);
}

static const char *inside_row(struct row_writer *w, const struct row_reduction *d) {
  struct reduced_axis r = {w->s->r, w->r_bit, "r", w->has_r_mask ? "r_mask" : NULL};
  return inside_text(w, d, &r);
}

const char *row_writer_share(struct row_writer *w, const struct row_reduction *d) {
  struct emitter *e = w->e;
  const char *mask = e->axes[0].mask;
  struct reduced_axis x = {w->s->x, w->x_bit, "x", mask};
  const char *v = inside_text(w, d, &x);
  return w->is_row ? v : reduce_tile(e, d, v, "axis=None");
}

const char **row_writer_result(const struct row_writer *w, const struct row_reduction *d) {
  return &w->names[d - w->s->reductions];
}

void row_writer_know(struct row_writer *w, const struct row_reduction *d, const char *name) {
  *row_writer_result(w, d) = name;
  emit_given(w->e, d->result, name, w->x_bit, w->level);
}

const char *row_writer_name(struct row_writer *w, const char *base, const struct row_reduction *d) {
  return arena_printf(w->e->arena, "%s%u", base, (unsigned)(d - w->s->reductions));
}

static const char *op_word(const struct row_reduction *d) {
  switch (d->stage->op) {
  case REDUCE_SUM: return "sum";
  case REDUCE_PROD: return "prod";
  case REDUCE_MAX: return "max";
  case REDUCE_MIN: return "min";
  case REDUCE_ANY: return "any";
  case REDUCE_ALL: return "all";
  case REDUCE_ARGMAX:
  case REDUCE_ARGMIN: return "index";
  }
  UNREACHABLE();
}

// Reduces `tile` (or a pair of tiles) to the result's name.
static void finish_reduction(struct row_writer *w, const struct row_reduction *d,
                             const char *tile) {
  struct emitter *e = w->e;
  const char *name = row_writer_name(w, op_word(d), d);
  const char *text = reduce_tile(e, d, tile, w->along);
  if (reduce_is_index(d) && w->s->splits > 1) {
    emit_line(e, w->level, "%s, %s = %s", row_writer_name(w, "most", d), name, text);
    emit_line(e, w->level, "%s = %s.to(tl.int64)", name, name);
  } else if (reduce_is_index(d))
    emit_line(e, w->level, "%s = %s[1].to(tl.int64)", name, text);
  else if (d->result->dtype == DTYPE_I1)
    emit_line(e, w->level, "%s = %s != 0", name, text);
  else
    emit_line(e, w->level, "%s = %s", name, text);
  row_writer_know(w, d, name);
}

void row_writer_reduce(struct row_writer *w, const struct row_reduction *d) {
  struct emitter *e = w->e;
  const char *v = inside_row(w, d);
  if (reduce_is_index(d))
    v = arena_printf(e->arena, "tl.broadcast(%s, r)", v);
  finish_reduction(w, d, v);
}

// ---- accumulators ----

static void put_accumulators(struct row_writer *w, const struct row_reduction *d) {
  struct emitter *e = w->e;
  const char *type = emit_type(reduce_dtype(d)), *name = row_writer_name(w, "acc", d);
  if (d->pair == PAIR_SOFTMAX) {
    emit_line(e, 0, "%s = tl.zeros(%s, tl.float32)", name, w->shape);
  } else if (d->pair == PAIR_VARIANCE) {
    emit_line(e, 0, "%s = tl.zeros(%s, tl.float32)", name, w->shape);
    emit_line(e, 0, "%s = tl.zeros(%s, tl.float32)", row_writer_name(w, "mean", d), w->shape);
    emit_line(e, 0, "%s = tl.zeros(%s, tl.float32)", row_writer_name(w, "count", d), w->shape);
  } else if (!d->has_second || d->stage->op == REDUCE_MAX) {
    emit_line(e, 0, "%s = tl.full(%s, %s, %s)", name, w->shape, reduce_neutral(e, d), type);
    if (reduce_is_index(d))
      emit_line(e, 0, "%s = tl.zeros(%s, %s)", row_writer_name(w, "at", d), w->shape,
                emit_axis_is_wide(w->s->r) ? "tl.int64" : "tl.int32");
  }
}

// Combines a block's values with the accumulator of each lane.
static const char *in_lane(struct row_writer *w, const struct row_reduction *d, const char *v) {
  if (w->within)
    v = reduce_tile(w->e, d, v, w->within);
  return w->across ? reduce_tile(w->e, d, v, w->across) : v;
}

// The running maximum and the sum relative to it. A maximum of -inf cannot be subtracted. Terms
// much smaller than the largest may be inexact in their last digits: exp2 is used.
static void accumulate_softmax(struct row_writer *w, const struct row_reduction *d) {
  struct emitter *e = w->e;
  const char *m = row_writer_name(w, "acc", d->first), *sum = row_writer_name(w, "acc", d);
  const char *v = inside_row(w, d->first);
  const char *value = row_writer_name(w, "value", d), *next = row_writer_name(w, "next", d),
             *base = row_writer_name(w, "base", d);
  emit_line(e, 1, "%s = %s", value, v);
  emit_line(e, 1, "%s = %s", next, reduce_two(e, d->first, m, in_lane(w, d->first, value)));
  emit_line(e, 1, "%s = tl.where(%s == float(\"-inf\"), 0.0, %s)", base, next, next);
  const char *terms = arena_printf(e->arena, "tl.exp2((%s - %s) * %s)", value, base, log2_e);
  emit_line(e, 1, "%s = %s * tl.exp2((%s - %s) * %s) + %s", sum, sum, m, base, log2_e,
            in_lane(w, d, terms));
  emit_line(e, 1, "%s = %s", m, next);
}

// Welford's algorithm: each lane has a count, a mean and a sum of squared deviations.
static void accumulate_variance(struct row_writer *w, const struct row_reduction *d) {
  struct emitter *e = w->e;
  const char *m2 = row_writer_name(w, "acc", d), *mean = row_writer_name(w, "mean", d),
             *count = row_writer_name(w, "count", d), *delta = row_writer_name(w, "delta", d),
             *value = row_writer_name(w, "value", d);
  struct text v = emit_value(e, d->first->body);
  emit_line(e, 1, "%s = %s", value, v.s);
  if (w->has_r_mask) {
    emit_line(e, 1, "%s = tl.where(r_mask, %s - %s, 0.0)", delta, value, mean);
    emit_line(e, 1, "%s += tl.where(r_mask, 1.0, 0.0)", count);
    emit_line(e, 1, "%s += %s / tl.maximum(%s, 1.0)", mean, delta, count);
  } else {
    emit_line(e, 1, "%s = %s - %s", delta, value, mean);
    emit_line(e, 1, "%s += 1.0", count);
    emit_line(e, 1, "%s += %s / %s", mean, delta, count);
  }
  emit_line(e, 1, "%s += %s * (%s - %s)", m2, delta, value, mean);
}

static void accumulate(struct row_writer *w, const struct row_reduction *d) {
  struct emitter *e = w->e;
  if (d->pair == PAIR_SOFTMAX) {
    accumulate_softmax(w, d);
    return;
  }
  if (d->pair == PAIR_VARIANCE) {
    accumulate_variance(w, d);
    return;
  }
  if (d->has_second)
    return;
  const char *acc = row_writer_name(w, "acc", d), *v = inside_row(w, d);
  v = in_lane(w, d, v);
  if (!reduce_is_index(d)) {
    emit_line(e, 1, "%s = %s", acc, reduce_two(e, d, acc, v));
    return;
  }
  const char *at = row_writer_name(w, "at", d), *value = row_writer_name(w, "value", d),
             *take = row_writer_name(w, "take", d);
  emit_line(e, 1, "%s = %s", value, v);
  emit_line(e, 1, "%s = (%s %s %s) | ((%s != %s) & (%s == %s))", take, value,
            d->stage->op == REDUCE_ARGMAX ? ">" : "<", acc, value, value, acc, acc);
  emit_line(e, 1, "%s = tl.where(%s, %s, %s)", acc, take, value, acc);
  emit_line(e, 1, "%s = tl.where(%s, r, %s)", at, take, at);
}

static void finish_softmax(struct row_writer *w, const struct row_reduction *d) {
  struct emitter *e = w->e;
  finish_reduction(w, d->first, row_writer_name(w, "acc", d->first));
  const char *m = *row_writer_result(w, d->first), *base = row_writer_name(w, "base", d);
  emit_line(e, w->level, "%s = tl.where(%s == float(\"-inf\"), 0.0, %s)", base, m, m);
  finish_reduction(w, d,
                   arena_printf(e->arena, "%s * tl.exp2((%s - %s) * %s)",
                                row_writer_name(w, "acc", d), row_writer_name(w, "acc", d->first),
                                base, log2_e));
}

// Across lanes: those of a tile, or splits. `n` elements in total.
static void combine_variance(struct row_writer *w, const struct row_reduction *d, const char *n) {
  struct emitter *e = w->e;
  const char *m2 = row_writer_name(w, "acc", d), *mean = row_writer_name(w, "mean", d),
             *count = row_writer_name(w, "count", d), *off = row_writer_name(w, "off", d);
  finish_reduction(w, d->first, arena_printf(e->arena, "%s * %s", mean, count));
  emit_line(e, w->level, "%s = %s - %s / %s", off, mean, *row_writer_result(w, d->first), n);
  finish_reduction(w, d, arena_printf(e->arena, "%s + %s * %s * %s", m2, count, off, off));
}

void row_writer_finish(struct row_writer *w, const struct row_reduction *d, const char *n) {
  struct emitter *e = w->e;
  if (d->pair == PAIR_SOFTMAX)
    finish_softmax(w, d);
  else if (d->pair == PAIR_VARIANCE)
    combine_variance(w, d, n);
  else if (reduce_is_index(d))
    finish_reduction(w, d,
                     arena_printf(e->arena, "(%s, %s)", row_writer_name(w, "acc", d),
                                  row_writer_name(w, "at", d)));
  else if (!d->has_second)
    finish_reduction(w, d, row_writer_name(w, "acc", d));
}

// ---- a chunk ----

// The sum relative to the chunk's own maximum.
static void reduce_softmax_chunk(struct row_writer *w, const struct row_reduction *d) {
  struct emitter *e = w->e;
  const struct row_reduction *m = d->first;
  finish_reduction(w, m, inside_row(w, m));
  const char *base = row_writer_name(w, "base", d);
  emit_line(e, w->level, "%s = tl.where(%s == float(\"-inf\"), 0.0, %s)", base,
            *row_writer_result(w, m), *row_writer_result(w, m));
  emit_given(e, m->result, base, w->x_bit, w->level);
  finish_reduction(w, d, inside_row(w, d));
}

// The sum of squares around the chunk's own mean.
static void reduce_variance_chunk(struct row_writer *w, const struct row_reduction *d) {
  struct emitter *e = w->e;
  const struct scalar *mean_of_row = d->body->in[0]->in[1];
  const char *mean = row_writer_name(w, "mean", d), *block = "RBLOCK";
  finish_reduction(w, d->first, inside_row(w, d->first));
  if (w->has_r_mask)
    block = arena_printf(e->arena, "tl.minimum(%s - split * RBLOCK, RBLOCK)",
                         emit_extent(e, axis_extent(w->s->r)));
  emit_line(e, w->level, "%s = %s / %s", mean, *row_writer_result(w, d->first), block);
  emit_given(e, mean_of_row, mean, w->x_bit, w->level);
  finish_reduction(w, d, inside_row(w, d));
}

void row_writer_reduce_chunk(struct row_writer *w, const struct row_reduction *d) {
  if (d->pair == PAIR_SOFTMAX)
    reduce_softmax_chunk(w, d);
  else if (d->pair == PAIR_VARIANCE)
    reduce_variance_chunk(w, d);
  else if (!d->has_second)
    row_writer_reduce(w, d);
}

// ---- a pass ----

static void accumulate_block(struct row_writer *w, unsigned level) {
  const struct rows *s = w->s;
  for (size_t i = 0; i < s->reduction_count; i++)
    if (s->reductions[i].level == level)
      accumulate(w, &s->reductions[i]);
  row_writer_stores(w, level, true);
}

void row_writer_reduce_level(struct row_writer *w, unsigned level, const char *n) {
  const struct rows *s = w->s;
  for (size_t i = 0; i < s->reduction_count; i++)
    if (s->reductions[i].level == level)
      put_accumulators(w, &s->reductions[i]);
  row_writer_pass(w, false, accumulate_block, level);
  for (size_t i = 0; i < s->reduction_count; i++)
    if (s->reductions[i].level == level)
      row_writer_finish(w, &s->reductions[i], n);
}
