// SPDX-License-Identifier: Apache-2.0
// Rules for views: chains are merged, views that change nothing are removed.
#include "graph/passes/simplify.h"

static bool is_reshape(enum operator_id op) {
  return op == OP_VIEW || op == OP_UNSQUEEZE || op == OP_SQUEEZE_DIMS;
}

static struct value *reshape(struct simplify *s, const struct node *n) {
  struct value *x = node_value(n, 0);
  const struct value *v = n->results[0];
  if (value_same_shape(x, v))
    return x;
  if (!x->def || !is_reshape(x->def->op))
    return NULL;
  return build_view(&s->b, node_value(x->def, 0), v->rank, v->shape);
}

static struct dims order_of(const struct node *n) {
  const struct arg *list;
  struct dims order = {(uint32_t)node_list(n, 1, &list), {0}};
  for (uint32_t i = 0; i < order.count; i++) {
    int64_t dim = 0;
    expr_is_const(list[i].number, &dim);
    order.at[i] = (uint32_t)(dim < 0 ? dim + order.count : dim);
  }
  return order;
}

// It only swaps dimensions of size 1.
static bool moves_ones(const struct value *x, const struct dims *order) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < order->count; i++) {
    if (expr_is(x->shape[order->at[i]], 1))
      continue;
    if (order->at[i] < last)
      return false;
    last = order->at[i];
  }
  return true;
}

static struct value *permute(struct simplify *s, const struct node *n) {
  struct value *x = node_value(n, 0);
  struct dims order = order_of(n);
  if (moves_ones(x, &order))
    return build_view(&s->b, x, n->results[0]->rank, n->results[0]->shape);
  if (!x->def || x->def->op != OP_PERMUTE)
    return NULL;
  struct dims inner = order_of(x->def);
  for (uint32_t i = 0; i < order.count; i++)
    order.at[i] = inner.at[order.at[i]];
  return build_permute(&s->b, node_value(x->def, 0), &order);
}

static struct value *expand(struct simplify *s, const struct node *n) {
  struct value *x = node_value(n, 0);
  const struct value *v = n->results[0];
  if (value_same_shape(x, v))
    return x;
  if (!x->def || x->def->op != OP_EXPAND)
    return NULL;
  return build_expand(&s->b, node_value(x->def, 0), v->rank, v->shape);
}

// Is the value expanded along dimension `dim`?
static bool is_expanded(const struct node *def, uint32_t dim) {
  const struct value *from = node_value(def, 0), *to = def->results[0];
  uint32_t more = to->rank - from->rank;
  return dim < more || expr_is(from->shape[dim - more], 1);
}

// A slice of a single operand of a cat.
static struct value *slice_of_cat(struct simplify *s, const struct node *n, uint32_t dim) {
  struct exprs *x = s->b.g->exprs;
  const struct node *def = node_value(n, 0)->def;
  const struct arg *list;
  size_t count = node_list(def, 0, &list);
  int64_t start, end, at = 0, size = 0;
  if (node_dim(def, 1, def->results[0]->rank) != dim)
    return NULL;
  if (!expr_is_const(node_expr(n, 2), &start) || !expr_is_const(node_expr(n, 3), &end) ||
      end <= start)
    return NULL;
  for (size_t i = 0; i < count && expr_is_const(list[i].value->shape[dim], &size); i++) {
    if (start >= at && end <= at + size)
      return build_slice(&s->b, list[i].value, dim, expr_const(x, start - at),
                         expr_const(x, end - at), node_int(n, 4));
    at += size;
  }
  return NULL;
}

static struct value *slice_of_slice(struct simplify *s, const struct node *n, uint32_t dim) {
  struct exprs *x = s->b.g->exprs;
  const struct node *def = node_value(n, 0)->def;
  int64_t step = node_int(def, 4);
  if (node_dim(def, 1, def->results[0]->rank) != dim || node_is_none(def, 2) ||
      node_is_none(def, 3))
    return NULL;
  const struct expr *start = expr_add(x, node_expr(def, 2), expr_muli(x, node_expr(n, 2), step));
  const struct expr *end = expr_min(
      x, expr_add(x, node_expr(def, 2), expr_muli(x, node_expr(n, 3), step)), node_expr(def, 3));
  return build_slice(&s->b, node_value(def, 0), dim, start, end, step * node_int(n, 4));
}

static struct value *slice(struct simplify *s, const struct node *n) {
  struct value *x = node_value(n, 0);
  const struct value *v = n->results[0];
  uint32_t dim = node_dim(n, 1, x->rank);
  if (node_is_none(n, 2) || node_is_none(n, 3) || node_expr(n, 2)->lo < 0 ||
      node_expr(n, 3)->lo < 0)
    return NULL;
  if (value_same_shape(x, v) && expr_is(node_expr(n, 2), 0))
    return x;
  if (!x->def)
    return NULL;
  switch (x->def->op) {
  case OP_SLICE: return slice_of_slice(s, n, dim);
  case OP_CAT: return slice_of_cat(s, n, dim);
  case OP_EXPAND:
    return is_expanded(x->def, dim) ? build_expand(&s->b, node_value(x->def, 0), v->rank, v->shape)
                                    : NULL;
  default: return NULL;
  }
}

static struct value *select(struct simplify *s, const struct node *n) {
  struct value *x = node_value(n, 0);
  const struct value *v = n->results[0];
  uint32_t dim = node_dim(n, 1, x->rank);
  if (expr_is(x->shape[dim], 1))
    return build_view(&s->b, x, v->rank, v->shape);
  if (!x->def || x->def->op != OP_EXPAND || !is_expanded(x->def, dim))
    return NULL;
  // The dimension is sliced where it has one element, or did not exist before.
  struct value *from = node_value(x->def, 0);
  uint32_t more = x->rank - from->rank;
  if (dim >= more)
    from = build_squeeze(&s->b, from, dim - more);
  return build_expand(&s->b, from, v->rank, v->shape);
}

struct value *simplify_view(struct simplify *s, const struct node *n) {
  struct value *v;
  switch (n->op) {
  case OP_VIEW:
  case OP_UNSQUEEZE:
  case OP_SQUEEZE_DIMS: v = reshape(s, n); break;
  case OP_PERMUTE: v = permute(s, n); break;
  case OP_EXPAND: v = expand(s, n); break;
  case OP_SLICE: v = slice(s, n); break;
  case OP_SELECT: v = select(s, n); break;
  case OP_ALIAS:
  case OP_DETACH: v = node_value(n, 0); break;
  default: return NULL;
  }
  return v && value_same_shape(v, n->results[0]) ? v : NULL;
}
