// SPDX-License-Identifier: Apache-2.0
// Normalises views and data movement: explicit sizes and indices, few operators.
#include "graph/passes/decompose.h"

bool decompose_view(struct decompose *d, const struct node *n, struct value **ret) {
  const struct value *old = n->results[0];
  const struct arg *sizes;
  size_t count = node_list(n, 1, &sizes);
  bool is_plain = n->op == OP_VIEW && n->args[1].kind == ARG_LIST && count == old->rank;
  for (uint32_t i = 0; is_plain && i < old->rank; i++)
    is_plain = sizes[i].number == old->shape[i];
  if (is_plain)
    return decompose_keep(d);
  return decompose_is(d, n, ret, build_view(&d->b, node_value(n, 0), old->rank, old->shape));
}

bool decompose_expand(struct decompose *d, const struct node *n, struct value **ret) {
  const struct value *old = n->results[0];
  const struct arg *sizes;
  bool is_plain =
      node_list(n, 1, &sizes) == old->rank && n->args[1].kind == ARG_LIST && !node_truth(n, 2);
  for (uint32_t i = 0; is_plain && i < old->rank; i++)
    is_plain = sizes[i].number == old->shape[i];
  return is_plain ? decompose_keep(d) : decompose_is(d, n, ret, node_value(n, 0));
}

bool decompose_permute(struct decompose *d, const struct node *n, struct value **ret) {
  struct value *x = node_value(n, 0);
  const struct arg *list;
  struct dims order = {(uint32_t)node_list(n, 1, &list), {0}};
  bool is_plain = n->args[1].kind == ARG_LIST;
  for (uint32_t i = 0; i < order.count; i++) {
    int64_t dim = 0;
    expr_is_const(list[i].number, &dim);
    is_plain &= dim >= 0;
    order.at[i] = (uint32_t)(dim < 0 ? dim + x->rank : dim);
  }
  return is_plain ? decompose_keep(d) : decompose_is(d, n, ret, build_permute(&d->b, x, &order));
}

bool decompose_transpose(struct decompose *d, const struct node *n, struct value **ret) {
  struct value *x = node_value(n, 0);
  if (x->rank < 2)
    return decompose_is(d, n, ret, x);
  bool is_matrix = n->op == OP_T;
  uint32_t d0 = is_matrix ? 0 : node_dim(n, 1, x->rank),
           d1 = is_matrix ? 1 : node_dim(n, 2, x->rank);
  return decompose_is(d, n, ret, build_swap(&d->b, x, d0, d1));
}

bool decompose_unsqueeze(struct decompose *d, const struct node *n, struct value **ret) {
  struct value *x = node_value(n, 0);
  uint32_t dim = node_dim(n, 1, x->rank + 1);
  return node_int(n, 1) == dim ? decompose_keep(d)
                               : decompose_is(d, n, ret, build_unsqueeze(&d->b, x, dim));
}

bool decompose_squeeze(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  struct dims asked = n->op == OP_SQUEEZE ? dims_from(0, x->rank) : dims_of(n, 1, x->rank),
              gone = {0};
  bool is_empty = n->op == OP_SQUEEZE_DIMS && node_list(n, 1, &(const struct arg *){NULL}) == 0;
  for (uint32_t i = 0; i < asked.count && !is_empty; i++)
    if (expr_is(x->shape[asked.at[i]], 1))
      gone.at[gone.count++] = asked.at[i];
  if (gone.count == 0)
    return decompose_is(d, n, ret, x);
  int64_t at[GRAPH_MAX_RANK];
  const struct arg *list = NULL;
  bool is_plain = n->op == OP_SQUEEZE_DIMS && n->args[1].kind == ARG_LIST &&
                  node_list(n, 1, &list) == gone.count;
  for (uint32_t i = 0; i < gone.count; i++) {
    at[i] = gone.at[i];
    is_plain = is_plain && expr_is(list[i].number, at[i]);
  }
  if (is_plain)
    return decompose_keep(d);
  return decompose_is(d, n, ret,
                      BUILD(b, OP_SQUEEZE_DIMS, TENSOR(x), arg_ints(b->g, gone.count, at)));
}

