// SPDX-License-Identifier: Apache-2.0
// Rules of softmax, norms and losses: PyTorch's backward operators, from the saved statistics. If
// the statistics have gradients themselves, as in second derivatives, the operator is expanded.
#include "graph/autodiff/gradient_rules.h"

static bool only_first(const struct node *n, struct value *const *g) {
  for (uint32_t i = 1; i < n->result_count; i++)
    if (g[i])
      return false;
  return true;
}

// Gives the results of a backward operator to the operands that `to` names.
static void give_all(struct gradient *d, const struct node *n, const struct node *all,
                     const unsigned to[static 3], const bool mask[static 3]) {
  for (unsigned i = 0; i < 3; i++)
    if (mask[i])
      gradient_give(d, n, to[i], all ? all->results[i] : NULL);
}

// self dim ..
void rule_softmax(struct gradient *d, const struct node *n, struct value *const *g) {
  bool is_log = n->op == OP_LOG_SOFTMAX || n->op == OP_LOG_SOFTMAX_INT;
  gradient_give(d, n, 0,
                BUILD(&d->b, is_log ? OP_LOG_SOFTMAX_BACKWARD : OP_SOFTMAX_BACKWARD, TENSOR(g[0]),
                      TENSOR(n->results[0]), n->args[1], ARG_D(node_value(n, 0)->dtype)));
}

// input normalized_shape weight bias eps; y mean rstd
void rule_layer_norm(struct gradient *d, const struct node *n, struct value *const *g) {
  static const unsigned to[] = {0, 2, 3};
  bool mask[3];
  for (unsigned i = 0; i < 3; i++)
    mask[i] = gradient_wants_arg(d, n, to[i]);
  if (!only_first(n, g)) {
    gradient_expand(d, n, g);
    return;
  }
  struct arg args[] = {
      TENSOR(g[0]),          n->args[0], n->args[1], TENSOR(n->results[1]),
      TENSOR(n->results[2]), n->args[2], n->args[3], gradient_mask(&d->b, 3, mask)};
  give_all(d, n, graph_append(d->b.g, OP_NATIVE_LAYER_NORM_BACKWARD, args, COUNT_OF(args), d->b.at),
           to, mask);
}

// input normalized_shape weight eps; y rstd
void rule_rms_norm(struct gradient *d, const struct node *n, struct value *const *g) {
  bool mask[3] = {gradient_wants_arg(d, n, 0), gradient_wants_arg(d, n, 2)};
  static const unsigned to[] = {0, 2, 2};
  if (!only_first(n, g)) {
    gradient_expand(d, n, g);
    return;
  }
  struct arg args[] = {TENSOR(g[0]),          n->args[0], n->args[1],
                       TENSOR(n->results[1]), n->args[2], gradient_mask(&d->b, 2, mask)};
  give_all(d, n, graph_append(d->b.g, OP_RMS_NORM_BACKWARD, args, COUNT_OF(args), d->b.at), to,
           mask);
}

// input weight bias N C HxW group eps; y mean rstd
void rule_group_norm(struct gradient *d, const struct node *n, struct value *const *g) {
  static const unsigned to[] = {0, 1, 2};
  bool mask[3];
  for (unsigned i = 0; i < 3; i++)
    mask[i] = gradient_wants_arg(d, n, i);
  if (!only_first(n, g)) {
    gradient_expand(d, n, g);
    return;
  }
  struct arg args[] = {TENSOR(g[0]),
                       n->args[0],
                       TENSOR(n->results[1]),
                       TENSOR(n->results[2]),
                       n->args[1],
                       n->args[3],
                       n->args[4],
                       n->args[5],
                       n->args[6],
                       gradient_mask(&d->b, 3, mask)};
  give_all(d, n, graph_append(d->b.g, OP_GROUP_NORM_BACKWARD, args, COUNT_OF(args), d->b.at), to,
           mask);
}

// input weight bias running_mean running_var [training] momentum eps; y save_mean save_invstd ..
// Gradients for running statistics themselves are those of the expansion.
void rule_batch_norm(struct gradient *d, const struct node *n, struct value *const *g) {
  static const unsigned to[] = {0, 1, 2};
  bool mask[3], is_functional = n->op == OP_NATIVE_BATCH_NORM_FUNCTIONAL;
  for (unsigned i = 0; i < 3; i++)
    mask[i] = gradient_wants_arg(d, n, i);
  if (!only_first(n, g) || gradient_wants_arg(d, n, 3) || gradient_wants_arg(d, n, 4)) {
    gradient_expand(d, n, g);
    return;
  }
  bool trains = is_functional && node_truth(n, 5);
  struct arg args[] = {TENSOR(g[0]),
                       n->args[0],
                       n->args[1],
                       n->args[3],
                       n->args[4],
                       TENSOR(n->results[1]),
                       TENSOR(n->results[2]),
                       ARG_B(trains),
                       n->args[is_functional ? 7 : 6],
                       gradient_mask(&d->b, 3, mask)};
  give_all(d, n, graph_append(d->b.g, OP_NATIVE_BATCH_NORM_BACKWARD, args, COUNT_OF(args), d->b.at),
           to, mask);
}

// self target weight reduction ignore_index; loss total_weight
void rule_nll_loss(struct gradient *d, const struct node *n, struct value *const *g) {
  if (!only_first(n, g) || gradient_wants_arg(d, n, 2)) {
    gradient_expand(d, n, g);
    return;
  }
  gradient_give(d, n, 0,
                BUILD(&d->b, OP_NLL_LOSS_BACKWARD, TENSOR(g[0]), n->args[0], n->args[1], n->args[2],
                      n->args[3], n->args[4], TENSOR(n->results[1])));
}
