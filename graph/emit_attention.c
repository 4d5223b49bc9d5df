// SPDX-License-Identifier: Apache-2.0
// Regions around attention: a program has a block of queries and walks over the keys, with the
// maximum and the sum of exponentials of each row so far (online softmax).
//
//   for k0 in range(0, 2048, BLOCK_N):
//       s = tl.dot(q, k)
//       above = tl.maximum(top, tl.max(s, 1) * scale)
//       p = tl.exp2(s * scale - above[:, None])
//       keep = tl.exp2(top - above)
//       total = total * keep + tl.sum(p, 1)
//       acc = tl.dot(p, v, acc * keep[:, None])
//       top = above
//
// Keys that no query of the block sees are left out, and only blocks that some query sees in part
// have a mask.
#include "graph/emit_attention.h"

#include "graph/emit_operand.h"

#include <math.h>

enum { MOST_GRID = 65535 };

// Columns of the narrowest product.
static const unsigned sum_columns = 8;
static const double log2_of_e = 1.4426950408889634;

struct walk {
  struct program *p;
  const struct region *r;
  const struct program_options *o;
  struct exprs *x;
  struct scalars *s;
  struct emitter *e;
  const struct stage *stage;
  const struct attention *t;
  const struct expr *batch, *m, *n; // axes
  struct score score;
  enum dtype dtype, weights, sum; // of q and k, of p and v, of the sums
  struct attention_shape shape;
  struct attention_plan plan;
};

static const struct expr *extent(const struct expr *axis) { return axis->symbol->limit; }

static bool is_batched(const struct walk *w) { return !expr_is(extent(w->batch), 1); }
static bool folds_batch(const struct walk *w) { return extent(w->batch)->hi > MOST_GRID; }

static bool divides(const struct expr *axis, unsigned block) {
  return expr_is_multiple(extent(axis), block);
}

static const struct expr *twin(struct walk *w, const struct expr *axis, const char *name) {
  return expr_symbol(w->x, name, 0, axis->symbol->hi, extent(axis));
}

// A batch of one is at 0.
static const struct expr *place_in(struct walk *w, const struct expr *e) {
  const struct expr *zero = expr_const(w->x, 0);
  return is_batched(w) ? e : index_substitute(w->s, e, 1, &w->batch, &zero);
}

static const struct scalar *value_in(struct walk *w, const struct scalar *v) {
  const struct expr *zero = expr_const(w->x, 0);
  return is_batched(w) ? v : scalar_substitute(w->s, v, 1, &w->batch, &zero);
}

// v with up to two of its axes called otherwise.
static const struct scalar *with_axes(struct walk *w, const struct scalar *v, const struct expr *a,
                                      const struct expr *a_now, const struct expr *b,
                                      const struct expr *b_now) {
  const struct expr *from[2] = {a, b}, *to[2] = {a_now, b_now};
  return value_in(w, scalar_substitute(w->s, v, b ? 2 : 1, from, to));
}

// ---- where a program is ----

// Blocks of late queries see most keys where later keys are hidden: they go first.
static void place_program(struct walk *w) {
  struct emitter *e = w->e;
  const char *m = emit_extent(e, extent(w->m)), *pid = "tl.program_id(0)";
  const char *blocks = arena_printf(e->arena, "tl.cdiv(%s, BLOCK_M)", m);
  if (folds_batch(w)) {
    emit_line(e, 0, "batch = tl.program_id(0) // %s", blocks);
    pid = arena_printf(e->arena, "tl.program_id(0) %% %s", blocks);
  } else if (is_batched(w)) {
    emit_line(e, 0, "batch = tl.program_id(1)");
  }
  if (is_batched(w))
    emit_axis(e, w->batch, "batch", NULL, 0);
  if (w->score.last)
    emit_line(e, 0, "m_first = (%s - 1 - %s) * BLOCK_M", blocks, pid);
  else
    emit_line(e, 0, "m_first = %s * BLOCK_M",
              folds_batch(w) ? arena_printf(e->arena, "(%s)", pid) : pid);
  emit_line(e, 0, "m = (m_first + tl.arange(0, BLOCK_M))[:, None]");
  const char *mask = divides(w->m, w->plan.block_m) ? NULL : arena_printf(e->arena, "(m < %s)", m);
  emit_axis(e, w->m, "m", mask, 0);
}