// Also for select_scatter, which has `src` between.
bool decompose_select(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  bool puts = n->op == OP_SELECT_SCATTER;
  unsigned i = puts ? 2 : 1;
  uint32_t dim = node_dim(n, i, x->rank);
  const struct expr *index = node_expr(n, i + 1);
  struct value *src = puts ? node_value(n, 1) : x;
  if (node_int(n, i) == dim && index->lo >= 0 && src->dtype == x->dtype)
    return decompose_keep(d);
  if (index->hi < 0)
    index = expr_add(b->g->exprs, index, x->shape[dim]);
  struct arg at = arg_int(b->g, dim), which = ARG_E(index);
  if (!puts)
    return decompose_is(d, n, ret, BUILD(b, OP_SELECT, TENSOR(x), at, which));
  src = build_convert(b, src, x->dtype);
  return decompose_is(d, n, ret, BUILD(b, OP_SELECT_SCATTER, TENSOR(x), TENSOR(src), at, which));
}

// A start or end as an index within [0, size].
static const struct expr *index_within(struct exprs *x, const struct node *n, unsigned i,
                                       const struct expr *size, bool is_end) {
  if (node_is_none(n, i))
    return is_end ? size : expr_const(x, 0);
  const struct expr *e = node_expr(n, i);
  if (expr_is(e, INT64_MAX))
    return size;
  if (e->hi < 0)
    e = expr_max(x, expr_add(x, e, size), expr_const(x, 0));
  return expr_min(x, e, size);
}

struct range {
  uint32_t dim;
  const struct expr *start, *end;
  bool is_plain; // the arguments are already in this form
};

// dim, start, end from argument i on.
static struct range range_of(struct build *b, const struct node *n, unsigned i,
                             const struct value *x) {
  struct range r = {.dim = node_dim(n, i, x->rank)};
  r.start = index_within(b->g->exprs, n, i + 1, x->shape[r.dim], false);
  r.end =
      expr_max(b->g->exprs, r.start, index_within(b->g->exprs, n, i + 2, x->shape[r.dim], true));
  expr_equate(expr_min(b->g->exprs, r.start, x->shape[r.dim]), r.start); // they are within already
  expr_equate(expr_max(b->g->exprs, r.start, expr_min(b->g->exprs, r.end, x->shape[r.dim])), r.end);
  r.is_plain = node_int(n, i) == r.dim && !node_is_none(n, i + 1) &&
               node_expr(n, i + 1) == r.start && !node_is_none(n, i + 2) &&
               node_expr(n, i + 2) == r.end;
  return r;
}

bool decompose_slice(struct decompose *d, const struct node *n, struct value **ret) {
  struct value *x = node_value(n, 0);
  struct range r = range_of(&d->b, n, 1, x);
  if (r.is_plain)
    return decompose_keep(d);
  return decompose_is(d, n, ret, build_slice(&d->b, x, r.dim, r.start, r.end, node_int(n, 4)));
}

static struct value *put_slice(struct build *b, struct value *x, struct value *src,
                               const struct range *r, struct arg step) {
  if (!x)
    return NULL;
  src = build_convert(b, src, x->dtype);
  return BUILD(b, OP_SLICE_SCATTER, TENSOR(x), TENSOR(src), arg_int(b->g, r->dim), ARG_E(r->start),
               ARG_E(r->end), step);
}

bool decompose_slice_scatter(struct decompose *d, const struct node *n, struct value **ret) {
  struct value *x = node_value(n, 0);
  struct range r = range_of(&d->b, n, 2, x);
  if (r.is_plain && node_value(n, 1)->dtype == x->dtype)
    return decompose_keep(d);
  return decompose_is(d, n, ret, put_slice(&d->b, x, node_value(n, 1), &r, n->args[5]));
}

static struct value *zeros_like(struct build *b, const struct value *v) {
  return build_full(b, v->rank, v->shape, 0, v->dtype);
}

