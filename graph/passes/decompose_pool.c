// SPDX-License-Identifier: Apache-2.0
// Pooling over the last two dimensions: the positions of a window are slices of the padded image,
// combined one after another. Large windows are separated by dimension.
#include "graph/passes/decompose.h"
#include "graph/passes/pool_window.h"

#include <math.h>

enum { MOST_TAPS = 25, MOST_TAPS_ALONG = 4096 };

struct window pool_window(const struct node *n, unsigned at, const struct value *x,
                          const struct value *out, unsigned ceil_at) {
  struct window w;
  const struct arg *list;
  int64_t kernel[2], stride[2], padding[2];
  node_extents(n, at, 2, 1, kernel);
  node_extents(n, node_list(n, at + 1, &list) ? at + 1 : at, 2, 1, stride);
  node_extents(n, at + 2, 2, 0, padding);
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t dim = x->rank - 2 + i;
    w.side[i] = (struct side){.dim = dim,
                              .size = x->shape[dim],
                              .out = out->shape[dim],
                              .kernel = kernel[i],
                              .stride = stride[i],
                              .padding = padding[i],
                              .dilation = 1,
                              .fits = !node_truth(n, ceil_at)};
  }
  return w;
}

void pool_dilate(const struct node *n, unsigned at, struct window *w) {
  int64_t dilation[2];
  node_extents(n, at, 2, 1, dilation);
  w->side[0].dilation = dilation[0], w->side[1].dilation = dilation[1];
}

bool pool_has_no_windows(const struct window *w) {
  return expr_is(w->side[0].out, 0) || expr_is(w->side[1].out, 0);
}

static bool is_too_large(struct build *b, const struct node *n, const struct window *w) {
  if (w->side[0].kernel <= MOST_TAPS_ALONG && w->side[1].kernel <= MOST_TAPS_ALONG)
    return false;
  struct diag *d = diag_error(b->g->diag, n->span, E1009, "a window of %lld x %lld",
                              (long long)w->side[0].kernel, (long long)w->side[1].kernel);
  diag_help(d, "windows have at most %d positions along a dimension", MOST_TAPS_ALONG);
  return true;
}

static bool give_empty(struct decompose *d, const struct node *n, struct value **ret, uint32_t i) {
  const struct value *old = n->results[i];
  if (old)
    ret[i] = build_full(&d->b, old->rank, old->shape, 0, old->dtype);
  return true;
}

// Padded so that every window is inside.
static struct value *pad(struct build *b, struct value *x, const struct side *s, double value) {
  struct exprs *e = b->g->exprs;
  const struct expr *zero = expr_const(e, 0), *left = expr_const(e, s->padding);
  const struct expr *need = expr_addi(e, expr_muli(e, expr_addi(e, s->out, -1), s->stride),
                                      (s->kernel - 1) * s->dilation + 1);
  const struct expr *right = expr_max(e, zero, expr_sub(e, need, expr_add(e, left, s->size)));
  if (s->fits && !expr_is_const(s->size, NULL))
    right = left;
  if (!x || (expr_is(left, 0) && expr_is(right, 0)))
    return x;
  const struct expr *widths[4] = {zero, zero, left, right};
  bool is_last = s->dim + 1 == x->rank;
  return BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(x),
               arg_exprs(b->g, is_last ? 2 : 4, is_last ? widths + 2 : widths),
               dtype_is_float(x->dtype) ? ARG_F(value) : arg_int(b->g, (int64_t)value));
}

// Position i of every window along one dimension of the padded image.
static struct value *tap(struct build *b, struct value *x, const struct side *s, int64_t i) {
  struct exprs *e = b->g->exprs;
  const struct expr *start = expr_const(e, i * s->dilation);
  const struct expr *end =
      expr_addi(e, expr_muli(e, expr_addi(e, s->out, -1), s->stride), i * s->dilation + 1);
  struct value *v = build_slice(b, x, s->dim, start, end, s->stride);
  if (v && v->shape[s->dim] != s->out) { // every window is inside: the slice's bounds do not clamp
    v->shape[s->dim] = expr_equate(v->shape[s->dim], s->out);
  }
  return v;
}

