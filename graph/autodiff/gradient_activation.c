// SPDX-License-Identifier: Apache-2.0
// Rules of activations and dropout: PyTorch's backward operators, which are one expression each.
#include "graph/autodiff/gradient_rules.h"

// 0 where the result is, as in PyTorch.
void rule_relu(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  gradient_give(
      d, n, 0,
      BUILD(b, OP_THRESHOLD_BACKWARD, TENSOR(g[0]), TENSOR(n->results[0]), arg_int(b->g, 0)));
}

void rule_gelu(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0, BUILD(&d->b, OP_GELU_BACKWARD, TENSOR(g[0]), n->args[0], n->args[1]));
}

void rule_silu(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0, build_binop(&d->b, OP_SILU_BACKWARD, g[0], node_value(n, 0)));
}

void rule_hardtanh(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(
      d, n, 0,
      BUILD(&d->b, OP_HARDTANH_BACKWARD, TENSOR(g[0]), n->args[0], n->args[1], n->args[2]));
}

void rule_hardswish(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0, build_binop(&d->b, OP_HARDSWISH_BACKWARD, g[0], node_value(n, 0)));
}

void rule_hardsigmoid(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0, build_binop(&d->b, OP_HARDSIGMOID_BACKWARD, g[0], node_value(n, 0)));
}

void rule_leaky_relu(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(
      d, n, 0,
      BUILD(&d->b, OP_LEAKY_RELU_BACKWARD, TENSOR(g[0]), n->args[0], n->args[1], ARG_B(false)));
}

// self alpha scale input_scale
void rule_elu(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0,
                BUILD(&d->b, OP_ELU_BACKWARD, TENSOR(g[0]), n->args[1], n->args[2], n->args[3],
                      ARG_B(false), n->args[0]));
}

// self beta threshold
void rule_softplus(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(
      d, n, 0,
      BUILD(&d->b, OP_SOFTPLUS_BACKWARD, TENSOR(g[0]), n->args[0], n->args[1], n->args[2]));
}

// input p train; results y and the mask of what is kept. Nothing is drawn again.
void rule_dropout(struct gradient *d, const struct node *n, struct value *const *g) {
  double p = node_real(n, 1), scale = p < 1 ? 1 / (1 - p) : 0;
  bool trains = node_is_none(n, 2) || node_truth(n, 2);
  if (!g[0])
    return;
  gradient_give(d, n, 0,
                trains ? BUILD(&d->b, OP_NATIVE_DROPOUT_BACKWARD, TENSOR(g[0]),
                               TENSOR(n->results[1]), ARG_F(scale))
                       : g[0]);
}
