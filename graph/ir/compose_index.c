// SPDX-License-Identifier: Apache-2.0
// Composed operators that read or write at computed indices: index writes and pads.
#include "graph/ir/compose.h"

#include <inttypes.h>

#define X node_value(n, 0)
#define Y node_value(n, 1)

enum { MAX_SPACE = 3 };

// ---- index writes along a dimension ----

struct value *compose_put(struct build *b, struct value *x, uint32_t dim, struct value *index,
                          struct value *values, bool adds) {
  struct value *list[GRAPH_MAX_RANK] = {NULL};
  if (!x || !index || !values)
    return NULL;
  list[dim] = index;
  return BUILD(b, OP_INDEX_PUT, TENSOR(x), arg_values(b->g, dim + 1, list), TENSOR(values),
               ARG_B(adds));
}

// self dim index source alpha
void compose_index_add(struct build *b, struct node *n) {
  struct value *source = build_scale(b, node_value(n, 3), node_real(n, 4));
  source = build_convert(b, source, X->dtype);
  if (X->rank == 0)
    n->results[0] = build_add(b, X, source);
  else
    n->results[0] =
        compose_put(b, X, compose_dim(b, n, 1, X->rank), node_value(n, 2), source, true);
}

void compose_index_copy(struct build *b, struct node *n) {
  if (X->rank == 0)
    n->results[0] = BUILD(b, OP_CLONE, n->args[3]);
  else
    n->results[0] =
        compose_put(b, X, compose_dim(b, n, 1, X->rank), node_value(n, 2), node_value(n, 3), false);
}

void compose_index_fill(struct build *b, struct node *n) {
  struct value *value = node_value(n, 3);
  if (node_value(n, 2)->rank > 1 || (value && value->rank > 0)) {
    compose_error(b, n, E1004, "`index` may have 1 dimension, `value` none");
    return;
  }
  value = value ? build_convert(b, value, X->dtype) : build_number(b, node_real(n, 3), X->dtype);
  if (X->rank == 0)
    n->results[0] = value;
  else
    n->results[0] =
        compose_put(b, X, compose_dim(b, n, 1, X->rank), node_value(n, 2), value, false);
}

// Checks that each index of argument 2 is within its dimension of `x`, from `low` (0 or -size) on.
static struct arg clamped(struct build *b, const struct node *n, const struct value *x,
                          bool wraps) {
  const struct arg *list;
  size_t count = node_list(n, 2, &list);
  struct value *indices[GRAPH_MAX_RANK] = {NULL};
  for (size_t i = 0; i < count && i < x->rank; i++) {
    if (list[i].kind != ARG_VALUE)
      continue;
    const struct expr *size = x->shape[i];
    const struct expr *low = wraps ? expr_muli(b->g->exprs, size, -1) : compose_const(b, 0);
    struct value *index = BUILD(b, OP_MAXIMUM, TENSOR(list[i].value), ARG_E(low));
    indices[i] = BUILD(b, OP_MINIMUM, TENSOR(index), ARG_E(expr_addi(b->g->exprs, size, -1)));
  }
  return arg_values(b->g, count < x->rank ? count : x->rank, indices);
}

// self mask indices fill
void compose_masked_index(struct build *b, struct node *n) {
  struct value *got = BUILD(b, OP_INDEX, TENSOR(X), clamped(b, n, X, false));
  n->results[0] = build_where_else(b, Y, got, node_real(n, 3));
}

// self mask indices values
void compose_masked_index_put(struct build *b, struct node *n) {
  struct value *values = build_where_else(b, Y, node_value(n, 3), 0);
  if (values)
    n->results[0] =
        BUILD(b, OP_INDEX_PUT, TENSOR(X), clamped(b, n, X, true), TENSOR(values), ARG_B(true));
}