// An axis that a block holds as a whole.
static const struct expr *whole_axis(struct walk *w, const struct expr *axis, const char *name,
                                     unsigned block, const char *shape) {
  struct emitter *e = w->e;
  const struct expr *t = twin(w, axis, name);
  emit_line(e, 0, "%s = tl.arange(0, %u)%s", name, block, shape);
  const char *mask = expr_is(extent(axis), block)
                         ? NULL
                         : arena_printf(e->arena, "(%s < %s)", name, emit_extent(e, extent(axis)));
  emit_axis(e, t, name, mask, 0);
  return t;
}

// ---- the loop ----

struct step {
  const struct expr *inner, *columns; // depth for k, columns for v
  bool has_tail;                      // keys beyond the end may be met
  bool has_mask;                      // `seen` is asked
};

static const struct expr *key_axis(struct walk *w, const char *name, const char *shape,
                                   const struct step *step) {
  struct emitter *e = w->e;
  const struct expr *t = twin(w, w->t->key, name);
  emit_line(e, 1, "%s = (k0 + tl.arange(0, BLOCK_N))%s", name, shape);
  const char *mask = !step->has_tail ? NULL
                                     : arena_printf(e->arena, "(%s < %s)", name,
                                                    emit_extent(e, extent(w->t->key)));
  emit_axis(e, t, name, mask, 1);
  return t;
}

// The text of the scores' product with its factors.
static const char *scaled_product(struct walk *w) {
  const char *scale = emit_number(w->e, DTYPE_F32, (union element){.real = w->score.scale});
  return w->score.scale == 1 ? "s" : arena_printf(w->e->arena, "s * %s", scale);
}

// Weights are added up by a product with ones, of what the other product sees of them: where scores
// take many operations beside tensor cores, that is cheaper than additions (0.243 against 0.251 ms
// with a mask of 4 x 1 x 2048 x 2048; without one it is dearer).
static bool sums_by_product(const struct walk *w) {
  return (w->score.formula || w->score.added) && dtype_bits(w->weights) <= 16 && !w->t->lse &&
         !w->o->rounds;
}

static const char *precision(enum dtype t) {
  return t == DTYPE_F32 ? ", input_precision=\"ieee\"" : "";
}

// A formula of its own: what it gives for each pair of query and key.
static void emit_formula(struct walk *w, const struct expr *key) {
  struct emitter *e = w->e;
  if (w->score.scale != 1)
    emit_line(e, 1, "s = %s", scaled_product(w));
  const struct scalar *v = with_axes(w, w->score.formula, w->t->key, key, NULL, NULL);
  uint32_t axes = emit_index_axes(e, w->m) | emit_index_axes(e, key);
  emit_given(e, w->t->product, "s", axes, 1);
  emit_count(e, v);
  emit_line(e, 1, "s = %s", emit_value(e, v).s);
}

// A power of two goes into the queries exactly, once: then products are scores.
static bool scales_queries(const struct walk *w) {
  int exponent;
  return w->score.added && !w->o->rounds && w->score.scale <= 1 &&
         frexp(w->score.scale, &exponent) == 0.5;
}

