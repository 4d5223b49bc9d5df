// SPDX-License-Identifier: Apache-2.0
// Composed operators that move, create or draw data.
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)

// Replaces `gone` dimensions from `first` on by `by`.
static struct value *reshape(struct build *b, struct value *x, uint32_t first, uint32_t gone,
                             uint32_t count, const struct expr *const *by) {
  const struct expr *shape[GRAPH_MAX_RANK + 4];
  uint32_t rank = 0;
  if (!x)
    return NULL;
  for (uint32_t d = 0; d < first; d++)
    shape[rank++] = x->shape[d];
  for (uint32_t i = 0; i < count; i++)
    shape[rank++] = by[i];
  for (uint32_t d = first + gone; d < x->rank; d++)
    shape[rank++] = x->shape[d];
  return BUILD(b, OP_RESHAPE, TENSOR(x), arg_exprs(b->g, rank, shape));
}

// Permutes the last `count` dimensions.
static struct value *permute_last(struct build *b, struct value *x, uint32_t count,
                                  const uint32_t *last) {
  if (!x)
    return NULL;
  struct dims order = dims_from(0, x->rank);
  for (uint32_t i = 0; i < count; i++)
    order.at[x->rank - count + i] = x->rank - count + last[i];
  return build_permute(b, x, &order);
}

static bool divides(struct build *b, const struct node *n, const struct expr *size, int64_t by) {
  const struct expr *whole = NULL;
  if (by > 0) // a symbolic size is, or the run fails
    whole = expr_muli(b->g->exprs, expr_floordiv(b->g->exprs, size, compose_const(b, by)), by);
  if (whole && (whole == size ||
                (!expr_is_const(size, NULL) && graph_require_equal(b->g, size, whole, b->at))))
    return true;
  compose_error(b, n, E1004, "a dimension is not a multiple of %lld", (long long)by);
  return false;
}

static bool shuffles_pixels(struct build *b, const struct node *n, int64_t by) {
  if (X->rank < 3)
    compose_error(b, n, E1004, "`self` has %u dimensions; it needs [.., channels, rows, columns]",
                  X->rank);
  else if (by < 1 || by > INT32_MAX)
    compose_error(b, n, E1004, "the factor %lld; it must be positive and below 2^31",
                  (long long)by);
  else
    return true;
  return false;
}

// [.., C r r, H, W] as [.., C, H r, W r]
void compose_pixel_shuffle(struct build *b, struct node *n) {
  struct exprs *x = b->g->exprs;
  int64_t r = node_int(n, 1);
  if (!shuffles_pixels(b, n, r) || !divides(b, n, X->shape[X->rank - 3], r * r))
    return;
  uint32_t at = X->rank - 3;
  const struct expr *by = expr_const(x, r);
  const struct expr *parts[] = {expr_floordiv(x, X->shape[at], expr_const(x, r * r)), by, by};
  struct value *v = reshape(b, X, at, 1, 3, parts);
  v = permute_last(b, v, 5, (const uint32_t[]){0, 3, 1, 4, 2}); // C H r W r
  const struct expr *whole[] = {expr_mul(x, X->shape[at + 1], by),
                                expr_mul(x, X->shape[at + 2], by)};
  n->results[0] = reshape(b, v, at + 1, 4, 2, whole);
}

void compose_pixel_unshuffle(struct build *b, struct node *n) {
  struct exprs *x = b->g->exprs;
  int64_t r = node_int(n, 1);
  if (!shuffles_pixels(b, n, r) || !divides(b, n, X->shape[X->rank - 1], r) ||
      !divides(b, n, X->shape[X->rank - 2], r))
    return;
  uint32_t at = X->rank - 3;
  const struct expr *by = expr_const(x, r), *rows = expr_floordiv(x, X->shape[at + 1], by),
                    *columns = expr_floordiv(x, X->shape[at + 2], by);
  const struct expr *parts[] = {rows, by, columns, by};
  struct value *v = reshape(b, X, at + 1, 2, 4, parts);
  v = permute_last(b, v, 5, (const uint32_t[]){0, 2, 4, 1, 3}); // C r r H W
  const struct expr *channels = expr_muli(x, X->shape[at], r * r);
  n->results[0] = reshape(b, v, at, 3, 1, &channels);
}

