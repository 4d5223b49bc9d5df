// SPDX-License-Identifier: Apache-2.0
// Gradients of max pooling over the last two dimensions, by the indices that the forward saved:
// each position adds up the windows whose maximum it is. Many windows that overlap are scattered
// instead.
#include "graph/passes/decompose.h"
#include "graph/passes/pool_window.h"

// The number of windows that may hold a position, along one dimension.
static int64_t windows_along(const struct side *s) {
  return ((s->kernel - 1) * s->dilation + s->stride) / s->stride;
}

// For each position of the image the element of x, one for each window, of the `back`-th window
// before the last that begins at or before it; `value` where there is none.
static struct value *of_window(struct build *b, struct value *x, const struct side *s, int64_t back,
                               struct arg value) {
  struct exprs *e = b->g->exprs;
  if (!x)
    return NULL;
  const struct expr *shape[GRAPH_MAX_RANK + 1], *zero = expr_const(e, 0);
  for (uint32_t i = 0; i <= x->rank; i++)
    shape[i] = i <= s->dim       ? x->shape[i]
               : i == s->dim + 1 ? expr_const(e, s->stride)
                                 : x->shape[i - 1];
  struct value *v = build_expand(b, build_unsqueeze(b, x, s->dim + 1), x->rank + 1, shape);
  const struct expr *size = expr_muli(e, s->out, s->stride);
  for (uint32_t i = 0; i < x->rank; i++)
    shape[i] = i == s->dim ? size : x->shape[i];
  v = build_view(b, v, x->rank, shape);
  const struct expr *before = expr_const(e, back * s->stride - s->padding);
  const struct expr *after = expr_sub(e, s->size, expr_add(e, size, before));
  const struct expr *widths[4] = {zero, zero, before, after};
  bool is_last = s->dim + 1 == x->rank;
  return v ? BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(v),
                   arg_exprs(b->g, is_last ? 2 : 4, is_last ? widths + 2 : widths), value)
           : NULL;
}

// The sum over the windows whose maximum is here: a gather, with one result for each sum, and in
// one order.
static struct value *gradient_by_windows(struct build *b, struct value *g, struct value *positions,
                                         const struct window *w, uint32_t rank) {
  const struct side *rows = &w->side[0], *columns = &w->side[1];
  struct value *row = BUILD(b, OP_MUL_TENSOR, TENSOR(build_iota(b, rows->size, rows->dim, rank)),
                            ARG_E(columns->size));
  struct value *here = build_add(b, row, build_iota(b, columns->size, columns->dim, rank));
  struct value *sum = NULL;
  for (int64_t i = 0; i < windows_along(rows); i++) {
    struct value *g_row = of_window(b, g, rows, i, ARG_F(0));
    struct value *at_row = of_window(b, positions, rows, i, arg_int(b->g, -1));
    for (int64_t j = 0; j < windows_along(columns); j++) {
      struct value *at = of_window(b, at_row, columns, j, arg_int(b->g, -1));
      struct value *part = build_where_else(b, build_binop(b, OP_EQ_TENSOR, at, here),
                                            of_window(b, g_row, columns, j, ARG_F(0)), 0);
      sum = sum ? build_add(b, sum, part) : part;
    }
  }
  return sum;
}

// Indices of windows of one position are those of unpooling: anywhere.
static bool has_few_windows(const struct window *w) {
  enum { MOST_WINDOWS = 9 };
  int64_t rows = windows_along(&w->side[0]), columns = windows_along(&w->side[1]);
  return w->side[0].kernel * w->side[1].kernel > 1 && rows <= MOST_WINDOWS &&
         columns <= MOST_WINDOWS && rows * columns <= MOST_WINDOWS;
}

// The image's elements that are no maximum stay 0.
static struct value *scattered(struct build *b, struct value *g, struct value *positions,
                               const struct value *like) {
  struct dims planes = dims_from(0, g->rank - 2), image = dims_from(g->rank - 2, g->rank);
  const struct expr *from[] = {build_count(b, g, &planes), build_count(b, g, &image)};
  const struct expr *to[] = {
      from[0], expr_mul(b->g->exprs, like->shape[like->rank - 2], like->shape[like->rank - 1])};
  struct value *zeros = build_full(b, 2, to, 0, g->dtype);
  struct value *sum =
      BUILD(b, OP_SCATTER_ADD, TENSOR(zeros), arg_int(b->g, 1),
            TENSOR(build_view(b, positions, 2, from)), TENSOR(build_view(b, g, 2, from)));
  return build_view(b, sum, like->rank, like->shape);
}

// grad_output:0 self:1 kernel_size:2 stride:3 padding:4 dilation:5 ceil_mode:6 indices:7
bool decompose_max_pool_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  const struct value *like = n->results[0];
  struct value *g = build_up(b, node_value(n, 0)), *positions = node_value(n, 7);
  if (!g)
    return false;
  struct window w = pool_window(n, 2, like, g, 6);
  pool_dilate(n, 5, &w);
  bool is_gathered = has_few_windows(&w) && !pool_has_no_windows(&w);
  return decompose_is(d, n, ret,
                      is_gathered ? gradient_by_windows(b, g, positions, &w, like->rank)
                                  : scattered(b, g, positions, like));
}
