// SPDX-License-Identifier: Apache-2.0
// Pointwise operators: with numbers, clamps, activations and their gradients.
#include "graph/passes/decompose.h"

#include <math.h>

// ---- numbers as operands ----

bool decompose_scalar_form(struct decompose *d, const struct node *n, struct value **ret) {
  static const struct {
    enum operator_id from, to;
  } forms[] = {{OP_MUL_SCALAR, OP_MUL_TENSOR},
               {OP_DIV_SCALAR, OP_DIV_TENSOR},
               {OP_REMAINDER_SCALAR, OP_REMAINDER_TENSOR},
               {OP_FMOD_SCALAR, OP_FMOD_TENSOR},
               {OP_CLAMP_MIN, OP_MAXIMUM},
               {OP_CLAMP_MAX, OP_MINIMUM},
               {OP_EQ_SCALAR, OP_EQ_TENSOR},
               {OP_NE_SCALAR, OP_NE_TENSOR},
               {OP_LT_SCALAR, OP_LT_TENSOR},
               {OP_LE_SCALAR, OP_LE_TENSOR},
               {OP_GT_SCALAR, OP_GT_TENSOR},
               {OP_GE_SCALAR, OP_GE_TENSOR},
               {OP_BITWISE_AND_SCALAR, OP_BITWISE_AND_TENSOR},
               {OP_BITWISE_OR_SCALAR, OP_BITWISE_OR_TENSOR},
               {OP_BITWISE_XOR_SCALAR, OP_BITWISE_XOR_TENSOR}};
  size_t i = 0;
  while (forms[i].from != n->op)
    i++;
  return decompose_is(d, n, ret, build_apply(&d->b, forms[i].to, 2, n->args));
}

// The operand times a number, as an operand.
static struct arg times(struct build *b, struct arg x, const struct arg *factor) {
  if (x.kind == ARG_INT && factor->kind == ARG_INT)
    return ARG_E(expr_mul(b->g->exprs, x.number, factor->number));
  if (x.kind == ARG_VALUE)
    return TENSOR(BUILD(b, OP_MUL_TENSOR, x, *factor));
  struct node both = {.args = (struct arg[]){x, *factor}, .arg_count = 2};
  return ARG_F(node_real(&both, 0) * node_real(&both, 1));
}

bool decompose_add(struct decompose *d, const struct node *n, struct value **ret) {
  bool is_sum = n->op == OP_ADD_TENSOR || n->op == OP_ADD_SCALAR,
       is_plain = node_is_number(n, 2, 1);
  if (is_plain && (n->op == OP_ADD_TENSOR || n->op == OP_SUB_TENSOR))
    return decompose_keep(d);
  struct arg other = is_plain ? n->args[1] : times(&d->b, n->args[1], &n->args[2]);
  return decompose_is(d, n, ret,
                      BUILD(&d->b, is_sum ? OP_ADD_TENSOR : OP_SUB_TENSOR, n->args[0], other));
}

bool decompose_rsub(struct decompose *d, const struct node *n, struct value **ret) {
  struct arg self = node_is_number(n, 2, 1) ? n->args[0] : times(&d->b, n->args[0], &n->args[2]);
  return decompose_is(d, n, ret, BUILD(&d->b, OP_SUB_TENSOR, n->args[1], self));
}

bool decompose_div_mode(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  if (node_is_none(n, 2))
    return decompose_is(d, n, ret, build_apply(b, OP_DIV_TENSOR, 2, n->args));
  if (node_is_word(n, 2, "floor"))
    return decompose_is(d, n, ret, build_apply(b, OP_FLOOR_DIVIDE, 2, n->args));
  if (dtype_is_float(n->results[0]->dtype))
    return decompose_is(d, n, ret,
                        build_unop(b, OP_TRUNC, build_apply(b, OP_DIV_TENSOR, 2, n->args)));
  // The remainder has the sign of the dividend; x minus it divides exactly.
  struct value *rest = build_apply(b, OP_FMOD_TENSOR, 2, n->args);
  struct value *whole = BUILD(b, OP_SUB_TENSOR, n->args[0], TENSOR(rest));
  return decompose_is(d, n, ret, BUILD(b, OP_FLOOR_DIVIDE, TENSOR(whole), n->args[1]));
}

bool decompose_pow(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  bool is_float = dtype_is_float(x->dtype);
  if (node_is_number(n, 1, 1))
    return decompose_is(d, n, ret, x);
  if (node_is_number(n, 1, 2))
    return decompose_is(d, n, ret, build_mul(b, x, x));
  if (node_is_number(n, 1, 3))
    return decompose_is(d, n, ret, build_mul(b, build_mul(b, x, x), x));
  if (node_is_number(n, 1, 4)) {
    struct value *square = build_mul(b, x, x);
    return decompose_is(d, n, ret, build_mul(b, square, square));
  }
  if (is_float && node_is_number(n, 1, 0))
    return decompose_is(d, n, ret, build_full(b, x->rank, x->shape, 1, x->dtype));
  if (is_float && node_is_number(n, 1, -1))
    return decompose_is(d, n, ret, build_unop(b, OP_RECIPROCAL, x));
  if (is_float && node_is_number(n, 1, 0.5))
    return decompose_is(d, n, ret, build_unop(b, OP_SQRT, x));
  if (is_float && node_is_number(n, 1, -0.5))
    return decompose_is(d, n, ret, build_unop(b, OP_RSQRT, x));
  return decompose_keep(d);
}

