// SPDX-License-Identifier: Apache-2.0
// Results of views that reshape, expand or restride.
#include "graph/ir/infer.h"

// Strides for `to` over the elements of `from`, if there are any.
static bool view_strides(struct exprs *x, const struct value *from, struct extent *to) {
  const struct expr *numel = expr_const(x, 1), *seen = numel;
  if (from->rank == 0 || expr_is(value_numel(x, from), 0)) {
    extent_make_contiguous(x, to);
    return true;
  }
  uint32_t left = to->rank;
  const struct expr *base = from->strides[from->rank - 1];
  for (uint32_t d = from->rank; d-- > 0;) {
    numel = expr_mul(x, numel, from->shape[d]);
    bool block_ends = d == 0 || (!expr_is(from->shape[d - 1], 1) &&
                                 from->strides[d - 1] != expr_mul(x, numel, base));
    if (!block_ends)
      continue;
    while (left > 0 && (seen != numel || expr_is(to->shape[left - 1], 1))) {
      left--;
      to->strides[left] = expr_mul(x, seen, base);
      seen = expr_mul(x, seen, to->shape[left]);
    }
    if (seen != numel)
      return false;
    if (d > 0) {
      base = from->strides[d - 1];
      numel = seen = expr_const(x, 1);
    }
  }
  return left == 0;
}

// Computes the size that is -1.
static bool complete_sizes(struct infer *in, const struct value *v, struct extent *e) {
  struct exprs *x = in->g->exprs;
  const struct expr *numel = value_numel(x, v), *others = expr_const(x, 1);
  int missing = -1;
  for (uint32_t d = 0; d < e->rank; d++) {
    if (!expr_is(e->shape[d], -1))
      others = expr_mul(x, others, e->shape[d]);
    else if (missing >= 0)
      return infer_error(in, E1004, "more than one size is -1 in %s",
                         infer_shape_text(in, e->rank, e->shape));
    else
      missing = (int)d;
  }
  const char *asked = infer_shape_text(in, e->rank, e->shape);
  if (missing >= 0) {
    if (expr_is(others, 0))
      return infer_error(in, E1004, "the size -1 in %s is ambiguous", asked);
    // Sizes that may be 0 are not, or the size would be ambiguous.
    const struct expr *exact = expr_divide_exactly(x, numel, others);
    e->shape[missing] = exact ? exact : expr_floordiv(x, numel, others);
    others = expr_mul(x, others, e->shape[missing]);
  }
  if (!infer_same_size(in, numel, others))
    return infer_error(in, E1004,
                       "%s cannot be viewed as %s: the numbers of elements differ\nthe sizes "
                       "multiply to that of the tensor; one of them may be -1, and is computed",
                       infer_type_text(in, v), asked);
  return true;
}

bool infer_view(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct extent e;
  if (!infer_sizes(in, 1, &e) || !complete_sizes(in, v, &e))
    return false;
  // Where strides do not allow it, PyTorch's view is an error and its reshape a copy. Passes move
  // views, so both may copy here.
  if (in->op->id == OP_UNSAFE_VIEW || !view_strides(in->g->exprs, v, &e))
    extent_make_contiguous(in->g->exprs, &e);
  return infer_extent(in, 0, v->dtype, &e);
}

bool infer_expand(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct extent e;
  if (!infer_sizes(in, 1, &e))
    return false;
  const char *asked = infer_shape_text(in, e.rank, e.shape);
  if (e.rank < v->rank)
    return infer_error(in, E1004, "%s cannot be expanded to %s, which has fewer dimensions",
                       infer_type_text(in, v), asked);
  uint32_t more = e.rank - v->rank;
  for (uint32_t d = 0; d < e.rank; d++) {
    const struct expr *own = d < more ? NULL : v->shape[d - more];
    if (expr_is(e.shape[d], -1) && own)
      e.shape[d] = own;
    bool same =
        own && (own == e.shape[d] || (!expr_is(own, 1) && infer_same_size(in, own, e.shape[d])));
    if (expr_is(e.shape[d], -1) || (own && !same && !expr_is(own, 1)))
      return infer_error(in, E1004, "%s cannot be expanded to %s", infer_type_text(in, v), asked);
    e.strides[d] = same ? v->strides[d - more] : expr_const(in->g->exprs, 0);
  }
  return infer_extent(in, 0, v->dtype, &e);
}

// The number of elements from the first to the last of a layout without negative strides.
static const struct expr *span_of(struct exprs *x, uint32_t rank, const struct expr *const *shape,
                                  const struct expr *const *strides) {
  const struct expr *span = expr_const(x, 1);
  for (uint32_t d = 0; d < rank; d++)
    span = expr_add(x, span, expr_mul(x, expr_addi(x, shape[d], -1), strides[d]));
  return span;
}

// Offset, sizes and strides stay within the elements that `self` spans.
static bool stays_inside(struct infer *in, const struct value *v, const struct extent *e) {
  struct exprs *x = in->g->exprs;
  const struct expr *offset = node_is_none(in->n, 3) ? expr_const(x, 0) : node_expr(in->n, 3);
  const char *asked = infer_shape_text(in, e->rank, e->shape);
  for (uint32_t d = 0; d < e->rank; d++)
    if (e->shape[d]->hi < 0 || e->strides[d]->hi < 0)
      return infer_error(in, E1004, "a negative size or stride for %s", asked);
  if (offset->hi < 0)
    return infer_error(in, E1004, "the offset is negative");
  if (shape_is_empty(e->rank, e->shape))
    return true;
  const struct expr *span = shape_is_empty(v->rank, v->shape)
                                ? expr_const(x, 0)
                                : span_of(x, v->rank, v->shape, v->strides);
  const struct expr *reach = expr_add(x, offset, span_of(x, e->rank, e->shape, e->strides));
  const char *text = arena_printf(in->g->arena, "%s reaches beyond the storage of %s", asked,
                                  infer_type_text(in, v));
  for (uint32_t d = 0; d < e->rank; d++)
    infer_require(in, e->strides[d], text);
  infer_require(in, offset, text);
  int64_t most, here;
  if (expr_is_const(reach, &most) && expr_is_const(span, &here) && most > here)
    return infer_error(in, E1004,
                       "%s with these strides reaches %lld elements, but %s has storage for %lld",
                       asked, (long long)most, infer_type_text(in, v), (long long)here);
  return infer_require(in, expr_sub(x, span, reach), text) || infer_error(in, E1004, "%s", text);
}

bool infer_as_strided(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct extent e, strides;
  if (!infer_sizes(in, 1, &e) || !infer_sizes(in, 2, &strides))
    return false;
  if (e.rank != strides.rank)
    return infer_error(in, E1004, "%u sizes, but %u strides", e.rank, strides.rank);
  for (uint32_t d = 0; d < e.rank; d++)
    e.strides[d] = strides.shape[d];
  return stays_inside(in, v, &e) && infer_extent(in, 0, v->dtype, &e);
}

bool infer_same(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  return infer_result(in, 0, v->dtype, v->rank, v->shape, v->strides);
}