// ---- maximum ----

struct best {
  struct value *value, *position; // position NULL: not used
};

// The first maximum, or the last NaN.
static struct best better(struct build *b, struct best old, struct best fresh) {
  if (!old.value)
    return fresh;
  struct best both = {.value = build_binop(b, OP_MAXIMUM, old.value, fresh.value)};
  if (!old.position)
    return both;
  struct value *wins = build_binop(b, OP_GT_TENSOR, fresh.value, old.value);
  if (fresh.value && dtype_is_float(fresh.value->dtype))
    wins = build_binop(b, OP_LOGICAL_OR, wins, build_unop(b, OP_ISNAN, fresh.value));
  both.position = build_where(b, wins, fresh.position, old.position);
  return both;
}

// The image index of position i of the windows along one dimension: stride * o + dilation * i -
// padding, and at least 0: in a window of -inf only, the first position is padding.
static struct value *position_along(struct build *b, const struct side *s, int64_t i,
                                    uint32_t rank) {
  struct value *o = build_int(b, OP_MUL_TENSOR, build_iota(b, s->out, s->dim, rank), s->stride);
  return build_int(b, OP_MAXIMUM, build_int(b, OP_ADD_TENSOR, o, i * s->dilation - s->padding), 0);
}

// All positions of the window: slices along both dimensions.
static struct best max_of_window(struct build *b, struct value *x, const struct window *w,
                                 bool with_position) {
  struct best best = {0};
  const struct side *rows = &w->side[0], *columns = &w->side[1];
  uint32_t rank = x->rank;
  for (int64_t i = 0; i < rows->kernel; i++) {
    struct value *row = tap(b, x, rows, i);
    for (int64_t j = 0; row && j < columns->kernel; j++) {
      struct best fresh = {.value = tap(b, row, columns, j)};
      if (!fresh.value)
        return (struct best){0};
      if (with_position) {
        struct value *y =
            BUILD(b, OP_MUL_TENSOR, TENSOR(position_along(b, rows, i, rank)), ARG_E(columns->size));
        fresh.position =
            build_as(b, build_add(b, y, position_along(b, columns, j, rank)), fresh.value);
      }
      best = better(b, best, fresh);
    }
  }
  return best;
}

// Along the columns first: the maximum of each row of the window.
static struct best max_by_sides(struct build *b, struct value *x, const struct window *w,
                                bool with_position) {
  struct best rows = {0}, best = {0};
  for (int64_t j = 0; j < w->side[1].kernel; j++) {
    struct best fresh = {.value = tap(b, x, &w->side[1], j)};
    if (!fresh.value)
      return best;
    if (with_position)
      fresh.position = build_as(b, position_along(b, &w->side[1], j, x->rank), fresh.value);
    rows = better(b, rows, fresh);
  }
  for (int64_t i = 0; rows.value && i < w->side[0].kernel; i++) {
    struct best fresh = {.value = tap(b, rows.value, &w->side[0], i)};
    if (with_position) {
      struct value *y = BUILD(b, OP_MUL_TENSOR, TENSOR(position_along(b, &w->side[0], i, x->rank)),
                              ARG_E(w->side[1].size));
      fresh.position = build_add(b, tap(b, rows.position, &w->side[0], i), y);
    }
    best = better(b, best, fresh);
  }
  return best;
}

static double lowest(enum dtype t) {
  if (dtype_is_float(t))
    return -__builtin_inf();
  return dtype_is_signed(t) ? -ldexp(1, (int)dtype_bits(t) - 1) : 0;
}

