// SPDX-License-Identifier: Apache-2.0
// Results of matrix products and convolutions.
#include "graph/ir/infer.h"

static bool do_not_multiply(struct infer *in, const struct value *a, const struct value *b) {
  return infer_error(in, E1004,
                     "%s and %s cannot be multiplied\nthe columns of the first are the rows of the "
                     "second: `aten.permute.default(w, [1, 0])` transposes",
                     infer_type_text(in, a), infer_type_text(in, b));
}

// [.., M, K] times [.., K, N] with `batch` equal leading dimensions.
static bool multiply(struct infer *in, const struct value *a, const struct value *b, uint32_t batch,
                     struct extent *ret) {
  uint32_t rank = batch + 2;
  if (a->rank != rank || b->rank != rank ||
      !infer_same_size(in, a->shape[batch + 1], b->shape[batch]))
    return do_not_multiply(in, a, b);
  ret->rank = rank;
  for (uint32_t d = 0; d < batch; d++) {
    if (!infer_same_size(in, a->shape[d], b->shape[d]))
      return do_not_multiply(in, a, b);
    ret->shape[d] = a->shape[d];
  }
  ret->shape[batch] = a->shape[batch];
  ret->shape[batch + 1] = b->shape[batch + 1];
  extent_make_contiguous(in->g->exprs, ret);
  return infer_same_dtype(in, a, b);
}

static bool infer_multiply(struct infer *in, uint32_t batch) {
  struct extent e;
  const struct value *a = infer_value(in, 0), *b = infer_value(in, 1);
  return multiply(in, a, b, batch, &e) && infer_extent(in, 0, a->dtype, &e);
}

bool infer_mm(struct infer *in) { return infer_multiply(in, 0); }
bool infer_bmm(struct infer *in) { return infer_multiply(in, 1); }

bool infer_grouped_mm(struct infer *in) {
  const struct value *a = infer_value(in, 0), *b = infer_value(in, 1), *offs = infer_value(in, 2);
  bool fits = a->rank == 2 && (b->rank == 2 || b->rank == 3) &&
              infer_same_size(in, a->shape[1], b->shape[b->rank - 2]) && offs->rank == 1 &&
              (b->rank == 2 || infer_same_size(in, b->shape[0], offs->shape[0]));
  if (!fits)
    return do_not_multiply(in, a, b);
  const struct expr *shape[] = {offs->shape[0], a->shape[0], b->shape[b->rank - 1]};
  bool of_rows = b->rank == 3;
  return infer_wants_float(in, a, "self") && infer_wants_integer(in, offs, "offs", false) &&
         infer_same_dtype(in, a, b) &&
         infer_result(in, 0, a->dtype, of_rows ? 2 : 3, of_rows ? shape + 1 : shape, NULL);
}

// The first operand is added, broadcast to the product.
static bool infer_add_multiply(struct infer *in, uint32_t batch) {
  const struct value *added = infer_value(in, 0), *a = infer_value(in, 1), *b = infer_value(in, 2);
  struct extent e, wide;
  if (!multiply(in, a, b, batch, &e) || !infer_same_dtype(in, added, a))
    return false;
  wide = e;
  bool fits = infer_broadcast(in, &wide, added);
  for (uint32_t d = 0; d < e.rank && fits; d++)
    if (wide.rank != e.rank || wide.shape[d] != e.shape[d])
      return infer_error(in, E1004, "%s does not broadcast to the product of %s and %s",
                         infer_type_text(in, added), infer_type_text(in, a),
                         infer_type_text(in, b));
  return fits && infer_extent(in, 0, a->dtype, &e);
}

bool infer_addmm(struct infer *in) { return infer_add_multiply(in, 0); }
bool infer_baddbmm(struct infer *in) { return infer_add_multiply(in, 1); }

bool infer_linear(struct infer *in) {
  const struct value *v = infer_value(in, 0), *weight = infer_value(in, 1),
                     *bias = infer_value(in, 2);
  struct extent e = extent_of(v);
  if (v->rank == 0 || weight->rank != 2 ||
      !infer_same_size(in, v->shape[v->rank - 1], weight->shape[1]))
    return infer_error(in, E1004,
                       "`input` is %s, `weight` is %s; their last sizes must be the same",
                       infer_type_text(in, v), infer_type_text(in, weight));
  if (bias && (bias->rank > 1 ||
               (bias->rank == 1 && !infer_same_size(in, bias->shape[0], weight->shape[0]))))
    return infer_error(in, E1004, "`weight` is %s, `bias` is %s", infer_type_text(in, weight),
                       infer_type_text(in, bias));
  e.shape[e.rank - 1] = weight->shape[0];
  return infer_same_dtype(in, v, weight) && (!bias || infer_same_dtype(in, v, bias)) &&
         infer_result(in, 0, v->dtype, e.rank, e.shape, NULL);
}