void compose_take(struct build *b, struct node *n) {
  if (expr_is(value_numel(b->g->exprs, X), 0) && !expr_is(value_numel(b->g->exprs, Y), 0)) {
    compose_error(b, n, E1004, "elements are taken from a tensor that has none");
    return;
  }
  struct value *flat = BUILD(b, OP_RESHAPE, TENSOR(X), arg_int(b->g, -1));
  n->results[0] = compose_index(b, flat, 0, Y);
}

// self mask source: fills the masked elements with those of `source`, in order
void compose_masked_scatter(struct build *b, struct node *n) {
  struct value *mask = build_as(b, Y, X);
  struct value *flat = BUILD(b, OP_RESHAPE, TENSOR(mask), arg_int(b->g, -1));
  struct value *number = BUILD(b, OP_CUMSUM, TENSOR(flat), arg_int(b->g, 0));
  number = BUILD(b, OP_MAXIMUM, TENSOR(build_int(b, OP_SUB_TENSOR, number, 1)), arg_int(b->g, 0));
  struct value *source = BUILD(b, OP_RESHAPE, n->args[2], arg_int(b->g, -1));
  struct value *values = compose_index(b, source, 0, build_view(b, number, X->rank, X->shape));
  n->results[0] = build_where(b, mask, values, X);
}

// self src size stride storage_offset: writes `src` at offsets into the memory of a dense `self`
void compose_as_strided_scatter(struct build *b, struct node *n) {
  const struct arg *sizes, *strides;
  size_t rank = node_list(n, 2, &sizes);
  if (rank > GRAPH_MAX_RANK || node_list(n, 3, &strides) != rank || Y->rank != rank ||
      !value_is_contiguous(b->g->exprs, X)) {
    compose_error(b, n, E1008, "a tensor that is not dense, or shapes that differ");
    return;
  }
  // Builds the written view only to check it; nothing reads it.
  if (!BUILD(b, OP_AS_STRIDED, TENSOR(X), n->args[2], n->args[3], n->args[4]))
    return;
  struct value *at = BUILD(b, OP_FULL, arg_ints(b->g, 0, NULL),
                           node_is_none(n, 4) ? arg_int(b->g, 0) : n->args[4], ARG_D(DTYPE_I64));
  for (uint32_t d = 0; d < rank; d++) {
    struct value *step =
        BUILD(b, OP_IOTA, sizes[d], arg_int(b->g, 0), strides[d], ARG_D(DTYPE_I64));
    at = build_add(b, at, build_along(b, step, d, (uint32_t)rank));
  }
  struct value *flat = BUILD(b, OP_RESHAPE, n->args[0], arg_int(b->g, -1));
  flat = compose_put(b, flat, 0, at, Y, false);
  n->results[0] = build_view(b, flat, X->rank, X->shape);
}

enum { MAX_COMPARED = 4096 };

// A line's elements times its writes are at most MAX_COMPARED squared; each run checks symbolic
// ones.
static bool may_compare(struct build *b, const struct expr *size, const struct expr *writes) {
  const struct expr *most = compose_const(b, (int64_t)MAX_COMPARED * MAX_COMPARED);
  const struct expr *pairs = expr_mul(b->g->exprs, size, writes);
  return !expr_is_unfit(pairs) &&
         graph_require(b->g, expr_sub(b->g->exprs, most, pairs),
                       "a scatter of extrema or products has lines that are too long", b->at);
}

