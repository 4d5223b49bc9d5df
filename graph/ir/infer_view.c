// SPDX-License-Identifier: Apache-2.0
// Results of views: the same elements in another shape, with PyTorch's strides.
#include "graph/ir/infer.h"

// ---- other orders ----

static bool swap_dims(struct infer *in, const struct value *v, uint32_t a, uint32_t b) {
  struct extent e = extent_of(v);
  if (a != b) {
    e.shape[a] = v->shape[b];
    e.shape[b] = v->shape[a];
    e.strides[a] = v->strides[b];
    e.strides[b] = v->strides[a];
  }
  return infer_extent(in, 0, v->dtype, &e);
}

bool infer_transpose(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  uint32_t a, b;
  return infer_dim(in, 1, v->rank, &a) && infer_dim(in, 2, v->rank, &b) && swap_dims(in, v, a, b);
}

bool infer_t(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  if (v->rank > 2)
    return infer_error(in, E1004, "`self` is %s; it may have 2 dimensions", infer_type_text(in, v));
  return v->rank == 2 ? swap_dims(in, v, 0, 1) : infer_same(in);
}

bool infer_permute(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  const struct arg *list;
  struct extent e = {.rank = v->rank};
  bool is_used[GRAPH_MAX_RANK] = {false};
  if (node_list(in->n, 1, &list) != v->rank)
    return infer_error(in, E1004, "%zu dimensions for %s", node_list(in->n, 1, &list),
                       infer_type_text(in, v));
  for (uint32_t i = 0; i < v->rank; i++) {
    uint32_t d;
    if (!infer_wrap_dim(in, list[i].number, v->rank, &d))
      return false;
    if (is_used[d])
      return infer_error(in, E1004, "dimension %u appears twice", d);
    is_used[d] = true;
    e.shape[i] = v->shape[d];
    e.strides[i] = v->strides[d];
  }
  return infer_extent(in, 0, v->dtype, &e);
}

// ---- more and fewer dimensions ----

static void remove_dim(struct extent *e, uint32_t d) {
  e->rank--;
  memmove(e->shape + d, e->shape + d + 1, (e->rank - d) * sizeof *e->shape);
  memmove(e->strides + d, e->strides + d + 1, (e->rank - d) * sizeof *e->strides);
}

bool infer_unsqueeze(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct extent e = extent_of(v);
  uint32_t d;
  if (!infer_dim(in, 1, v->rank + 1, &d))
    return false;
  if (v->rank == GRAPH_MAX_RANK)
    return infer_error(in, E1009, "more than %d dimensions", GRAPH_MAX_RANK);
  memmove(e.shape + d + 1, e.shape + d, (e.rank - d) * sizeof *e.shape);
  memmove(e.strides + d + 1, e.strides + d, (e.rank - d) * sizeof *e.strides);
  e.shape[d] = expr_const(in->g->exprs, 1);
  e.strides[d] = d < v->rank ? expr_mul(in->g->exprs, v->shape[d], v->strides[d]) : e.shape[d];
  e.rank++;
  return infer_extent(in, 0, v->dtype, &e);
}

// Symbolic sizes that are 1 by a guard: the text gives the result fewer dimensions. If only some
// of them are, the likely sizes decide.
static void make_ones(struct infer *in, const struct value *v, const bool *asked) {
  const struct annotated *an = in->g->annotated;
  uint32_t open = 0, ones = 0;
  for (uint32_t d = 0; d < v->rank; d++) {
    ones += asked[d] && expr_is(v->shape[d], 1);
    open += asked[d] && !expr_is_const(v->shape[d], NULL) && v->shape[d]->lo <= 1;
  }
  uint32_t missing = an && an->rank + ones < v->rank ? v->rank - ones - an->rank : 0;
  for (uint32_t d = 0; d < v->rank && missing; d++) {
    const struct expr *size = v->shape[d];
    if (asked[d] && !expr_is_const(size, NULL) && size->lo <= 1 &&
        (missing == open || expr_hint(size) == 1))
      missing -= infer_make_one(in, size);
  }
}

