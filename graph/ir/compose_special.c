// SPDX-License-Identifier: Apache-2.0
// Composed special functions. Series are computed in f64, so that they hold for f32 and f64.
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)
#define Y node_value(n, 1)

static struct value *in_float(struct build *b, struct value *x) {
  return dtype_is_float(x->dtype) ? build_up(b, x) : build_convert(b, x, DTYPE_F32);
}

static struct value *give_float(struct build *b, struct value *v, const struct value *like) {
  return build_convert(b, v, dtype_is_float(like->dtype) ? like->dtype : DTYPE_F32);
}

// I(x) exp(-|x|), in f64, where I itself does not overflow; for large |x| the asymptotic series in
// 1 / |x| (DLMF 10.40.1).
void compose_scaled_bessel(struct build *b, struct node *n) {
  enum { FAR = 500 };
  static const double series[2][4] = {{1, 1 / 8.0, 9 / 128.0, 225 / 3072.0},
                                      {1, -3 / 8.0, -15 / 128.0, -315 / 3072.0}};
  enum operator_id op = operator_row(n->op)->part;
  struct value *x = build_convert(b, X, DTYPE_F64), *size = build_unop(b, OP_ABS, x);
  struct value *near = build_real(b, OP_MINIMUM, size, FAR);
  near = build_mul(b, build_unop(b, op, near), build_unop(b, OP_EXP, build_unop(b, OP_NEG, near)));
  struct value *far = build_real(b, OP_MAXIMUM, size, FAR), *y = build_unop(b, OP_RECIPROCAL, far);
  const double *c = series[op == OP_BESSEL_I1];
  struct value *sum = compose_more(b, build_scale(b, y, c[3]), c[2]);
  sum = compose_more(b, build_mul(b, sum, y), c[1]);
  sum = compose_more(b, build_mul(b, sum, y), c[0]);
  far = build_mul(b, sum, build_unop(b, OP_RSQRT, build_scale(b, far, 2 * M_PI)));
  struct value *v = build_where(b, build_real(b, OP_LT_TENSOR, size, FAR), near, far);
  if (op == OP_BESSEL_I1)
    v = build_where(b, build_real(b, OP_LT_TENSOR, x, 0), build_unop(b, OP_NEG, v), v);
  v = build_where(b, build_unop(b, OP_ISNAN, x), x, v);
  n->results[0] = give_float(b, v, X);
}

// The normal distribution function: erfc(-x / sqrt(2)) / 2
void compose_ndtr(struct build *b, struct node *n) {
  struct value *v = build_unop(b, OP_ERFC, build_scale(b, in_float(b, X), -M_SQRT1_2));
  n->results[0] = give_float(b, build_scale(b, v, 0.5), X);
}

// Its logarithm: of a small value by erfcx, of one near 1 by log1p.
void compose_log_ndtr(struct build *b, struct node *n) {
  struct value *x = in_float(b, X), *t = build_scale(b, x, M_SQRT1_2);
  struct value *low = build_real(b, OP_MINIMUM, t, 0), *high = build_real(b, OP_MAXIMUM, t, -1);
  struct value *small = build_unop(b, OP_ERFCX, build_unop(b, OP_NEG, low));
  small = build_sub(b, build_unop(b, OP_LOG, build_scale(b, small, 0.5)), build_mul(b, low, low));
  struct value *large = build_unop(b, OP_LOG1P, build_scale(b, build_unop(b, OP_ERFC, high), -0.5));
  struct value *below = build_real(b, OP_LT_TENSOR, x, -1);
  n->results[0] = give_float(b, build_where(b, below, small, large), X);
}

// ---- gamma and zeta ----

// sum of c[k] * y^k
static struct value *polynomial(struct build *b, struct value *y, unsigned count, const double *c) {
  struct value *sum = build_scale(b, y, c[count - 1]);
  for (unsigned k = count - 1; k-- > 1;)
    sum = build_mul(b, compose_more(b, sum, c[k]), y);
  return compose_more(b, sum, c[0]);
}

