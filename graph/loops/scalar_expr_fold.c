// SPDX-License-Identifier: Apache-2.0
// Simplifies expression trees: constants, and identities that hold for all values of a dtype.
// Recursion is the algorithm: the operands of a tree are trees, and each is simplified when it is
// built.
#include "graph/loops/scalar_expr_internal.h"

#include <math.h>

static bool fits(const struct expr *e, enum dtype t) {
  if (e->overflows)
    return false;
  return t == DTYPE_I64 || (t == DTYPE_I32 && e->lo >= INT32_MIN && e->hi <= INT32_MAX);
}

const struct expr *scalar_expr_expr(struct scalars *s, const struct scalar *v) {
  if (v->dtype != DTYPE_I64 && v->dtype != DTYPE_I32)
    return NULL;
  if (v->kind == SCALAR_CONST)
    return expr_const(s->exprs, v->constant.integer);
  if (v->kind == SCALAR_CONVERT && v->in[0]->kind == SCALAR_INDEX)
    return fits(v->in[0]->index, v->dtype) ? v->in[0]->index : NULL;
  return v->kind == SCALAR_INDEX ? v->index : NULL;
}

static bool is_const(const struct scalar *v) { return v->kind == SCALAR_CONST; }

static bool is_number(const struct scalar *v, double number) {
  if (!is_const(v))
    return false;
  return dtype_is_float(v->dtype) ? v->constant.real == number
                                  : (double)v->constant.integer == number;
}

static const struct scalar *truth(struct scalars *s, bool value) {
  return scalar_int(s, DTYPE_I1, value);
}

static const struct scalar *fold_constants(struct scalars *s, enum scalar_op op, enum dtype t,
                                           const struct scalar *const *in) {
  union element e[3];
  unsigned arity = scalar_row(op)->arity;
  for (unsigned i = 0; i < arity; i++) {
    if (!is_const(in[i]))
      return NULL;
    e[i] = in[i]->constant;
  }
  enum dtype of = op == SCALAR_WHERE ? in[1]->dtype : in[0]->dtype;
  return scalar_const(s, t, scalar_eval(op, of, e));
}

// ---- indices ----

static const struct scalar *compare(struct scalars *s, enum scalar_op op, const struct expr *a,
                                    const struct expr *b) {
  const struct expr *d = expr_sub(s->exprs, a, b);
  if (d->overflows)
    return NULL;
  switch (op) {
  case SCALAR_LT: return d->hi < 0 ? truth(s, true) : d->lo >= 0 ? truth(s, false) : NULL;
  case SCALAR_LE: return d->hi <= 0 ? truth(s, true) : d->lo > 0 ? truth(s, false) : NULL;
  case SCALAR_GT: return d->lo > 0 ? truth(s, true) : d->hi <= 0 ? truth(s, false) : NULL;
  case SCALAR_GE: return d->lo >= 0 ? truth(s, true) : d->hi < 0 ? truth(s, false) : NULL;
  case SCALAR_EQ:
  case SCALAR_NE:
    if (d->lo > 0 || d->hi < 0)
      return truth(s, op == SCALAR_NE);
    return expr_is(d, 0) ? truth(s, op == SCALAR_EQ) : NULL;
  default: return NULL;
  }
}

// Comparisons that ranges do not decide: of plain indices, the smaller id goes first.
static const struct scalar *compared_indices(struct scalars *s, enum scalar_op op,
                                             const struct scalar *const *in, const struct expr *a,
                                             const struct expr *b) {
  bool swaps = op == SCALAR_GT || op == SCALAR_GE;
  enum scalar_op to = op == SCALAR_GT ? SCALAR_LT : op == SCALAR_GE ? SCALAR_LE : op;
  const struct scalar *l = scalar_index(s, swaps ? b : a), *r = scalar_index(s, swaps ? a : b);
  if (to == op && l == in[0] && r == in[1])
    return NULL;
  const struct scalar *both[2] = {l, r};
  return scalar_apply(s, to, DTYPE_I1, both);
}

