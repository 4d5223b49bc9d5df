// SPDX-License-Identifier: Apache-2.0
// Composed losses of pairs and of distributions, as exported programs have them before
// decomposition.
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)
#define Y node_value(n, 1)
#define Z node_value(n, 2)
#define A(i) n->args[i]

static struct value *above(struct build *b, struct value *x, double least) {
  return build_real(b, OP_MAXIMUM, x, least);
}

// The norm of x - y + eps along the last dimension.
static struct value *distance(struct build *b, struct value *x, struct value *y, struct arg p,
                              struct arg eps, struct arg keepdim) {
  struct value *far = BUILD(b, OP_ADD_TENSOR, TENSOR(build_sub(b, x, y)), eps);
  return far ? BUILD(b, OP_VECTOR_NORM, TENSOR(far), p, arg_int(b->g, -1), keepdim) : NULL;
}

// x1 x2 p eps keepdim
void compose_pairwise_distance(struct build *b, struct node *n) {
  n->results[0] = distance(b, X, Y, A(2), A(3), A(4));
}

// anchor positive negative margin p eps swap reduction
void compose_triplet_margin_loss(struct build *b, struct node *n) {
  struct value *near = distance(b, X, Y, A(4), A(5), ARG_B(false)),
               *far = distance(b, X, Z, A(4), A(5), ARG_B(false));
  if (node_truth(n, 6))
    far = build_binop(b, OP_MINIMUM, far, distance(b, Y, Z, A(4), A(5), ARG_B(false)));
  struct value *loss = compose_more(b, build_sub(b, near, far), node_real(n, 3));
  n->results[0] = compose_reduced(b, n, 7, above(b, loss, 0));
}

// input1 input2 target margin reduction
void compose_margin_ranking_loss(struct build *b, struct node *n) {
  struct value *order = build_mul(b, build_unop(b, OP_NEG, Z), build_sub(b, X, Y));
  n->results[0] = compose_reduced(b, n, 4, above(b, compose_more(b, order, node_real(n, 3)), 0));
}

// self target margin reduction: of 1 the element, of -1 what is missing to the margin
void compose_hinge_embedding_loss(struct build *b, struct node *n) {
  struct value *lacks = above(b, compose_less(b, node_real(n, 2), X), 0);
  lacks = build_where_else(b, build_int(b, OP_NE_TENSOR, Y, 1), lacks, 0);
  struct value *own = build_where_else(b, build_int(b, OP_NE_TENSOR, Y, -1), X, 0);
  n->results[0] = compose_reduced(b, n, 3, build_add(b, lacks, own));
}

// input1 input2 target margin reduction: 1 - cosine of pairs that belong together, the cosine above
// the margin of others
void compose_cosine_embedding_loss(struct build *b, struct node *n) {
  struct value *of[][2] = {{X, Y}, {X, X}, {Y, Y}}, *sums[3];
  if (X->rank == 0 || X->rank != Y->rank || X->rank != Z->rank + 1) {
    compose_error(b, n, E1004, "operands of %u and %u dimensions, targets of %u", X->rank, Y->rank,
                  Z->rank);
    return;
  }
  struct dims last = dims_one(X->rank - 1);
  for (unsigned i = 0; i < 3; i++)
    sums[i] = build_sum(b, build_mul(b, of[i][0], of[i][1]), &last, false);
  struct value *size =
      build_mul(b, compose_more(b, sums[1], 1e-12), compose_more(b, sums[2], 1e-12));
  struct value *cosine = build_div(b, sums[0], build_unop(b, OP_SQRT, size));
  struct value *same =
      build_where_else(b, build_int(b, OP_EQ_TENSOR, Z, 1), compose_less(b, 1, cosine), 0);
  struct value *other = above(b, compose_more(b, cosine, -node_real(n, 3)), 0);
  other = build_where_else(b, build_int(b, OP_EQ_TENSOR, Z, -1), other, 0);
  n->results[0] = compose_reduced(b, n, 4, build_add(b, same, other));
}

// self target reduction log_target: target (log target - self)
void compose_kl_div(struct build *b, struct node *n) {
  struct value *loss;
  if (node_truth(n, 3))
    loss = build_mul(b, build_unop(b, OP_EXP, Y), build_sub(b, Y, X));
  else
    loss = build_sub(b, build_binop(b, OP_XLOGY_TENSOR, Y, Y), build_mul(b, Y, X));
  n->results[0] = compose_reduced(b, n, 2, loss);
}

// input target log_input full eps reduction
void compose_poisson_nll_loss(struct build *b, struct node *n) {
  bool is_log = node_truth(n, 2);
  struct value *log = is_log ? X : build_unop(b, OP_LOG, BUILD(b, OP_ADD_TENSOR, A(0), A(4)));
  struct value *loss = build_sub(b, is_log ? build_unop(b, OP_EXP, X) : X, build_mul(b, Y, log));
  if (node_truth(n, 3)) { // Stirling's approximation of log(target!)
    struct value *half =
        build_scale(b, build_unop(b, OP_LOG, build_scale(b, Y, 2 * acos(-1))), 0.5);
    struct value *more = build_mul(b, Y, compose_more(b, build_unop(b, OP_LOG, Y), -1));
    more = build_where_else(b, build_int(b, OP_GT_TENSOR, Y, 1), build_add(b, more, half), 0);
    loss = build_add(b, loss, more);
  }
  n->results[0] = compose_reduced(b, n, 5, loss);
}