bool decompose_max_pool(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  const struct value *out = n->results[0] ? n->results[0] : n->results[1];
  struct window w = pool_window(n, 1, x, out, 5);
  pool_dilate(n, 4, &w);
  if (is_too_large(b, n, &w))
    return false;
  if (pool_has_no_windows(&w))
    return give_empty(d, n, ret, 0) && give_empty(d, n, ret, 1);
  x = pad(b, pad(b, x, &w.side[1], lowest(x->dtype)), &w.side[0], lowest(x->dtype));
  if (!x)
    return false;
  bool is_small = w.side[0].kernel * w.side[1].kernel <= MOST_TAPS;
  struct best best = (is_small ? max_of_window : max_by_sides)(b, x, &w, n->results[1] != NULL);
  decompose_give(d, n, ret, 0, best.value);
  return decompose_give(d, n, ret, 1, best.position);
}

// ---- mean ----

static struct value *sum_along(struct build *b, struct value *x, const struct side *s) {
  struct value *sum = NULL;
  x = pad(b, x, s, 0);
  for (int64_t i = 0; x && i < s->kernel; i++)
    sum = i ? build_add(b, sum, tap(b, x, s, i)) : tap(b, x, s, i);
  return sum;
}

// Adjacent windows that cover the image: [.., out, kernel, out, kernel]
static bool is_tiled(struct build *b, const struct window *w) {
  for (int i = 0; i < 2; i++) {
    const struct side *s = &w->side[i];
    if (s->padding || s->stride != s->kernel ||
        expr_muli(b->g->exprs, s->out, s->kernel) != s->size)
      return false;
  }
  return true;
}

static struct value *sum_tiles(struct build *b, struct value *x, const struct expr *const *out,
                               const struct expr *const *kernel) {
  if (!x)
    return NULL;
  const struct expr *shape[GRAPH_MAX_RANK + 2];
  uint32_t outer = x->rank - 2;
  for (uint32_t i = 0; i < outer; i++)
    shape[i] = x->shape[i];
  for (uint32_t i = 0; i < 2; i++)
    shape[outer + 2 * i] = out[i], shape[outer + 2 * i + 1] = kernel[i];
  struct dims dims = {2, {outer + 1, outer + 3}};
  return build_sum(b, build_view(b, x, x->rank + 2, shape), &dims, false);
}

// The number of counted positions of each window along one dimension: all if no window leaves the
// padded image.
static struct value *positions_along(struct build *b, const struct side *s, bool counts_padding,
                                     uint32_t rank, enum dtype t) {
  int64_t size = 0, out = 0;
  bool is_known = expr_is_const(s->size, &size) && expr_is_const(s->out, &out);
  int64_t last = (out - 1) * s->stride - s->padding + s->kernel; // the end of the last window
  if (is_known && last <= size + (counts_padding ? s->padding : 0) &&
      (counts_padding || s->padding == 0))
    return build_number(b, (double)s->kernel, t);
  struct value *begin = build_int(b, OP_MUL_TENSOR, build_iota(b, s->out, s->dim, rank), s->stride);
  begin = build_int(b, OP_ADD_TENSOR, begin, -s->padding);
  const struct expr *limit = counts_padding ? expr_addi(b->g->exprs, s->size, s->padding) : s->size;
  struct value *end =
      BUILD(b, OP_MINIMUM, TENSOR(build_int(b, OP_ADD_TENSOR, begin, s->kernel)), ARG_E(limit));
  if (!counts_padding)
    begin = build_int(b, OP_MAXIMUM, begin, 0);
  return build_convert(b, build_sub(b, end, begin), t);
}