// ---- copies ----

bool decompose_same(struct decompose *d, const struct node *n, struct value **ret) {
  return decompose_is(d, n, ret, node_value(n, 0));
}

bool decompose_to_copy(struct decompose *d, const struct node *n, struct value **ret) {
  return decompose_is(d, n, ret, node_value(n, 0)); // decompose_is converts it
}

bool decompose_copy(struct decompose *d, const struct node *n, struct value **ret) {
  return decompose_is(d, n, ret, node_value(n, 1));
}

// ---- bounds ----

static struct value *between(struct build *b, struct value *x, struct arg low, struct arg high) {
  if (low.kind != ARG_NONE)
    x = BUILD(b, OP_MAXIMUM, TENSOR(x), low);
  if (high.kind != ARG_NONE)
    x = BUILD(b, OP_MINIMUM, TENSOR(x), high);
  return x;
}

bool decompose_clamp(struct decompose *d, const struct node *n, struct value **ret) {
  return decompose_is(d, n, ret, between(&d->b, node_value(n, 0), n->args[1], n->args[2]));
}

bool decompose_clamp_tensor(struct decompose *d, const struct node *n, struct value **ret) {
  return decompose_clamp(d, n, ret);
}

bool decompose_hardtanh(struct decompose *d, const struct node *n, struct value **ret) {
  return decompose_clamp(d, n, ret);
}

bool decompose_relu(struct decompose *d, const struct node *n, struct value **ret) {
  return decompose_is(d, n, ret, build_int(&d->b, OP_MAXIMUM, node_value(n, 0), 0));
}

// ---- activations ----

#define SQRT_HALF 0.70710678118654752440
#define TWO_OVER_SQRT_PI 1.12837916709551257390
#define TANH_CUBE 0.044715

// (1 + erf(x / sqrt(2))) / 2
static struct value *normal_cdf(struct build *b, struct value *x) {
  struct value *e = build_unop(b, OP_ERF, build_scale(b, x, SQRT_HALF));
  return build_scale(b, build_real(b, OP_ADD_TENSOR, e, 1), 0.5);
}

// tanh(sqrt(2 / pi) (x + 0.044715 x^3))
static struct value *gelu_tanh(struct build *b, struct value *x) {
  struct value *cube = build_mul(b, build_mul(b, x, x), x);
  struct value *inner = build_add(b, x, build_scale(b, cube, TANH_CUBE));
  return build_unop(b, OP_TANH, build_scale(b, inner, TWO_OVER_SQRT_PI * SQRT_HALF));
}

bool decompose_gelu(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = build_up(b, node_value(n, 0)), *part;
  if (node_is_word(n, 1, "tanh"))
    part = build_scale(b, build_real(b, OP_ADD_TENSOR, gelu_tanh(b, x), 1), 0.5);
  else
    part = normal_cdf(b, x);
  return decompose_is(d, n, ret, build_mul(b, x, part));
}

// d/dx of gelu.
static struct value *gelu_slope(struct build *b, struct value *x) {
  struct value *square = build_mul(b, x, x);
  struct value *density = build_scale(b, build_unop(b, OP_EXP, build_scale(b, square, -0.5)),
                                      TWO_OVER_SQRT_PI * SQRT_HALF * 0.5);
  return build_add(b, normal_cdf(b, x), build_mul(b, x, density));
}

static struct value *gelu_tanh_slope(struct build *b, struct value *x) {
  struct value *t = gelu_tanh(b, x), *square = build_mul(b, x, x);
  struct value *left = build_scale(b, build_real(b, OP_ADD_TENSOR, t, 1), 0.5);
  struct value *outer = BUILD(b, OP_SUB_TENSOR, ARG_F(1), TENSOR(build_mul(b, t, t)));
  struct value *inner = build_real(b, OP_ADD_TENSOR, build_scale(b, square, 3 * TANH_CUBE), 1);
  struct value *right = build_mul(b, build_mul(b, x, outer),
                                  build_scale(b, inner, TWO_OVER_SQRT_PI * SQRT_HALF * 0.5));
  return build_add(b, left, right);
}

bool decompose_gelu_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = build_up(b, node_value(n, 1));
  struct value *slope = node_is_word(n, 2, "tanh") ? gelu_tanh_slope(b, x) : gelu_slope(b, x);
  return decompose_is(d, n, ret, build_mul(b, build_up(b, node_value(n, 0)), slope));
}

bool decompose_silu(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = build_up(b, node_value(n, 0));
  return decompose_is(d, n, ret, build_mul(b, x, build_unop(b, OP_SIGMOID, x)));
}

// 1 - x
static struct value *complement(struct build *b, struct value *x) {
  return BUILD(b, OP_SUB_TENSOR, arg_int(b->g, 1), TENSOR(x));
}

