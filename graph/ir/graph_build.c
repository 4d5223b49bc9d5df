// SPDX-License-Identifier: Apache-2.0
// Helpers that append operators to a graph.
#include "graph/ir/graph_build.h"

#include <math.h>

struct dims dims_one(uint32_t dim) {
  return (struct dims){1, {dim}};
}

struct dims dims_from(uint32_t first, uint32_t end) {
  struct dims d = {0};
  for (uint32_t i = first; i < end; i++)
    d.at[d.count++] = i;
  return d;
}

bool dims_has(const struct dims *d, uint32_t dim) {
  for (uint32_t i = 0; i < d->count; i++)
    if (d->at[i] == dim)
      return true;
  return false;
}

static uint32_t wrap(int64_t dim, uint32_t rank) { return (uint32_t)(dim < 0 ? dim + rank : dim); }

struct dims dims_of(const struct node *n, unsigned arg, uint32_t rank) {
  bool is_reduced[GRAPH_MAX_RANK] = {0};
  const struct arg *a = &n->args[arg], *list = a->kind == ARG_LIST ? a->list.at : a;
  size_t count = a->kind == ARG_LIST ? a->list.count : a->kind == ARG_INT;
  for (size_t i = 0; i < count; i++) {
    int64_t dim = 0;
    expr_is_const(list[i].number, &dim);
    if (wrap(dim, rank) < rank)
      is_reduced[wrap(dim, rank)] = true;
  }
  struct dims d = {0};
  for (uint32_t i = 0; i < rank; i++)
    if (is_reduced[i] || count == 0)
      d.at[d.count++] = i;
  return d;
}

struct arg dims_arg(struct build *b, const struct dims *d) {
  int64_t values[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < d->count; i++)
    values[i] = d->at[i];
  return arg_ints(b->g, d->count, values);
}

static struct arg int_arg(struct build *b, int64_t value) { return arg_int(b->g, value); }

struct value *build_apply(struct build *b, enum operator_id op, size_t count,
                          const struct arg *args) {
  return graph_apply(b->g, op, args, count, b->at);
}

// ---- pointwise ----

struct value *build_unop(struct build *b, enum operator_id op, struct value *x) {
  return BUILD(b, op, TENSOR(x));
}

struct value *build_binop(struct build *b, enum operator_id op, struct value *x, struct value *y) {
  return BUILD(b, op, TENSOR(x), TENSOR(y));
}

struct value *build_real(struct build *b, enum operator_id op, struct value *x, double y) {
  return BUILD(b, op, TENSOR(x), ARG_F(y));
}

struct value *build_int(struct build *b, enum operator_id op, struct value *x, int64_t y) {
  return BUILD(b, op, TENSOR(x), int_arg(b, y));
}

struct value *build_add(struct build *b, struct value *x, struct value *y) {
  return build_binop(b, OP_ADD_TENSOR, x, y);
}

struct value *build_sub(struct build *b, struct value *x, struct value *y) {
  return build_binop(b, OP_SUB_TENSOR, x, y);
}

struct value *build_mul(struct build *b, struct value *x, struct value *y) {
  return build_binop(b, OP_MUL_TENSOR, x, y);
}

struct value *build_div(struct build *b, struct value *x, struct value *y) {
  return build_binop(b, OP_DIV_TENSOR, x, y);
}

struct value *build_scale(struct build *b, struct value *x, double by) {
  return by == 1 ? x : build_real(b, OP_MUL_TENSOR, x, by);
}

struct value *build_over(struct build *b, struct value *x, const struct expr *n) {
  return expr_is(n, 1) ? x : BUILD(b, OP_DIV_TENSOR, TENSOR(x), ARG_E(n));
}

struct value *build_where(struct build *b, struct value *c, struct value *x, struct value *y) {
  return BUILD(b, OP_WHERE_SELF, TENSOR(c), TENSOR(x), TENSOR(y));
}

struct value *build_where_else(struct build *b, struct value *c, struct value *x, double y) {
  return x ? build_where(b, c, x, build_number(b, y, x->dtype)) : NULL;
}

struct value *build_convert(struct build *b, struct value *x, enum dtype t) {
  if (!x || x->dtype == t)
    return x;
  return BUILD(b, OP_CONVERT_ELEMENT_TYPE, TENSOR(x), ARG_D(t));
}

struct value *build_up(struct build *b, struct value *x) {
  return x ? build_convert(b, x, dtype_to_compute(x->dtype)) : NULL;
}

// ---- shapes ----

