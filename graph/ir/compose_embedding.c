// SPDX-License-Identifier: Apache-2.0
// Composed operators on bags of embeddings, and their gradients.
#include "graph/ir/compose.h"

#define X node_value(n, 0)
#define Y node_value(n, 1)

enum bag_mode { BAG_SUM, BAG_MEAN, BAG_MAX };

// The bag of each index: the number of bags that begin at or before it, minus one.
static struct value *bag_of(struct build *b, struct value *offsets, const struct expr *count) {
  struct value *position = build_iota(b, count, 0, 2);
  struct value *begun = build_binop(b, OP_LE_TENSOR, offsets, position);
  struct dims last = dims_one(1);
  struct value *bags = build_sum(b, build_convert(b, begun, DTYPE_I64), &last, false);
  return build_int(b, OP_SUB_TENSOR, bags, 1);
}

static struct value *count_of(struct build *b, struct value *bag, struct value *is_padding,
                              const struct expr *bags) {
  struct value *one = build_full(b, bag->rank, bag->shape, 1, DTYPE_I64);
  if (is_padding)
    one = build_where_else(b, build_unop(b, OP_LOGICAL_NOT, is_padding), one, 0);
  return compose_put(b, build_full(b, 1, &bags, 0, DTYPE_I64), 0, bag, one, true);
}

// The maximum of each bag, 0 for an empty one: [bags, indices, columns], which is never stored.
static struct value *largest(struct build *b, struct value *rows, struct value *bag,
                             struct value *is_padding, const struct expr *bags) {
  struct value *mine = build_binop(b, OP_EQ_TENSOR, build_iota(b, bags, 0, 2), bag);
  if (is_padding)
    mine = build_binop(b, OP_LOGICAL_AND, mine, build_unop(b, OP_LOGICAL_NOT, is_padding));
  struct dims middle = dims_one(1);
  mine = build_unsqueeze(b, mine, 2);
  struct value *most =
      build_amax(b, build_where_else(b, mine, rows, -__builtin_inf()), &middle, false);
  struct value *any = BUILD(b, OP_ANY_DIM, TENSOR(mine), arg_int(b->g, 1));
  return build_where_else(b, any, most, 0);
}

// Each bag's sum, mean or maximum of `rows`.
static struct value *combine(struct build *b, int64_t mode, struct value *rows, struct value *bag,
                             struct value *is_padding, struct value *count,
                             const struct expr *bags) {
  if (mode == BAG_MAX)
    return largest(b, rows, bag, is_padding, bags);
  if (is_padding)
    rows = build_where_else(b, build_unsqueeze(b, build_unop(b, OP_LOGICAL_NOT, is_padding), 1),
                            rows, 0);
  const struct expr *shape[2] = {bags, rows ? rows->shape[1] : NULL};
  struct value *sum = rows ? build_full(b, 2, shape, 0, rows->dtype) : NULL;
  sum = compose_put(b, sum, 0, bag, rows, true);
  return mode == BAG_MEAN
             ? build_div(b, sum, build_unsqueeze(b, build_int(b, OP_MAXIMUM, count, 1), 1))
             : sum;
}

// Argument 8, if the operator has it; -1: none.
static int64_t padding_of(const struct node *n) {
  return n->arg_count <= 8 || node_is_none(n, 8) ? -1 : node_int(n, 8);
}

// On CPUs PyTorch omits the bags of plain sums over rows of f32 and f16, which the gradient
// recomputes (`meta_embedding_bag` in torch/_meta_registrations.py), and returns one size per bag;
// on other devices one per offset.
static void bag_results(struct build *b, struct node *n, struct value *bag, struct value *count,
                        const struct expr *bags) {
  struct value *index = Y;
  int64_t mode = node_int(n, 4), padding = padding_of(n);
  const struct expr *nothing = expr_const(b->g->exprs, 0);
  bool on_cpu = b->g->device && str_starts(str_from(b->g->device), "cpu"),
       is_fast = X->dtype == DTYPE_F32 || X->dtype == DTYPE_F16,
       leaves_out = on_cpu && mode == BAG_SUM && padding < 0 && is_fast,
       has_more = node_truth(n, 7) && (!on_cpu || n->op == OP_EMBEDDING_BAG_FORWARD);
  const int64_t behind[2] = {0, 1};
  if (has_more)
    count =
        BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(count), arg_ints(b->g, 2, behind), arg_int(b->g, 0));
  n->results[1] = leaves_out ? build_full(b, 1, &nothing, 0, index->dtype)
                             : build_convert(b, bag, index->dtype);
  n->results[2] = build_convert(b, count, index->dtype);
  const struct expr *most[2] = {mode == BAG_MAX || on_cpu ? bags : nothing, X->shape[1]};
  n->results[3] = build_full(b, mode == BAG_MAX ? 2 : 1, most, 0, index->dtype);
}

