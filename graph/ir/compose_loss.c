// SPDX-License-Identifier: Apache-2.0
// Composed losses and their gradients.
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)
#define Y node_value(n, 1)

static struct value *with(struct build *b, enum operator_id op, struct value *x, double y) {
  return build_real(b, op, x, y);
}

static struct value *less(struct build *b, double y, struct value *x) {
  return BUILD(b, OP_SUB_TENSOR, ARG_F(y), TENSOR(x));
}

// ---- losses of differences: self target reduction, then a number ----

void compose_mse_loss(struct build *b, struct node *n) {
  struct value *d = build_sub(b, X, Y);
  n->results[0] = compose_reduced(b, n, 2, build_mul(b, d, d));
}

// grad_output self target reduction
void compose_mse_loss_backward(struct build *b, struct node *n) {
  struct value *d = build_sub(b, Y, node_value(n, 2));
  n->results[0] = build_mul(b, compose_spread(b, n, 3, build_scale(b, d, 2), Y), X);
}

// Quadratic within `beta`, linear outside: of slope 1, or of slope `beta` for the Huber loss.
static struct value *bend(struct build *b, struct value *d, double beta, bool huber) {
  struct value *size = build_unop(b, OP_ABS, d);
  struct value *inside = build_scale(b, build_mul(b, size, size), huber ? 0.5 : 0.5 / beta);
  struct value *outside =
      build_scale(b, with(b, OP_ADD_TENSOR, size, -0.5 * beta), huber ? beta : 1);
  enum operator_id op = huber ? OP_LE_TENSOR : OP_LT_TENSOR;
  return beta == 0 && !huber ? size : build_where(b, with(b, op, size, beta), inside, outside);
}

void compose_smooth_l1_loss(struct build *b, struct node *n) {
  struct value *d = build_sub(b, X, Y);
  n->results[0] = compose_reduced(b, n, 2, bend(b, d, node_real(n, 3), false));
}

void compose_huber_loss(struct build *b, struct node *n) {
  struct value *d = build_sub(b, X, Y);
  n->results[0] = compose_reduced(b, n, 2, bend(b, d, node_real(n, 3), true));
}

// grad_output self target reduction beta
static void bend_backward(struct build *b, struct node *n, bool huber) {
  double beta = node_real(n, 4);
  struct value *d = build_sub(b, Y, node_value(n, 2)), *slope;
  if (beta == 0 && !huber) {
    slope = build_unop(b, OP_SIGN, d);
  } else {
    slope = with(b, OP_MINIMUM, with(b, OP_MAXIMUM, d, -beta), beta);
    slope = huber ? slope : with(b, OP_DIV_TENSOR, slope, beta);
  }
  n->results[0] = build_mul(b, compose_spread(b, n, 3, slope, Y), X);
}

void compose_smooth_l1_loss_backward(struct build *b, struct node *n) {
  bend_backward(b, n, false);
}

void compose_huber_loss_backward(struct build *b, struct node *n) { bend_backward(b, n, true); }

// log(1 + exp(-x y))
void compose_soft_margin_loss(struct build *b, struct node *n) {
  struct value *power = build_unop(b, OP_EXP, build_mul(b, build_unop(b, OP_NEG, X), Y));
  n->results[0] = compose_reduced(b, n, 2, build_unop(b, OP_LOG1P, power));
}

// grad_output self target reduction: -y z / (1 + z), with z = exp(-x y)
void compose_soft_margin_loss_backward(struct build *b, struct node *n) {
  struct value *y = node_value(n, 2), *against = build_unop(b, OP_NEG, y);
  struct value *slope = build_mul(b, against, build_unop(b, OP_SIGMOID, build_mul(b, against, Y)));
  n->results[0] = build_mul(b, compose_spread(b, n, 3, slope, Y), X);
}

// self target p margin weight reduction: the mean over the other classes of
// max(0, margin - x[y] + x[j]) ^ p
void compose_multi_margin_loss(struct build *b, struct node *n) {
  uint32_t last = X->rank ? X->rank - 1 : 0;
  struct value *weight = node_value(n, 4), *target = Y;
  if (X->rank < 1 || X->rank > 2 || target->rank + 1 < X->rank || target->rank > 1) {
    compose_error(b, n, E1004, "targets of %u dimensions for scores of %u", target->rank, X->rank);
    return;
  }
  if (weight && (weight->rank != 1 || !compose_same_size(b, weight->shape[0], X->shape[last]))) {
    compose_error(b, n, E1004, "`weight` needs one dimension, with a weight for each class");
    return;
  }
  if (target->rank == X->rank)
    target = build_squeeze(b, target, 0);
  struct value *index = target ? build_unsqueeze(b, target, last) : NULL;
  struct value *own =
      index ? BUILD(b, OP_GATHER, TENSOR(X), arg_int(b->g, last), TENSOR(index)) : NULL;
  struct value *loss = with(b, OP_ADD_TENSOR, build_sub(b, X, own), node_real(n, 3));
  loss = with(b, OP_POW_TENSOR_SCALAR, with(b, OP_MAXIMUM, loss, 0), node_real(n, 2));
  if (weight && loss)
    loss = build_mul(b, loss, compose_index(b, weight, 0, index));
  struct value *is_other = build_binop(b, OP_NE_TENSOR, compose_indices(b, X, last), index);
  struct dims d = dims_one(last);
  loss = build_mean(b, build_where_else(b, is_other, loss, 0), &d, false);
  n->results[0] = compose_reduced(b, n, 5, loss);
}