static const struct expr *combine(struct exprs *x, enum scalar_op op, const struct expr *a,
                                  const struct expr *b) {
  switch (op) {
  case SCALAR_ADD: return expr_add(x, a, b);
  case SCALAR_SUB: return expr_sub(x, a, b);
  case SCALAR_MUL: return expr_mul(x, a, b);
  case SCALAR_MAXIMUM: return expr_max(x, a, b);
  case SCALAR_MINIMUM: return expr_min(x, a, b);
  case SCALAR_FLOOR_DIV: return b->lo > 0 ? expr_floordiv(x, a, b) : NULL;
  case SCALAR_TRUNC_DIV: return b->lo > 0 && a->lo >= 0 ? expr_floordiv(x, a, b) : NULL;
  case SCALAR_REMAINDER: return b->lo > 0 ? expr_mod(x, a, b) : NULL;
  case SCALAR_FMOD: return b->lo > 0 && a->lo >= 0 ? expr_mod(x, a, b) : NULL;
  default: return NULL;
  }
}

static const struct scalar *fold_indices(struct scalars *s, enum scalar_op op, enum dtype t,
                                         const struct scalar *const *in) {
  unsigned arity = scalar_row(op)->arity;
  const struct expr *a = scalar_expr_expr(s, in[0]);
  const struct expr *b = arity == 2 ? scalar_expr_expr(s, in[1]) : NULL;
  if (!a || (arity == 2 && !b) || arity > 2)
    return NULL;
  if (t == DTYPE_I1) {
    const struct scalar *known = compare(s, op, a, b);
    return known ? known : compared_indices(s, op, in, a, b);
  }
  const struct expr *e = op == SCALAR_NEG ? expr_muli(s->exprs, a, -1)
                         : b              ? combine(s->exprs, op, a, b)
                                          : NULL;
  return e && fits(e, t) ? scalar_convert(s, scalar_index(s, e), t) : NULL;
}

// ---- identities ----

// x / b: by 1, or by a power of two, whose reciprocal is exact.
static const struct scalar *fold_division(struct scalars *s, enum dtype t, const struct scalar *x,
                                          const struct scalar *b) {
  if (is_number(b, 1))
    return x;
  if (!is_const(b) || !dtype_is_float(t))
    return NULL;
  int exponent;
  double r = b->constant.real;
  if (fabs(frexp(r, &exponent)) != 0.5 || exponent <= -60 || exponent >= 60)
    return NULL;
  const struct scalar *by[2] = {x, scalar_real(s, t, 1 / r)};
  return scalar_apply(s, SCALAR_MUL, t, by);
}

static const struct scalar *fold_power(struct scalars *s, enum dtype t, const struct scalar *x,
                                       const struct scalar *b) {
  if (is_number(b, 1))
    return x;
  const struct scalar *twice[2] = {x, x};
  return is_number(b, 2) ? scalar_apply(s, SCALAR_MUL, t, twice) : NULL;
}

static const struct scalar *fold_arithmetic(struct scalars *s, enum scalar_op op, enum dtype t,
                                            const struct scalar *const *in) {
  bool is_float = dtype_is_float(t);
  const struct scalar *b = in[1];
  switch (op) {
  case SCALAR_ADD:
    // Of floats only -0 is neutral: -0 + 0 is 0.
    if (is_number(b, 0) && (!is_float || signbit(b->constant.real)))
      return in[0];
    return NULL;
  case SCALAR_SUB:
    if (is_number(b, 0) && !(is_float && signbit(b->constant.real)))
      return in[0];
    return !is_float && in[0] == b ? scalar_int(s, t, 0) : NULL;
  case SCALAR_MUL:
    if (is_number(b, 1))
      return in[0];
    return !is_float && is_number(b, 0) ? b : NULL;
  case SCALAR_DIV: return fold_division(s, t, in[0], b);
  case SCALAR_FLOOR_DIV:
  case SCALAR_TRUNC_DIV: return !is_float && is_number(b, 1) ? in[0] : NULL;
  case SCALAR_POW: return fold_power(s, t, in[0], b);
  case SCALAR_MAXIMUM:
  case SCALAR_MINIMUM:
  case SCALAR_BIT_AND:
  case SCALAR_BIT_OR: return in[0] == b ? b : NULL;
  default: return NULL;
  }
}

