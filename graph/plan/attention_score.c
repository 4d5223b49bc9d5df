// SPDX-License-Identifier: Apache-2.0
// Analyses the expression tree of scores: scale, bias, and mask. A mask is a selection between a
// score and -inf, or the sum with such a selection; constants so low that their exponentials are 0
// count as -inf if the row certainly has another score.
#include "graph/loops/scalar_expr_internal.h"
#include "graph/plan/attention_plan.h"

#include <math.h>

// Scores are assumed to differ by less than this.
static const double far_below = -1e4;

struct reading {
  struct scalars *s;
  struct exprs *x;
  const struct expr *key, *query;
  struct score score;
  double outer;    // the factors around the current subtree
  bool has_finite; // a mask with a constant instead of -inf
};

static bool is_op(const struct scalar *v, enum scalar_op op) {
  return v->kind == SCALAR_APPLY && v->op == op;
}

static bool is_number(const struct scalar *v) {
  return v->kind == SCALAR_CONST && dtype_is_float(v->dtype);
}

static bool is_factor(const struct scalar *v) {
  return is_number(v) && v->constant.real > 0 && isfinite(v->constant.real);
}

// ---- key bounds ----

static void bound_last(struct reading *r, const struct expr *last) {
  r->score.last = r->score.last ? expr_min(r->x, r->score.last, last) : last;
}

static void bound_first(struct reading *r, const struct expr *first) {
  r->score.first = r->score.first ? expr_max(r->x, r->score.first, first) : first;
}

struct indirect {
  bool found;
};

static void note_indirect(void *user, const struct expr *symbol) {
  struct indirect *i = user;
  i->found = i->found || symbol->symbol->indirect;
}

// difference < 0, or <= 0, as a bound of the key: the key must be linear in it with coefficient 1
// or -1, and the rest must increase with the query.
static bool read_difference(struct reading *r, const struct expr *difference, bool or_equal) {
  const struct expr *factor, *rest, *step, *base;
  struct indirect loaded = {false};
  scalar_expr_symbols(difference, note_indirect, &loaded);
  if (loaded.found || !expr_linear(r->x, difference, r->key, &factor, &rest))
    return false;
  bool above = expr_is(factor, 1);
  if (!above && !expr_is(factor, -1))
    return false;
  const struct expr *bound = above ? expr_muli(r->x, rest, -1) : rest;
  bound = expr_addi(r->x, bound, or_equal ? 0 : above ? -1 : 1);
  int64_t rises;
  if (!expr_linear(r->x, bound, r->query, &step, &base) || !expr_is_const(step, &rises) ||
      rises < 0)
    return false;
  if (above)
    bound_last(r, bound);
  else
    bound_first(r, bound);
  return true;
}

static bool read_comparison(struct reading *r, const struct scalar *v, bool negated) {
  const struct expr *a = scalar_expr_expr(r->s, v->in[0]), *b = scalar_expr_expr(r->s, v->in[1]);
  if (!a || !b)
    return false;
  const struct expr *up = expr_sub(r->x, a, b), *down = expr_sub(r->x, b, a);
  switch (v->op) { // a <= b is a - b <= 0; its negation is b - a < 0
  case SCALAR_LE: return read_difference(r, negated ? down : up, !negated);
  case SCALAR_LT: return read_difference(r, negated ? down : up, negated);
  case SCALAR_GE: return read_difference(r, negated ? up : down, !negated);
  case SCALAR_GT: return read_difference(r, negated ? up : down, negated);
  default: return false;
  }
}

// Records the bounds that a condition implies; true if they are equivalent to it.
static bool read_bounds(struct reading *r, const struct scalar *v, bool negated) {
  if (is_op(v, SCALAR_NOT))
    return read_bounds(r, v->in[0], !negated);
  if (is_op(v, negated ? SCALAR_OR : SCALAR_AND)) {
    bool a = read_bounds(r, v->in[0], negated), b = read_bounds(r, v->in[1], negated);
    return a && b;
  }
  return v->kind == SCALAR_APPLY && read_comparison(r, v, negated);
}

// ---- scores ----

static void see(struct reading *r, const struct scalar *condition, bool negated,
                const struct scalar *otherwise) {
  if (negated)
    condition = scalar_apply(r->s, SCALAR_NOT, DTYPE_I1, &condition);
  const struct scalar *both[2] = {r->score.seen, condition};
  r->score.seen = r->score.seen ? scalar_apply(r->s, SCALAR_AND, DTYPE_I1, both) : condition;
  r->has_finite = r->has_finite || isfinite(otherwise->constant.real);
}

static bool is_far_below(const struct scalar *v) {
  return is_number(v) && v->constant.real <= far_below;
}

static bool is_choice(const struct scalar *v) {
  return v->kind == SCALAR_MASKED || is_op(v, SCALAR_WHERE);
}

static bool is_zero(const struct scalar *v) { return is_number(v) && v->constant.real == 0; }

// where(seen, 0, -inf) as a bias.
static bool read_added_mask(struct reading *r, const struct scalar *v) {
  if (!is_choice(v))
    return false;
  if (is_zero(v->in[1]) && is_far_below(v->in[2]))
    see(r, v->in[0], false, v->in[2]);
  else if (is_zero(v->in[2]) && is_far_below(v->in[1]))
    see(r, v->in[0], true, v->in[1]);
  else
    return false;
  return true;
}

