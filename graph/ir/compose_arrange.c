// SPDX-License-Identifier: Apache-2.0
// Composed arrangements of tensors under their public names: stacks along a named dimension, flips,
// moved dimensions, and products of all pairs.
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)
#define Y node_value(n, 1)
#define A(i) n->args[i]

// ---- at least so many dimensions ----

static struct value *at_least(struct build *b, struct value *x, uint32_t rank) {
  if (x && x->rank == 0 && rank > 0)
    x = build_unsqueeze(b, x, 0);
  if (x && x->rank == 1 && rank > 1)
    x = build_unsqueeze(b, x, 0);
  return x && x->rank == 2 && rank > 2 ? build_unsqueeze(b, x, 2) : x;
}

static uint32_t rank_of_name(const struct node *n) {
  const char *name = operator_row(n->op)->name, *digit = strpbrk(name, "123");
  return digit ? (uint32_t)(*digit - '0') : 0;
}

void compose_atleast(struct build *b, struct node *n) {
  struct value *v = at_least(b, X, rank_of_name(n));
  n->results[0] = v == X ? BUILD(b, OP_ALIAS, A(0)) : v;
}

static void joined(struct build *b, struct node *n, uint32_t rank, int64_t dim, bool as_columns) {
  const struct arg *list;
  size_t count = node_list(n, 0, &list);
  struct value **all = arena_array(b->g->arena, struct value *, count);
  for (size_t i = 0; i < count; i++) {
    struct value *v = list[i].value;
    all[i] = as_columns && v->rank == 1 ? build_unsqueeze(b, v, 1) : at_least(b, v, rank);
    if (!all[i])
      return;
  }
  bool is_vector = count && all[0]->rank == 1;
  n->results[0] =
      BUILD(b, OP_CAT, arg_values(b->g, count, all), arg_int(b->g, is_vector ? 0 : dim));
}

void compose_vstack(struct build *b, struct node *n) { joined(b, n, 2, 0, false); }
void compose_hstack(struct build *b, struct node *n) { joined(b, n, 1, 1, false); }
void compose_dstack(struct build *b, struct node *n) { joined(b, n, 3, 2, false); }
void compose_column_stack(struct build *b, struct node *n) { joined(b, n, 2, 1, true); }

// tensors: the matrices along a diagonal, zeros elsewhere
void compose_block_diag(struct build *b, struct node *n) {
  struct exprs *x = b->g->exprs;
  const struct arg *list;
  size_t count = node_list(n, 0, &list);
  const struct expr *columns = compose_const(b, 0), *before = columns;
  struct value **all = arena_array(b->g->arena, struct value *, count);
  for (size_t i = 0; i < count; i++) {
    all[i] = at_least(b, list[i].value, 2);
    if (!all[i] || all[i]->rank != 2) {
      compose_error(b, n, E1004, "a tensor of more than 2 dimensions");
      return;
    }
    columns = expr_add(x, columns, all[i]->shape[1]);
  }
  for (size_t i = 0; i < count; i++) {
    const struct expr *after = expr_sub(x, expr_sub(x, columns, before), all[i]->shape[1]),
                      *sides[] = {before, after};
    before = expr_add(x, before, all[i]->shape[1]);
    all[i] =
        BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(all[i]), arg_exprs(b->g, 2, sides), arg_int(b->g, 0));
  }
  n->results[0] = BUILD(b, OP_CAT, arg_values(b->g, count, all), arg_int(b->g, 0));
}

// ---- views ----

void compose_ravel(struct build *b, struct node *n) {
  const int64_t all = -1;
  n->results[0] = BUILD(b, OP_RESHAPE, A(0), arg_ints(b->g, 1, &all));
}

void compose_fliplr(struct build *b, struct node *n) {
  const int64_t dim = 1;
  n->results[0] = BUILD(b, OP_FLIP, A(0), arg_ints(b->g, 1, &dim));
}

void compose_flipud(struct build *b, struct node *n) {
  const int64_t dim = 0;
  n->results[0] = BUILD(b, OP_FLIP, A(0), arg_ints(b->g, 1, &dim));
}