bool infer_squeeze(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct extent e = {0};
  bool asked[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < GRAPH_MAX_RANK; d++)
    asked[d] = in->op->id == OP_SQUEEZE;
  if (in->op->id != OP_SQUEEZE) {
    const struct arg *list = &in->n->args[1];
    size_t count = list->kind == ARG_LIST ? node_list(in->n, 1, &list) : 1;
    for (size_t i = 0; i < count; i++) {
      uint32_t d;
      if (!infer_wrap_dim(in, list[i].number, v->rank, &d))
        return false;
      asked[d] = true;
    }
  }
  make_ones(in, v, asked);
  for (uint32_t d = 0; d < v->rank; d++)
    if (!asked[d] || !expr_is(v->shape[d], 1)) {
      e.shape[e.rank] = v->shape[d];
      e.strides[e.rank++] = v->strides[d];
    }
  return infer_extent(in, 0, v->dtype, &e);
}

// -size <= index < size, where sizes are symbols.
static void require_index(struct infer *in, const struct expr *index, const struct value *v,
                          uint32_t d) {
  struct exprs *x = in->g->exprs;
  const char *text = arena_printf(in->g->arena, "an index is out of range in dimension %u of %s", d,
                                  infer_type_text(in, v));
  infer_require(in, expr_add(x, index, v->shape[d]), text);
  infer_require(in, expr_addi(x, expr_sub(x, v->shape[d], index), -1), text);
}

bool infer_select(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct extent e = extent_of(v);
  uint32_t d;
  int64_t index, size;
  if (v->rank == 0)
    return infer_error(in, E1004, "`self` has no dimensions");
  if (!infer_dim(in, 1, v->rank, &d))
    return false;
  if (expr_is_const(node_expr(in->n, 2), &index) && expr_is_const(v->shape[d], &size) &&
      (index < -size || index >= size))
    return infer_error(in, E1004, "index %lld in dimension %u of %s", (long long)index, d,
                       infer_type_text(in, v));
  require_index(in, node_expr(in->n, 2), v, d);
  remove_dim(&e, d);
  return infer_extent(in, 0, v->dtype, &e);
}

bool infer_diagonal(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct exprs *x = in->g->exprs;
  struct extent e = extent_of(v);
  uint32_t a, b;
  if (v->rank < 2)
    return infer_error(in, E1004, "`self` is %s; it needs 2 dimensions", infer_type_text(in, v));
  if (!infer_dim(in, 2, v->rank, &a) || !infer_dim(in, 3, v->rank, &b))
    return false;
  if (a == b)
    return infer_error(in, E1004, "both dimensions are %u", a);
  const struct expr *offset = node_expr(in->n, 1), *zero = expr_const(x, 0);
  const struct expr *rows = expr_min(x, v->shape[a], expr_add(x, v->shape[a], offset));
  const struct expr *columns = expr_min(x, v->shape[b], expr_sub(x, v->shape[b], offset));
  remove_dim(&e, a > b ? a : b);
  remove_dim(&e, a > b ? b : a);
  e.shape[e.rank] = expr_max(x, zero, expr_min(x, rows, columns));
  e.strides[e.rank++] = expr_add(x, v->strides[a], v->strides[b]);
  return infer_extent(in, 0, v->dtype, &e);
}

// ---- parts ----

// A start or an end as in Python: from the end if negative, clamped to [0, size].
static const struct expr *clamp_index(struct exprs *x, const struct expr *i,
                                      const struct expr *size) {
  const struct expr *zero = expr_const(x, 0);
  if (expr_is(i, INT64_MAX))
    return size;
  if (i->hi < 0)
    i = expr_add(x, i, size);
  return expr_min(x, expr_max(x, i, zero), size);
}

bool infer_slice(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct exprs *x = in->g->exprs;
  struct extent e = extent_of(v);
  uint32_t d;
  if (v->rank == 0)
    return infer_error(in, E1004, "`self` has no dimensions");
  if (!infer_dim(in, 1, v->rank, &d))
    return false;
  const struct expr *size = v->shape[d], *step = node_expr(in->n, 4);
  if (step->lo < 1)
    return infer_error(in, E1004, "the step must be positive");
  const struct expr *start =
      node_is_none(in->n, 2) ? expr_const(x, 0) : clamp_index(x, node_expr(in->n, 2), size);
  const struct expr *end =
      node_is_none(in->n, 3) ? size : clamp_index(x, node_expr(in->n, 3), size);
  const struct expr *length = expr_max(x, expr_const(x, 0), expr_sub(x, end, start));
  e.shape[d] = expr_cdiv(x, length, step);
  e.strides[d] = expr_mul(x, v->strides[d], step);
  return infer_extent(in, 0, v->dtype, &e);
}

