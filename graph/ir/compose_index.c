// SPDX-License-Identifier: Apache-2.0
// Composed operators that read or write at computed indices: index writes, pads, windows, bags of
// embeddings.
#include "graph/ir/compose.h"

#include <inttypes.h>

#define X node_value(n, 0)
#define Y node_value(n, 1)

enum { MAX_SPACE = 3 };

// ---- index writes along a dimension ----

static struct value *put(struct build *b, struct value *x, uint32_t dim, struct value *index,
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
    n->results[0] = put(b, X, compose_dim(b, n, 1, X->rank), node_value(n, 2), source, true);
}

void compose_index_copy(struct build *b, struct node *n) {
  if (X->rank == 0)
    n->results[0] = BUILD(b, OP_CLONE, n->args[3]);
  else
    n->results[0] =
        put(b, X, compose_dim(b, n, 1, X->rank), node_value(n, 2), node_value(n, 3), false);
}

void compose_index_fill(struct build *b, struct node *n) {
  struct value *value = node_value(n, 3);
  value = value ? build_convert(b, value, X->dtype) : build_number(b, node_real(n, 3), X->dtype);
  if (X->rank == 0)
    n->results[0] = value;
  else
    n->results[0] = put(b, X, compose_dim(b, n, 1, X->rank), node_value(n, 2), value, false);
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
  flat = put(b, flat, 0, at, Y, false);
  n->results[0] = build_view(b, flat, X->rank, X->shape);
}

enum { MAX_COMPARED = 4096 };

// Compares the index of each element of a line with the indices of all writes.
static void fold_by_comparison(struct build *b, struct node *n, enum operator_id op,
                               double neutral) {
  struct value *index = node_value(n, 2), *src = node_value(n, 3);
  uint32_t rank = X->rank, dim = rank ? compose_dim(b, n, 1, rank) : 0;
  const int64_t most = (int64_t)MAX_COMPARED * MAX_COMPARED;
  int64_t size, writes;
  bool fits = rank > 0 && index->rank == rank && src->rank == rank &&
              expr_is_const(X->shape[dim], &size) && expr_is_const(index->shape[dim], &writes) &&
              size <= most && writes <= most && size * writes <= most;
  for (uint32_t d = 0; fits && d < rank; d++)
    fits = d == dim || (X->shape[d] == index->shape[d]);
  if (!fits) {
    diag_help(diag_error(b->g->diag, b->at, E1008,
                         "`%s`: `%.*s` of lines this long, or of a part of the index's lines",
                         operator_row(n->op)->name, STR_ARG(n->args[4].string)),
              "`sum` and `mean` have no limit");
    return;
  }
  for (uint32_t d = 0; d < rank; d++)
    src = build_slice(b, src, d, compose_const(b, 0), index->shape[d], 1);
  // [.., index, write, ..]
  struct value *hit = build_binop(b, OP_EQ_TENSOR, build_unsqueeze(b, index, dim),
                                  build_iota(b, X->shape[dim], dim, rank + 1));
  struct value *each = build_where_else(b, hit, build_unsqueeze(b, build_up(b, src), dim), neutral);
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
  if (str_is(how, "amax") || str_is(how, "amin")) {
    bool most = str_is(how, "amax");
    fold_by_comparison(b, n, most ? OP_AMAX : OP_AMIN, most ? least : -least);
    return;
  }
  if (str_is(how, "prod")) {
    fold_by_comparison(b, n, OP_PROD_DIM, 1);
    return;
  }
  if ((!is_mean && !str_is(how, "sum")) || !node_truth(n, 5)) {
    struct diag *d = diag_error(b->g->diag, b->at, E1008, "`%s`: %.*s%s", operator_row(n->op)->name,
                                STR_ARG(how), node_truth(n, 5) ? "" : " without `self`");
    diag_help(d, "use `sum`, or `mean` with `include_self`");
    return;
  }
  struct value *index = node_value(n, 2), *src = node_value(n, 3);
  struct value *sum = BUILD(b, OP_SCATTER_ADD, n->args[0], n->args[1], n->args[2], TENSOR(src));
  n->results[0] = sum;
  if (!is_mean)
    return;
  struct value *ones = build_full(b, index->rank, index->shape, 1, X->dtype),
               *all = build_full(b, X->rank, X->shape, 1, X->dtype);
  struct value *count = BUILD(b, OP_SCATTER_ADD, TENSOR(all), n->args[1], n->args[2], TENSOR(ones));
  bool floors = !dtype_is_float(X->dtype);
  n->results[0] = build_binop(b, floors ? OP_FLOOR_DIVIDE : OP_DIV_TENSOR, sum, count);
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
  bool ok = count % 2 == 0 && ret->count <= MAX_SPACE && ret->count <= x->rank;
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
  if (!pads_of(b, n, 2, Y, &p) || g->rank != Y->rank)
    return;
  for (uint32_t k = 0; k < p.count && g; k++) {
    uint32_t dim = g->rank - 1 - k;
    const struct expr *shape[GRAPH_MAX_RANK];
    for (uint32_t d = 0; d < g->rank; d++)
      shape[d] = d == dim ? Y->shape[dim] : g->shape[d];
    if (p.before[k] || p.after[k])
      g = put(b, build_full(b, g->rank, shape, 0, g->dtype), dim,
              inside(b, n, Y->shape[dim], p.before[k], p.after[k]), g, true);
  }
  n->results[0] = g;
}

