// SPDX-License-Identifier: Apache-2.0
// Operators of neural-network modules that PyTorch itself decomposes: convolutions, norms, pools,
// dropout and losses, as exported programs contain them before decomposition.
#include "graph/ir/compose.h"

#include <assert.h>

#define X node_value(n, 0)

static struct value *first_result(struct build *b, enum operator_id op, const struct arg *args,
                                  size_t count) {
  struct node *node = graph_append(b->g, op, args, count, b->at);
  return node ? node->results[0] : NULL;
}
#define FIRST(b, op, ...)                                                                          \
  first_result((b), (op), (struct arg[]){__VA_ARGS__},                                             \
               sizeof((struct arg[]){__VA_ARGS__}) / sizeof(struct arg))

static struct arg filled(struct build *b, uint32_t count, const struct expr *e) {
  const struct expr *all[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < count; i++)
    all[i] = e;
  return arg_exprs(b->g, count, all);
}

// A list; one number stands for all `count` dimensions.
static struct arg numbers(struct build *b, const struct node *n, unsigned i, uint32_t count) {
  const struct arg *list;
  return node_list(n, i, &list) == 1 ? filled(b, count, list[0].number) : n->args[i];
}

// ---- convolutions ----

struct convolve {
  struct arg stride, padding, dilation, output_padding;
  struct arg groups;
  bool is_transposed;
};

// An input without a batch dimension is a batch of one.
static struct value *convolve(struct build *b, struct node *n, struct value *x,
                              const struct convolve *c) {
  const struct value *weight = node_value(n, 1);
  bool is_single = x && x->rank + 1 == weight->rank;
  if (is_single)
    x = build_unsqueeze(b, x, 0);
  if (!x)
    return NULL;
  struct value *y =
      BUILD(b, OP_CONVOLUTION, TENSOR(x), n->args[1], n->args[2], c->stride, c->padding,
            c->dilation, ARG_B(c->is_transposed), c->output_padding, c->groups);
  return is_single ? build_squeeze(b, y, 0) : y;
}

static uint32_t spatial_dims(struct build *b, const struct node *n) {
  const struct value *weight = node_value(n, 1);
  if (weight->rank >= 3 && (X->rank == weight->rank || X->rank + 1 == weight->rank))
    return weight->rank - 2;
  compose_error(b, n, E1004, "an input of %u dimensions for a weight of %u", X->rank, weight->rank);
  return 0;
}

// Stride, padding and groups are arguments 3, 4 and 6 of all.
static struct convolve read_convolve(struct build *b, const struct node *n, uint32_t dims,
                                     unsigned dilation) {
  return (struct convolve){.stride = numbers(b, n, 3, dims),
                           .padding = numbers(b, n, 4, dims),
                           .dilation = numbers(b, n, dilation, dims),
                           .output_padding = filled(b, dims, compose_const(b, 0)),
                           .groups = n->args[6]};
}

// input weight bias stride padding dilation groups
void compose_conv(struct build *b, struct node *n) {
  uint32_t dims = spatial_dims(b, n);
  if (!dims)
    return;
  struct convolve c = read_convolve(b, n, dims, 5);
  n->results[0] = convolve(b, n, X, &c);
}

// input weight bias stride padding output_padding groups dilation
void compose_conv_transpose(struct build *b, struct node *n) {
  uint32_t dims = spatial_dims(b, n);
  if (!dims)
    return;
  struct convolve c = read_convolve(b, n, dims, 7);
  c.output_padding = numbers(b, n, 5, dims);
  c.is_transposed = true;
  n->results[0] = convolve(b, n, X, &c);
}

// The padding "same": an odd total has one more element at the end, which is padded here.
static struct value *pad_ends(struct build *b, struct value *x, uint32_t dims, const bool *odd) {
  int64_t pads[2 * GRAPH_MAX_RANK] = {0};
  bool any = false;
  for (uint32_t d = 0; d < dims; d++) {
    pads[2 * (dims - 1 - d) + 1] = odd[d];
    any |= odd[d];
  }
  return any ? BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(x), arg_ints(b->g, 2 * dims, pads)) : x;
}