static bool split_at(struct infer *in, const struct value *v, uint32_t d, uint32_t count,
                     const struct expr *const *sizes) {
  struct extent e = extent_of(v);
  infer_results(in, count);
  for (uint32_t i = 0; i < count; i++) {
    e.shape[d] = sizes[i];
    if (!infer_extent(in, i, v->dtype, &e))
      return false;
  }
  return true;
}

enum { MAX_PARTS = 1 << 16 };

// A symbolic number of parts is that of the likely sizes, as one of PyTorch's guards fixed it.
static bool count_parts(struct infer *in, const struct expr *size, const struct expr *part,
                        int64_t *ret) {
  struct exprs *x = in->g->exprs;
  const struct expr *parts = expr_cdiv(x, size, part);
  if (expr_is_const(parts, ret))
    return true;
  if (expr_is_const(part, NULL) || parts->kind == EXPR_SYMBOL)
    return false;
  *ret = expr_hint(parts);
  const struct expr *known = expr_const(x, *ret);
  if (*ret < 1 || !graph_require_equal(in->g, parts, known, in->n->span))
    return false;
  expr_equate(parts, known);
  return expr_is_const(expr_cdiv(x, size, part), ret);
}

bool infer_split(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct exprs *x = in->g->exprs;
  const struct expr *part = node_expr(in->n, 1);
  uint32_t d;
  int64_t count;
  if (!infer_dim(in, 2, v->rank, &d))
    return false;
  if (v->rank == 0 || part->lo < 1)
    return infer_error(in, E1004, "%s cannot be split into parts of this size",
                       infer_type_text(in, v));
  if (!count_parts(in, v->shape[d], part, &count) || count > MAX_PARTS)
    return infer_error(in, E1004,
                       "the number of parts of dimension %u of %s is not known or too large", d,
                       infer_type_text(in, v));
  count = count == 0 ? 1 : count;
  const struct expr **sizes = arena_array(in->g->arena, const struct expr *, (size_t)count);
  for (int64_t i = 0; i < count; i++)
    sizes[i] = i + 1 < count ? part : expr_sub(x, v->shape[d], expr_muli(x, part, count - 1));
  return split_at(in, v, d, (uint32_t)count, sizes);
}

bool infer_split_with_sizes(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct exprs *x = in->g->exprs;
  const struct arg *list;
  size_t count = node_list(in->n, 1, &list);
  uint32_t d;
  if (v->rank == 0 || !infer_dim(in, 2, v->rank, &d))
    return v->rank > 0 ? false : infer_error(in, E1004, "`self` has no dimensions");
  const struct expr **sizes = arena_array(in->g->arena, const struct expr *, count),
                    *sum = expr_const(x, 0);
  for (size_t i = 0; i < count; i++) {
    sizes[i] = list[i].number;
    if (sizes[i]->hi < 0)
      return infer_error(in, E1004, "a part of negative size");
    infer_require(in, sizes[i], "a part of a split has a negative size");
    sum = expr_add(x, sum, sizes[i]);
  }
  if (!infer_same_size(in, sum, v->shape[d]))
    return infer_error(in, E1004, "sizes %s do not add up to dimension %u of %s",
                       infer_shape_text(in, (uint32_t)count, sizes), d, infer_type_text(in, v));
  return split_at(in, v, d, (uint32_t)count, sizes);
}

bool infer_unbind(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct extent e = extent_of(v);
  uint32_t d;
  int64_t count;
  if (v->rank == 0 || !infer_dim(in, 1, v->rank, &d))
    return v->rank > 0 ? false : infer_error(in, E1004, "`self` has no dimensions");
  if (!expr_is_const(v->shape[d], &count) || count > MAX_PARTS)
    return infer_error(in, E1004,
                       "the number of parts of dimension %u of %s is not known or too large", d,
                       infer_type_text(in, v));
  remove_dim(&e, d);
  infer_results(in, (uint32_t)count);
  for (uint32_t i = 0; i < count; i++)
    if (!infer_extent(in, i, v->dtype, &e))
      return false;
  return true;
}