// ---- windows ----

// Indices i * step + j * dilation of `count` windows of `size`, as [count, size] or transposed.
static struct value *window(struct build *b, const struct expr *count, int64_t size, int64_t step,
                            int64_t dilation, bool transposed) {
  struct value *i =
      BUILD(b, OP_IOTA, ARG_E(count), arg_int(b->g, 0), arg_int(b->g, step), ARG_D(DTYPE_I64));
  struct value *j = BUILD(b, OP_IOTA, arg_int(b->g, size), arg_int(b->g, 0),
                          arg_int(b->g, dilation), ARG_D(DTYPE_I64));
  return build_add(b, build_along(b, i, transposed, 2), build_along(b, j, !transposed, 2));
}

static const struct expr *window_count(struct build *b, const struct expr *size, int64_t reach,
                                       int64_t step) {
  struct exprs *x = b->g->exprs;
  return expr_addi(x, expr_floordiv(x, expr_addi(x, size, -reach), expr_const(x, step)), 1);
}

// self dimension size step
void compose_unfold(struct build *b, struct node *n) {
  int64_t size = node_int(n, 2), step = node_int(n, 3);
  if (X->rank == 0 || step < 1 || size < 0) {
    compose_error(b, n, E1004, "windows of %lld every %lld", (long long)size, (long long)step);
    return;
  }
  uint32_t dim = compose_dim(b, n, 1, X->rank);
  if (X->shape[dim]->hi < size) {
    compose_error(b, n, E1004, "a window of %lld is larger than dimension %u", (long long)size,
                  dim);
    return;
  }
  const struct expr *count = window_count(b, X->shape[dim], size, step);
  struct value *w = compose_index(b, X, dim, window(b, count, size, step, 1, false));
  n->results[0] = compose_to_last(b, w, dim + 1);
}

// grad_in input_sizes dim size step
void compose_unfold_backward(struct build *b, struct node *n) {
  const struct arg *sizes;
  uint32_t rank = (uint32_t)node_list(n, 1, &sizes), dim = rank ? compose_dim(b, n, 2, rank) : 0;
  const struct expr *shape[GRAPH_MAX_RANK];
  if (rank == 0 || rank + 1 != X->rank || rank > GRAPH_MAX_RANK) {
    compose_error(b, n, E1004, "a gradient of %u dimensions for %u", X->rank, rank);
    return;
  }
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = sizes[i].number;
  struct dims order = {0};
  for (uint32_t i = 0; i < rank; i++) {
    order.at[order.count++] = i;
    if (i == dim)
      order.at[order.count++] = rank;
  }
  struct value *indices = window(b, X->shape[dim], node_int(n, 3), node_int(n, 4), 1, false);
  n->results[0] = put(b, build_full(b, rank, shape, 0, X->dtype), dim, indices,
                      build_permute(b, X, &order), true);
}

struct blocks {
  int64_t size[2], dilation[2], padding[2], step[2];
};