void compose_channel_shuffle(struct build *b, struct node *n) {
  struct exprs *x = b->g->exprs;
  int64_t groups = node_int(n, 1);
  if (X->rank < 3 || !divides(b, n, X->shape[1], groups))
    return;
  const struct expr *by = expr_const(x, groups), *parts[] = {by, expr_floordiv(x, X->shape[1], by)};
  struct value *v = build_swap(b, reshape(b, X, 1, 1, 2, parts), 1, 2);
  n->results[0] = reshape(b, v, 1, 2, 1, &X->shape[1]);
}

// self k dims
void compose_rot90(struct build *b, struct node *n) {
  const struct arg *list;
  int64_t quarters = ((node_int(n, 1) % 4) + 4) % 4;
  size_t count = node_list(n, 2, &list);
  if ((count != 2 && count != 0) || X->rank < 2) {
    compose_error(b, n, E1004, "two dimensions are required");
    return;
  }
  struct arg first = count ? list[0] : arg_int(b->g, 0),
             second = count ? list[1] : arg_int(b->g, 1);
  int64_t d0 = first.number->value, d1 = second.number->value;
  uint32_t a = (uint32_t)(d0 < 0 ? d0 + X->rank : d0), z = (uint32_t)(d1 < 0 ? d1 + X->rank : d1);
  if (a >= X->rank || z >= X->rank || a == z) {
    compose_error(b, n, E1004, "the dimensions %lld and %lld", (long long)d0, (long long)d1);
    return;
  }
  struct value *v = X;
  if (quarters == 2)
    v = BUILD(b, OP_FLIP, TENSOR(v), arg_ints(b->g, 2, (const int64_t[]){a, z}));
  else if (quarters)
    v = build_swap(b, BUILD(b, OP_FLIP, TENSOR(v), quarters == 1 ? second : first), a, z);
  n->results[0] = quarters ? v : BUILD(b, OP_CLONE, TENSOR(v));
}

// ---- diagonals ----

// Puts the last dimension of `x` on diagonal `offset` of two new last dimensions.
static struct value *on_diagonal(struct build *b, struct value *x, int64_t offset) {
  uint32_t rank = x->rank;
  const int64_t pads[2] = {offset < 0 ? -offset : 0, offset > 0 ? offset : 0};
  x = BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(x), arg_ints(b->g, 2, pads), arg_int(b->g, 0));
  if (!x)
    return NULL;
  const struct expr *size = x->shape[rank - 1];
  struct value *row =
      BUILD(b, OP_IOTA, ARG_E(size), arg_int(b->g, offset), arg_int(b->g, 1), ARG_D(DTYPE_I64));
  struct value *here = build_binop(b, OP_EQ_TENSOR, build_along(b, row, rank - 1, rank + 1),
                                   build_iota(b, size, rank, rank + 1));
  return build_where_else(b, here, build_unsqueeze(b, x, rank), 0);
}

// Moves the last two dimensions to `d1` and `d2`.
static struct value *move_last(struct build *b, struct value *x, uint32_t d1, uint32_t d2) {
  if (!x)
    return NULL;
  struct dims order = {0};
  uint32_t other = 0;
  for (uint32_t i = 0; i < x->rank; i++)
    order.at[order.count++] = i == d1 ? x->rank - 2 : i == d2 ? x->rank - 1 : other++;
  return build_permute(b, x, &order);
}

// self offset dim1 dim2
void compose_diag_embed(struct build *b, struct node *n) {
  int64_t offset = node_int(n, 1);
  uint32_t rank = X->rank + 1, d1 = compose_dim(b, n, 2, rank), d2 = compose_dim(b, n, 3, rank);
  if (X->rank == 0 || d1 >= rank || d2 >= rank || d1 == d2) {
    compose_error(b, n, E1004, "the dimensions of a diagonal");
    return;
  }
  n->results[0] = move_last(b, on_diagonal(b, X, offset), d1, d2);
}

