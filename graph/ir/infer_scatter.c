// SPDX-License-Identifier: Apache-2.0
// Results of operators that write into a copy of their first tensor, or flip it: the result is like
// that tensor, and the written part must fit.
#include "graph/ir/infer.h"

bool infer_flip(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  const struct arg *list;
  size_t count = node_list(in->n, 1, &list);
  bool is_seen[GRAPH_MAX_RANK] = {false};
  for (size_t i = 0; i < count; i++) {
    uint32_t d;
    if (!infer_wrap_dim(in, list[i].number, v->rank, &d))
      return false;
    if (is_seen[d])
      return infer_error(in, E1004, "dimension %u is named twice", d);
    is_seen[d] = true;
  }
  return infer_like(in);
}

bool infer_prod_others(struct infer *in) {
  const struct arg *list;
  uint32_t d;
  if (node_list(in->n, 1, &list) != 1 || infer_value(in, 0)->rank == 0)
    return infer_error(in, E1004, "`dims` must name one dimension of `self`");
  return infer_wrap_dim(in, list[0].number, infer_value(in, 0)->rank, &d) && infer_like(in);
}

bool infer_roll(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  const struct arg *shifts, *list;
  size_t count = node_list(in->n, 1, &shifts), dims = node_list(in->n, 2, &list);
  uint32_t d;
  if (dims ? count != dims : count != 1)
    return infer_error(in, E1004, "%zu shifts, but %zu dimensions", count, dims);
  if (dims && v->rank == 0)
    return infer_error(in, E1004, "`self` has no dimensions, but `dims` names %zu", dims);
  for (size_t i = 0; i < dims; i++)
    if (!infer_wrap_dim(in, list[i].number, v->rank, &d))
      return false;
  return infer_like(in);
}

bool infer_triangle(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  if (v->rank < 2)
    return infer_error(in, E1004, "`self` is %s; it needs 2 dimensions", infer_type_text(in, v));
  return infer_like(in);
}

// ---- parts ----

// `src` must have the shape of the part.
static bool fits(struct infer *in, const struct value *src, const struct extent *part) {
  bool same = src->rank == part->rank;
  for (uint32_t i = 0; same && i < part->rank; i++)
    same = infer_same_size(in, src->shape[i], part->shape[i]);
  return same ||
         infer_error(in, E1004, "%s does not fit the replaced part, %s", infer_type_text(in, src),
                     infer_shape_text(in, part->rank, part->shape));
}

// Arguments i and i + 1 are dim and index; removes that dimension from *e.
static bool take_select(struct infer *in, unsigned i, struct extent *e) {
  uint32_t d;
  int64_t index, size;
  if (e->rank == 0)
    return infer_error(in, E1004, "a tensor without dimensions");
  if (!infer_dim(in, i, e->rank, &d))
    return false;
  if (expr_is_const(node_expr(in->n, i + 1), &index) && expr_is_const(e->shape[d], &size) &&
      (index < -size || index >= size))
    return infer_error(in, E1004, "index %lld in dimension %u of %s", (long long)index, d,
                       infer_shape_text(in, e->rank, e->shape));
  for (uint32_t k = d + 1; k < e->rank; k++)
    e->shape[k - 1] = e->shape[k];
  e->rank--;
  return true;
}

static const struct expr *bound_of(struct infer *in, unsigned i, const struct expr *size,
                                   const struct expr *otherwise) {
  struct exprs *x = in->g->exprs;
  if (node_is_none(in->n, i))
    return otherwise;
  const struct expr *e = node_expr(in->n, i);
  if (expr_is(e, INT64_MAX))
    return size;
  if (e->hi < 0)
    e = expr_add(x, e, size);
  return expr_min(x, expr_max(x, e, expr_const(x, 0)), size);
}