bool decompose_slice_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct value *zeros = zeros_like(&d->b, n->results[0]);
  struct range r = range_of(&d->b, n, 2, n->results[0]);
  return decompose_is(d, n, ret, put_slice(&d->b, zeros, node_value(n, 0), &r, n->args[5]));
}

bool decompose_select_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct value *zeros = zeros_like(&d->b, n->results[0]);
  return decompose_is(
      d, n, ret,
      BUILD(&d->b, OP_SELECT_SCATTER, TENSOR(zeros), n->args[0], n->args[2], n->args[3]));
}

bool decompose_split(struct decompose *d, const struct node *n, struct value **ret) {
  struct exprs *x = d->b.g->exprs;
  struct value *from = node_value(n, 0);
  uint32_t dim = node_dim(n, 2, from->rank);
  const struct expr *start = expr_const(x, 0);
  for (uint32_t i = 0; i < n->result_count; i++) {
    const struct expr *end = expr_add(x, start, n->results[i]->shape[dim]);
    decompose_give(d, n, ret, i, build_slice(&d->b, from, dim, start, end, 1));
    start = end;
  }
  return true;
}

bool decompose_unbind(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *from = node_value(n, 0);
  struct arg dim = arg_int(b->g, node_dim(n, 1, from->rank));
  for (uint32_t i = 0; i < n->result_count; i++)
    decompose_give(d, n, ret, i, BUILD(b, OP_SELECT, TENSOR(from), dim, arg_int(b->g, i)));
  return true;
}

bool decompose_diagonal(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  uint32_t d1 = node_dim(n, 2, x->rank), d2 = node_dim(n, 3, x->rank);
  if (node_int(n, 2) == d1 && node_int(n, 3) == d2)
    return decompose_keep(d);
  return decompose_is(
      d, n, ret,
      BUILD(b, OP_DIAGONAL, TENSOR(x), n->args[1], arg_int(b->g, d1), arg_int(b->g, d2)));
}

// ---- movement ----

static struct value *cat(struct build *b, size_t count, struct value *const *parts, uint32_t dim) {
  if (count == 1)
    return parts[0];
  return BUILD(b, OP_CAT, arg_values(b->g, count, parts), arg_int(b->g, dim));
}

bool decompose_cat(struct decompose *d, const struct node *n, struct value **ret) {
  const struct value *old = n->results[0];
  const struct arg *list;
  size_t count = node_list(n, 0, &list), kept = 0;
  uint32_t dim = node_dim(n, 1, old->rank);
  bool is_plain = node_int(n, 1) == dim && count > 1;
  struct value **parts = arena_array(d->b.g->arena, struct value *, count + 1);
  for (size_t i = 0; i < count; i++) {
    struct value *v = list[i].value;
    bool is_skipped = v->rank != old->rank ||
                      expr_is(v->shape[dim], 0); // PyTorch accepts vectors of size 0 anywhere
    is_plain &= v->dtype == old->dtype && !is_skipped;
    if (!is_skipped)
      parts[kept++] = build_convert(&d->b, v, old->dtype);
  }
  if (is_plain)
    return decompose_keep(d);
  if (kept == 0)
    return decompose_is(d, n, ret, zeros_like(&d->b, old));
  return decompose_is(d, n, ret, cat(&d->b, kept, parts, dim));
}

bool decompose_stack(struct decompose *d, const struct node *n, struct value **ret) {
  const struct arg *list;
  size_t count = node_list(n, 0, &list);
  uint32_t dim = node_dim(n, 1, n->results[0]->rank);
  struct value **parts = arena_array(d->b.g->arena, struct value *, count + 1);
  for (size_t i = 0; i < count; i++)
    parts[i] =
        build_convert(&d->b, build_unsqueeze(&d->b, list[i].value, dim), n->results[0]->dtype);
  return decompose_is(d, n, ret, cat(&d->b, count, parts, dim));
}