// self source destination: lists of dimensions
void compose_movedims(struct build *b, struct node *n) {
  const struct arg *from, *to;
  size_t count = node_list(n, 1, &from), rank = X->rank;
  bool is_moved[GRAPH_MAX_RANK] = {false}, is_taken[GRAPH_MAX_RANK] = {false};
  struct dims order = {.count = X->rank};
  bool ok = count == node_list(n, 2, &to) && count <= rank;
  for (size_t i = 0; ok && i < count; i++) {
    int64_t s = 0, d = 0, r = (int64_t)rank;
    ok = expr_is_const(from[i].number, &s) && expr_is_const(to[i].number, &d) && s >= -r && s < r &&
         d >= -r && d < r;
    s += s < 0 ? r : 0, d += d < 0 ? r : 0;
    ok = ok && !is_moved[s] && !is_taken[d];
    if (ok)
      order.at[d] = (uint32_t)s, is_moved[s] = is_taken[d] = true;
  }
  if (!ok) {
    compose_error(b, n, E1004, "these are not different dimensions of the tensor");
    return;
  }
  for (uint32_t d = 0, s = 0; d < rank; d++) {
    if (is_taken[d])
      continue;
    while (is_moved[s])
      s++;
    order.at[d] = s++;
  }
  n->results[0] = build_permute(b, X, &order);
}

// self indices dim: parts that begin at the indices
void compose_split_at(struct build *b, struct node *n) {
  struct exprs *x = b->g->exprs;
  const struct arg *list;
  size_t count = node_list(n, 1, &list);
  uint32_t dim = compose_dim(b, n, 2, X->rank);
  if (X->rank == 0)
    return;
  const struct expr **sizes = arena_array(b->g->arena, const struct expr *, count + 1),
                    *before = compose_const(b, 0), *size = X->shape[dim];
  for (size_t i = 0; i <= count; i++) {
    const struct expr *end = i < count ? list[i].number : size;
    if (end->hi < 0)
      end = expr_add(x, end, size);
    end = expr_max(x, expr_min(x, end, size), before);
    sizes[i] = expr_sub(x, end, before);
    before = end;
  }
  const struct arg args[] = {A(0), arg_exprs(b->g, count + 1, sizes), arg_int(b->g, dim)};
  struct node *all = graph_append(b->g, OP_SPLIT_WITH_SIZES, args, COUNT_OF(args), b->at);
  if (all)
    n->result_count = all->result_count, n->results = all->results;
}

// self size: sums over what was broadcast
void compose_sum_to_size(struct build *b, struct node *n) {
  const struct arg *size;
  size_t rank = node_list(n, 1, &size);
  const struct expr *shape[GRAPH_MAX_RANK];
  struct dims over = {0};
  if (rank > X->rank) {
    compose_error(b, n, E1004, "%zu sizes for %u dimensions", rank, X->rank);
    return;
  }
  for (uint32_t d = 0; d < X->rank; d++) {
    uint32_t lead = X->rank - (uint32_t)rank;
    const struct expr *want = d < lead ? compose_const(b, 1) : size[d - lead].number;
    if (d >= lead && !expr_is(want, 1) && !compose_same_size(b, want, X->shape[d])) {
      compose_error(b, n, E1004, "size %u of the result is neither 1 nor that of `self`", d - lead);
      return;
    }
    if (d >= lead)
      shape[d - lead] = want;
    if (d < lead || (expr_is(want, 1) && !expr_is(X->shape[d], 1)))
      over.at[over.count++] = d;
  }
  struct value *sum = over.count ? build_sum(b, X, &over, true) : X;
  n->results[0] = sum ? BUILD(b, OP_RESHAPE, TENSOR(sum), arg_exprs(b->g, rank, shape)) : NULL;
}

// ---- elements ----

// self indices dim: gather, where sizes of 1 are broadcast; None: of the flattened tensor
void compose_take_along_dim(struct build *b, struct node *n) {
  struct value *x = X, *index = Y;
  const int64_t all = -1;
  if (node_is_none(n, 2)) {
    x = BUILD(b, OP_RESHAPE, TENSOR(x), arg_ints(b->g, 1, &all));
    index = BUILD(b, OP_RESHAPE, TENSOR(index), arg_ints(b->g, 1, &all));
    n->results[0] =
        x && index ? BUILD(b, OP_GATHER, TENSOR(x), arg_int(b->g, 0), TENSOR(index)) : NULL;
    return;
  }
  uint32_t dim = compose_dim(b, n, 2, x->rank);
  if (index->rank != x->rank) {
    compose_error(b, n, E1004, "operands of %u and %u dimensions", x->rank, index->rank);
    return;
  }
  const struct expr *of_x[GRAPH_MAX_RANK], *of_index[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < x->rank; d++) {
    const struct expr *wide = expr_is(x->shape[d], 1) ? index->shape[d] : x->shape[d];
    of_x[d] = d == dim ? x->shape[d] : wide;
    of_index[d] = d == dim ? index->shape[d] : wide;
  }
  x = build_expand(b, x, x->rank, of_x);
  index = build_expand(b, index, index->rank, of_index);
  n->results[0] =
      x && index ? BUILD(b, OP_GATHER, TENSOR(x), arg_int(b->g, dim), TENSOR(index)) : NULL;
}