// input weight bias stride padding: "same" or "valid", dilation groups
void compose_conv_padding(struct build *b, struct node *n) {
  const struct value *weight = node_value(n, 1);
  uint32_t dims = spatial_dims(b, n);
  if (!dims)
    return;
  bool is_same = str_is(n->args[4].string, "same"), odd[GRAPH_MAX_RANK] = {false};
  if (!is_same && !str_is(n->args[4].string, "valid")) {
    compose_error(b, n, E1004, "the padding is \"same\" or \"valid\", not \"%.*s\"",
                  STR_ARG(n->args[4].string));
    return;
  }
  struct convolve c = {.stride = numbers(b, n, 3, dims),
                       .padding = filled(b, dims, compose_const(b, 0)),
                       .dilation = numbers(b, n, 5, dims),
                       .output_padding = filled(b, dims, compose_const(b, 0)),
                       .groups = n->args[6]};
  int64_t before[GRAPH_MAX_RANK] = {0};
  for (uint32_t d = 0; is_same && d < dims; d++) {
    int64_t size, by;
    if (c.dilation.list.count != dims || !expr_is_const(weight->shape[d + 2], &size) ||
        !expr_is_const(c.dilation.list.at[d].number, &by)) {
      compose_error(b, n, E1004,
                    "the padding \"same\" needs a window of constant size and a "
                    "dilation for each dimension");
      return;
    }
    before[d] = by * (size - 1) / 2;
    odd[d] = by * (size - 1) % 2 != 0;
  }
  c.padding = arg_ints(b->g, dims, before);
  n->results[0] = convolve(b, n, pad_ends(b, X, dims, odd), &c);
}

// ---- norms ----

// input normalized_shape weight bias eps cudnn_enable
void compose_layer_norm(struct build *b, struct node *n) {
  n->results[0] = first_result(b, OP_NATIVE_LAYER_NORM, n->args, 5);
}

// input normalized_shape weight eps
void compose_rms_norm(struct build *b, struct node *n) {
  n->results[0] = first_result(b, OP_FUSED_RMS_NORM, n->args, 4);
}

static struct value *norm_of_groups(struct build *b, struct node *n, struct arg weight,
                                    struct arg bias, struct arg groups, struct arg eps) {
  if (X->rank < 2) {
    compose_error(b, n, E1004, "a norm over channels of a tensor of %u dimensions", X->rank);
    return NULL;
  }
  const struct expr *size = expr_product(b->g->exprs, X->shape + 2, X->rank - 2);
  return FIRST(b, OP_NATIVE_GROUP_NORM, n->args[0], weight, bias, ARG_E(X->shape[0]),
               ARG_E(X->shape[1]), ARG_E(size), groups, eps);
}

// input num_groups weight bias eps cudnn_enabled
void compose_group_norm(struct build *b, struct node *n) {
  n->results[0] = norm_of_groups(b, n, n->args[2], n->args[3], n->args[1], n->args[4]);
}

// input weight bias running_mean running_var training momentum eps cudnn_enabled
void compose_batch_norm(struct build *b, struct node *n) {
  if (!node_truth(n, 5))
    n->results[0] = FIRST(b, OP_NATIVE_BATCH_NORM_NO_TRAINING, n->args[0], n->args[1], n->args[2],
                          n->args[3], n->args[4], n->args[6], n->args[7]);
  else if (node_is_none(n, 3) && node_is_none(n, 4))
    n->results[0] = FIRST(b, OP_BATCH_NORM_NO_STATS, n->args[0], n->args[1], n->args[2],
                          ARG_B(true), n->args[6], n->args[7]);
  else
    compose_error(b, n, E1004,
                  "a batch norm in training changes its running statistics: export "
                  "the module in eval mode, or decompose the program");
}

// input weight bias running_mean running_var use_input_stats momentum eps cudnn_enabled
void compose_instance_norm(struct build *b, struct node *n) {
  if (!node_truth(n, 5))
    n->results[0] = FIRST(b, OP_NATIVE_BATCH_NORM_NO_TRAINING, n->args[0], n->args[1], n->args[2],
                          n->args[3], n->args[4], n->args[6], n->args[7]);
  else
    n->results[0] =
        norm_of_groups(b, n, n->args[1], n->args[2],
                       ARG_E(X->rank > 1 ? X->shape[1] : compose_const(b, 1)), n->args[7]);
}