// Compares the index of each element of a line with the indices of all writes.
static void fold_by_comparison(struct build *b, struct node *n, enum operator_id op,
                               double neutral) {
  struct value *index = node_value(n, 2), *src = node_value(n, 3);
  uint32_t rank = X->rank, dim = rank ? compose_dim(b, n, 1, rank) : 0;
  bool fits = rank > 0 && index->rank == rank && src->rank == rank &&
              may_compare(b, X->shape[dim], index->shape[dim]);
  for (uint32_t d = 0; fits && d < rank; d++)
    fits = d == dim || (X->shape[d] == index->shape[d]);
  if (!fits) {
    diag_help(diag_error(b->g->diag, b->at, E1008,
                         "`%s`: `%.*s` of lines this long, or of a part of the index's lines",
                         operator_row(n->op)->name, STR_ARG(n->args[4].string)),
              "`sum` and `mean` have no limit");
    return;
  }
  if (expr_is(index->shape[dim], 0)) { // nothing is written
    n->results[0] = X;
    return;
  }
  for (uint32_t d = 0; d < rank; d++)
    src = build_slice(b, src, d, compose_const(b, 0), index->shape[d], 1);
  // [.., index, write, ..]
  struct value *hit = build_binop(b, OP_EQ_TENSOR, build_unsqueeze(b, index, dim),
                                  build_iota(b, X->shape[dim], dim, rank + 1));
  struct value *each = build_where_else(b, hit, build_unsqueeze(b, build_up(b, src), dim), neutral);
  if (index->shape[dim]->lo < 1) { // there may be no writes
    int64_t pads[2 * GRAPH_MAX_RANK + 2] = {0};
    pads[2 * (rank - 1 - dim) + 1] = 1;
    each = BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(each), arg_ints(b->g, 2 * (rank - dim), pads),
                 ARG_F(neutral));
  }
  struct value *all, *any = BUILD(b, OP_ANY_DIM, TENSOR(hit), arg_int(b->g, dim + 1));
  all = op == OP_PROD_DIM ? BUILD(b, op, TENSOR(each), arg_int(b->g, dim + 1), ARG_B(false),
                                  ARG_D(each ? each->dtype : DTYPE_F32))
                          : BUILD(b, op, TENSOR(each), arg_int(b->g, dim + 1));
  all = build_convert(b, all, X->dtype);
  if (!node_truth(n, 5))
    n->results[0] = build_where(b, any, all, X);
  else if (op == OP_PROD_DIM)
    n->results[0] = build_mul(b, X, all);
  else
    n->results[0] =
        build_where(b, any, build_binop(b, op == OP_AMAX ? OP_MAXIMUM : OP_MINIMUM, X, all), X);
}

// self dim index src reduce include_self
void compose_scatter_reduce(struct build *b, struct node *n) {
  struct str how = n->args[4].string;
  bool is_mean = str_is(how, "mean"), is_float = dtype_is_float(X->dtype);
  double least = is_float ? -__builtin_inf() : -0x1p62;
  if (node_value(n, 3)->dtype != X->dtype) {
    compose_error(b, n, E1005, "`src` holds %s, `self` %s", dtype_name(node_value(n, 3)->dtype),
                  dtype_name(X->dtype));
    return;
  }
  if (str_is(how, "amax") || str_is(how, "amin")) {
    bool most = str_is(how, "amax");
    fold_by_comparison(b, n, most ? OP_AMAX : OP_AMIN, most ? least : -least);
    return;
  }
  if (str_is(how, "prod")) {
    fold_by_comparison(b, n, OP_PROD_DIM, 1);
    return;
  }
  if (!is_mean && !str_is(how, "sum")) {
    compose_error(b, n, E1008, "the reduction `%.*s`", STR_ARG(how));
    return;
  }
  bool has_self = node_truth(n, 5);
  struct value *index = node_value(n, 2), *src = node_value(n, 3);
  struct value *from = has_self ? X : build_full(b, X->rank, X->shape, 0, X->dtype);
  struct value *sum = BUILD(b, OP_SCATTER_ADD, TENSOR(from), n->args[1], n->args[2], TENSOR(src));
  n->results[0] = sum;
  if (has_self && !is_mean)
    return;
  struct value *ones = build_full(b, index->rank, index->shape, 1, X->dtype),
               *none = build_full(b, X->rank, X->shape, has_self, X->dtype);
  struct value *count =
      BUILD(b, OP_SCATTER_ADD, TENSOR(none), n->args[1], n->args[2], TENSOR(ones));
  struct value *is_written = has_self ? NULL : build_real(b, OP_GT_TENSOR, count, 0);
  if (is_mean) {
    bool floors = !dtype_is_float(X->dtype);
    count = build_real(b, OP_MAXIMUM, count, 1);
    sum = build_binop(b, floors ? OP_FLOOR_DIVIDE : OP_DIV_TENSOR, sum, count);
  }
  n->results[0] = has_self ? sum : build_where(b, is_written, sum, X);
}