// Vectors are rows on the left, columns on the right; leading dimensions broadcast.
bool infer_matmul(struct infer *in) {
  struct value *a = infer_value(in, 0), *b = infer_value(in, 1);
  if (a->rank == 0 || b->rank == 0 ||
      !infer_same_size(in, a->shape[a->rank - 1], b->shape[b->rank > 1 ? b->rank - 2 : 0]))
    return do_not_multiply(in, a, b);
  struct value left = *a, right = *b; // their leading dimensions
  left.rank = a->rank > 2 ? a->rank - 2 : 0;
  right.rank = b->rank > 2 ? b->rank - 2 : 0;
  struct extent e = extent_of(&left);
  if (!infer_broadcast(in, &e, &right) || !infer_same_dtype(in, a, b))
    return false;
  if (a->rank > 1)
    e.shape[e.rank++] = a->shape[a->rank - 2];
  if (b->rank > 1)
    e.shape[e.rank++] = b->shape[b->rank - 1];
  return infer_result(in, 0, a->dtype, e.rank, e.shape, NULL);
}

// ---- convolutions ----

// Entry i of a list for `count` spatial dimensions; a single entry holds for all.
static const struct expr *spatial(const struct arg *list, size_t length, uint32_t i) {
  return list[length == 1 ? 0 : i].number;
}

struct convolution {
  const struct arg *stride, *padding, *dilation, *output_padding;
  size_t strides, paddings, dilations, output_paddings;
};

static bool read_convolution(struct infer *in, unsigned first, uint32_t dims,
                             struct convolution *c) {
  c->strides = node_list(in->n, first, &c->stride);
  c->paddings = node_list(in->n, first + 1, &c->padding);
  c->dilations = node_list(in->n, first + 2, &c->dilation);
  c->output_paddings = node_list(in->n, first + 4, &c->output_padding);
  const size_t lengths[] = {c->strides, c->paddings, c->dilations, c->output_paddings};
  for (size_t i = 0; i < COUNT_OF(lengths); i++)
    if (lengths[i] != 1 && lengths[i] != dims)
      return infer_error(in, E1004, "%zu numbers for %u dimensions", lengths[i], dims);
  for (uint32_t d = 0; d < dims; d++)
    if (spatial(c->stride, c->strides, d)->lo < 1 || spatial(c->dilation, c->dilations, d)->lo < 1)
      return infer_error(in, E1004, "strides and dilations must be positive");
  return true;
}

// (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1, or its inverse for transposed
// convolutions.
static const struct expr *convolved(struct exprs *x, const struct convolution *c, uint32_t i,
                                    const struct expr *size, const struct expr *kernel,
                                    bool transposed) {
  const struct expr *stride = spatial(c->stride, c->strides, i);
  const struct expr *padding = expr_muli(x, spatial(c->padding, c->paddings, i), 2);
  const struct expr *reach =
      expr_mul(x, spatial(c->dilation, c->dilations, i), expr_addi(x, kernel, -1));
  if (transposed) {
    const struct expr *full =
        expr_add(x, expr_mul(x, expr_addi(x, size, -1), stride), expr_addi(x, reach, 1));
    return expr_add(x, expr_sub(x, full, padding),
                    spatial(c->output_padding, c->output_paddings, i));
  }
  const struct expr *room = expr_addi(x, expr_sub(x, expr_add(x, size, padding), reach), -1);
  return expr_addi(x, expr_floordiv(x, room, stride), 1);
}

static bool has_groups(struct infer *in, const struct expr *groups) {
  return infer_require(in, expr_addi(in->g->exprs, groups, -1), "a convolution has no groups");
}

bool infer_convolution(struct infer *in) {
  const struct value *v = infer_value(in, 0), *weight = infer_value(in, 1),
                     *bias = infer_value(in, 2);
  struct exprs *x = in->g->exprs;
  struct convolution c;
  bool transposed = node_truth(in->n, 6);
  const struct expr *groups = node_expr(in->n, 8);
  if (v->rank < 3 || v->rank != weight->rank || !has_groups(in, groups))
    return infer_error(in, E1004, "`input` is %s, `weight` is %s", infer_type_text(in, v),
                       infer_type_text(in, weight));
  if (!read_convolution(in, 3, v->rank - 2, &c) || !infer_same_dtype(in, v, weight) ||
      (bias && !infer_same_dtype(in, v, bias)))
    return false;
  const struct expr *taken = expr_mul(x, weight->shape[1], groups);
  if (!infer_same_size(in, transposed ? weight->shape[0] : taken, v->shape[1]))
    return infer_error(in, E1004, "`weight`, %s, does not take the %s of `input`, %s",
                       infer_type_text(in, weight), "channels", infer_type_text(in, v));
  struct extent e = {.rank = v->rank};
  e.shape[0] = v->shape[0];
  e.shape[1] = transposed ? taken : weight->shape[0];
  for (uint32_t d = 2; d < v->rank; d++)
    e.shape[d] = convolved(x, &c, d - 2, v->shape[d], weight->shape[d], transposed);
  if (bias && (bias->rank != 1 || !infer_same_size(in, bias->shape[0], e.shape[1])))
    return infer_error(in, E1004, "`bias` is %s; the result has shape %s",
                       infer_type_text(in, bias), infer_shape_text(in, e.rank, e.shape));
  if (value_is_channels_last(x, v) || value_is_channels_last(x, weight))
    extent_channels_last(x, &e);
  else
    extent_make_contiguous(x, &e);
  return infer_extent(in, 0, v->dtype, &e);
}