// x - floor(x)
static struct value *fraction(struct build *b, struct value *x) {
  return build_sub(b, x, build_unop(b, OP_FLOOR, x));
}

// Of x > 0 by x + SHIFT, where the asymptotic series holds (DLMF 5.11.2); of x < 0 by 1 - x
// (DLMF 5.5.4).
static struct value *digamma(struct build *b, struct value *x) {
  enum { SHIFT = 10, TERMS = 8 };
  static const double series[TERMS] = {0,         -1 / 12.0,  1 / 120.0,     -1 / 252.0,
                                       1 / 240.0, -1 / 132.0, 691 / 32760.0, -1 / 12.0};
  struct value *is_below = build_real(b, OP_LT_TENSOR, x, 0);
  struct value *y = build_where(b, is_below, compose_less(b, 1, x), x);
  struct value *w = compose_more(b, y, SHIFT), *v = build_unop(b, OP_RECIPROCAL, w);
  struct value *sum = polynomial(b, build_mul(b, v, v), TERMS, series);
  sum = build_sub(b, build_add(b, build_unop(b, OP_LOG, w), sum), build_scale(b, v, 0.5));
  for (int k = SHIFT; k-- > 0;)
    sum = build_sub(b, sum, build_unop(b, OP_RECIPROCAL, k ? compose_more(b, y, k) : y));
  struct value *f = fraction(b, x), *is_whole = build_real(b, OP_EQ_TENSOR, f, 0);
  if (!is_whole)
    return NULL;
  f = build_where(b, is_whole, build_number(b, 0.5, f->dtype), f); // has a gradient everywhere
  struct value *pole = build_unop(b, OP_TAN, build_scale(b, f, M_PI));
  pole = build_scale(b, build_unop(b, OP_RECIPROCAL, pole), M_PI);
  pole = build_where(b, is_whole, build_number(b, (double)NAN, f->dtype), pole);
  return build_where(b, is_below, build_sub(b, sum, pole), sum);
}

void compose_digamma(struct build *b, struct node *n) {
  n->results[0] = give_float(b, digamma(b, build_convert(b, X, DTYPE_F64)), X);
}

static struct value *power(struct build *b, struct value *x, struct value *minus_s) {
  return build_binop(b, OP_POW_TENSOR_TENSOR, x, minus_s);
}

// The sum of (q + k)^-s for k = 0, 1, .., of q > 0 and s > 1, by the Euler-Maclaurin formula from
// k = SHIFT on (DLMF 25.11.5).
static struct value *zeta_above(struct build *b, struct value *s, struct value *q) {
  enum { SHIFT = 9, TERMS = 7 };
  // Bernoulli numbers B(2k) over (2k)!
  static const double c[TERMS] = {1 / 12.0,         -1 / 720.0,     1 / 30240.0,
                                  -1 / 1209600.0,   1 / 47900160.0, -691 / 1307674368000.0,
                                  1 / 74724249600.0};
  if (!s || !q)
    return NULL;
  struct dims terms = dims_one(q->rank > s->rank ? q->rank : s->rank);
  struct value *each = build_iota(b, compose_const(b, SHIFT), q->rank, q->rank + 1);
  each = power(b, build_add(b, build_unsqueeze(b, q, q->rank), each),
               build_unop(b, OP_NEG, build_unsqueeze(b, s, s->rank)));
  struct value *sum = build_sum(b, each, &terms, false), *w = compose_more(b, q, SHIFT);
  // Where s is large the rest is 0: its factors stay finite.
  struct value *t = build_real(b, OP_MINIMUM, s, 1e6), *v = build_unop(b, OP_RECIPROCAL, w);
  struct value *v2 = build_mul(b, v, v), *factor = build_mul(b, t, v);
  struct value *rest = compose_more(b, build_scale(b, factor, c[0]), 0.5);
  for (int k = 1; k < TERMS; k++) {
    factor = build_mul(b, factor, compose_more(b, t, 2 * k - 1));
    factor = build_mul(b, build_mul(b, factor, compose_more(b, t, 2 * k)), v2);
    rest = build_add(b, rest, build_scale(b, factor, c[k]));
  }
  struct value *last = power(b, w, build_unop(b, OP_NEG, t));
  struct value *integral = build_div(b, power(b, w, compose_less(b, 1, t)), compose_more(b, t, -1));
  return build_add(b, sum, build_add(b, integral, build_mul(b, last, rest)));
}