// ---- binary cross entropy ----

static struct value *weighted(struct build *b, struct value *x, struct value *weight) {
  return weight ? build_mul(b, x, weight) : x;
}

// self target weight reduction; logarithms are at least -100
void compose_bce(struct build *b, struct node *n) {
  struct value *yes = with(b, OP_MAXIMUM, build_unop(b, OP_LOG, X), -100);
  struct value *no = with(b, OP_MAXIMUM, build_unop(b, OP_LOG1P, build_unop(b, OP_NEG, X)), -100);
  struct value *loss =
      build_sub(b, build_mul(b, with(b, OP_ADD_TENSOR, Y, -1), no), build_mul(b, Y, yes));
  n->results[0] = compose_reduced(b, n, 3, weighted(b, loss, node_value(n, 2)));
}

// grad_output self target weight reduction
void compose_bce_backward(struct build *b, struct node *n) {
  struct value *slope = build_sub(b, Y, node_value(n, 2));
  struct value *under = with(b, OP_MAXIMUM, build_mul(b, less(b, 1, Y), Y), 1e-12);
  slope = weighted(b, build_div(b, slope, under), node_value(n, 3));
  n->results[0] = build_mul(b, compose_spread(b, n, 4, slope, Y), X);
}

// self target weight pos_weight reduction:
// (1 - y) x + (1 + (w - 1) y) (log1p(exp(-|x|)) + max(-x, 0))
void compose_bce_with_logits(struct build *b, struct node *n) {
  struct value *weight = node_value(n, 3);
  struct value *size = build_unop(b, OP_NEG, build_unop(b, OP_ABS, X));
  struct value *soft = build_add(b, build_unop(b, OP_LOG1P, build_unop(b, OP_EXP, size)),
                                 with(b, OP_MAXIMUM, build_unop(b, OP_NEG, X), 0));
  if (weight) {
    struct value *by = build_mul(b, with(b, OP_ADD_TENSOR, weight, -1), Y);
    soft = build_mul(b, with(b, OP_ADD_TENSOR, by, 1), soft);
  }
  struct value *loss = build_add(b, build_mul(b, less(b, 1, Y), X), soft);
  n->results[0] = compose_reduced(b, n, 4, weighted(b, loss, node_value(n, 2)));
}

// ---- a class per pixel: [N, C, H, W] as [N H W, C] ----

static struct value *pixels_as_rows(struct build *b, struct value *x) {
  struct dims order = {4, {0, 2, 3, 1}};
  struct value *rows = build_permute(b, x, &order);
  return rows
             ? BUILD(b, OP_RESHAPE, TENSOR(rows),
                     arg_exprs(b->g, 2, (const struct expr *[]){compose_const(b, -1), x->shape[1]}))
             : NULL;
}

static struct value *flat(struct build *b, struct value *x) {
  return BUILD(b, OP_RESHAPE, TENSOR(x), arg_int(b->g, -1));
}

static bool has_pixels(struct build *b, const struct node *n, const struct value *x,
                       const struct value *target) {
  if (x->rank == 4 && target->rank == 3)
    return true;
  compose_error(b, n, E1004, "operands of %u and %u dimensions, not of 4 and 3", x->rank,
                target->rank);
  return false;
}

// self target weight reduction ignore_index
void compose_nll_loss2d(struct build *b, struct node *n) {
  if (!has_pixels(b, n, X, Y))
    return;
  struct value *rows = pixels_as_rows(b, X), *classes = flat(b, Y);
  if (!rows || !classes)
    return;
  struct arg args[] = {TENSOR(rows), TENSOR(classes), n->args[2], n->args[3], n->args[4]};
  struct node *loss = graph_append(b->g, OP_NLL_LOSS_FORWARD, args, COUNT_OF(args), b->at);
  if (!loss)
    return;
  n->results[0] =
      node_int(n, 3) == 0 ? build_view(b, loss->results[0], Y->rank, Y->shape) : loss->results[0];
  n->results[1] = loss->results[1];
}

// grad_output self target weight reduction ignore_index total_weight
void compose_nll_loss2d_backward(struct build *b, struct node *n) {
  struct value *target = node_value(n, 2);
  if (!has_pixels(b, n, Y, target))
    return;
  struct value *grad = X->rank ? flat(b, X) : X, *rows = pixels_as_rows(b, Y),
               *classes = flat(b, target);
  struct value *g = BUILD(b, OP_NLL_LOSS_BACKWARD, TENSOR(grad), TENSOR(rows), TENSOR(classes),
                          n->args[3], n->args[4], n->args[5], n->args[6]);
  const struct expr *shape[4] = {Y->shape[0], Y->shape[2], Y->shape[3], Y->shape[1]};
  struct dims order = {4, {0, 3, 1, 2}};
  g = build_view(b, g, 4, shape);
  n->results[0] = g ? build_permute(b, g, &order) : NULL;
}