// The product, and what is added to it. Where it needs no factor, the sums begin with that.
static void emit_product_of_keys(struct walk *w, const struct expr *key) {
  struct emitter *e = w->e;
  const struct scalar *v = w->score.added;
  const char *start = "", *precise = precision(w->dtype);
  if (v) {
    v = scalar_convert(w->s, with_axes(w, v, w->t->key, key, NULL, NULL), w->sum);
    emit_count(e, v);
  }
  if (v && scales_queries(w)) {
    uint32_t tile = emit_index_axes(e, w->m) | emit_index_axes(e, key);
    bool is_tile = (emit_axes_of(e, v) & tile) == tile;
    start = arena_printf(e->arena, is_tile ? ", %s" : ", tl.broadcast_to(%s, [BLOCK_M, BLOCK_N])",
                         emit_value(e, v).s);
  }
  emit_line(e, 1, "s = tl.dot(q, k%s%s)", start, precise);
  if (v && !scales_queries(w))
    emit_line(e, 1, "s = %s + %s", scaled_product(w), emit_operand(e, v, PREC_TERM));
  else if (w->score.formula)
    emit_formula(w, key);
}

static void emit_mask_of_keys(struct walk *w, const struct expr *key, const struct step *step) {
  struct emitter *e = w->e;
  const char *mask = emit_mask(e, emit_index_axes(e, key));
  if (step->has_mask && w->score.seen) {
    const struct scalar *seen = with_axes(w, w->score.seen, w->t->key, key, NULL, NULL);
    emit_count(e, seen);
    const char *text = emit_operand(e, seen, mask ? PREC_AND : PREC_COMPARE);
    mask = mask ? arena_printf(e->arena, "%s & %s", mask, text) : text;
  }
  if (mask)
    emit_line(e, 1, "s = tl.where(%s, s, float(\"-inf\"))", mask);
}

// A row of minus infinities so far has no maximum to subtract. Scores of the size of the largest
// number (so masks are given) are not multiplied: their differences are as good as infinite. The
// selections depend on the maximum alone, not on each other.
static void emit_softmax_of_any(struct walk *w) {
  struct emitter *e = w->e;
  bool is_double = w->sum == DTYPE_F64;
  const char *log2e = emit_number(e, w->sum, (union element){.real = log2_of_e});
  emit_line(e, 1, "above = tl.maximum(top, tl.max(s, 1))");
  emit_line(e, 1, "huge = tl.abs(above) > %s", is_double ? "1e300" : "1e38");
  emit_line(e, 1, "unit = tl.where(huge, 1.0, %s)", log2e);
  emit_line(e, 1, "base = tl.where(huge, tl.maximum(above, %s), above * %s)",
            is_double ? "-1.797693e308" : "-3.4028234e38", log2e);
  emit_line(e, 1, "p = tl.exp2(s * unit[:, None] - base[:, None])");
  emit_line(e, 1, "keep = tl.exp2(top * unit - base)");
}

static void emit_softmax(struct walk *w) {
  struct emitter *e = w->e;
  if (w->score.formula || w->score.added) {
    emit_softmax_of_any(w);
    return;
  }
  const char *scale =
      emit_number(e, DTYPE_F32, (union element){.real = w->score.scale * log2_of_e});
  emit_line(e, 1, "above = tl.maximum(top, tl.max(s, 1) * %s)", scale);
  emit_line(e, 1, "p = tl.exp2(s * %s - above[:, None])", scale);
  emit_line(e, 1, "keep = tl.exp2(top - above)");
}

static void emit_keys(struct walk *w, const char *begin, const char *end, const struct step *step) {
  struct emitter *e = w->e;
  emit_open(e, arena_printf(e->arena, "for k0 in range(%s, %s, BLOCK_N):", begin, end));
  const struct expr *across = key_axis(w, "key", "[None, :]", step);
  const struct scalar *k = with_axes(w, w->score.k, w->t->key, across, w->t->depth, step->inner);
  emit_count(e, k);
  emit_line(e, 1, "k = %s",
            operand_text(e, k, w->dtype, step->inner, across, step->inner,
                         arena_printf(e->arena, "[%u, BLOCK_N]", w->plan.depth)));
  emit_product_of_keys(w, across);
  emit_mask_of_keys(w, across, step);
  emit_softmax(w);
  if (sums_by_product(w)) {
    emit_line(e, 1, "p = p.to(%s)", emit_type(w->weights));
    emit_line(e, 1, "total = tl.dot(p, ones, total * keep[:, None])");
  } else {
    emit_line(e, 1, "total = total * keep + tl.sum(p, 1)");
  }
  const struct expr *down = key_axis(w, "row", "[:, None]", step);
  const struct scalar *v = with_axes(w, w->t->v, w->t->key, down, w->n, step->columns);
  emit_count(e, v);
  emit_line(e, 1, "v = %s",
            operand_text(e, v, w->weights, down, step->columns, down,
                         arena_printf(e->arena, "[BLOCK_N, %u]", w->plan.columns)));
  const char *p = w->weights == w->sum || sums_by_product(w)
                      ? "p"
                      : arena_printf(e->arena, "p.to(%s)", emit_type(w->weights));
  emit_line(e, 1, "acc = tl.dot(%s, v, acc * keep[:, None]%s)", p, precision(w->weights));
  emit_line(e, 1, "top = above");
  emit_close(e);
}