// E1004 if a window is larger than 2^22, so that its extent and area do not overflow.
static bool blocks_of(struct build *b, const struct node *n, unsigned first, struct blocks *ret) {
  const int64_t most = 1 << 22;
  int64_t *to[4] = {ret->size, ret->dilation, ret->padding, ret->step};
  for (unsigned i = 0; i < 4; i++) {
    const struct arg *list;
    size_t count = node_list(n, first + i, &list);
    for (size_t k = 0; k < 2; k++)
      if (count == 0 || !expr_is_const(list[count > 1 ? k : 0].number, &to[i][k]))
        to[i][k] = 1;
    for (size_t k = 0; k < 2; k++)
      if (to[i][k] < 0 || to[i][k] > most) {
        compose_error(b, n, E1004, "a window of %" PRId64 " elements", to[i][k]);
        return false;
      }
  }
  return true;
}

static int64_t reach(const struct blocks *w, int d) {
  return w->dilation[d] * (w->size[d] - 1) + 1;
}

// [N, C, H, W] as [N, C kh kw, windows]; self kernel_size dilation padding stride
void compose_im2col(struct build *b, struct node *n) {
  struct exprs *x = b->g->exprs;
  struct blocks w;
  struct value *v = X->rank == 3 ? build_unsqueeze(b, X, 0) : X;
  if (!v || v->rank != 4) {
    compose_error(b, n, E1004, "a tensor of %u dimensions", X->rank);
    return;
  }
  if (!blocks_of(b, n, 1, &w))
    return;
  const int64_t pads[4] = {w.padding[1], w.padding[1], w.padding[0], w.padding[0]};
  v = BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(v), arg_ints(b->g, 4, pads), ARG_F(0));
  if (!v)
    return;
  const struct expr *rows = window_count(b, v->shape[2], reach(&w, 0), w.step[0]),
                    *columns = window_count(b, v->shape[3], reach(&w, 1), w.step[1]);
  v = compose_index(b, v, 2, window(b, rows, w.size[0], w.step[0], w.dilation[0], true));
  v = compose_index(b, v, 4, window(b, columns, w.size[1], w.step[1], w.dilation[1], true));
  if (!v) // [N, C, kh, rows, kw, columns]
    return;
  struct dims order = {6, {0, 1, 2, 4, 3, 5}};
  const struct expr *shape[3] = {v->shape[0], expr_muli(x, v->shape[1], w.size[0] * w.size[1]),
                                 expr_mul(x, rows, columns)};
  v = BUILD(b, OP_RESHAPE, TENSOR(build_permute(b, v, &order)), arg_exprs(b->g, 3, shape));
  n->results[0] = X->rank == 3 ? build_squeeze(b, v, 0) : v;
}

// Sums the windows at their positions; self output_size kernel_size dilation padding stride
void compose_col2im(struct build *b, struct node *n) {
  struct exprs *x = b->g->exprs;
  struct blocks w;
  const struct arg *sizes;
  struct value *v = X->rank == 2 ? build_unsqueeze(b, X, 0) : X;
  if (!v || v->rank != 3 || node_list(n, 1, &sizes) != 2) {
    compose_error(b, n, E1004, "a tensor of %u dimensions", X->rank);
    return;
  }
  if (!blocks_of(b, n, 2, &w))
    return;
  const struct expr *height = expr_addi(x, sizes[0].number, 2 * w.padding[0]),
                    *width = expr_addi(x, sizes[1].number, 2 * w.padding[1]),
                    *rows = window_count(b, height, reach(&w, 0), w.step[0]),
                    *columns = window_count(b, width, reach(&w, 1), w.step[1]),
                    *channels = expr_floordiv(x, v->shape[1], expr_const(x, w.size[0] * w.size[1]));
  const struct expr *parts[6] = {
      v->shape[0], channels, expr_const(x, w.size[0]), expr_const(x, w.size[1]), rows, columns};
  struct dims order = {6, {0, 1, 2, 4, 3, 5}};
  struct value *values = BUILD(b, OP_RESHAPE, TENSOR(v), arg_exprs(b->g, 6, parts));
  values = values ? build_permute(b, values, &order) : NULL;
  struct value *at[4] = {NULL, NULL, window(b, rows, w.size[0], w.step[0], w.dilation[0], true),
                         window(b, columns, w.size[1], w.step[1], w.dilation[1], true)};
  const struct expr *grid[4] = {parts[2], rows, expr_const(x, 1), expr_const(x, 1)};
  at[2] = build_view(b, at[2], 4, grid);
  if (!at[2] || !at[3] || !values)
    return;
  const struct expr *shape[4] = {v->shape[0], channels, height, width};
  struct value *sum = BUILD(b, OP_INDEX_PUT, TENSOR(build_full(b, 4, shape, 0, X->dtype)),
                            arg_values(b->g, 4, at), TENSOR(values), ARG_B(true));
  for (int d = 0; d < 2; d++)
    sum = build_slice(b, sum, 2 + (uint32_t)d, expr_const(x, w.padding[d]),
                      expr_addi(x, sizes[d].number, w.padding[d]), 1);
  n->results[0] = X->rank == 2 ? build_squeeze(b, sum, 0) : sum;
}

