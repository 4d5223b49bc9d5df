// SPDX-License-Identifier: Apache-2.0
// Results of pooling over the last two dimensions.
#include "graph/ir/infer.h"

// Where an operator has the arguments of its windows: kernel_size, stride, padding and, unless
// there is none, dilation follow each other.
struct windows {
  unsigned at, ceil_at;
  bool has_dilation;
};

// Entry d of a list of one or two.
static const struct expr *entry(struct infer *in, unsigned i, uint32_t d) {
  const struct arg *list;
  size_t count = node_list(in->n, i, &list);
  return list[count == 1 ? 0 : d].number;
}

// Those of a kernel without strides are its sizes.
static const struct expr *stride_of(struct infer *in, const struct windows *w, uint32_t d) {
  const struct arg *list;
  return entry(in, node_list(in->n, w->at + 1, &list) ? w->at + 1 : w->at, d);
}

// Checks kernels, strides, paddings, dilations: constants, windows of at least one element, padding
// of at most half a window.
static bool check_windows(struct infer *in, const struct windows *w) {
  const struct arg *list;
  size_t parameters;
  const struct parameter *names = operator_parameters(in->op->id, &parameters);
  const unsigned stride = w->at + 1, padding = w->at + 2, dilation = w->at + 3;
  for (unsigned i = w->at; i <= (w->has_dilation ? dilation : padding); i++) {
    size_t count = node_list(in->n, i, &list);
    if (count > 2 || (count == 0 && i != stride))
      return infer_error(in, E1004,
                         "`%.*s` has %zu numbers; it needs one, or one for each dimension",
                         STR_ARG(names[i].name), count);
    for (size_t k = 0; k < count; k++)
      if (!expr_is_const(list[k].number, NULL) || list[k].number->hi > INT32_MAX)
        return infer_error(in, E1004, "window sizes must be constants below 2^31");
  }
  for (uint32_t d = 0; d < 2; d++) {
    const struct expr *kernel = entry(in, w->at, d), *pad = entry(in, padding, d);
    if (kernel->lo < 1 || pad->lo < 0 || pad->lo > kernel->lo / 2)
      return infer_error(
          in, E1004, "windows must have at least one element, and padding at most half of that");
    if (stride_of(in, w, d)->lo < 1 || (w->has_dilation && entry(in, dilation, d)->lo < 1))
      return infer_error(in, E1004, "strides and dilations must be positive");
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

static bool pool_extent(struct infer *in, const struct value *v, struct windows w,
                        struct extent *e) {
  struct exprs *x = in->g->exprs;
  if (v->rank != 3 && v->rank != 4)
    return infer_error(in, E1004, "`self` is %s; it needs 3 or 4 dimensions",
                       infer_type_text(in, v));
  if (!check_windows(in, &w))
    return false;
  *e = extent_of(v);
  for (uint32_t d = 0; d < 2; d++) {
    const struct expr **size = &e->shape[v->rank - 2 + d];
    *size = pooled(x, *size, entry(in, w.at, d), stride_of(in, &w, d), entry(in, w.at + 2, d),
                   w.has_dilation ? entry(in, w.at + 3, d) : expr_const(x, 1),
                   node_truth(in->n, w.ceil_at));
    if (!infer_require(in, expr_addi(x, *size, -1), "an image is smaller than the windows"))
      return infer_error(in, E1004, "`self`, %s, is smaller than a window", infer_type_text(in, v));
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
  return pool_extent(in, v, (struct windows){1, 5, true}, &e) &&
         infer_extent(in, 0, v->dtype, &e) && infer_extent(in, 1, DTYPE_I64, &e);
}

bool infer_avg_pool2d(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct extent e;
  return pool_extent(in, v, (struct windows){1, 4, false}, &e) && infer_extent(in, 0, v->dtype, &e);
}

// grad_output:0 self:1 kernel_size:2 stride:3 padding:4 dilation:5 ceil_mode:6 indices:7. Windows
// of one element are those of unpooling, which has any number of them.
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
  const struct windows w = {2, 6, true};
  struct extent of;
  if (!infer_wants_integer(in, indices, "indices", false) || !infer_same_dtype(in, grad, v) ||
      !pool_extent(in, v, w, &of))
    return false;
  bool pools = !expr_is(entry(in, w.at, 0), 1) || !expr_is(entry(in, w.at, 1), 1);
  for (uint32_t d = v->rank - 2; pools && d < v->rank; d++)
    if (!infer_same_size(in, grad->shape[d], of.shape[d]))
      return infer_error(in, E1004, "`grad_output` is %s; the windows give %s",
                         infer_type_text(in, grad), infer_shape_text(in, of.rank, of.shape));
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
