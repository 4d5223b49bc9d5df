// SPDX-License-Identifier: Apache-2.0
// Coordinates through views: from a view to its operand, and back where the view only reorders.
#include "graph/loops/loops_internal.h"

bool loops_is_view(enum operator_id op) { return operator_row(op)->class == CLASS_VIEW; }

const struct value *loops_behind_views(const struct value *v) {
  while (v->def && loops_is_view(v->def->op))
    v = node_value(v->def, 0);
  return v;
}

// ---- reshaping ----

// Adjacent dimensions are grouped so that each group has the same number of elements in both
// shapes: dimensions that do not change need no division.
struct group {
  uint32_t from, from_count, to, to_count;
};

static struct group next_group(struct builder *b, uint32_t i, const struct expr *const *from,
                               uint32_t j, const struct expr *const *to) {
  struct group r = {i, 0, j, 0};
  const struct expr *p = expr_const(b->x, 1), *q = p;
  do {
    bool takes_from = r.from > 0 && (r.to == 0 || expr_hint(p) <= expr_hint(q));
    if (r.from_count == 0 && r.from > 0)
      takes_from = true;
    else if (r.to_count == 0 && r.to > 0)
      takes_from = false;
    if (takes_from) {
      p = expr_mul(b->x, p, from[--r.from]);
      r.from_count++;
    } else {
      q = expr_mul(b->x, q, to[--r.to]);
      r.to_count++;
    }
  } while (p != q && (r.from > 0 || r.to > 0));
  return r;
}

// Maps the coordinates `at` of one shape to those of another dense shape with as many elements.
static void reshape(struct builder *b, uint32_t from_rank, const struct expr *const *from,
                    coordinates at, uint32_t rank, const struct expr *const *to,
                    const struct expr **ret) {
  for (uint32_t i = 0; i < rank; i++)
    ret[i] = expr_const(b->x, 0);
  if (shape_is_empty(rank, to))
    return;
  for (uint32_t i = from_rank, j = rank; i > 0 || j > 0;) {
    struct group r = next_group(b, i, from, j, to);
    const struct expr *sizes[GRAPH_MAX_RANK] = {0}, *parts[GRAPH_MAX_RANK];
    uint32_t which[GRAPH_MAX_RANK], count = 0;
    for (uint32_t k = r.to; k < j; k++)
      if (!expr_is(to[k], 1)) {
        which[count] = k;
        sizes[count++] = to[k];
      }
    const struct expr **strides = contiguous_strides(b->x, b->arena, r.from_count, from + r.from);
    loops_unravel(b, loops_dot(b, r.from_count, at + r.from, strides), count, sizes, parts);
    for (uint32_t k = 0; k < count; k++)
      ret[which[k]] = parts[k];
    i = r.from;
    j = r.to;
  }
}

// ---- view operators ----

static void permute_coordinates(const struct node *n, uint32_t rank, coordinates at,
                                const struct expr **ret) {
  const struct arg *dims;
  size_t count = node_list(n, 1, &dims);
  for (size_t i = 0; i < count && i < rank; i++)
    ret[dims[i].number->value] = at[i];
}

static bool in_dims(const struct node *n, uint32_t rank, uint32_t dim) {
  const struct arg *dims;
  size_t count = node_list(n, 1, &dims);
  for (size_t i = 0; i < count; i++) {
    int64_t d = dims[i].number->value;
    if ((d < 0 ? d + rank : d) == dim)
      return true;
  }
  return false;
}

static void diagonal_coordinates(struct builder *b, const struct node *n, uint32_t rank,
                                 coordinates at, const struct expr **ret) {
  const struct expr *offset = node_expr(n, 1), *zero = expr_const(b->x, 0);
  uint32_t d1 = node_dim(n, 2, rank), d2 = node_dim(n, 3, rank), j = 0;
  for (uint32_t i = 0; i < rank; i++)
    if (i != d1 && i != d2)
      ret[i] = at[j++];
  ret[d1] = expr_add(b->x, at[j], expr_max(b->x, expr_muli(b->x, offset, -1), zero));
  ret[d2] = expr_add(b->x, at[j], expr_max(b->x, offset, zero));
}

const struct expr **loops_view_offset(struct builder *b, const struct node *n, coordinates at) {
  const struct value *of = node_value(n, 0), *v = n->results[0];
  const struct expr **ret = loops_coordinates(b, of->rank);
  const struct expr *zero = expr_const(b->x, 0);
  uint32_t dim, j = 0;
  switch (n->op) {
  case OP_VIEW: reshape(b, v->rank, v->shape, at, of->rank, of->shape, ret); return ret;
  case OP_PERMUTE: permute_coordinates(n, of->rank, at, ret); return ret;
  case OP_EXPAND:
    for (uint32_t i = 0; i < of->rank; i++)
      ret[i] = expr_is(of->shape[i], 1) ? zero : at[v->rank - of->rank + i];
    return ret;
  case OP_UNSQUEEZE:
    dim = node_dim(n, 1, v->rank);
    for (uint32_t i = 0; i < v->rank; i++)
      if (i != dim)
        ret[j++] = at[i];
    return ret;
  case OP_SQUEEZE_DIMS:
    for (uint32_t i = 0; i < of->rank; i++)
      ret[i] = in_dims(n, of->rank, i) ? zero : at[j++];
    return ret;
  case OP_SELECT:
    dim = node_dim(n, 1, of->rank);
    for (uint32_t i = 0; i < of->rank; i++)
      ret[i] = i == dim ? node_expr(n, 2) : at[j++];
    return ret;
  case OP_SLICE:
    dim = node_dim(n, 1, of->rank);
    for (uint32_t i = 0; i < of->rank; i++)
      ret[i] = at[i];
    ret[dim] = expr_add(b->x, node_expr(n, 2), expr_mul(b->x, at[dim], node_expr(n, 4)));
    return ret;
  case OP_DIAGONAL: diagonal_coordinates(b, n, of->rank, at, ret); return ret;
  default: return NULL;
  }
}

const struct expr **loops_view_back(struct builder *b, const struct node *n, coordinates at) {
  const struct value *of = node_value(n, 0), *v = n->results[0];
  const struct expr **ret = loops_coordinates(b, v->rank);
  const struct arg *dims;
  uint32_t dim, j = 0;
  switch (n->op) {
  case OP_VIEW: reshape(b, of->rank, of->shape, at, v->rank, v->shape, ret); return ret;
  case OP_PERMUTE:
    node_list(n, 1, &dims);
    for (uint32_t i = 0; i < v->rank; i++)
      ret[i] = at[dims[i].number->value];
    return ret;
  case OP_UNSQUEEZE:
    dim = node_dim(n, 1, v->rank);
    for (uint32_t i = 0; i < v->rank; i++)
      ret[i] = i == dim ? expr_const(b->x, 0) : at[j++];
    return ret;
  case OP_SQUEEZE_DIMS:
    for (uint32_t i = 0; i < of->rank; i++)
      if (!in_dims(n, of->rank, i))
        ret[j++] = at[i];
    return ret;
  default: return NULL;
  }
}