// With stride 1, positions of the input that no gradient reaches are 0, and others may be missing:
// passes divide strided gradients into such ones.
static bool is_phase(const struct infer *in, const struct convolution *c) {
  for (size_t d = 0; d < c->strides; d++)
    if (!expr_is(c->stride[d].number, 1))
      return false;
  return in->op->id == OP_CONVOLUTION_GRAD_INPUT;
}

// Has `grad` the shape of the convolution of `v` by `weight`?
static bool check_gradient(struct infer *in, const struct convolution *c, const struct value *grad,
                           const struct extent *v, const struct extent *weight,
                           const struct expr *groups, bool transposed) {
  struct exprs *x = in->g->exprs;
  const struct expr *inner = expr_mul(x, weight->shape[1], groups);
  bool same = has_groups(in, groups) && infer_same_size(in, grad->shape[0], v->shape[0]) &&
              infer_same_size(in, transposed ? inner : weight->shape[0], grad->shape[1]) &&
              infer_same_size(in, transposed ? weight->shape[0] : inner, v->shape[1]);
  for (uint32_t d = 2; same && d < grad->rank && !is_phase(in, c); d++)
    same = infer_same_size(in, grad->shape[d],
                           convolved(x, c, d - 2, v->shape[d], weight->shape[d], transposed));
  return same || infer_error(in, E1004,
                             "`grad_output`, %s, has not the shape of the convolution of %s by %s",
                             infer_type_text(in, grad), infer_shape_text(in, v->rank, v->shape),
                             infer_shape_text(in, weight->rank, weight->shape));
}

// grad_output:0, the sizes of the result:1, the other operand:2, stride:3 padding:4 dilation:5
// groups:6
bool infer_convolution_gradient(struct infer *in) {
  const struct value *grad = infer_value(in, 0), *other = infer_value(in, 2);
  struct extent sizes, of_other = extent_of(other);
  static const struct arg no_list[1];
  struct convolution c = {.output_padding = no_list, .output_paddings = 1};
  c.strides = node_list(in->n, 3, &c.stride);
  c.paddings = node_list(in->n, 4, &c.padding);
  c.dilations = node_list(in->n, 5, &c.dilation);
  if (!infer_sizes(in, 1, &sizes) || !infer_same_dtype(in, grad, other))
    return false;
  size_t dims = grad->rank - 2;
  if (grad->rank < 3 || other->rank != grad->rank || sizes.rank != grad->rank ||
      c.strides != dims || c.paddings != dims || c.dilations != dims)
    return infer_error(in, E1004, "`grad_output` is %s, the other operand %s",
                       infer_type_text(in, grad), infer_type_text(in, other));
  for (size_t d = 0; d < dims; d++)
    if (c.stride[d].number->lo < 1 || c.dilation[d].number->lo < 1)
      return infer_error(in, E1004, "strides and dilations must be positive");
  bool of_input = in->op->id == OP_CONVOLUTION_GRAD_INPUT;
  return check_gradient(in, &c, grad, of_input ? &sizes : &of_other, of_input ? &of_other : &sizes,
                        node_expr(in->n, 6), false) &&
         infer_result(in, 0, grad->dtype, sizes.rank, sizes.shape, NULL);
}

bool infer_convolution_backward(struct infer *in) {
  const struct value *grad = infer_value(in, 0), *v = infer_value(in, 1),
                     *weight = infer_value(in, 2);
  struct convolution c;
  if (grad->rank < 3 || grad->rank != v->rank || grad->rank != weight->rank)
    return infer_error(in, E1004, "`grad_output` is %s, `input` is %s, `weight` is %s",
                       infer_type_text(in, grad), infer_type_text(in, v),
                       infer_type_text(in, weight));
  if (!read_convolution(in, 4, grad->rank - 2, &c) || !infer_same_dtype(in, grad, v) ||
      !infer_same_dtype(in, grad, weight))
    return false;
  struct extent of_v = extent_of(v), of_weight = extent_of(weight);
  if (!check_gradient(in, &c, grad, &of_v, &of_weight, node_expr(in->n, 9), node_truth(in->n, 7)))
    return false;
  bool last =
      value_is_channels_last(in->g->exprs, v) || value_is_channels_last(in->g->exprs, weight);
  const struct value *like[2] = {v, weight};
  for (unsigned i = 0; i < 2; i++) {
    struct extent e = extent_of(like[i]);
    if (last)
      extent_channels_last(in->g->exprs, &e);
    else
      extent_make_contiguous(in->g->exprs, &e);
    if (infer_in_output_mask(in, i) && !infer_extent(in, i, like[i]->dtype, &e))
      return false;
  }
  return !infer_in_output_mask(in, 2) || infer_result(in, 2, grad->dtype, 1, &grad->shape[1], NULL);
}