static enum scalar_op negated(enum scalar_op op, enum dtype of) {
  if (op == SCALAR_EQ || op == SCALAR_NE)
    return op == SCALAR_EQ ? SCALAR_NE : SCALAR_EQ;
  if (dtype_is_float(of)) // NaN is neither < nor >=
    return SCALAR_NONE;
  switch (op) {
  case SCALAR_LT: return SCALAR_GE;
  case SCALAR_LE: return SCALAR_GT;
  case SCALAR_GT: return SCALAR_LE;
  case SCALAR_GE: return SCALAR_LT;
  default: return SCALAR_NONE;
  }
}

static const struct scalar *fold_not(struct scalars *s, const struct scalar *v) {
  if (v->kind != SCALAR_APPLY)
    return NULL;
  if (v->op == SCALAR_NOT)
    return v->in[0];
  enum scalar_op other = negated(v->op, v->in[0]->dtype);
  return other == SCALAR_NONE ? NULL : scalar_apply(s, other, DTYPE_I1, v->in);
}

static const struct scalar *fold_logic(struct scalars *s, enum scalar_op op,
                                       const struct scalar *const *in) {
  const struct scalar *a = in[0], *b = in[1];
  switch (op) {
  case SCALAR_NOT: return fold_not(s, a);
  case SCALAR_AND:
    if (is_const(b))
      return b->constant.integer ? a : b;
    return a == b ? a : NULL;
  case SCALAR_OR:
    if (is_const(b))
      return b->constant.integer ? b : a;
    return a == b ? a : NULL;
  case SCALAR_XOR:
    if (is_const(b))
      return b->constant.integer ? scalar_apply(s, SCALAR_NOT, DTYPE_I1, &a) : a;
    return a == b ? truth(s, false) : NULL;
  case SCALAR_EQ: return a == b && !dtype_is_float(a->dtype) ? truth(s, true) : NULL;
  case SCALAR_NE:
  case SCALAR_LT:
  case SCALAR_GT:
    return a == b && (!dtype_is_float(a->dtype) || op != SCALAR_NE) ? truth(s, false) : NULL;
  case SCALAR_LE:
  case SCALAR_GE: return a == b && !dtype_is_float(a->dtype) ? truth(s, true) : NULL;
  case SCALAR_ISNAN:
  case SCALAR_ISINF: return !dtype_is_float(a->dtype) ? truth(s, false) : NULL;
  default: return NULL;
  }
}

static const struct scalar *fold_where(struct scalars *s, enum dtype t,
                                       const struct scalar *const *in) {
  if (is_const(in[0]))
    return in[0]->constant.integer ? in[1] : in[2];
  if (in[1] == in[2])
    return in[1];
  const struct scalar *other = in[2];
  bool same = other->kind == SCALAR_APPLY && other->op == SCALAR_WHERE && other->in[0] == in[0];
  if (same || (other->kind == SCALAR_MASKED && other->in[0] == in[0])) {
    const struct scalar *once[3] = {in[0], in[1], other->in[2]};
    return scalar_apply(s, SCALAR_WHERE, t, once);
  }
  if (in[0]->kind == SCALAR_APPLY && in[0]->op == SCALAR_NOT) {
    const struct scalar *swapped[3] = {in[0]->in[0], in[2], in[1]};
    return scalar_apply(s, SCALAR_WHERE, t, swapped);
  }
  if (t != DTYPE_I1)
    return NULL;
  if (is_const(in[1]) && is_const(in[2])) // the two differ
    return in[1]->constant.integer ? in[0] : scalar_apply(s, SCALAR_NOT, DTYPE_I1, in);
  return NULL;
}

const struct scalar *scalar_expr_fold(struct scalars *s, enum scalar_op op, enum dtype t,
                                      const struct scalar *const *in) {
  const struct scalar *v = fold_constants(s, op, t, in);
  if (v)
    return v;
  if (op == SCALAR_WHERE)
    return fold_where(s, t, in);
  if ((v = fold_indices(s, op, t, in)))
    return v;
  if (t == DTYPE_I1)
    return fold_logic(s, op, in);
  if (op == SCALAR_NEG && in[0]->kind == SCALAR_APPLY && in[0]->op == SCALAR_NEG)
    return in[0]->in[0];
  if ((op == SCALAR_FLOOR || op == SCALAR_CEIL || op == SCALAR_TRUNC || op == SCALAR_ROUND) &&
      !dtype_is_float(t))
    return in[0];
  return scalar_row(op)->arity == 2 ? fold_arithmetic(s, op, t, in) : NULL;
}
