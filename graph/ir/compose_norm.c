// SPDX-License-Identifier: Apache-2.0
// Composed norms; gradients of norms, attention and pooling.
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)
#define Y node_value(n, 1)

static struct value *mean(struct build *b, struct value *x, const struct dims *d) {
  return build_mean(b, x, d, true);
}

static struct value *product(struct build *b, struct value *x, struct value *y) {
  return y ? build_mul(b, x, y) : x;
}

// rstd (g - mean(g) - xhat mean(g xhat)), without the middle term if there is no mean
static struct value *through_norm(struct build *b, struct value *g, struct value *xhat,
                                  struct value *rstd, const struct dims *d, bool centred) {
  struct value *inner = centred ? build_sub(b, g, mean(b, g, d)) : g;
  struct value *along = build_mul(b, xhat, mean(b, build_mul(b, g, xhat), d));
  return build_mul(b, rstd, build_sub(b, inner, along));
}

// grad_out input mean rstd weight N C HxW group output_mask
void compose_group_norm_backward(struct build *b, struct node *n) {
  struct exprs *x = b->g->exprs;
  struct value *weight = node_value(n, 4);
  const struct expr *batch = node_expr(n, 5), *channels = node_expr(n, 6), *size = node_expr(n, 7),
                    *groups = node_expr(n, 8), *each = expr_floordiv(x, channels, groups),
                    *one = compose_const(b, 1);
  const struct expr *shape[4] = {batch, groups, each, size}, *few[4] = {batch, groups, one, one},
                    *per[4] = {one, groups, each, one};
  struct arg as = arg_exprs(b->g, 4, shape);
  struct value *g = build_up(b, BUILD(b, OP_RESHAPE, n->args[0], as)),
               *in = build_up(b, BUILD(b, OP_RESHAPE, n->args[1], as));
  struct value *rstd = build_up(b, build_view(b, node_value(n, 3), 4, few));
  struct value *xhat =
      build_mul(b, build_sub(b, in, build_up(b, build_view(b, node_value(n, 2), 4, few))), rstd);
  if (!g || !xhat)
    return;
  if (compose_is_wanted(n, 9, 0)) {
    struct dims d = dims_from(2, 4);
    struct value *scaled =
        product(b, g, weight ? build_up(b, build_view(b, weight, 4, per)) : NULL);
    struct value *grad = through_norm(b, scaled, xhat, rstd, &d, true);
    n->results[0] = build_convert(b, build_view(b, grad, Y->rank, Y->shape), Y->dtype);
  }
  struct dims outer = {2, {0, 3}};
  enum dtype t = weight ? weight->dtype : Y->dtype;
  for (unsigned i = 1; i < 3; i++)
    if (compose_is_wanted(n, 9, i)) {
      struct value *sum = build_sum(b, i == 1 ? build_mul(b, g, xhat) : g, &outer, false);
      n->results[i] = build_convert(b, build_view(b, sum, 1, &channels), t);
    }
}

// grad_out input normalized_shape rstd weight output_mask
void compose_rms_norm_backward(struct build *b, struct node *n) {
  const struct arg *list;
  uint32_t inner = (uint32_t)node_list(n, 2, &list), rank = Y->rank;
  struct value *weight = node_value(n, 4), *rstd = build_up(b, node_value(n, 3)),
               *g = build_up(b, X);
  struct value *xhat = build_mul(b, build_up(b, Y), rstd);
  if (inner > rank || !g || !xhat) {
    compose_error(b, n, E1004, "a norm over %u of %u dimensions", inner, rank);
    return;
  }
  struct dims in = dims_from(rank - inner, rank), out = dims_from(0, rank - inner);
  if (compose_is_wanted(n, 5, 0)) {
    struct value *scaled = product(b, g, build_up(b, weight));
    n->results[0] = build_convert(b, through_norm(b, scaled, xhat, rstd, &in, false), Y->dtype);
  }
  if (compose_is_wanted(n, 5, 1) && weight)
    n->results[1] =
        build_convert(b, build_sum(b, build_mul(b, g, xhat), &out, false), weight->dtype);
}