// A bound of keys for the block's first query, or for its last.
static const char *bound_text(struct walk *w, const struct expr *bound, bool of_last, int plus) {
  struct emitter *e = w->e;
  const struct expr *at = expr_symbol(w->x, "m_first", 0, w->m->symbol->hi, extent(w->m));
  bound = place_in(w, expr_addi(w->x, expr_substitute(w->x, bound, 1, &w->m, &at), plus));
  emit_axis(e, at, of_last ? "(m_first + BLOCK_M - 1)" : "m_first", NULL, 0);
  return emit_index(e, bound).s;
}

static const char *at_least_zero(struct walk *w, const char *text, const struct expr *bound) {
  return bound->lo >= 0 ? text : arena_printf(w->e->arena, "max(%s, 0)", text);
}

static void emit_loops(struct walk *w, const struct expr *inner, const struct expr *columns) {
  struct emitter *e = w->e;
  const char *keys = emit_extent(e, extent(w->t->key)), *begin = "0", *end = keys;
  const struct score *c = &w->score;
  bool has_tail = !divides(w->t->key, w->plan.block_n);
  if (c->last) {
    const char *last = bound_text(w, c->last, true, 1);
    end = "end";
    emit_line(e, 0, "end = min(%s, %s)", at_least_zero(w, last, c->last), keys);
  }
  if (c->first) {
    begin = "begin";
    emit_line(e, 0, "begin = %s // BLOCK_N * BLOCK_N",
              arena_printf(e->arena, "max(%s, 0)", bound_text(w, c->first, false, 0)));
  }
  struct step rest = {inner, columns, has_tail, true};
  bool is_short = expr_likely(extent(w->t->key)) <= w->plan.block_n;
  if (c->formula || (c->seen && !c->is_bound) || is_short || (!c->seen && !has_tail)) {
    emit_keys(w, begin, end, &rest);
    return;
  }
  // Whole blocks that every query of the program sees, without any mask; then the rest.
  struct step all = {inner, columns, false, false};
  if (c->seen)
    emit_line(e, 0, "whole = min(%s, %s) // BLOCK_N * BLOCK_N",
              at_least_zero(w, bound_text(w, c->last, false, 1), c->last), keys);
  else
    emit_line(e, 0, "whole = %s // BLOCK_N * BLOCK_N", keys);
  emit_keys(w, "0", "whole", &all);
  emit_keys(w, "whole", end, &rest);
}

// ---- what follows ----

static void give_result(struct walk *w) {
  struct emitter *e = w->e;
  bool zero = w->t->zero_empty_rows && !w->score.has_no_empty;
  if (sums_by_product(w))
    emit_line(e, 0, "total = tl.max(total, 1)");
  emit_line(e, 0, "out = acc * (1.0 / %s)[:, None]",
            zero ? "tl.where(total > 0, total, 1.0)" : "total");
  uint32_t axes = emit_index_axes(e, w->m) | emit_index_axes(e, w->n);
  const struct scalar *load = scalar_load(w->s, w->stage->out, place_in(w, w->stage->offset));
  const struct scalar *full = scalar_convert(w->s, load, w->sum);
  const char *half = "out", *name = "out";
  if (load != full)
    half = arena_printf(e->arena, "out.to(%s)", emit_type(load->dtype));
  if (load != full && w->o->rounds)
    name = arena_printf(e->arena, "%s.to(%s)", half, emit_type(w->sum));
  emit_given(e, load, half, axes, 0);
  emit_given(e, full, name, axes, 0);
}