// grad_output input_sizes offset dim1 dim2; for square matrices
void compose_diagonal_backward(struct build *b, struct node *n) {
  const struct arg *sizes;
  uint32_t rank = (uint32_t)node_list(n, 1, &sizes);
  const struct expr *shape[GRAPH_MAX_RANK];
  uint32_t d1 = rank ? compose_dim(b, n, 3, rank) : 0, d2 = rank ? compose_dim(b, n, 4, rank) : 0;
  if (rank != X->rank + 1 || rank > GRAPH_MAX_RANK || d1 >= rank || d2 >= rank || d1 == d2) {
    compose_error(b, n, E1004, "the dimensions of a diagonal");
    return;
  }
  for (uint32_t d = 0; d < rank; d++)
    shape[d] = sizes[d].number;
  struct value *v = move_last(b, on_diagonal(b, X, node_int(n, 2)), d1, d2);
  // For other matrices: crops it, or pads it with zeros.
  for (int i = 0; v && i < 2; i++) {
    uint32_t d = i ? d2 : d1;
    if (v->shape[d] == shape[d])
      continue;
    int64_t have, want;
    if (!expr_is_const(v->shape[d], &have) || !expr_is_const(shape[d], &want)) {
      compose_error(b, n, E1004, "a diagonal of symbolic size");
      return;
    }
    int64_t pads[2 * GRAPH_MAX_RANK] = {0};
    pads[2 * (rank - 1 - d) + 1] = want - have;
    v = BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(v), arg_ints(b->g, 2 * (rank - d), pads),
              arg_int(b->g, 0));
  }
  n->results[0] = v;
}

// ---- creation ----

static enum dtype asked(const struct node *n, unsigned i, enum dtype otherwise) {
  return n->args[i].kind == ARG_DTYPE ? n->args[i].dtype : otherwise;
}

static void eye(struct build *b, struct node *n, const struct expr *rows,
                const struct expr *columns, enum dtype t) {
  struct value *here =
      build_binop(b, OP_EQ_TENSOR, build_iota(b, rows, 0, 2), build_iota(b, columns, 1, 2));
  n->results[0] = build_convert(b, here, t);
}

void compose_eye(struct build *b, struct node *n) {
  eye(b, n, node_expr(n, 0), node_expr(n, 0), asked(n, 1, DTYPE_F32));
}

void compose_eye_of(struct build *b, struct node *n) {
  eye(b, n, node_expr(n, 0), node_expr(n, 1), asked(n, 2, DTYPE_F32));
}

// start end steps: from the nearer end, so that both ends are exact
static struct value *line(struct build *b, struct node *n, enum dtype t) {
  struct exprs *x = b->g->exprs;
  const struct expr *steps = node_expr(n, 2), *last = expr_addi(x, steps, -1);
  double start = node_real(n, 0), end = node_real(n, 1);
  int64_t count;
  struct value *i = build_iota(b, steps, 0, 1);
  if (!expr_is_const(last, &count)) {
    compose_error(b, n, E1004, "a symbolic number of steps");
    return NULL;
  }
  double step = count > 0 ? (end - start) / (double)count : 0;
  struct value *low =
      build_real(b, OP_ADD_TENSOR, build_scale(b, build_convert(b, i, t), step), start);
  struct value *back = build_convert(b, BUILD(b, OP_SUB_TENSOR, ARG_E(last), TENSOR(i)), t);
  struct value *high = BUILD(b, OP_SUB_TENSOR, ARG_F(end), TENSOR(build_scale(b, back, step)));
  if (count <= 0) // one element: the start
    return low;
  return build_where(b, build_int(b, OP_LT_TENSOR, i, (count + 1) / 2), low, high);
}

// Integers: truncated floats.
void compose_linspace(struct build *b, struct node *n) {
  enum dtype t = asked(n, 3, DTYPE_F32);
  struct value *v = line(b, n, dtype_is_float(t) ? dtype_to_compute(t) : DTYPE_F64);
  n->results[0] = build_convert(b, v, t);
}

// base ** line
void compose_logspace(struct build *b, struct node *n) {
  enum dtype t = asked(n, 4, DTYPE_F32);
  struct value *v = line(b, n, dtype_is_float(t) ? dtype_to_compute(t) : DTYPE_F64);
  v = v ? BUILD(b, OP_POW_SCALAR, ARG_F(node_real(n, 3)), TENSOR(v)) : NULL;
  n->results[0] = build_convert(b, v, t);
}