// input weight bias training momentum eps: statistics of the batch, not returned
void compose_batch_norm_no_stats(struct build *b, struct node *n) {
  const struct expr *channels = X->rank > 1 ? X->shape[1] : compose_const(b, 1);
  enum dtype t = node_value(n, 1) ? node_value(n, 1)->dtype : dtype_to_compute(X->dtype);
  struct value *zeros = build_full(b, 1, &channels, 0, t),
               *ones = build_full(b, 1, &channels, 1, t);
  if (!zeros || !ones)
    return;
  struct arg args[] = {n->args[0],   n->args[1],  n->args[2], TENSOR(zeros),
                       TENSOR(ones), ARG_B(true), n->args[4], n->args[5]};
  struct node *norm =
      graph_append(b->g, OP_NATIVE_BATCH_NORM_FUNCTIONAL, args, COUNT_OF(args), b->at);
  for (unsigned i = 0; norm && i < 3; i++)
    n->results[i] = norm->results[i];
}

// input weight bias running_mean running_var training momentum eps
void compose_native_batch_norm(struct build *b, struct node *n) {
  bool training = node_truth(n, 5);
  if (training && (node_value(n, 3) || node_value(n, 4))) {
    compose_error(b, n, E1008,
                  "a norm that changes its running statistics: use "
                  "`_native_batch_norm_legit_functional`, which returns them");
    return;
  }
  struct arg args[] = {n->args[0], n->args[1], n->args[2], n->args[3],
                       n->args[4], n->args[6], n->args[7]};
  struct arg batch[] = {n->args[0], n->args[1], n->args[2], n->args[5], n->args[6], n->args[7]};
  struct node *norm =
      training ? graph_append(b->g, OP_BATCH_NORM_NO_STATS, batch, COUNT_OF(batch), b->at)
               : graph_append(b->g, OP_NATIVE_BATCH_NORM_NO_TRAINING, args, COUNT_OF(args), b->at);
  for (unsigned i = 0; norm && i < 3; i++)
    n->results[i] = norm->results[i];
}

// ---- weight norm: length and direction ----

static struct dims all_but(uint32_t rank, uint32_t dim) {
  struct dims d = {0};
  for (uint32_t i = 0; i < rank; i++)
    if (i != dim)
      d.at[d.count++] = i;
  return d;
}

// v g dim: v g / |v|, and |v|
void compose_weight_norm(struct build *b, struct node *n) {
  struct dims d = all_but(X->rank, X->rank ? compose_dim(b, n, 2, X->rank) : 0);
  struct value *v = build_up(b, X);
  struct value *length = build_unop(b, OP_SQRT, build_sum(b, build_mul(b, v, v), &d, true));
  struct value *w = build_mul(b, v, build_div(b, build_up(b, Y), length));
  n->results[0] = build_convert(b, w, X->dtype);
  n->results[1] = length;
}

// v g dim
void compose_weight_norm_whole(struct build *b, struct node *n) {
  struct node *both = graph_append(b->g, OP_WEIGHT_NORM, n->args, n->arg_count, b->at);
  n->results[0] = both ? both->results[0] : NULL;
}

// grad_w saved_v saved_g saved_norms dim
void compose_weight_norm_backward(struct build *b, struct node *n) {
  struct dims d = all_but(Y->rank, Y->rank ? compose_dim(b, n, 4, Y->rank) : 0);
  struct value *grad = build_up(b, X), *v = build_up(b, Y), *g = build_up(b, node_value(n, 2)),
               *length = build_up(b, node_value(n, 3));
  struct value *along = build_sum(b, build_mul(b, grad, v), &d, true);
  struct value *part = build_mul(b, v, build_div(b, along, build_mul(b, length, length)));
  struct value *of_v = build_mul(b, build_div(b, g, length), build_sub(b, grad, part));
  n->results[0] = build_convert(b, of_v, Y->dtype);
  n->results[1] = build_convert(b, build_div(b, along, length), node_value(n, 2)->dtype);
}

