// SPDX-License-Identifier: Apache-2.0
// Rules of arithmetic. Operands may be numbers, which have no gradient.
#include "graph/autodiff/gradient_rules.h"

// g times argument i, a tensor or a number.
static struct value *times(struct build *b, struct value *g, const struct node *n, unsigned i) {
  bool is_one = n->args[i].kind == ARG_INT && expr_is(n->args[i].number, 1);
  return is_one ? g : BUILD(b, OP_MUL_TENSOR, TENSOR(g), n->args[i]);
}

static struct value *square(struct build *b, struct value *x) { return build_mul(b, x, x); }

static struct value *negative(struct build *b, struct value *x) { return build_unop(b, OP_NEG, x); }

// x where the condition is false, else 0.
static struct value *zero_where(struct build *b, struct value *condition, struct value *x) {
  return x ? build_where(b, condition, build_number(b, 0, x->dtype), x) : NULL;
}

// self + alpha other
void rule_add(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0, g[0]);
  if (gradient_wants_arg(d, n, 1))
    gradient_give(d, n, 1, times(&d->b, g[0], n, 2));
}

// self - alpha other
void rule_sub(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0, g[0]);
  if (gradient_wants_arg(d, n, 1))
    gradient_give(d, n, 1, negative(&d->b, times(&d->b, g[0], n, 2)));
}

// other - alpha self
void rule_rsub(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0, negative(&d->b, times(&d->b, g[0], n, 2)));
}

void rule_mul(struct gradient *d, const struct node *n, struct value *const *g) {
  for (unsigned i = 0; i < 2; i++)
    if (gradient_wants_arg(d, n, i))
      gradient_give(d, n, i, times(&d->b, g[0], n, 1 - i));
}

// y = self / other: g / other, -y g / other
void rule_div(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *share = BUILD(b, OP_DIV_TENSOR, TENSOR(g[0]), n->args[1]);
  gradient_give(d, n, 0, share);
  if (gradient_wants_arg(d, n, 1))
    gradient_give(d, n, 1, negative(b, build_mul(b, share, n->results[0])));
}

// Rounded quotients are constant in pieces.
void rule_div_mode(struct gradient *d, const struct node *n, struct value *const *g) {
  if (node_is_none(n, 2))
    rule_div(d, n, g);
}

// self - other rounded(self / other)
void rule_remainder(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  gradient_give(d, n, 0, g[0]);
  if (!gradient_wants_arg(d, n, 1))
    return;
  bool is_floor = n->op == OP_REMAINDER_TENSOR || n->op == OP_REMAINDER_SCALAR;
  struct arg word = {.kind = ARG_STRING, .string = str_from(is_floor ? "floor" : "trunc")};
  struct value *quotient = BUILD(b, OP_DIV_TENSOR_MODE, n->args[0], n->args[1], word);
  gradient_give(d, n, 1, negative(b, build_mul(b, g[0], quotient)));
}

// x ^ c: c x ^ (c - 1), and 0 for c = 0, also where x is.
void rule_pow_number(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  const struct arg *c = &n->args[1];
  if (c->kind == ARG_INT) {
    struct arg less = ARG_E(expr_addi(b->g->exprs, c->number, -1));
    if (expr_is(c->number, 0))
      gradient_give(d, n, 0, gradient_zeros(b, x));
    else
      gradient_give(
          d, n, 0,
          times(b, build_mul(b, g[0], BUILD(b, OP_POW_TENSOR_SCALAR, TENSOR(x), less)), n, 1));
    return;
  }
  double exponent = node_real(n, 1);
  struct value *slope =
      build_scale(b, build_real(b, OP_POW_TENSOR_SCALAR, x, exponent - 1), exponent);
  gradient_give(d, n, 0, exponent == 0 ? gradient_zeros(b, x) : build_mul(b, g[0], slope));
}

// y = x ^ c: c x ^ (c - 1), and 0 where c is; y log x, and 0 where x is and c is not negative.
void rule_pow(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct arg zero = arg_int(b->g, 0);
  if (gradient_wants_arg(d, n, 0)) {
    struct value *less = BUILD(b, OP_SUB_TENSOR, n->args[1], arg_int(b->g, 1));
    struct value *power = BUILD(b, OP_POW_TENSOR_TENSOR, n->args[0], TENSOR(less));
    struct value *slope = times(b, power, n, 1);
    struct value *is_constant = BUILD(b, OP_EQ_TENSOR, n->args[1], zero);
    gradient_give(d, n, 0, build_mul(b, g[0], zero_where(b, is_constant, slope)));
  }
  if (!gradient_wants_arg(d, n, 1))
    return;
  struct value *y = n->results[0], *base = node_value(n, 0);
  if (!base)
    base = build_number(b, node_real(n, 0), y->dtype);
  struct value *is_zero = build_binop(b, OP_LOGICAL_AND, BUILD(b, OP_EQ_TENSOR, TENSOR(base), zero),
                                      BUILD(b, OP_GE_TENSOR, n->args[1], zero));
  struct value *slope = build_mul(b, y, build_unop(b, OP_LOG, base));
  gradient_give(d, n, 1, build_mul(b, g[0], zero_where(b, is_zero, slope)));
}

// The angle of (other, self).
void rule_atan2(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *squares[2];
  for (unsigned i = 0; i < 2; i++)
    squares[i] = node_value(n, i)
                     ? square(b, node_value(n, i))
                     : build_number(b, node_real(n, i) * node_real(n, i), n->results[0]->dtype);
  struct value *share = build_div(b, g[0], build_add(b, squares[0], squares[1]));
  gradient_give(d, n, 0, times(b, share, n, 1));
  if (gradient_wants_arg(d, n, 1))
    gradient_give(d, n, 1, negative(b, times(b, share, n, 0)));
}

// self other + addend
void rule_fma(struct gradient *d, const struct node *n, struct value *const *g) {
  rule_mul(d, n, g);
  gradient_give(d, n, 2, g[0]);
}

void rule_neg(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0, negative(&d->b, g[0]));
}

void rule_abs(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  gradient_give(d, n, 0, build_mul(b, g[0], build_unop(b, OP_SIGN, node_value(n, 0))));
}