// input p train
void compose_dropout(struct build *b, struct node *n) {
  if (node_truth(n, 2) && node_real(n, 1) != 0)
    n->results[0] = FIRST(b, OP_NATIVE_DROPOUT, n->args[0], n->args[1], ARG_B(true));
  else
    n->results[0] = BUILD(b, OP_ALIAS, n->args[0]);
}

// ---- pools ----

void compose_max_pool2d(struct build *b, struct node *n) {
  n->results[0] = first_result(b, OP_MAX_POOL2D, n->args, n->arg_count);
}

// [1, n] for a list of one number; the empty list stays empty.
static struct arg beside(struct build *b, const struct node *n, unsigned i, int64_t other) {
  const struct arg *list;
  if (node_list(n, i, &list) == 0)
    return n->args[i];
  const struct expr *both[] = {compose_const(b, other), list[0].number};
  return arg_exprs(b->g, 2, both);
}

// As rows of images of one row. self kernel_size stride padding, and two more arguments.
static void pool_rows(struct build *b, struct node *n, enum operator_id op, struct arg a,
                      struct arg other) {
  const struct arg *list;
  if (X->rank < 2 || node_list(n, 1, &list) != 1) {
    compose_error(b, n, E1004, "a tensor of %u dimensions, or not one window size", X->rank);
    return;
  }
  struct value *x = build_unsqueeze(b, X, X->rank - 1);
  if (x)
    x = FIRST(b, op, TENSOR(x), beside(b, n, 1, 1), beside(b, n, 2, 1), beside(b, n, 3, 0), a,
              other);
  n->results[0] = x ? build_squeeze(b, x, x->rank - 2) : NULL;
}

// self kernel_size stride padding dilation ceil_mode
void compose_max_pool1d(struct build *b, struct node *n) {
  pool_rows(b, n, OP_MAX_POOL2D, beside(b, n, 4, 1), n->args[5]);
}

// self kernel_size stride padding ceil_mode count_include_pad
void compose_avg_pool1d(struct build *b, struct node *n) {
  pool_rows(b, n, OP_AVG_POOL2D, n->args[4], n->args[5]);
}

// self output_size
void compose_adaptive_avg_pool1d(struct build *b, struct node *n) {
  struct value *x = X->rank > 1 ? build_unsqueeze(b, X, X->rank - 1) : NULL;
  if (X->rank < 2)
    compose_error(b, n, E1004, "a tensor of %u dimensions", X->rank);
  if (x)
    x = BUILD(b, OP_ADAPTIVE_AVG_POOL2D, TENSOR(x), beside(b, n, 1, 1));
  n->results[0] = x ? build_squeeze(b, x, x->rank - 2) : NULL;
}

// ---- losses ----

// self target reduction
void compose_l1_loss(struct build *b, struct node *n) {
  struct value *difference = build_sub(b, X, node_value(n, 1));
  n->results[0] = compose_reduced(b, n, 2, build_unop(b, OP_ABS, difference));
}

// nll_loss of scores with classes in dimension 1: of rows of classes. `reduction` and
// `ignore_index` are arguments of n.
static struct value *nll_of(struct build *b, struct node *n, struct value *x, unsigned weight,
                            unsigned reduction, unsigned ignored) {
  struct value *target = node_value(n, 1);
  if (!x)
    return NULL;
  if (x->rank < 1 || target->rank + 1 != x->rank) {
    compose_error(b, n, E1004, "targets of %u dimensions for scores of %u", target->rank, x->rank);
    return NULL;
  }
  const struct expr *shape[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < target->rank; d++)
    shape[d] = target->shape[d];
  if (x->rank > 2) {
    const struct expr *classes = x->shape[1], *rows = value_numel(b->g->exprs, target);
    x = BUILD(b, OP_RESHAPE, TENSOR(compose_to_last(b, x, 1)),
              arg_exprs(b->g, 2, (const struct expr *[]){rows, classes}));
    target = x ? BUILD(b, OP_RESHAPE, TENSOR(target), arg_exprs(b->g, 1, &rows)) : NULL;
  }
  if (!x || !target)
    return NULL;
  struct value *loss = FIRST(b, OP_NLL_LOSS_FORWARD, TENSOR(x), TENSOR(target), n->args[weight],
                             n->args[reduction], n->args[ignored]);
  bool is_each = node_int(n, reduction) == 0;
  return is_each && loss ? build_view(b, loss, node_value(n, 1)->rank, shape) : loss;
}