// The logarithm of the sum of exponentials, for the backward pass: [batch, query].
static void store_sums(struct walk *w) {
  struct emitter *e = w->e;
  struct buffer *b = w->t->lse;
  const struct expr *place =
      place_in(w, expr_add(w->x, expr_mul(w->x, w->batch, extent(w->m)), w->m));
  if (w->score.formula || w->score.added)
    emit_line(e, 0, "lse = (top + tl.log(total))[:, None]");
  else
    emit_line(e, 0, "lse = ((top + tl.log2(total)) * 0.6931471805599453)[:, None]");
  const struct scalar *load = scalar_load(w->s, b, place);
  emit_given(e, load, "lse", emit_index_axes(e, w->m), 0);
  emit_writes(e, b);
  emit_count(e, load);
  emit_store_value(e, b, place, load);
}

static bool emit_results(struct walk *w) {
  struct emit_parts parts = {0};
  if (!emit_take_apart(w->p, w->r, &parts))
    return false;
  give_result(w);
  for (size_t i = 0; i < parts.writes.len; i++) {
    struct emit_write *o = &parts.writes.at[i];
    o->place = place_in(w, o->place);
    o->body = o->stage == w->stage ? scalar_load(w->s, o->buffer, o->place) : value_in(w, o->body);
    emit_writes(w->e, o->buffer);
    emit_count(w->e, o->body);
  }
  for (size_t i = 0; i < parts.writes.len; i++)
    emit_store_value(w->e, parts.writes.at[i].buffer, parts.writes.at[i].place,
                     parts.writes.at[i].body);
  if (w->t->lse)
    store_sums(w);
  return true;
}

// ---- the kernel ----

static void emit_start(struct walk *w, const struct expr **ret_depth) {
  struct emitter *e = w->e;
  const struct expr *across = whole_axis(w, w->t->depth, "d", w->plan.depth, "[None, :]");
  const struct scalar *q = with_axes(w, w->score.q, w->t->depth, across, NULL, NULL);
  emit_count(e, q);
  emit_line(e, 0, "q = %s",
            operand_text(e, q, w->dtype, w->m, across, across,
                         arena_printf(e->arena, "[BLOCK_M, %u]", w->plan.depth)));
  if (scales_queries(w) && w->score.scale != 1)
    emit_line(e, 0, "q = q * %s",
              emit_number(e, DTYPE_F32, (union element){.real = w->score.scale}));
  *ret_depth = whole_axis(w, w->t->depth, "dk", w->plan.depth, "[:, None]");
  // A finite start: a row that has seen no key yet would compute inf - inf.
  emit_line(e, 0, "top = tl.full([BLOCK_M], %s, %s)",
            w->score.formula || w->score.added ? "float(\"-inf\")" : "-1e30", emit_type(w->sum));
  if (sums_by_product(w)) {
    emit_line(e, 0, "total = tl.zeros([BLOCK_M, %u], %s)", sum_columns, emit_type(w->sum));
    emit_line(e, 0, "ones = tl.full([BLOCK_N, %u], 1.0, %s)", sum_columns, emit_type(w->weights));
  } else {
    emit_line(e, 0, "total = tl.zeros([BLOCK_M], %s)", emit_type(w->sum));
  }
  emit_line(e, 0, "acc = tl.zeros([BLOCK_M, %u], %s)", w->plan.columns, emit_type(w->sum));
}

