// SPDX-License-Identifier: Apache-2.0
// Rules of functions of one number: the gradient times the derivative, in terms of the operand x or
// of the result y.
#include "graph/autodiff/gradient_rules.h"

#define LN_2 0.69314718055994530942
#define TWO_OVER_SQRT_PI 1.12837916709551257390
#define HALF_SQRT_PI 0.88622692545275801365
#define SQRT_2_PI 2.50662827463100050242

static struct value *square(struct build *b, struct value *x) { return build_mul(b, x, x); }

// x + number, number - x
static struct value *more(struct build *b, struct value *x, double number) {
  return build_real(b, OP_ADD_TENSOR, x, number);
}
static struct value *less(struct build *b, double number, struct value *x) {
  return BUILD(b, OP_SUB_TENSOR, ARG_F(number), TENSOR(x));
}

// exp(times x^2)
static struct value *exp_square(struct build *b, struct value *x, double times) {
  return build_unop(b, OP_EXP, build_scale(b, square(b, x), times));
}

static void give_slope(struct gradient *d, const struct node *n, struct value *g,
                       struct value *slope) {
  gradient_give(d, n, 0, build_mul(&d->b, g, slope));
}

// Of integers the function is of their conversion; they have no gradient.
void rule_exponential(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0), *y = n->results[0];
  switch (n->op) {
  case OP_EXP: give_slope(d, n, g[0], y); break;
  case OP_EXP2: give_slope(d, n, g[0], build_scale(b, y, LN_2)); break;
  case OP_EXPM1: give_slope(d, n, g[0], more(b, y, 1)); break;
  case OP_LOG: gradient_give(d, n, 0, build_div(b, g[0], x)); break;
  case OP_LOG2: gradient_give(d, n, 0, build_div(b, g[0], build_scale(b, x, LN_2))); break;
  default: gradient_give(d, n, 0, build_div(b, g[0], more(b, x, 1))); break; // log1p
  }
}

void rule_root(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *y = n->results[0];
  if (n->op == OP_SQRT)
    gradient_give(d, n, 0, build_div(b, g[0], build_scale(b, y, 2)));
  else if (n->op == OP_RSQRT)
    give_slope(d, n, g[0], build_scale(b, build_mul(b, square(b, y), y), -0.5));
  else // reciprocal
    give_slope(d, n, g[0], build_unop(b, OP_NEG, square(b, y)));
}

void rule_trigonometric(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0), *y = n->results[0], *slope;
  switch (n->op) {
  case OP_SIN: slope = build_unop(b, OP_COS, x); break;
  case OP_COS: slope = build_unop(b, OP_NEG, build_unop(b, OP_SIN, x)); break;
  case OP_TAN: slope = more(b, square(b, y), 1); break;
  case OP_ATAN: slope = build_unop(b, OP_RECIPROCAL, more(b, square(b, x), 1)); break;
  default: // asin, acos
    slope = build_unop(b, OP_RSQRT, less(b, 1, square(b, x)));
    slope = n->op == OP_ACOS ? build_unop(b, OP_NEG, slope) : slope;
  }
  give_slope(d, n, g[0], slope);
}

void rule_hyperbolic(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0), *y = n->results[0];
  if (n->op == OP_SINH)
    give_slope(d, n, g[0], build_unop(b, OP_COSH, x));
  else if (n->op == OP_COSH)
    give_slope(d, n, g[0], build_unop(b, OP_SINH, x));
  else
    gradient_give(
        d, n, 0,
        build_binop(b, n->op == OP_TANH ? OP_TANH_BACKWARD : OP_SIGMOID_BACKWARD, g[0], y));
}

// The error function and its relatives.
void rule_normal(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0), *y = n->results[0], *slope;
  switch (n->op) {
  case OP_ERF: slope = build_scale(b, exp_square(b, x, -1), TWO_OVER_SQRT_PI); break;
  case OP_ERFC: slope = build_scale(b, exp_square(b, x, -1), -TWO_OVER_SQRT_PI); break;
  case OP_ERFINV: slope = build_scale(b, exp_square(b, y, 1), HALF_SQRT_PI); break;
  case OP_ERFCX: slope = more(b, build_scale(b, build_mul(b, x, y), 2), -TWO_OVER_SQRT_PI); break;
  default: slope = build_scale(b, exp_square(b, y, 0.5), SQRT_2_PI); break; // ndtri
  }
  give_slope(d, n, g[0], slope);
}

void rule_lgamma(struct gradient *d, const struct node *n, struct value *const *g) {
  give_slope(d, n, g[0], build_unop(&d->b, OP_DIGAMMA, node_value(n, 0)));
}

// y(x) / x, and its limit 1/2 at 0 for the functions of order 1 that are finite there.
static struct value *over_x(struct build *b, struct value *y, struct value *x, bool is_finite) {
  if (!is_finite || !x)
    return build_div(b, y, x);
  struct value *is_zero = build_real(b, OP_EQ_TENSOR, x, 0);
  struct value *safe = build_where(b, is_zero, build_number(b, 1, x->dtype), x);
  return build_where(b, is_zero, build_number(b, 0.5, x->dtype), build_div(b, y, safe));
}

// Abramowitz and Stegun, 9.1.27, 9.1.28, 9.6.26, 9.6.27.
void rule_bessel(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0), *y = n->results[0], *slope;
  switch (n->op) {
  case OP_BESSEL_J0: slope = build_unop(b, OP_NEG, build_unop(b, OP_BESSEL_J1, x)); break;
  case OP_BESSEL_Y0: slope = build_unop(b, OP_NEG, build_unop(b, OP_BESSEL_Y1, x)); break;
  case OP_BESSEL_I0: slope = build_unop(b, OP_BESSEL_I1, x); break;
  case OP_BESSEL_J1:
    slope = build_sub(b, build_unop(b, OP_BESSEL_J0, x), over_x(b, y, x, true));
    break;
  case OP_BESSEL_I1:
    slope = build_sub(b, build_unop(b, OP_BESSEL_I0, x), over_x(b, y, x, true));
    break;
  default: slope = build_sub(b, build_unop(b, OP_BESSEL_Y0, x), over_x(b, y, x, false)); break;
  }
  give_slope(d, n, g[0], slope);
}