struct mention {
  const struct scalar *of;
  bool found;
};

static void note_mention(void *user, const struct scalar *load) {
  struct mention *m = user;
  m->found = m->found || load == m->of;
}

static bool mentions(const struct scalar *v, const struct scalar *load) {
  struct mention m = {load, false};
  scalar_loads(v, note_mention, &m);
  return m.found;
}

static bool read_score(struct reading *r, const struct scalar *v, const struct scalar *product);

static bool read_factor(struct reading *r, const struct scalar *v, double factor,
                        const struct scalar *product) {
  r->score.scale *= factor;
  r->outer *= factor;
  return read_score(r, v, product);
}

// A mask, or a bias independent of the product.
static bool read_sum(struct reading *r, const struct scalar *v, const struct scalar *product) {
  for (int i = 0; i < 2; i++)
    if (read_added_mask(r, v->in[i]))
      return read_score(r, v->in[1 - i], product);
  int other = mentions(v->in[0], product);
  if (r->outer != 1 || mentions(v->in[other], product))
    return false;
  const struct scalar *both[2] = {r->score.added, v->in[other]};
  r->score.added = both[0] ? scalar_apply(r->s, SCALAR_ADD, v->dtype, both) : both[1];
  return read_score(r, v->in[1 - other], product);
}

static bool read_score(struct reading *r, const struct scalar *v, const struct scalar *product) {
  if (v == product)
    return true;
  if (is_op(v, SCALAR_MUL) && is_factor(v->in[1]))
    return read_factor(r, v->in[0], v->in[1]->constant.real, product);
  if (is_op(v, SCALAR_DIV) && is_factor(v->in[1]))
    return read_factor(r, v->in[0], 1 / v->in[1]->constant.real, product);
  if (is_op(v, SCALAR_ADD))
    return read_sum(r, v, product);
  if (!is_choice(v))
    return false;
  bool first = is_far_below(v->in[1]);
  if (!first && !is_far_below(v->in[2]))
    return false;
  see(r, v->in[0], first, v->in[first ? 1 : 2]);
  return read_score(r, v->in[first ? 2 : 1], product);
}

// Factors of an operand are factors of the product.
static const struct scalar *without_factors(const struct scalar *v, double *scale) {
  for (;;) {
    if (is_op(v, SCALAR_MUL) && is_factor(v->in[1]))
      *scale *= v->in[1]->constant.real;
    else if (is_op(v, SCALAR_DIV) && is_factor(v->in[1]))
      *scale /= v->in[1]->constant.real;
    else
      return v;
    v = v->in[0];
  }
}

// ---- bounds of any score ----

static bool is_minus_infinity(const struct scalar *v) {
  return is_number(v) && isinf(v->constant.real) && v->constant.real < 0;
}

// The bounds outside of which v is -inf.
static void read_hidden(struct reading *r, const struct scalar *v) {
  if (v->kind == SCALAR_CONVERT && dtype_is_float(v->in[0]->dtype)) {
    read_hidden(r, v->in[0]);
  } else if (is_op(v, SCALAR_ADD)) {
    read_hidden(r, v->in[0]);
    read_hidden(r, v->in[1]);
  } else if ((is_op(v, SCALAR_MUL) || is_op(v, SCALAR_DIV)) && is_factor(v->in[1])) {
    read_hidden(r, v->in[0]);
  } else if (is_choice(v)) {
    for (int i = 1; i < 3; i++)
      if (is_minus_infinity(v->in[3 - i])) {
        read_bounds(r, v->in[0], i == 2);
        read_hidden(r, v->in[i]);
        return;
      }
  }
}

struct key_bounds score_bounds(struct scalars *s, struct exprs *x, const struct scalar *score,
                               const struct expr *query, const struct expr *key) {
  struct reading r = {.s = s, .x = x, .key = key, .query = query, .outer = 1};
  read_hidden(&r, score);
  return (struct key_bounds){.first = r.score.first, .last = r.score.last};
}

struct score score_analyse(struct scalars *s, struct exprs *x, const struct attention *t,
                           const struct expr *query, bool rounds) {
  double factors = 1;
  const struct scalar *q = rounds ? t->q : without_factors(t->q, &factors);
  const struct scalar *k = rounds ? t->k : without_factors(t->k, &factors);
  struct reading r = {.s = s, .x = x, .key = t->key, .query = query, .outer = 1};
  r.score.scale = factors;
  bool is_read = read_score(&r, t->score, t->product);
  if (is_read && r.score.seen)
    r.score.is_bound = read_bounds(&r, r.score.seen, false) && !r.score.first;
  // Every row sees key 0 if the bound is not negative and there is no other condition.
  bool sees_first = r.score.is_bound && r.score.last->lo >= 0;
  r.score.has_no_empty = is_read && !r.score.added && (!r.score.seen || sees_first);
  if (!is_read || (r.has_finite && !r.score.has_no_empty))
    r.score = (struct score){.scale = factors, .expr = t->score};
  if (!r.score.seen) {
    struct key_bounds bounds = score_bounds(s, x, t->score, query, t->key);
    r.score.first = bounds.first;
    r.score.last = bounds.last;
  }
  if (t->first)
    bound_first(&r, t->first);
  if (t->end)
    bound_last(&r, expr_addi(x, t->end, -1));
  r.score.q = q;
  r.score.k = k;
  return r.score;
}