// [a, b] repeated (2, 3) is [1, a, 1, b] expanded to [2, a, 3, b], viewed as [2a, 3b].
bool decompose_repeat(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  const struct arg *times;
  uint32_t count = (uint32_t)node_list(n, 1, &times), fresh = count - x->rank, rank = 0;
  const struct expr *before[2 * GRAPH_MAX_RANK], *after[2 * GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < count; i++) {
    if (!expr_is(times[i].number, 1) || i < fresh) {
      before[rank] = expr_const(b->g->exprs, 1);
      after[rank++] = times[i].number;
    }
    if (i >= fresh)
      before[rank] = after[rank] = x->shape[i - fresh], rank++;
  }
  if (rank > GRAPH_MAX_RANK) {
    struct diag *e =
        diag_error(b->g->diag, n->span, E1009, "`aten.repeat` of %u dimensions", count);
    diag_help(e, "at most %d dimensions may be repeated", GRAPH_MAX_RANK / 2);
    return false;
  }
  x = build_expand(b, build_view(b, x, rank, before), rank, after);
  return decompose_is(d, n, ret, build_view(b, x, n->results[0]->rank, n->results[0]->shape));
}

bool decompose_flip(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  const struct arg *list;
  size_t count = node_list(n, 1, &list);
  int64_t at[GRAPH_MAX_RANK] = {0};
  bool is_plain = n->args[1].kind == ARG_LIST;
  for (size_t i = 0; i < count && i < GRAPH_MAX_RANK; i++) {
    expr_is_const(list[i].number, &at[i]);
    is_plain &= at[i] >= 0;
    at[i] += at[i] < 0 ? x->rank : 0;
  }
  if (count == 0 || x->rank == 0)
    return decompose_is(d, n, ret, x);
  if (is_plain)
    return decompose_keep(d);
  return decompose_is(d, n, ret, BUILD(b, OP_FLIP, TENSOR(x), arg_ints(b->g, count, at)));
}

// Element i moves to i + shift: the part from -shift on comes first.
static struct value *roll(struct build *b, struct value *x, uint32_t dim,
                          const struct expr *shift) {
  struct exprs *e = b->g->exprs;
  if (!x || expr_is(x->shape[dim], 0))
    return x;
  const struct expr *first = expr_mod(e, expr_sub(e, expr_const(e, 0), shift), x->shape[dim]);
  if (expr_is(first, 0))
    return x;
  struct value *parts[] = {build_slice(b, x, dim, first, x->shape[dim], 1),
                           build_slice(b, x, dim, expr_const(e, 0), first, 1)};
  return parts[0] && parts[1] ? cat(b, 2, parts, dim) : NULL;
}

bool decompose_roll(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0), *old = x;
  const struct arg *shifts, *list = NULL;
  size_t count = node_list(n, 1, &shifts), dims = node_list(n, 2, &list);
  if (x->rank == 0)
    return decompose_is(d, n, ret, x);
  if (dims == 0 && count) {
    const struct expr *numel = value_numel(b->g->exprs, x);
    x = roll(b, build_view(b, x, 1, &numel), 0, shifts[0].number);
    return decompose_is(d, n, ret, build_view(b, x, old->rank, old->shape));
  }
  for (size_t i = 0; i < count && i < dims; i++) {
    int64_t dim = 0;
    expr_is_const(list[i].number, &dim);
    x = roll(b, x, (uint32_t)(dim < 0 ? dim + old->rank : dim), shifts[i].number);
  }
  return decompose_is(d, n, ret, x);
}

// The lower or the upper triangle.
static bool triangle(struct decompose *d, const struct node *n, struct value **ret,
                     enum operator_id compare) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  uint32_t last = x->rank - 1;
  struct value *row = build_iota(b, x->shape[last - 1], 0, 2),
               *column = build_iota(b, x->shape[last], 1, 2);
  struct value *bound = BUILD(b, OP_ADD_TENSOR, TENSOR(row), n->args[1]);
  return decompose_is(d, n, ret, build_where_else(b, build_binop(b, compare, column, bound), x, 0));
}

bool decompose_tril(struct decompose *d, const struct node *n, struct value **ret) {
  return triangle(d, n, ret, OP_LE_TENSOR);
}

bool decompose_triu(struct decompose *d, const struct node *n, struct value **ret) {
  return triangle(d, n, ret, OP_GE_TENSOR);
}