void compose_msort(struct build *b, struct node *n) {
  const struct arg args[] = {A(0), arg_int(b->g, 0)};
  struct node *both = graph_append(b->g, OP_SORT, args, COUNT_OF(args), b->at);
  n->results[0] = both ? both->results[0] : NULL;
}

// elements test_elements assume_unique invert
void compose_isin(struct build *b, struct node *n) {
  const int64_t all = -1;
  struct value *tests = BUILD(b, OP_RESHAPE, TENSOR(Y), arg_ints(b->g, 1, &all));
  struct value *same = build_binop(b, OP_EQ_TENSOR, build_unsqueeze(b, X, X->rank), tests);
  struct value *any = same ? BUILD(b, OP_ANY_DIM, TENSOR(same), arg_int(b->g, X->rank)) : NULL;
  n->results[0] = node_truth(n, 3) ? build_unop(b, OP_LOGICAL_NOT, any) : any;
}

// ---- products of pairs ----

static struct value *contracted(struct build *b, struct value *x, struct value *y,
                                const int64_t *of_x, const int64_t *of_y, size_t count) {
  struct dims rest = {0}, order_x = {0}, order_y = {0};
  const struct expr *rows = compose_const(b, 1), *inner = rows, *columns = rows,
                    *shape[2 * GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < x->rank; d++) {
    bool is_inner = false;
    for (size_t i = 0; i < count; i++)
      is_inner |= of_x[i] == d;
    if (!is_inner) {
      shape[rest.count++] = x->shape[d];
      order_x.at[order_x.count++] = d;
      rows = expr_mul(b->g->exprs, rows, x->shape[d]);
    }
  }
  for (size_t i = 0; i < count; i++) {
    order_x.at[order_x.count++] = (uint32_t)of_x[i];
    order_y.at[order_y.count++] = (uint32_t)of_y[i];
    inner = expr_mul(b->g->exprs, inner, x->shape[of_x[i]]);
  }
  for (uint32_t d = 0; d < y->rank; d++) {
    bool is_inner = false;
    for (size_t i = 0; i < count; i++)
      is_inner |= of_y[i] == d;
    if (!is_inner) {
      shape[rest.count++] = y->shape[d];
      order_y.at[order_y.count++] = d;
      columns = expr_mul(b->g->exprs, columns, y->shape[d]);
    }
  }
  const struct expr *as_x[] = {rows, inner}, *as_y[] = {inner, columns};
  x = build_permute(b, x, &order_x);
  y = build_permute(b, y, &order_y);
  x = x ? BUILD(b, OP_RESHAPE, TENSOR(x), arg_exprs(b->g, 2, as_x)) : NULL;
  y = y ? BUILD(b, OP_RESHAPE, TENSOR(y), arg_exprs(b->g, 2, as_y)) : NULL;
  struct value *product = build_binop(b, OP_MM, x, y);
  return product ? BUILD(b, OP_RESHAPE, TENSOR(product), arg_exprs(b->g, rest.count, shape)) : NULL;
}

// self other dims_self dims_other
void compose_tensordot(struct build *b, struct node *n) {
  const struct arg *list[2];
  int64_t dims[2][GRAPH_MAX_RANK];
  size_t count = node_list(n, 2, &list[0]);
  bool ok = count == node_list(n, 3, &list[1]) && count <= X->rank && count <= Y->rank &&
            X->rank + Y->rank - 2 * count <= GRAPH_MAX_RANK;
  for (size_t k = 0; ok && k < 2; k++)
    for (size_t i = 0; ok && i < count; i++) {
      int64_t rank = k ? Y->rank : X->rank;
      ok =
          expr_is_const(list[k][i].number, &dims[k][i]) && dims[k][i] >= -rank && dims[k][i] < rank;
      dims[k][i] += ok && dims[k][i] < 0 ? rank : 0;
    }
  if (ok)
    n->results[0] = contracted(b, X, Y, dims[0], dims[1], count);
  else
    compose_error(b, n, E1004, "these are not dimensions of the tensors");
}

// self other: over the last dimension of both
void compose_inner(struct build *b, struct node *n) {
  const int64_t last[] = {(int64_t)X->rank - 1, (int64_t)Y->rank - 1};
  if (X->rank == 0 || Y->rank == 0)
    n->results[0] = build_mul(b, X, Y);
  else if (X->rank + Y->rank - 2 > GRAPH_MAX_RANK)
    compose_error(b, n, E1009, "more than %d dimensions", GRAPH_MAX_RANK);
  else
    n->results[0] = contracted(b, X, Y, &last[0], &last[1], 1);
}

