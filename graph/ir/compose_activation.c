// SPDX-License-Identifier: Apache-2.0
// Composed activations and their gradients.
#include "graph/ir/compose.h"

#define X node_value(n, 0)
#define Y node_value(n, 1)
#define A(i) n->args[i]

static struct value *softplus(struct build *b, struct value *x) {
  return BUILD(b, OP_SOFTPLUS, TENSOR(x));
}

void compose_mish(struct build *b, struct node *n) {
  n->results[0] = build_mul(b, X, build_unop(b, OP_TANH, softplus(b, X)));
}

void compose_mish_backward(struct build *b, struct node *n) {
  struct value *t = build_unop(b, OP_TANH, softplus(b, Y));
  struct value *slope = build_mul(b, build_mul(b, Y, build_unop(b, OP_SIGMOID, Y)),
                                  compose_less(b, 1, build_mul(b, t, t)));
  n->results[0] = build_mul(b, X, build_add(b, t, slope));
}

void compose_celu(struct build *b, struct node *n) {
  double alpha = node_real(n, 1);
  n->results[0] = BUILD(b, OP_ELU, TENSOR(X), ARG_F(alpha), ARG_F(1), ARG_F(1 / alpha));
}

// min(x, 0) - log1p(exp(-|x|)); the second result is the buffer that PyTorch keeps on CPUs
void compose_log_sigmoid(struct build *b, struct node *n) {
  struct value *low = build_unop(b, OP_EXP, build_unop(b, OP_NEG, build_unop(b, OP_ABS, X)));
  n->results[0] = build_sub(b, build_real(b, OP_MINIMUM, X, 0), build_unop(b, OP_LOG1P, low));
  n->results[1] = low;
}

void compose_log_sigmoid_backward(struct build *b, struct node *n) {
  n->results[0] = build_mul(b, X, build_unop(b, OP_SIGMOID, build_unop(b, OP_NEG, Y)));
}

void compose_threshold(struct build *b, struct node *n) {
  struct value *above = BUILD(b, OP_LE_TENSOR, A(0), A(1));
  n->results[0] = build_where_else(b, build_unop(b, OP_LOGICAL_NOT, above), X, node_real(n, 2));
}

void compose_leaky_relu_backward(struct build *b, struct node *n) {
  struct value *low = build_scale(b, X, node_real(n, 2));
  n->results[0] = build_where(b, build_real(b, OP_GT_TENSOR, Y, 0), X, low);
}

// grad_output alpha scale input_scale is_result self_or_result
void compose_elu_backward(struct build *b, struct node *n) {
  double alpha = node_real(n, 1), scale = node_real(n, 2), by = node_real(n, 3);
  struct value *x = node_value(n, 5), *slope;
  if (node_truth(n, 4))
    slope = build_scale(b, compose_more(b, x, alpha * scale), by);
  else
    slope = build_scale(b, build_unop(b, OP_EXP, build_scale(b, x, by)), alpha * scale * by);
  n->results[0] = build_where(b, build_real(b, OP_LE_TENSOR, x, 0), build_mul(b, X, slope),
                              build_scale(b, X, scale));
}

void compose_softplus_backward(struct build *b, struct node *n) {
  struct value *scaled = build_scale(b, Y, node_real(n, 2));
  struct value *large = build_real(b, OP_GT_TENSOR, scaled, node_real(n, 3));
  n->results[0] = build_where(b, large, X, build_mul(b, X, build_unop(b, OP_SIGMOID, scaled)));
}

// The two parts of `self` along the dimension.
static bool split_in_two(struct build *b, struct node *n, struct value *x, unsigned arg,
                         struct value **ret_first, struct value **ret_second, uint32_t *ret_dim) {
  uint32_t dim = x->rank ? compose_dim(b, n, arg, x->rank) : 0;
  if (dim >= x->rank || !expr_is_multiple(x->shape[dim], 2)) {
    compose_error(b, n, E1004, "the size of the dimension is odd");
    return false;
  }
  const struct expr *size = x->shape[dim],
                    *half = expr_floordiv(b->g->exprs, size, compose_const(b, 2));
  *ret_first = build_slice(b, x, dim, compose_const(b, 0), half, 1);
  *ret_second = build_slice(b, x, dim, half, size, 1);
  *ret_dim = dim;
  return true;
}