bool decompose_silu_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = build_up(b, node_value(n, 1)), *s = build_unop(b, OP_SIGMOID, x);
  struct value *slope =
      build_mul(b, s, build_int(b, OP_ADD_TENSOR, build_mul(b, x, complement(b, s)), 1));
  return decompose_is(d, n, ret, build_mul(b, build_up(b, node_value(n, 0)), slope));
}

// min(max(x + 3, 0), 6) / 6
static struct value *hard_step(struct build *b, struct value *x) {
  struct value *y =
      between(b, build_int(b, OP_ADD_TENSOR, x, 3), arg_int(b->g, 0), arg_int(b->g, 6));
  return build_int(b, OP_DIV_TENSOR, y, 6);
}

bool decompose_hardswish(struct decompose *d, const struct node *n, struct value **ret) {
  struct value *x = build_up(&d->b, node_value(n, 0));
  return decompose_is(d, n, ret, build_mul(&d->b, x, hard_step(&d->b, x)));
}

bool decompose_hardsigmoid(struct decompose *d, const struct node *n, struct value **ret) {
  return decompose_is(d, n, ret, hard_step(&d->b, build_up(&d->b, node_value(n, 0))));
}

bool decompose_masked_fill(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0), *value = node_value(n, 2);
  value = value ? build_convert(b, value, x->dtype) : build_number(b, node_real(n, 2), x->dtype);
  return decompose_is(d, n, ret, build_where(b, node_value(n, 1), value, x));
}

bool decompose_leaky_relu(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = build_up(b, node_value(n, 0)), *is_positive = build_int(b, OP_GT_TENSOR, x, 0);
  return decompose_is(d, n, ret,
                      build_where(b, is_positive, x, build_scale(b, x, node_real(n, 1))));
}

bool decompose_elu(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = build_up(b, node_value(n, 0)), *is_positive = build_int(b, OP_GT_TENSOR, x, 0);
  double alpha = node_real(n, 1), scale = node_real(n, 2), input_scale = node_real(n, 3);
  struct value *low =
      build_scale(b, build_unop(b, OP_EXPM1, build_scale(b, x, input_scale)), alpha * scale);
  return decompose_is(d, n, ret, build_where(b, is_positive, build_scale(b, x, scale), low));
}

bool decompose_softplus(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  double beta = node_real(n, 1);
  struct value *x = build_up(b, node_value(n, 0)), *scaled = build_scale(b, x, beta);
  struct value *is_large = build_real(b, OP_GT_TENSOR, scaled, node_real(n, 2));
  struct value *soft = build_unop(b, OP_LOG1P, build_unop(b, OP_EXP, scaled));
  return decompose_is(d, n, ret,
                      build_where(b, is_large, x, build_real(b, OP_DIV_TENSOR, soft, beta)));
}

// ---- gradients ----

bool decompose_threshold_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *g = node_value(n, 0), *stops = BUILD(b, OP_LE_TENSOR, n->args[1], n->args[2]);
  return decompose_is(d, n, ret, build_where(b, stops, build_number(b, 0, g->dtype), g));
}

bool decompose_tanh_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *y = build_up(b, node_value(n, 1));
  struct value *slope = complement(b, build_mul(b, y, y));
  return decompose_is(d, n, ret, build_mul(b, build_up(b, node_value(n, 0)), slope));
}

bool decompose_sigmoid_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *y = build_up(b, node_value(n, 1));
  struct value *slope = build_mul(b, y, complement(b, y));
  return decompose_is(d, n, ret, build_mul(b, build_up(b, node_value(n, 0)), slope));
}

bool decompose_hardswish_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *g = build_up(b, node_value(n, 0)), *x = build_up(b, node_value(n, 1));
  struct value *slope = build_real(b, OP_ADD_TENSOR, build_int(b, OP_DIV_TENSOR, x, 3), 0.5);
  struct value *inner = build_where(b, build_int(b, OP_LT_TENSOR, x, 3), build_mul(b, g, slope), g);
  struct value *is_low = build_int(b, OP_LE_TENSOR, x, -3);
  return decompose_is(
      d, n, ret,
      build_where(b, is_low, build_number(b, 0, inner ? inner->dtype : DTYPE_F32), inner));
}

bool decompose_hardsigmoid_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *g = build_up(b, node_value(n, 0)), *x = build_up(b, node_value(n, 1));
  struct value *above = build_int(b, OP_GT_TENSOR, x, -3),
               *below = build_int(b, OP_LT_TENSOR, x, 3);
  struct value *slope = build_int(b, OP_DIV_TENSOR, g, 6);
  return decompose_is(d, n, ret,
                      build_where_else(b, build_binop(b, OP_LOGICAL_AND, above, below), slope, 0));
}

bool decompose_hardtanh_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *g = node_value(n, 0);
  struct value *low = BUILD(b, OP_LE_TENSOR, n->args[1], n->args[2]);
  struct value *high = BUILD(b, OP_GE_TENSOR, n->args[1], n->args[3]);
  return decompose_is(
      d, n, ret,
      build_where(b, build_binop(b, OP_LOGICAL_OR, low, high), build_number(b, 0, g->dtype), g));
}