void compose_fill(struct build *b, struct node *n) {
  struct value *value = node_value(n, 1);
  if (value)
    n->results[0] = build_as(b, build_convert(b, value, X->dtype), X);
  else
    n->results[0] = BUILD(b, OP_FULL_LIKE, n->args[0], n->args[1]);
}

// size dtype: zeros; strides, if given, are in the annotation
static void nothing(struct build *b, struct node *n, unsigned size, enum dtype t) {
  n->results[0] = BUILD(b, OP_FULL, n->args[size], arg_int(b->g, 0), ARG_D(t));
}

void compose_new_empty(struct build *b, struct node *n) {
  nothing(b, n, 1, asked(n, operator_row(n->op)->part == OP_EMPTY ? 2 : 3, X->dtype));
}

void compose_empty(struct build *b, struct node *n) { nothing(b, n, 0, asked(n, 2, DTYPE_F32)); }

// row col offset dtype: the indices of a triangle, row by row. There are few rows, so each is built
// by itself.
static void triangle(struct build *b, struct node *n, bool lower) {
  enum { MAX_ROWS = 256 };
  int64_t rows = node_int(n, 0), columns = node_int(n, 1), offset = node_int(n, 2), total = 0;
  struct value *list[2][MAX_ROWS];
  size_t count = 0;
  if (rows > MAX_ROWS || rows < 0 || columns < 0) {
    compose_error(b, n, E1008, "more than %d rows", MAX_ROWS);
    return;
  }
  for (int64_t r = 0; r < rows; r++) {
    int64_t first = lower ? 0 : r + offset, end = lower ? r + offset + 1 : columns;
    first = first < 0 ? 0 : first;
    end = end > columns ? columns : end;
    if (first >= end)
      continue;
    total += end - first;
    list[0][count] = BUILD(b, OP_IOTA, arg_int(b->g, end - first), arg_int(b->g, r),
                           arg_int(b->g, 0), ARG_D(DTYPE_I64));
    list[1][count] = BUILD(b, OP_IOTA, arg_int(b->g, end - first), arg_int(b->g, first),
                           arg_int(b->g, 1), ARG_D(DTYPE_I64));
    if (!list[0][count] || !list[1][count])
      return;
    count++;
  }
  const struct expr *shape[2] = {compose_const(b, 2), compose_const(b, 0)};
  enum dtype t = asked(n, 3, DTYPE_I64);
  if (count == 0) {
    n->results[0] = build_full(b, 2, shape, 0, t);
    return;
  }
  struct value *both[2];
  for (int i = 0; i < 2; i++)
    if (!(both[i] = BUILD(b, OP_CAT, arg_values(b->g, count, list[i]))))
      return;
  n->results[0] = build_convert(b, BUILD(b, OP_STACK, arg_values(b->g, 2, both)), t);
}

void compose_tril_indices(struct build *b, struct node *n) { triangle(b, n, true); }
void compose_triu_indices(struct build *b, struct node *n) { triangle(b, n, false); }

// ---- random ----

static struct value *draw(struct build *b, enum operator_id op, const struct value *like,
                          enum dtype t) {
  struct value *v = BUILD(b, op, arg_exprs(b->g, like->rank, like->shape),
                          ARG_D(dtype_is_float(t) ? dtype_to_compute(t) : DTYPE_F32));
  return v;
}

void compose_rand_like(struct build *b, struct node *n) {
  enum dtype t = asked(n, 1, X->dtype);
  n->results[0] = build_convert(b, draw(b, operator_row(n->op)->part, X, t), t);
}

// low + floor(u (high - low))
static void integers(struct build *b, struct node *n, struct value *u, double low, double high,
                     enum dtype t) {
  struct value *v = build_unop(b, OP_FLOOR, build_scale(b, u, high - low));
  v = build_real(b, OP_ADD_TENSOR, v, low);
  v = build_real(b, OP_MINIMUM, v, high - 1); // the product may round up
  n->results[0] = build_convert(b, v, t);
}

static struct value *draw_wide(struct build *b, struct arg size) {
  return build_convert(b, BUILD(b, OP_RAND, size), DTYPE_F64);
}

// high size dtype
void compose_randint(struct build *b, struct node *n) {
  integers(b, n, draw_wide(b, n->args[1]), 0, node_real(n, 0), asked(n, 2, DTYPE_I64));
}