// ---- bags of embeddings ----

enum bag_mode { BAG_SUM, BAG_MEAN, BAG_MAX };

// The bag of each index: the number of bags that begin at or before it, minus one.
static struct value *bag_of(struct build *b, struct value *offsets, const struct expr *count) {
  struct value *position = build_iota(b, count, 0, 2);
  struct value *begun = build_binop(b, OP_LE_TENSOR, offsets, position);
  struct dims last = dims_one(1);
  struct value *bags = build_sum(b, build_convert(b, begun, DTYPE_I64), &last, false);
  return build_int(b, OP_SUB_TENSOR, bags, 1);
}

static struct value *count_of(struct build *b, struct value *bag, struct value *is_padding,
                              const struct expr *bags) {
  struct value *one = build_full(b, bag->rank, bag->shape, 1, DTYPE_I64);
  if (is_padding)
    one = build_where_else(b, build_unop(b, OP_LOGICAL_NOT, is_padding), one, 0);
  return put(b, build_full(b, 1, &bags, 0, DTYPE_I64), 0, bag, one, true);
}

// The maximum of each bag, 0 for an empty one: [bags, indices, columns], which is never stored.
static struct value *largest(struct build *b, struct value *rows, struct value *bag,
                             struct value *is_padding, const struct expr *bags) {
  struct value *mine = build_binop(b, OP_EQ_TENSOR, build_iota(b, bags, 0, 2), bag);
  if (is_padding)
    mine = build_binop(b, OP_LOGICAL_AND, mine, build_unop(b, OP_LOGICAL_NOT, is_padding));
  struct dims middle = dims_one(1);
  mine = build_unsqueeze(b, mine, 2);
  struct value *most =
      build_amax(b, build_where_else(b, mine, rows, -__builtin_inf()), &middle, false);
  struct value *any = BUILD(b, OP_ANY_DIM, TENSOR(mine), arg_int(b->g, 1));
  return build_where_else(b, any, most, 0);
}