// kernel_size:1 stride:2 padding:3 ceil_mode:4 count_include_pad:5 divisor_override:6
bool decompose_avg_pool(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = build_up(b, node_value(n, 0)), *sum;
  if (!x)
    return false;
  struct window w = pool_window(n, 1, x, n->results[0], 4);
  if (is_too_large(b, n, &w))
    return false;
  if (pool_has_no_windows(&w))
    return give_empty(d, n, ret, 0);
  const struct expr *out[] = {w.side[0].out, w.side[1].out};
  const struct expr *kernel[] = {expr_const(b->g->exprs, w.side[0].kernel),
                                 expr_const(b->g->exprs, w.side[1].kernel)};
  if (is_tiled(b, &w) && x->rank + 2 <= GRAPH_MAX_RANK)
    sum = sum_tiles(b, x, out, kernel);
  else
    sum = sum_along(b, sum_along(b, x, &w.side[1]), &w.side[0]);
  if (!node_is_none(n, 6))
    return decompose_is(d, n, ret, BUILD(b, OP_DIV_TENSOR, TENSOR(sum), n->args[6]));
  bool counts_padding = node_truth(n, 5);
  struct value *rows = positions_along(b, &w.side[0], counts_padding, x->rank, x->dtype);
  struct value *columns = positions_along(b, &w.side[1], counts_padding, x->rank, x->dtype);
  return decompose_is(d, n, ret, build_div(b, sum, build_mul(b, rows, columns)));
}

// Windows [floor(i * size / out), ceil((i + 1) * size / out)) along one dimension: it becomes [out,
// size], masked and summed.
static struct value *adaptive_along(struct build *b, struct value *x, uint32_t dim,
                                    const struct expr *out) {
  if (!x)
    return NULL;
  const struct expr *size = x->shape[dim], *shape[GRAPH_MAX_RANK + 1];
  uint32_t rank = x->rank + 1;
  struct value *i = build_iota(b, out, dim, rank), *at = build_iota(b, size, dim + 1, rank);
  struct value *begin = BUILD(b, OP_FLOOR_DIVIDE,
                              TENSOR(BUILD(b, OP_MUL_TENSOR, TENSOR(i), ARG_E(size))), ARG_E(out));
  struct value *next =
      BUILD(b, OP_MUL_TENSOR, TENSOR(build_int(b, OP_ADD_TENSOR, i, 1)), ARG_E(size));
  next = BUILD(b, OP_ADD_TENSOR, TENSOR(next), ARG_E(expr_addi(b->g->exprs, out, -1)));
  struct value *end = BUILD(b, OP_FLOOR_DIVIDE, TENSOR(next), ARG_E(out));
  struct value *is_inside = build_binop(b, OP_LOGICAL_AND, build_binop(b, OP_GE_TENSOR, at, begin),
                                        build_binop(b, OP_LT_TENSOR, at, end));
  for (uint32_t k = 0; k < rank; k++)
    shape[k] = k < dim ? x->shape[k] : k == dim ? out : x->shape[k - 1];
  struct value *wide = build_expand(b, build_unsqueeze(b, x, dim), rank, shape);
  struct dims dims = dims_one(dim + 1);
  struct value *sum = build_sum(b, build_where_else(b, is_inside, wide, 0), &dims, false);
  struct value *count =
      build_squeeze(b, build_convert(b, build_sub(b, end, begin), x->dtype), dim + 1);
  return build_div(b, sum, count);
}

bool decompose_adaptive_pool(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct exprs *e = b->g->exprs;
  struct value *x = build_up(b, node_value(n, 0));
  if (!x)
    return false;
  uint32_t dim = x->rank - 2;
  const struct expr *const *out = &n->results[0]->shape[dim];
  const struct expr *kernel[] = {expr_floordiv(e, x->shape[dim], out[0]),
                                 expr_floordiv(e, x->shape[dim + 1], out[1])};
  bool divides = expr_mul(e, kernel[0], out[0]) == x->shape[dim] &&
                 expr_mul(e, kernel[1], out[1]) == x->shape[dim + 1];
  if (divides && x->rank + 2 <= GRAPH_MAX_RANK)
    return decompose_is(
        d, n, ret, build_over(b, sum_tiles(b, x, out, kernel), expr_mul(e, kernel[0], kernel[1])));
  return decompose_is(d, n, ret,
                      adaptive_along(b, adaptive_along(b, x, dim, out[0]), dim + 1, out[1]));
}