// low high size dtype
void compose_randint_low(struct build *b, struct node *n) {
  integers(b, n, draw_wide(b, n->args[2]), node_real(n, 0), node_real(n, 1),
           asked(n, 3, DTYPE_I64));
}

// self high dtype; self low high dtype
void compose_randint_like(struct build *b, struct node *n) {
  bool has_low = operator_row(n->op)->part == OP_RSUB_SCALAR;
  struct arg size = arg_exprs(b->g, X->rank, X->shape);
  integers(b, n, draw_wide(b, size), has_low ? node_real(n, 1) : 0, node_real(n, has_low ? 2 : 1),
           asked(n, has_low ? 3 : 2, X->dtype));
}

// 1 with the probability in each element
void compose_bernoulli(struct build *b, struct node *n) {
  struct value *here = build_binop(b, OP_LT_TENSOR, draw(b, OP_RAND, X, X->dtype), X);
  n->results[0] = build_convert(b, here, X->dtype);
}

// self from to
void compose_uniform(struct build *b, struct node *n) {
  double low = node_real(n, 1), high = node_real(n, 2);
  struct value *v = build_scale(b, draw(b, OP_RAND, X, X->dtype), high - low);
  n->results[0] = build_convert(b, build_real(b, OP_ADD_TENSOR, v, low), X->dtype);
}

// self mean std
void compose_normal(struct build *b, struct node *n) {
  struct value *v = build_scale(b, draw(b, OP_RANDN, X, X->dtype), node_real(n, 2));
  n->results[0] = build_convert(b, build_real(b, OP_ADD_TENSOR, v, node_real(n, 1)), X->dtype);
}

// -log(1 - u) / lambda, never 0
void compose_exponential(struct build *b, struct node *n) {
  struct value *u = draw(b, OP_RAND, X, X->dtype);
  struct value *v = build_unop(b, OP_LOG1P, build_unop(b, OP_NEG, u));
  v = build_real(b, OP_MAXIMUM, build_unop(b, OP_NEG, v), 0x1p-25);
  n->results[0] = build_convert(b, build_scale(b, v, 1 / node_real(n, 1)), X->dtype);
}

// prepend and append, then n times the difference of neighbours along dim.
void compose_diff(struct build *b, struct node *n) {
  struct value *v = X;
  struct arg *parts = arena_array(b->g->arena, struct arg, 3);
  size_t count = 0;
  int64_t times = node_int(n, 1);
  enum { MOST_TIMES = 1000 };
  if (v->rank == 0 || times < 0) {
    compose_error(b, n, E1004, v->rank ? "`n` is negative" : "`self` has no dimensions");
    return;
  }
  if (times > MOST_TIMES && v->shape[compose_dim(b, n, 2, v->rank)]->hi > MOST_TIMES) {
    compose_error(b, n, E1009, "%lld times the difference; there are at most %d", (long long)times,
                  MOST_TIMES);
    return;
  }
  uint32_t dim = compose_dim(b, n, 2, v->rank);
  const unsigned order[] = {3, 0, 4};
  for (size_t i = 0; i < COUNT_OF(order); i++)
    if (node_value(n, order[i])) {
      if (node_value(n, order[i])->rank != X->rank) {
        compose_error(b, n, E1004, "`prepend` and `append` have the dimensions of `self`");
        return;
      }
      parts[count++] = n->args[order[i]];
    }
  if (count > 1)
    v = BUILD(b, OP_CAT, ((struct arg){.kind = ARG_LIST, .list = {parts, count}}),
              arg_int(b->g, dim));
  for (; v && times > 0 && !expr_is(v->shape[dim], 0); times--) { // nothing is left of `n` elements
    const struct expr *size = v->shape[dim], *zero = compose_const(b, 0),
                      *one = compose_const(b, 1);
    const struct expr *less = expr_max(b->g->exprs, expr_addi(b->g->exprs, size, -1), zero);
    struct value *next = build_slice(b, v, dim, one, size, 1);
    struct value *last = build_slice(b, v, dim, zero, less, 1);
    v = v->dtype == DTYPE_I1 ? BUILD(b, OP_NE_TENSOR, TENSOR(next), TENSOR(last))
                             : build_sub(b, next, last);
  }
  n->results[0] = v;
}