static bool is_index(const struct value *v) {
  return v->dtype == DTYPE_I32 || v->dtype == DTYPE_I64;
}

// weight indices offsets scale_grad_by_freq mode sparse per_sample_weights include_last_offset
// padding_idx; results: bags, the bag of each index, the size of each bag, the indices of maxima,
// which gradients need and which are 0 here
void compose_embedding_bag(struct build *b, struct node *n) {
  struct exprs *x = b->g->exprs;
  struct value *index = Y, *offsets = node_value(n, 2), *by = node_value(n, 6);
  int64_t padding = padding_of(n);
  if (X->rank != 2 || index->rank != 1 || offsets->rank != 1) {
    compose_error(b, n, E1004, "weights, indices and offsets of %u, %u and %u dimensions", X->rank,
                  index->rank, offsets->rank);
    return;
  }
  if (!dtype_is_float(X->dtype) || !is_index(index) || !is_index(offsets)) {
    compose_error(b, n, E1005,
                  "weights of %s, indices of %s and offsets of %s; floats, and i32 or "
                  "i64 are needed",
                  dtype_name(X->dtype), dtype_name(index->dtype), dtype_name(offsets->dtype));
    return;
  }
  const struct expr *bags = offsets->shape[0];
  if (node_truth(n, 7)) {
    bags = expr_addi(x, bags, -1);
    offsets = build_slice(b, offsets, 0, expr_const(x, 0), bags, 1);
  }
  struct value *bag = bag_of(b, offsets, index->shape[0]);
  struct value *rows = build_up(b, compose_index(b, X, 0, index));
  struct value *is_padding = padding >= 0 ? build_int(b, OP_EQ_TENSOR, index, padding) : NULL;
  if (!bag || !rows)
    return;
  struct value *count = count_of(b, bag, is_padding, bags);
  if (by)
    rows = build_mul(b, rows, build_unsqueeze(b, by, 1));
  struct value *result = combine(b, node_int(n, 4), rows, bag, is_padding, count, bags);
  n->results[0] = build_convert(b, result, X->dtype);
  bag_results(b, n, bag, count, bags);
}

// The gradient of the weights, of sums and means; the arguments are at these indices.
static void bag_gradient(struct build *b, struct node *n, struct value *bag, unsigned size_at,
                         unsigned count_at, unsigned mode_at, unsigned by_at, unsigned padding_at) {
  struct value *index = Y, *by = node_value(n, by_at);
  int64_t mode = node_int(n, mode_at), padding = node_int(n, padding_at);
  if (mode == BAG_MAX || node_truth(n, count_at + 1)) {
    compose_error(b, n, E1008, "the gradient of maxima, or scaled by frequency");
    return;
  }
  struct value *g = compose_index(b, build_up(b, X), 0, bag);
  if (mode == BAG_MEAN) {
    struct value *size = build_int(b, OP_MAXIMUM, node_value(n, size_at), 1);
    g = build_div(b, g, build_unsqueeze(b, compose_index(b, size, 0, bag), 1));
  }
  if (by)
    g = build_mul(b, g, build_unsqueeze(b, by, 1));
  if (padding >= 0)
    g = build_where_else(b, build_unsqueeze(b, build_int(b, OP_NE_TENSOR, index, padding), 1), g,
                         0);
  if (!g)
    return;
  const struct expr *shape[2] = {node_expr(n, count_at), X->shape[1]};
  n->results[0] = build_convert(
      b, compose_put(b, build_full(b, 2, shape, 0, g->dtype), 0, index, g, true), X->dtype);
}

// grad indices offset2bag bag_size maximum_indices num_weights scale_grad_by_freq mode
// per_sample_weights padding_idx
void compose_embedding_bag_dense_backward(struct build *b, struct node *n) {
  bag_gradient(b, n, node_value(n, 2), 3, 5, 7, 8, 9);
}

// grad indices offsets offset2bag bag_size maximum_indices num_weights scale_grad_by_freq mode
// sparse per_sample_weights padding_idx
void compose_embedding_bag_backward(struct build *b, struct node *n) {
  struct value *bag = node_value(n, 3);
  if (bag->rank == 1 && expr_is(bag->shape[0], 0))
    bag = bag_of(b, node_value(n, 2), Y->shape[0]);
  bag_gradient(b, n, bag, 4, 6, 8, 10, 11);
}