void compose_glu(struct build *b, struct node *n) {
  struct value *first, *second;
  uint32_t dim;
  if (split_in_two(b, n, X, 1, &first, &second, &dim))
    n->results[0] = build_mul(b, first, build_unop(b, OP_SIGMOID, second));
}

void compose_glu_backward(struct build *b, struct node *n) {
  struct value *parts[2], *first, *second;
  uint32_t dim;
  if (!split_in_two(b, n, Y, 2, &first, &second, &dim))
    return;
  struct value *s = build_unop(b, OP_SIGMOID, second);
  parts[0] = build_mul(b, X, s);
  parts[1] = build_mul(b, build_mul(b, parts[0], compose_less(b, 1, s)), first);
  if (parts[0] && parts[1])
    n->results[0] = BUILD(b, OP_CAT, arg_values(b->g, 2, parts), arg_int(b->g, dim));
}

void compose_prelu(struct build *b, struct node *n) {
  n->results[0] = build_where(b, build_real(b, OP_GT_TENSOR, X, 0), X, build_mul(b, Y, X));
}

// grad_output self weight: gradients of self and of the broadcast weight
void compose_prelu_backward(struct build *b, struct node *n) {
  struct value *above = build_real(b, OP_GT_TENSOR, Y, 0), *weight = node_value(n, 2);
  n->results[0] = build_where(b, above, X, build_mul(b, weight, X));
  n->results[1] = build_where(b, above, build_number(b, 0, X->dtype), build_mul(b, Y, X));
}

// Zero between -lambda and lambda; `part` is applied outside.
void compose_hardshrink(struct build *b, struct node *n) {
  struct value *inside = build_real(b, OP_LE_TENSOR, build_unop(b, OP_ABS, X), node_real(n, 1));
  n->results[0] = build_where_else(b, build_unop(b, OP_LOGICAL_NOT, inside), X, 0);
}

void compose_softshrink(struct build *b, struct node *n) {
  double lambda = node_real(n, 1);
  struct value *low =
      build_where_else(b, build_unop(b, OP_LOGICAL_NOT, build_real(b, OP_GE_TENSOR, X, -lambda)),
                       compose_more(b, X, lambda), 0);
  n->results[0] =
      build_where(b, build_real(b, OP_GT_TENSOR, X, lambda), compose_more(b, X, -lambda), low);
}

// grad_output self lambda: for hardshrink and softshrink
void compose_shrink_backward(struct build *b, struct node *n) {
  struct value *inside = build_real(b, OP_LE_TENSOR, build_unop(b, OP_ABS, Y), node_real(n, 2));
  n->results[0] = build_where_else(b, build_unop(b, OP_LOGICAL_NOT, inside), X, 0);
}

// ---- leaky units whose slope is random in training ----

static bool is_plain(struct build *b, const struct node *n, unsigned training) {
  if (node_truth(n, training))
    compose_error(b, n, E1008, "random slopes in training: use `leaky_relu`");
  return !node_truth(n, training);
}

static double mean_slope(const struct node *n, unsigned lower) {
  return (node_real(n, lower) + node_real(n, lower + 1)) / 2;
}

// self lower upper training
void compose_rrelu(struct build *b, struct node *n) {
  if (is_plain(b, n, 3))
    n->results[0] = BUILD(b, OP_LEAKY_RELU, A(0), ARG_F(mean_slope(n, 1)));
}

// self noise lower upper training
void compose_rrelu_noise(struct build *b, struct node *n) {
  if (!is_plain(b, n, 4))
    return;
  n->results[0] = BUILD(b, OP_LEAKY_RELU, A(0), ARG_F(mean_slope(n, 2)));
  n->results[1] = Y;
}

// grad_output self noise lower upper training self_is_result
void compose_rrelu_backward(struct build *b, struct node *n) {
  if (is_plain(b, n, 5))
    n->results[0] =
        BUILD(b, OP_LEAKY_RELU_BACKWARD, A(0), A(1), ARG_F(mean_slope(n, 3)), ARG_B(false));
}
