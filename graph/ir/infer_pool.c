// SPDX-License-Identifier: Apache-2.0
// Results of pooling over the last two dimensions.
#include "graph/ir/infer.h"

// Entry d of a list of one or two; an empty list is that of `otherwise`.
static const struct expr *pair(struct infer *in, unsigned i, unsigned otherwise, uint32_t d) {
  const struct arg *list;
  size_t count = node_list(in->n, i, &list);
  if (count == 0)
    count = node_list(in->n, otherwise, &list);
  return count == 0 ? expr_const(in->g->exprs, 1) : list[count == 1 ? 0 : d].number;
}

// Checks kernels, strides, paddings, dilations: constants, windows of at least one element, padding
// of at most half a window.
static bool check_pairs(struct infer *in, unsigned first, unsigned end) {
  const struct arg *list;
  for (unsigned i = first; i < end; i++) {
    size_t count = in->n->args[i].kind == ARG_LIST ? node_list(in->n, i, &list) : 0;
    if (count > 2)
      return infer_error(in, E1004, "%zu numbers for 2 dimensions", count);
    for (size_t k = 0; k < count; k++)
      if (!expr_is_const(list[k].number, NULL))
        return infer_error(in, E1004, "window sizes must be constants");
  }
  for (uint32_t d = 0; d < 2; d++) {
    const struct expr *kernel = pair(in, 1, 1, d);
    int64_t padding = 0;
    if (node_list(in->n, 3, &list) > 0)
      expr_is_const(pair(in, 3, 3, d), &padding);
    if (kernel->lo < 1 || padding < 0 || padding > kernel->lo / 2)
      return infer_error(
          in, E1004, "windows must have at least one element, and padding at most half of that");
  }
  return true;
}

// With ceil_mode a last window may begin inside of the input or its left padding and extend beyond
// it.
static const struct expr *pooled(struct exprs *x, const struct expr *size,
                                 const struct expr *kernel, const struct expr *stride,
                                 const struct expr *padding, const struct expr *dilation,
                                 bool rounds_up) {
  const struct expr *reach = expr_mul(x, dilation, expr_addi(x, kernel, -1));
  const struct expr *room =
      expr_addi(x, expr_sub(x, expr_add(x, size, expr_muli(x, padding, 2)), reach), -1);
  if (!rounds_up)
    return expr_addi(x, expr_floordiv(x, room, stride), 1);
  const struct expr *count = expr_addi(x, expr_cdiv(x, room, stride), 1);
  // (count - 1) * stride < size + padding: count <= cdiv(size + padding, stride)
  return expr_min(x, count, expr_cdiv(x, expr_add(x, size, padding), stride));
}

static bool pool_extent(struct infer *in, const struct value *v, int dilation_at, unsigned ceil_at,
                        struct extent *e) {
  struct exprs *x = in->g->exprs;
  if (v->rank != 3 && v->rank != 4)
    return infer_error(in, E1004, "`self` is %s; it needs 3 or 4 dimensions",
                       infer_type_text(in, v));
  if (!check_pairs(in, 1, ceil_at))
    return false;
  *e = extent_of(v);
  for (uint32_t d = 0; d < 2; d++) {
    const struct expr *dilation =
        dilation_at < 0 ? expr_const(x, 1) : pair(in, (unsigned)dilation_at, 1, d);
    const struct expr *stride = pair(in, 2, 1, d);
    if (stride->lo < 1 || dilation->lo < 1)
      return infer_error(in, E1004, "strides and dilations must be positive");
    const struct expr **size = &e->shape[v->rank - 2 + d];
    *size = pooled(x, *size, pair(in, 1, 1, d), stride, pair(in, 3, 3, d), dilation,
                   node_truth(in->n, ceil_at));
  }
  if (value_is_channels_last(x, v))
    extent_channels_last(x, e);
  else
    extent_make_contiguous(x, e);
  return true;
}

bool infer_max_pool2d(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct extent e;
  return pool_extent(in, v, 4, 5, &e) && infer_extent(in, 0, v->dtype, &e) &&
         infer_extent(in, 1, DTYPE_I64, &e);
}

bool infer_avg_pool2d(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct extent e;
  return pool_extent(in, v, -1, 4, &e) && infer_extent(in, 0, v->dtype, &e);
}

// grad_output:0 self:1 indices:7
bool infer_pool_backward(struct infer *in) {
  const struct value *grad = infer_value(in, 0), *v = infer_value(in, 1),
                     *indices = infer_value(in, 7);
  bool fits = v->rank >= 3 && grad->rank == v->rank && indices->rank == v->rank;
  for (uint32_t d = 0; fits && d < v->rank; d++)
    fits = infer_same_size(in, grad->shape[d], indices->shape[d]) &&
           (d + 2 >= v->rank || infer_same_size(in, grad->shape[d], v->shape[d]));
  if (!fits)
    return infer_error(in, E1004, "`self` is %s, `grad_output` is %s, `indices` are %s",
                       infer_type_text(in, v), infer_type_text(in, grad),
                       infer_type_text(in, indices));
  if (!infer_wants_integer(in, indices, "indices", false) || !infer_same_dtype(in, grad, v))
    return false;
  return infer_dense_like(in, 0, v->dtype, v);
}

bool infer_adaptive_pool2d(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct extent e, sizes;
  if (v->rank != 3 && v->rank != 4)
    return infer_error(in, E1004, "`self` is %s; it needs 3 or 4 dimensions",
                       infer_type_text(in, v));
  if (!infer_sizes(in, 1, &sizes))
    return false;
  if (sizes.rank != 2)
    return infer_error(in, E1004, "%u output sizes; there are 2", sizes.rank);
  e = extent_of(v);
  e.shape[v->rank - 2] = sizes.shape[0];
  e.shape[v->rank - 1] = sizes.shape[1];
  if (value_is_channels_last(in->g->exprs, v))
    extent_channels_last(in->g->exprs, &e);
  else
    extent_make_contiguous(in->g->exprs, &e);
  return infer_extent(in, 0, v->dtype, &e);
}