// x y dim
void compose_vecdot(struct build *b, struct node *n) {
  struct value *product = build_mul(b, X, Y);
  struct dims d = dims_one(product ? compose_dim(b, n, 2, product->rank) : 0);
  n->results[0] = build_sum(b, product, &d, false);
}

// self other: each dimension is the product of both
void compose_kron(struct build *b, struct node *n) {
  struct value *of[] = {X, Y};
  uint32_t rank = X->rank > Y->rank ? X->rank : Y->rank;
  const struct expr *shape[GRAPH_MAX_RANK], *split[2 * GRAPH_MAX_RANK];
  if (2 * rank > GRAPH_MAX_RANK) {
    compose_error(b, n, E1009, "more than %d dimensions", GRAPH_MAX_RANK / 2);
    return;
  }
  for (unsigned k = 0; k < 2; k++) {
    for (uint32_t d = 0; d < rank; d++) {
      uint32_t lead = rank - of[k]->rank;
      const struct expr *one = compose_const(b, 1), *size = d < lead ? one : of[k]->shape[d - lead];
      split[2 * d] = k ? one : size;
      split[2 * d + 1] = k ? size : one;
      shape[d] = k ? expr_mul(b->g->exprs, shape[d], size) : size;
    }
    of[k] = BUILD(b, OP_RESHAPE, TENSOR(of[k]), arg_exprs(b->g, (size_t)2 * rank, split));
    if (!of[k])
      return;
  }
  struct value *product = build_mul(b, of[0], of[1]);
  n->results[0] =
      product ? BUILD(b, OP_RESHAPE, TENSOR(product), arg_exprs(b->g, rank, shape)) : NULL;
}

// ---- statistics ----

// self dim unbiased keepdim, or self unbiased: the deviation or variance, and the mean
void compose_spread_and_mean(struct build *b, struct node *n) {
  bool by_dim = n->arg_count == 4;
  const struct arg none = {.kind = ARG_NONE};
  struct arg dims = by_dim ? A(1) : none, keepdim = by_dim ? A(3) : ARG_B(false);
  n->results[0] = BUILD(b, operator_row(n->op)->part, A(0), dims, A(by_dim ? 2 : 1), keepdim);
  n->results[1] = BUILD(b, OP_MEAN_DIM, A(0), dims, keepdim);
}

// self dim keepdim dtype
void compose_nanmean(struct build *b, struct node *n) {
  struct dims d;
  if (!compose_dims(b, n, 1, X->rank, &d))
    return;
  struct value *sum = BUILD(b, OP_NANSUM, A(0), A(1), A(2), A(3));
  struct value *known = build_convert(b, build_binop(b, OP_EQ_TENSOR, X, X), X->dtype);
  struct value *count = build_sum(b, known, &d, node_truth(n, 2));
  n->results[0] = build_div(b, sum, count);
}

// y dx dim: half the sums of neighbours
void compose_trapezoid(struct build *b, struct node *n) {
  uint32_t dim = compose_dim(b, n, 2, X->rank);
  if (X->rank == 0)
    return;
  struct exprs *x = b->g->exprs;
  const struct expr *size = X->shape[dim], *zero = compose_const(b, 0), *one = compose_const(b, 1);
  struct value *sum = build_add(b, build_slice(b, X, dim, zero, expr_addi(x, size, -1), 1),
                                build_slice(b, X, dim, one, size, 1));
  struct dims d = dims_one(dim);
  n->results[0] = build_scale(b, build_sum(b, sum, &d, false), 0.5 * node_real(n, 1));
}

// self exponent: in f64
void compose_float_power(struct build *b, struct node *n) {
  n->results[0] = BUILD(b, operator_row(n->op)->part, TENSOR(build_convert(b, X, DTYPE_F64)), A(1));
}

// input1 input2 weight[out, m, k] bias: sums of products of pairs of elements
void compose_bilinear(struct build *b, struct node *n) {
  struct value *w = node_value(n, 2), *bias = node_value(n, 3);
  if (X->rank == 0 || X->rank != Y->rank || w->rank != 3) {
    compose_error(b, n, E1004, "operands of %u and %u dimensions, a weight of %u", X->rank, Y->rank,
                  w->rank);
    return;
  }
  struct value *pair =
      build_mul(b, build_unsqueeze(b, X, X->rank), build_unsqueeze(b, Y, Y->rank - 1));
  const int64_t of_pair[] = {(int64_t)X->rank - 1, X->rank}, of_w[] = {1, 2};
  struct value *sum = pair ? contracted(b, pair, w, of_pair, of_w, 2) : NULL;
  n->results[0] = bias ? build_add(b, sum, bias) : sum;
}