// ---- pads by elements of the input ----

struct pads {
  uint32_t count;
  int64_t before[MAX_SPACE], after[MAX_SPACE]; // the last dimension first
};

static bool pads_of(struct build *b, const struct node *n, unsigned i, const struct value *x,
                    struct pads *ret) {
  const struct arg *list;
  size_t count = node_list(n, i, &list);
  ret->count = (uint32_t)count / 2;
  if (x->rank < ret->count + 1 || x->rank > ret->count + 2) {
    compose_error(b, n, E1004,
                  "%zu paddings of a tensor of %u dimensions; it has one or two more "
                  "than are padded",
                  count, x->rank);
    return false;
  }
  bool ok = count % 2 == 0 && ret->count <= MAX_SPACE;
  for (uint32_t k = 0; ok && k < ret->count; k++)
    ok = expr_is_const(list[2 * k].number, &ret->before[k]) &&
         expr_is_const(list[2 * k + 1].number, &ret->after[k]);
  if (!ok)
    compose_error(b, n, E1004, "%zu paddings, or symbolic ones", count);
  return ok;
}

// The index along a dimension of `size` for each element of the padded one.
static struct value *inside(struct build *b, const struct node *n, const struct expr *size,
                            int64_t before, int64_t after) {
  struct exprs *x = b->g->exprs;
  const struct expr *last = expr_addi(x, size, -1);
  struct value *i = BUILD(b, OP_IOTA, ARG_E(expr_addi(x, size, before + after)),
                          arg_int(b->g, -before), arg_int(b->g, 1), ARG_D(DTYPE_I64));
  if (operator_row(n->op)->part == OP_FLIP) { // reflection
    i = build_unop(b, OP_ABS, i);
    i = build_unop(b, OP_ABS, BUILD(b, OP_SUB_TENSOR, ARG_E(last), TENSOR(i)));
    return BUILD(b, OP_SUB_TENSOR, ARG_E(last), TENSOR(i));
  }
  i = BUILD(b, OP_MAXIMUM, TENSOR(i), arg_int(b->g, 0));
  return BUILD(b, OP_MINIMUM, TENSOR(i), ARG_E(last));
}

void compose_pad(struct build *b, struct node *n) {
  struct pads p;
  struct value *x = X;
  if (!pads_of(b, n, 1, x, &p))
    return;
  for (uint32_t k = 0; k < p.count && x; k++) {
    uint32_t dim = x->rank - 1 - k;
    if (p.before[k] || p.after[k])
      x = compose_index(b, x, dim, inside(b, n, x->shape[dim], p.before[k], p.after[k]));
  }
  n->results[0] = x == X ? BUILD(b, OP_CLONE, TENSOR(x)) : x;
}

// grad_output self padding
void compose_pad_backward(struct build *b, struct node *n) {
  struct pads p;
  struct value *g = X;
  if (!pads_of(b, n, 2, Y, &p))
    return;
  if (g->rank != Y->rank) {
    compose_error(b, n, E1004, "a gradient of %u dimensions for %u", g->rank, Y->rank);
    return;
  }
  for (uint32_t k = 0; k < p.count && g; k++) {
    uint32_t dim = g->rank - 1 - k;
    const struct expr *shape[GRAPH_MAX_RANK];
    for (uint32_t d = 0; d < g->rank; d++)
      shape[d] = d == dim ? Y->shape[dim] : g->shape[d];
    if (p.before[k] || p.after[k])
      g = compose_put(b, build_full(b, g->rank, shape, 0, g->dtype), dim,
                      inside(b, n, Y->shape[dim], p.before[k], p.after[k]), g, true);
  }
  n->results[0] = g;
}