// weight indices offsets scale_grad_by_freq mode sparse per_sample_weights include_last_offset
// padding_idx; results: bags, the bag of each index, the size of each bag, the indices of maxima,
// which gradients need and which are 0 here
void compose_embedding_bag(struct build *b, struct node *n) {
  struct exprs *x = b->g->exprs;
  struct value *index = Y, *offsets = node_value(n, 2), *by = node_value(n, 6);
  int64_t mode = node_int(n, 4), padding = node_int(n, 8);
  if (X->rank != 2 || index->rank != 1 || offsets->rank != 1) {
    compose_error(b, n, E1004, "weights, indices and offsets of %u, %u and %u dimensions", X->rank,
                  index->rank, offsets->rank);
    return;
  }
  const struct expr *bags = offsets->shape[0];
  if (node_truth(n, 7)) {
    bags = expr_addi(x, bags, -1);
    offsets = build_slice(b, offsets, 0, expr_const(x, 0), bags, 1);
  }
  struct value *bag = bag_of(b, offsets, index->shape[0]);
  struct value *rows = build_up(b, compose_index(b, X, 0, index));
  struct value *is_padding = padding >= 0 ? build_int(b, OP_EQ_TENSOR, index, padding) : NULL;
  if (!bag || !rows)
    return;
  struct value *count = count_of(b, bag, is_padding, bags), *result;
  if (by)
    rows = build_mul(b, rows, build_unsqueeze(b, by, 1));
  if (mode == BAG_MAX) {
    result = largest(b, rows, bag, is_padding, bags);
  } else {
    if (is_padding)
      rows = build_where_else(b, build_unsqueeze(b, build_unop(b, OP_LOGICAL_NOT, is_padding), 1),
                              rows, 0);
    const struct expr *shape[2] = {bags, X->shape[1]};
    result = put(b, build_full(b, 2, shape, 0, rows ? rows->dtype : DTYPE_F32), 0, bag, rows, true);
    if (mode == BAG_MEAN)
      result = build_div(b, result, build_unsqueeze(b, build_int(b, OP_MAXIMUM, count, 1), 1));
  }
  const struct expr *nothing = expr_const(x, 0);
  // On CPUs PyTorch omits the bags of plain sums, which the gradient recomputes, and returns one
  // size per bag; on other devices one per offset.
  bool on_cpu = b->g->device && str_starts(str_from(b->g->device), "cpu"),
       leaves_out = on_cpu && mode == BAG_SUM && padding < 0,
       has_more = node_truth(n, 7) && (!on_cpu || n->op == OP_EMBEDDING_BAG_FORWARD);
  const int64_t behind[2] = {0, 1};
  if (has_more)
    count =
        BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(count), arg_ints(b->g, 2, behind), arg_int(b->g, 0));
  n->results[0] = build_convert(b, result, X->dtype);
  n->results[1] = leaves_out ? build_full(b, 1, &nothing, 0, index->dtype)
                             : build_convert(b, bag, index->dtype);
  n->results[2] = build_convert(b, count, index->dtype);
  const struct expr *most[2] = {mode == BAG_MAX || on_cpu ? bags : nothing, X->shape[1]};
  n->results[3] = build_full(b, mode == BAG_MAX ? 2 : 1, most, 0, index->dtype);
}

// The gradient of the weights, of sums and means; the arguments are at these indices.
static void bag_gradient(struct build *b, struct node *n, struct value *bag, unsigned size_at,
                         unsigned count_at, unsigned mode_at, unsigned by_at, unsigned padding_at) {
  struct value *index = Y, *by = node_value(n, by_at);
  int64_t mode = node_int(n, mode_at), padding = node_int(n, padding_at);
  if (mode == BAG_MAX || node_truth(n, count_at + 1)) {
    compose_error(b, n, E1008, "the gradient of maxima, or scaled by frequency");
    return;
  }
  struct value *g = compose_index(b, build_up(b, X), 0, bag);
  if (mode == BAG_MEAN) {
    struct value *size = build_int(b, OP_MAXIMUM, node_value(n, size_at), 1);
    g = build_div(b, g, build_unsqueeze(b, compose_index(b, size, 0, bag), 1));
  }
  if (by)
    g = build_mul(b, g, build_unsqueeze(b, by, 1));
  if (padding >= 0)
    g = build_where_else(b, build_unsqueeze(b, build_int(b, OP_NE_TENSOR, index, padding), 1), g,
                         0);
  if (!g)
    return;
  const struct expr *shape[2] = {node_expr(n, count_at), X->shape[1]};
  n->results[0] =
      build_convert(b, put(b, build_full(b, 2, shape, 0, g->dtype), 0, index, g, true), X->dtype);
}

// grad indices offset2bag bag_size maximum_indices num_weights scale_grad_by_freq mode
// per_sample_weights padding_idx
void compose_embedding_bag_dense_backward(struct build *b, struct node *n) {
  bag_gradient(b, n, node_value(n, 2), 3, 5, 7, 8, 9);
}

// grad indices offsets offset2bag bag_size maximum_indices num_weights scale_grad_by_freq mode
// sparse per_sample_weights padding_idx
void compose_embedding_bag_backward(struct build *b, struct node *n) {
  struct value *bag = node_value(n, 3);
  if (bag->rank == 1 && expr_is(bag->shape[0], 0))
    bag = bag_of(b, node_value(n, 2), Y->shape[0]);
  bag_gradient(b, n, bag, 4, 6, 8, 10, 11);
}