// Arguments from i on are dim, start, end and step.
static bool take_slice(struct infer *in, unsigned i, struct extent *e) {
  struct exprs *x = in->g->exprs;
  uint32_t d;
  if (e->rank == 0)
    return infer_error(in, E1004, "a tensor without dimensions");
  if (!infer_dim(in, i, e->rank, &d))
    return false;
  const struct expr *step = node_expr(in->n, i + 3), *size = e->shape[d];
  if (step->lo < 1)
    return infer_error(in, E1004, "the step must be positive");
  const struct expr *length =
      expr_sub(x, bound_of(in, i + 2, size, size), bound_of(in, i + 1, size, expr_const(x, 0)));
  e->shape[d] = expr_cdiv(x, expr_max(x, expr_const(x, 0), length), step);
  return true;
}

// A tensor of the shape in argument 1, zero except for the part `grad_output`.
static bool sized(struct infer *in, const struct extent *whole) {
  return infer_result(in, 0, infer_value(in, 0)->dtype, whole->rank, whole->shape, NULL);
}

bool infer_select_scatter(struct infer *in) {
  struct extent part = extent_of(infer_value(in, 0));
  return take_select(in, 2, &part) && fits(in, infer_value(in, 1), &part) && infer_like(in);
}

bool infer_slice_scatter(struct infer *in) {
  struct extent part = extent_of(infer_value(in, 0));
  return take_slice(in, 2, &part) && fits(in, infer_value(in, 1), &part) && infer_like(in);
}

bool infer_select_backward(struct infer *in) {
  struct extent part;
  return infer_sizes(in, 1, &part) && sized(in, &part) && take_select(in, 2, &part) &&
         fits(in, infer_value(in, 0), &part);
}

bool infer_slice_backward(struct infer *in) {
  struct extent part;
  return infer_sizes(in, 1, &part) && sized(in, &part) && take_slice(in, 2, &part) &&
         fits(in, infer_value(in, 0), &part);
}

// ---- single elements ----

// self:0 dim:1 index:2 src:3 or a number
bool infer_scatter(struct infer *in) {
  const struct value *v = infer_value(in, 0), *index = infer_value(in, 2),
                     *src = infer_value(in, 3);
  uint32_t d;
  if (!infer_wants_integer(in, index, "index", false) || !infer_dim(in, 1, v->rank, &d))
    return false;
  bool same = index->rank == v->rank && (!src || src->rank == v->rank);
  for (uint32_t k = 0; same && k < v->rank; k++)
    same = (k == d || infer_not_above(in, index->shape[k], v->shape[k],
                                      "the indices of a scatter are larger than its tensor")) &&
           (!src || infer_not_above(in, index->shape[k], src->shape[k],
                                    "the indices of a scatter are larger than its source"));
  if (!same)
    return infer_error(in, E1004, "`index`, %s, does not fit `self`, %s%s%s",
                       infer_type_text(in, index), infer_type_text(in, v),
                       src ? ", and `src`, " : "", src ? infer_type_text(in, src) : "");
  if (src && src->dtype != v->dtype)
    return infer_error(in, E1005, "`src` is %s, `self` is %s", infer_type_text(in, src),
                       infer_type_text(in, v));
  return infer_like(in);
}

// The shape that indices select, without a result.
static bool chosen(struct infer *in, struct extent *ret) {
  struct node asked = *in->n;
  struct value *result = NULL;
  uint32_t ids = in->g->value_count;
  asked.results = &result;
  asked.result_count = 1;
  struct infer inner = {in->g, &asked, in->op};
  bool ok = infer_index(&inner);
  in->g->value_count = ids;
  if (ok)
    *ret = extent_of(result);
  return ok;
}

// self:0 indices:1 values:2
bool infer_index_put(struct infer *in) {
  const struct value *values = infer_value(in, 2), *v = infer_value(in, 0);
  struct extent e, both;
  if (!chosen(in, &e))
    return false;
  both = e;
  if (values->rank > e.rank || !infer_broadcast(in, &both, values))
    return fits(in, values, &e);
  for (uint32_t i = 0; i < e.rank; i++)
    if (!infer_same_size(in, both.shape[i], e.shape[i]))
      return fits(in, values, &e);
  if (values->dtype != v->dtype)
    return infer_error(in, E1005, "`values` are %s, `self` is %s", infer_type_text(in, values),
                       infer_type_text(in, v));
  return infer_like(in);
}