static bool emit_kernel(struct walk *w) {
  struct emitter *e = w->e = emit_begin(w->p, w->r, w->o, NULL);
  emit_constexpr(e, "BLOCK_M", w->plan.block_m);
  emit_constexpr(e, "BLOCK_N", w->plan.block_n);
  place_program(w);
  const struct expr *depth;
  emit_start(w, &depth);
  emit_line(e, 0, "n = tl.arange(0, %u)[None, :]", w->plan.columns);
  const char *mask = expr_is(extent(w->n), w->plan.columns)
                         ? NULL
                         : arena_printf(e->arena, "(n < %s)", emit_extent(e, extent(w->n)));
  emit_axis(e, w->n, "n", mask, 0);
  emit_loops(w, depth, w->n);
  if (!emit_results(w))
    return false;
  const struct expr *blocks = expr_cdiv(w->x, extent(w->m), expr_const(w->x, w->plan.block_m));
  const struct expr *grid[3] = {blocks, extent(w->batch), NULL};
  const char *m = emit_extent(e, extent(w->m)), *batch = emit_extent(e, extent(w->batch));
  const char *text =
      arena_printf(e->arena, "cdiv(%s,BLOCK_M)%s%s", m, folds_batch(w) ? "*" : ",", batch);
  if (folds_batch(w)) {
    grid[0] = expr_mul(w->x, blocks, grid[1]);
    grid[1] = NULL;
  }
  struct launch *l = emit_end(e, w->plan.num_warps, grid, text,
                              attention_space(e->arena, &w->shape, &w->plan, w->o));
  l->kernel->num_stages = w->plan.num_stages;
  return true;
}

struct loaded {
  const struct expr *query, *key;
  int64_t bits;
};

static void note_loaded(void *user, const struct scalar *load) {
  struct loaded *l = user;
  if (load->buffer && scalar_has_axis(load, l->query) && scalar_has_axis(load, l->key))
    l->bits += dtype_bits(load->dtype) < 8 ? 8 : dtype_bits(load->dtype);
}

// Bits that the loop loads for each score.
static int64_t loaded_bits(const struct walk *w) {
  struct loaded l = {.query = w->m, .key = w->t->key};
  const struct scalar *parts[] = {w->score.formula, w->score.added, w->score.seen};
  for (size_t i = 0; i < COUNT_OF(parts); i++)
    if (parts[i])
      scalar_loads(parts[i], note_loaded, &l);
  return l.bits;
}

bool emit_attention(struct program *p, const struct region *r, const struct program_options *o) {
  struct walk w = {
      .p = p, .r = r, .o = o, .x = p->regions->loops->exprs, .s = p->regions->loops->scalars};
  for (size_t i = 0; i < r->stages.len; i++)
    if (r->stages.at[i]->kind == STAGE_ATTENTION)
      w.stage = r->stages.at[i];
  if (!w.stage)
    return false;
  w.t = w.stage->attention;
  w.batch = w.stage->axes[0];
  w.m = w.stage->axes[1];
  w.n = w.stage->axes[2];
  w.score = score_analyse(w.s, w.x, w.t, w.m, o->rounds);
  enum dtype out = w.stage->out->dtype;
  w.dtype = operand_dtype(w.score.q, w.score.k, out);
  w.weights = operand_dtype(w.t->v, w.t->v, out);
  w.sum = w.dtype == DTYPE_F64 || w.weights == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
  if (w.sum == DTYPE_F64)
    w.dtype = w.weights = DTYPE_F64;
  w.shape = (struct attention_shape){.batch = expr_likely(extent(w.batch)),
                                     .queries = expr_likely(extent(w.m)),
                                     .keys = expr_likely(extent(w.t->key)),
                                     .depth = expr_likely(extent(w.t->depth)),
                                     .columns = expr_likely(extent(w.n)),
                                     .loaded_bits = loaded_bits(&w),
                                     .has_halves =
                                         dtype_bits(w.dtype) <= 16 && dtype_bits(w.weights) <= 16};
  w.plan = attention_choose(&w.shape, o);
  return emit_kernel(&w);
}