// The Hurwitz zeta function. For q < 0 and an integer s, with the fraction f of q, the terms of
// q + k < 0 are the first ones of zeta(s, 1 - f):
//   zeta(s, q) = zeta(s, f) + (-1)^s (zeta(s, 1 - f) - zeta(s, 1 - q))
static struct value *zeta(struct build *b, struct value *s, struct value *q) {
  struct value *is_above = build_real(b, OP_GT_TENSOR, q, 0);
  struct value *is_pole = build_binop(b, OP_EQ_TENSOR, build_unop(b, OP_FLOOR, q), q);
  if (!is_above || !is_pole)
    return NULL;
  // Elsewhere the formula is of another number, so that it has a gradient everywhere.
  struct value *other = build_where(b, build_binop(b, OP_LOGICAL_OR, is_above, is_pole),
                                    build_number(b, -0.5, q->dtype), q);
  struct value *f = fraction(b, other);
  struct value *v = zeta_above(b, s, build_where(b, is_above, q, f));
  struct value *below = build_sub(b, zeta_above(b, s, compose_less(b, 1, f)),
                                  zeta_above(b, s, compose_less(b, 1, other)));
  struct value *is_odd = build_real(b, OP_NE_TENSOR, fraction(b, build_scale(b, s, 0.5)), 0);
  below = build_where(b, is_odd, build_unop(b, OP_NEG, below), below);
  struct value *is_whole = build_real(b, OP_EQ_TENSOR, fraction(b, s), 0);
  below = build_where_else(b, is_whole, build_add(b, v, below), (double)NAN);
  below = build_where_else(b, build_unop(b, OP_LOGICAL_NOT, is_pole), below, (double)INFINITY);
  struct value *is_number = build_unop(b, OP_LOGICAL_NOT, build_unop(b, OP_ISNAN, q));
  v = build_where(b, is_above, v, build_where_else(b, is_number, below, (double)NAN));
  v = build_where_else(b, build_real(b, OP_NE_TENSOR, s, 1), v, (double)INFINITY);
  struct value *is_outside = build_real(b, OP_LT_TENSOR, s, 1);
  return build_where_else(b, build_unop(b, OP_LOGICAL_NOT, is_outside), v, (double)NAN);
}

// self other, of which one may be a number
void compose_zeta(struct build *b, struct node *n) {
  enum dtype t = promote(n->args, 2, PROMOTE_FLOAT);
  struct value *s =
      X ? build_convert(b, X, DTYPE_F64) : build_number(b, node_real(n, 0), DTYPE_F64);
  struct value *q =
      Y ? build_convert(b, Y, DTYPE_F64) : build_number(b, node_real(n, 1), DTYPE_F64);
  if (!X && !Y)
    compose_error(b, n, E1003, "none of the operands is a tensor");
  else
    n->results[0] = build_convert(b, zeta(b, s, q), t);
}

// The derivative of order `order` of digamma: (-1)^(order + 1) order! zeta(order + 1, x)
static void polygamma(struct build *b, struct node *n, struct value *x, int64_t order) {
  if (order < 0 || order > 20) {
    compose_error(b, n, E1003, "a derivative of order %lld; the order is 0 to 20",
                  (long long)order);
    return;
  }
  struct value *y = build_convert(b, x, DTYPE_F64), *v = NULL;
  if (order == 0)
    v = digamma(b, y);
  else
    v = build_scale(b, zeta(b, build_number(b, (double)(order + 1), DTYPE_F64), y),
                    (order % 2 ? 1 : -1) * tgamma((double)order + 1));
  n->results[0] = give_float(b, v, x);
}

void compose_polygamma(struct build *b, struct node *n) { polygamma(b, n, Y, node_int(n, 0)); }
