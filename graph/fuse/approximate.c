// SPDX-License-Identifier: Apache-2.0
// Approximations for values of half precision: replaces functions by their fast versions, and
// patterns of several operations:
//
//   x * (0.5 * (1 + erf(x * sqrt(1/2))))    FAST_GELU(x)
//   0.5 * (1 + erf(y * sqrt(1/2)))          FAST_NORMCDF(y)
//   0.5 * (1 + tanh(u))                     FAST_SIGMOID(2 * u), without cancellation
//   x / (1 + exp(-y))                       x * FAST_SIGMOID(y)
//   x / sum, one sum per row                x * (1 / sum)
#include "graph/fuse/approximate.h"

#include <math.h>

enum { MOST_FACTORS = 12 };

// A product: a constant times expression trees.
struct factors {
  double number;
  unsigned count, half_factors; // half_factors: occurrences of 0.5 * (1 + erf(..))
  const struct scalar *of[MOST_FACTORS];
};

static const struct scalar *rewritten(struct approximation *a, const struct scalar *v);

static bool is_op(const struct scalar *v, enum scalar_op op) {
  return v->kind == SCALAR_APPLY && v->op == op;
}

static bool is_number(const struct scalar *v, double want) {
  return v->kind == SCALAR_CONST && dtype_is_float(v->dtype) &&
         fabs(v->constant.real - want) < 1e-6 * fabs(want);
}

static const struct scalar *apply1(struct approximation *a, enum scalar_op op,
                                   const struct scalar *x) {
  return scalar_apply(a->s, op, DTYPE_F32, &x);
}

static const struct scalar *times(struct approximation *a, const struct scalar *x,
                                  const struct scalar *y) {
  const struct scalar *in[2] = {x, y};
  return scalar_apply(a->s, SCALAR_MUL, DTYPE_F32, in);
}

// x * number, as one multiplication if x is already a product with a constant.
static const struct scalar *scaled(struct approximation *a, const struct scalar *x, double number) {
  if (is_op(x, SCALAR_MUL) && x->in[1]->kind == SCALAR_CONST)
    return scaled(a, x->in[0], x->in[1]->constant.real * number);
  return fabs(number - 1) < 1e-7 ? x : times(a, x, scalar_real(a->s, DTYPE_F32, number));
}

// ---- 1 + f(u) ----

// The y for which u is y * sqrt(1/2); NULL: none.
static const struct scalar *unscaled_by_root(struct approximation *a, const struct scalar *u) {
  if (is_op(u, SCALAR_MUL) && is_number(u->in[1], 0.70710678118654752))
    return rewritten(a, u->in[0]);
  if (is_op(u, SCALAR_DIV) && is_number(u->in[1], 1.41421356237309505))
    return rewritten(a, u->in[0]);
  return scaled(a, rewritten(a, u), 1.41421356237309505);
}

// v / 2 if v is 1 + erf(..) or 1 + tanh(..); NULL: v is neither.
static const struct scalar *half_of(struct approximation *a, const struct scalar *v) {
  if (!is_op(v, SCALAR_ADD) || !is_number(v->in[1], 1) || !approximation_allows(a, v->in[0]))
    return NULL;
  if (is_op(v->in[0], SCALAR_ERF))
    return apply1(a, SCALAR_FAST_NORMCDF, unscaled_by_root(a, v->in[0]->in[0]));
  if (is_op(v->in[0], SCALAR_TANH))
    return apply1(a, SCALAR_FAST_SIGMOID, scaled(a, rewritten(a, v->in[0]->in[0]), 2));
  return NULL;
}

// ---- products ----

static bool is_used_once(const struct approximation *a, const struct scalar *v) {
  return (uintptr_t)ptrmap_get(&a->uses, v) == 1;
}

static void collect(struct approximation *a, const struct scalar *v, bool is_inner,
                    struct factors *ret) {
  if (is_op(v, SCALAR_MUL) && approximation_allows(a, v) && (!is_inner || is_used_once(a, v)) &&
      ret->count + 2 < MOST_FACTORS) {
    collect(a, v->in[0], true, ret);
    collect(a, v->in[1], true, ret);
    return;
  }
  const struct scalar *half = half_of(a, v);
  if (half) {
    ret->number *= 2;
    ret->half_factors++;
  }
  if (v->kind == SCALAR_CONST)
    ret->number *= v->constant.real;
  else
    ret->of[ret->count++] = half ? half : rewritten(a, v);
}

static void take_away(struct factors *f, unsigned i) {
  for (f->count--; i < f->count; i++)
    f->of[i] = f->of[i + 1];
}

// y * normcdf(y) becomes gelu(y).
static void join_gelu(struct approximation *a, struct factors *f) {
  for (unsigned i = 0; i < f->count; i++)
    for (unsigned j = 0; j < f->count; j++)
      if (is_op(f->of[i], SCALAR_FAST_NORMCDF) && f->of[i]->in[0] == f->of[j]) {
        f->of[i] = apply1(a, SCALAR_FAST_GELU, f->of[j]);
        take_away(f, j);
        return;
      }
}

// NULL: no pattern; the order of factors is kept.
static const struct scalar *product(struct approximation *a, const struct scalar *v) {
  struct factors f = {.number = 1};
  collect(a, v, false, &f);
  if (!f.half_factors)
    return NULL;
  join_gelu(a, &f);
  const struct scalar *p = f.of[0];
  for (unsigned i = 1; i < f.count; i++)
    p = times(a, p, f.of[i]);
  return fabs(f.number - 1) < 1e-7 ? p : times(a, p, scalar_real(a->s, DTYPE_F32, f.number));
}