struct value *build_view(struct build *b, struct value *x, uint32_t rank,
                         const struct expr *const *shape) {
  if (!x || value_has_shape(x, rank, shape))
    return x;
  return BUILD(b, OP_VIEW, TENSOR(x), arg_exprs(b->g, rank, shape));
}

struct value *build_expand(struct build *b, struct value *x, uint32_t rank,
                           const struct expr *const *shape) {
  if (!x || value_has_shape(x, rank, shape))
    return x;
  return BUILD(b, OP_EXPAND, TENSOR(x), arg_exprs(b->g, rank, shape));
}

struct value *build_as(struct build *b, struct value *x, const struct value *like) {
  return build_expand(b, x, like->rank, like->shape);
}

struct value *build_permute(struct build *b, struct value *x, const struct dims *order) {
  bool is_identity = true;
  for (uint32_t i = 0; i < order->count; i++)
    is_identity &= order->at[i] == i;
  return is_identity ? x : BUILD(b, OP_PERMUTE, TENSOR(x), dims_arg(b, order));
}

struct value *build_swap(struct build *b, struct value *x, uint32_t d0, uint32_t d1) {
  if (!x)
    return NULL;
  struct dims order = dims_from(0, x->rank);
  order.at[d0] = d1, order.at[d1] = d0;
  return build_permute(b, x, &order);
}

struct value *build_unsqueeze(struct build *b, struct value *x, uint32_t dim) {
  return BUILD(b, OP_UNSQUEEZE, TENSOR(x), int_arg(b, dim));
}

struct value *build_squeeze(struct build *b, struct value *x, uint32_t dim) {
  struct dims d = dims_one(dim);
  return BUILD(b, OP_SQUEEZE_DIMS, TENSOR(x), dims_arg(b, &d));
}

struct value *build_along(struct build *b, struct value *x, uint32_t dim, uint32_t rank) {
  if (!x)
    return NULL;
  const struct expr *shape[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = i == dim ? x->shape[0] : expr_const(b->g->exprs, 1);
  return build_view(b, x, rank, shape);
}

struct value *build_slice(struct build *b, struct value *x, uint32_t dim, const struct expr *start,
                          const struct expr *end, int64_t step) {
  if (!x || (step == 1 && expr_is(start, 0) && end == x->shape[dim]))
    return x;
  return BUILD(b, OP_SLICE, TENSOR(x), int_arg(b, dim), ARG_E(start), ARG_E(end), int_arg(b, step));
}

// ---- reductions ----

static struct value *reduce(struct build *b, enum operator_id op, struct value *x,
                            const struct dims *d, bool keepdim) {
  if (d->count == 0)
    return x;
  return BUILD(b, op, TENSOR(x), dims_arg(b, d), ARG_B(keepdim));
}

struct value *build_sum(struct build *b, struct value *x, const struct dims *d, bool keepdim) {
  return reduce(b, OP_SUM_DIM, x, d, keepdim);
}

struct value *build_amax(struct build *b, struct value *x, const struct dims *d, bool keepdim) {
  return reduce(b, OP_AMAX, x, d, keepdim);
}

const struct expr *build_count(struct build *b, const struct value *x, const struct dims *d) {
  const struct expr *count = expr_const(b->g->exprs, 1);
  for (uint32_t i = 0; i < d->count; i++)
    count = expr_mul(b->g->exprs, count, x->shape[d->at[i]]);
  return count;
}

struct value *build_mean(struct build *b, struct value *x, const struct dims *d, bool keepdim) {
  return x ? build_over(b, build_sum(b, x, d, keepdim), build_count(b, x, d)) : NULL;
}

// ---- creation ----

static struct arg number_arg(struct build *b, double value, enum dtype t) {
  if (dtype_is_float(t) || !isfinite(value))
    return ARG_F(value);
  return t == DTYPE_I1 ? ARG_B(value != 0) : int_arg(b, (int64_t)value);
}

struct value *build_full(struct build *b, uint32_t rank, const struct expr *const *shape,
                         double value, enum dtype t) {
  return BUILD(b, OP_FULL, arg_exprs(b->g, rank, shape), number_arg(b, value, t), ARG_D(t));
}

struct value *build_number(struct build *b, double value, enum dtype t) {
  return build_full(b, 0, NULL, value, t);
}

struct value *build_iota(struct build *b, const struct expr *n, uint32_t dim, uint32_t rank) {
  struct value *v = BUILD(b, OP_IOTA, ARG_E(n), int_arg(b, 0), int_arg(b, 1), ARG_D(DTYPE_I64));
  return build_along(b, v, dim, rank);
}