// ---- maxima and their indices within windows ----

struct window {
  int64_t size[2], step[2], padding[2], dilation[2];
};

// A list of two: one number counts for both, an empty list is `none`.
static void pair(const struct node *n, unsigned i, const int64_t *none, int64_t *ret) {
  const struct arg *list;
  size_t count = node_list(n, i, &list);
  for (size_t k = 0; k < 2; k++) {
    ret[k] = none[k];
    if (count)
      expr_is_const(list[count > 1 ? k : 0].number, &ret[k]);
  }
}

static void window_of(const struct node *n, unsigned size, unsigned step, struct window *ret) {
  const int64_t zeros[2] = {0, 0}, ones[2] = {1, 1};
  pair(n, size, ones, ret->size);
  pair(n, step, ret->size, ret->step);
  pair(n, step + 1, zeros, ret->padding);
  pair(n, step + 2, ones, ret->dilation);
}

// The first index of the window of each element of `like`, along dimension `d` of the last two.
static struct value *origin(struct build *b, const struct value *like, const struct window *w,
                            unsigned d) {
  uint32_t dim = like->rank - 2 + d;
  struct value *i = BUILD(b, OP_IOTA, ARG_E(like->shape[dim]), arg_int(b->g, -w->padding[d]),
                          arg_int(b->g, w->step[d]), ARG_D(DTYPE_I64));
  return build_along(b, i, dim, like->rank);
}

// self kernel_size stride padding dilation ceil_mode: maxima, and their index in the window as i8
void compose_max_pool_offsets(struct build *b, struct node *n) {
  struct window w;
  struct node *pool = X->rank < 3 ? NULL : graph_append(b->g, OP_MAX_POOL2D, n->args, 6, b->at);
  if (X->rank < 3)
    compose_error(b, n, E1004, "a tensor of %u dimensions", X->rank);
  if (!pool || !pool->results[1])
    return;
  window_of(n, 1, 2, &w);
  struct value *index = pool->results[1];
  struct arg width = ARG_E(X->shape[X->rank - 1]);
  struct value *at[2] = {BUILD(b, OP_FLOOR_DIVIDE, TENSOR(index), width),
                         BUILD(b, OP_REMAINDER_TENSOR, TENSOR(index), width)};
  for (unsigned d = 0; d < 2; d++)
    at[d] = BUILD(b, OP_FLOOR_DIVIDE, TENSOR(build_sub(b, at[d], origin(b, index, &w, d))),
                  arg_int(b->g, w.dilation[d]));
  struct value *offset = build_add(b, build_int(b, OP_MUL_TENSOR, at[0], w.size[1]), at[1]);
  n->results[0] = pool->results[0];
  n->results[1] = build_convert(b, offset, DTYPE_I8);
}

// self kernel_size input_size stride padding dilation
void compose_max_pool_indices(struct build *b, struct node *n) {
  struct window w;
  const struct arg *size;
  if (X->rank < 3 || node_list(n, 2, &size) != 2) {
    compose_error(b, n, E1004, "a tensor of %u dimensions", X->rank);
    return;
  }
  window_of(n, 1, 3, &w);
  struct value *offset = build_convert(b, X, DTYPE_I64), *at[2];
  at[0] = BUILD(b, OP_FLOOR_DIVIDE, TENSOR(offset), arg_int(b->g, w.size[1]));
  at[1] = BUILD(b, OP_REMAINDER_TENSOR, TENSOR(offset), arg_int(b->g, w.size[1]));
  for (unsigned d = 0; d < 2; d++)
    at[d] = build_add(b, origin(b, X, &w, d), build_int(b, OP_MUL_TENSOR, at[d], w.dilation[d]));
  n->results[0] =
      build_add(b, BUILD(b, OP_MUL_TENSOR, TENSOR(at[0]), ARG_E(size[1].number)), at[1]);
}