// ---- quotients ----

// Is `by` invariant along an axis of v?
static bool is_shared_by(struct approximation *a, const struct scalar *v, const struct scalar *by) {
  for (uint32_t i = 0; i < a->region->rank; i++)
    if (scalar_has_axis(v, a->region->axes[i]) && !scalar_has_axis(by, a->region->axes[i]))
      return true;
  return false;
}

// y if v is 1 + exp(-y), else NULL.
static const struct scalar *logistic(struct approximation *a, const struct scalar *v) {
  if (!is_op(v, SCALAR_ADD) || !is_number(v->in[1], 1) || !is_op(v->in[0], SCALAR_EXP) ||
      !approximation_allows(a, v->in[0]))
    return NULL;
  const struct scalar *minus = v->in[0]->in[0];
  return is_op(minus, SCALAR_NEG) ? rewritten(a, minus->in[0]) : NULL;
}

static const struct scalar *quotient(struct approximation *a, const struct scalar *x,
                                     const struct scalar *by) {
  const struct scalar *y = logistic(a, by), *factor = NULL;
  if (y)
    factor = apply1(a, SCALAR_FAST_SIGMOID, y);
  else if (by->kind == SCALAR_CONST && by->constant.real != 0)
    factor = scalar_real(a->s, DTYPE_F32, 1 / by->constant.real);
  else if (x && is_shared_by(a, x, by))
    factor = apply1(a, SCALAR_RECIPROCAL, rewritten(a, by));
  if (!factor || (by->kind == SCALAR_CONST && !isnormal((float)factor->constant.real)))
    return NULL;
  return x ? times(a, rewritten(a, x), factor) : factor;
}

// ---- whole expression trees ----

static const struct scalar *approximated(struct approximation *a, const struct scalar *v) {
  const struct scalar *half = half_of(a, v);
  if (half)
    return times(a, half, scalar_real(a->s, DTYPE_F32, 2));
  switch (v->op) {
  case SCALAR_EXP: return apply1(a, SCALAR_FAST_EXP, rewritten(a, v->in[0]));
  case SCALAR_SQRT: return apply1(a, SCALAR_FAST_SQRT, rewritten(a, v->in[0]));
  case SCALAR_ERF: return apply1(a, SCALAR_FAST_ERF, rewritten(a, v->in[0]));
  case SCALAR_TANH: return apply1(a, SCALAR_FAST_TANH, rewritten(a, v->in[0]));
  case SCALAR_SIGMOID: return apply1(a, SCALAR_FAST_SIGMOID, rewritten(a, v->in[0]));
  case SCALAR_MUL: return product(a, v);
  case SCALAR_DIV: return quotient(a, v->in[0], v->in[1]);
  case SCALAR_RECIPROCAL: return quotient(a, NULL, v->in[0]);
  default: return NULL;
  }
}

static const struct scalar *rebuilt(struct approximation *a, const struct scalar *v) {
  const struct scalar *in[3] = {NULL, NULL, NULL};
  bool is_same = true;
  for (unsigned i = 0; i < scalar_arity(v); i++) {
    in[i] = rewritten(a, v->in[i]);
    is_same = is_same && in[i] == v->in[i];
  }
  if (is_same)
    return v;
  switch (v->kind) {
  case SCALAR_APPLY: return scalar_apply(a->s, v->op, v->dtype, in);
  case SCALAR_CONVERT: return scalar_convert(a->s, in[0], v->dtype);
  default: return scalar_masked(a->s, in[0], in[1], in[2]);
  }
}

static const struct scalar *rewritten(struct approximation *a, const struct scalar *v) {
  if (scalar_arity(v) == 0)
    return v;
  const struct scalar *now = ptrmap_get(&a->done, v);
  if (now)
    return now;
  bool of_floats = v->kind == SCALAR_APPLY && v->in[0]->dtype == DTYPE_F32;
  now = of_floats && approximation_allows(a, v) ? approximated(a, v) : NULL;
  now = now ? now : rebuilt(a, v);
  ptrmap_put(a->arena, &a->done, v, (void *)(uintptr_t)now);
  return now;
}

// ---- regions ----

static void count_uses(struct approximation *a, const struct scalar *v) {
  uintptr_t n = (uintptr_t)ptrmap_get(&a->uses, v);
  ptrmap_put(a->arena, &a->uses, v, (void *)(n + 1));
  for (unsigned i = 0; n == 0 && i < scalar_arity(v); i++)
    count_uses(a, v->in[i]);
}

static void each_scalar_expr(struct approximation *a,
                             void (*f)(struct approximation *a, const struct scalar **v)) {
  for (size_t i = 0; i < a->region->stages.len; i++) {
    struct stage *s = a->region->stages.at[i];
    const struct scalar **const parts[3] = {&s->body, &s->a, &s->b};
    for (unsigned k = 0; k < 3; k++)
      if (*parts[k])
        f(a, parts[k]);
  }
}

static void count_scalar_expr(struct approximation *a, const struct scalar **v) {
  count_uses(a, *v);
}

static void rewrite_scalar_expr(struct approximation *a, const struct scalar **v) {
  *v = rewritten(a, *v);
}

void regions_approximate(struct regions *r) {
  for (size_t i = 0; i < r->list.len; i++) {
    struct approximation a = {
        .arena = r->loops->arena, .s = r->loops->scalars, .region = r->list.at[i]};
    approximation_flow(&a);
    each_scalar_expr(&a, count_scalar_expr);
    each_scalar_expr(&a, rewrite_scalar_expr);
  }
}