// self target weight reduction ignore_index
void compose_nll_loss(struct build *b, struct node *n) { n->results[0] = nll_of(b, n, X, 2, 3, 4); }

// -sum over classes (dimension `dim`) of the logarithms x, times the weights.
static struct value *cross_sum(struct build *b, struct value *x, struct value *share,
                               struct value *weight, uint32_t dim) {
  struct dims d = dims_one(dim);
  if (share)
    x = build_mul(b, x, share);
  if (weight && x)
    x = build_mul(b, x, build_along(b, weight, dim, x->rank));
  return build_unop(b, OP_NEG, build_sum(b, x, &d, false));
}

// Probabilities as targets, mixed with equal ones; the mean is over all but the classes.
static struct value *cross_entropy_of_shares(struct build *b, struct node *n, struct value *x,
                                             uint32_t dim) {
  double smoothing = node_real(n, 5);
  struct value *share = node_value(n, 1);
  if (smoothing > 0) {
    struct value *equal = build_over(b, build_number(b, smoothing, x->dtype), x->shape[dim]);
    share = build_add(b, build_scale(b, share, 1 - smoothing), equal);
  }
  return compose_reduced(b, n, 3, cross_sum(b, x, share, node_value(n, 2), dim));
}

// The mean over the targets that count, by their weights.
static struct value *smooth_mean(struct build *b, struct node *n, struct value *loss,
                                 struct value *counts) {
  struct value *target = node_value(n, 1), *weight = node_value(n, 2);
  struct value *each = build_full(b, target->rank, target->shape, 1, loss->dtype);
  if (weight) {
    struct value *class = build_where_else(b, counts, target, 0);
    each = compose_index(b, weight, 0, class);
  }
  each = build_where_else(b, counts, each, 0);
  struct value *sum = BUILD(b, OP_SUM, TENSOR(loss)),
               *all = each ? BUILD(b, OP_SUM, TENSOR(each)) : NULL;
  return sum && all ? build_div(b, sum, all) : NULL;
}

// Scores [classes], [rows, classes] or [rows, classes, ..]; a weight for each class.
static bool check_cross_entropy(struct build *b, struct node *n, uint32_t dim) {
  const struct value *weight = node_value(n, 2), *target = node_value(n, 1);
  if (X->rank < 1)
    compose_error(b, n, E1004, "`self` has no dimension of classes");
  else if (weight && (weight->rank != 1 || !compose_same_size(b, weight->shape[0], X->shape[dim])))
    compose_error(b, n, E1004, "`weight` needs one dimension, with a weight for each class");
  else if (dtype_is_float(target->dtype) && !compose_same_shape(b, target, X))
    compose_error(b, n, E1004, "probabilities as targets have the shape of `self`");
  else
    return true;
  return false;
}

// self target weight reduction ignore_index label_smoothing
void compose_cross_entropy_loss(struct build *b, struct node *n) {
  enum { MEAN = 1, SUM = 2 };
  uint32_t dim = X->rank > 1 ? 1 : 0;
  double smoothing = node_real(n, 5);
  int64_t how = node_int(n, 3);
  if (!check_cross_entropy(b, n, dim))
    return;
  struct value *x = BUILD(b, OP_LOG_SOFTMAX_INT, n->args[0], arg_int(b->g, dim));
  if (!x)
    return;
  if (dtype_is_float(node_value(n, 1)->dtype)) {
    n->results[0] = cross_entropy_of_shares(b, n, x, dim);
    return;
  }
  struct value *loss = nll_of(b, n, x, 2, 3, 4);
  if (smoothing > 0 && loss) {
    struct value *counts = BUILD(b, OP_NE_TENSOR, n->args[1], n->args[4]);
    struct value *smooth = cross_sum(b, x, NULL, node_value(n, 2), dim);
    smooth = build_where_else(b, counts, smooth, 0);
    if (how == MEAN)
      smooth = smooth ? smooth_mean(b, n, smooth, counts) : NULL;
    else if (how == SUM)
      smooth = smooth ? BUILD(b, OP_SUM, TENSOR(smooth)) : NULL;
    smooth = build_over(b, build_scale(b, smooth, smoothing), x->shape[dim]);
    loss = build_add(b, build_scale(b, loss, 1 - smoothing), smooth);
  }
  n->results[0] = loss;
}
