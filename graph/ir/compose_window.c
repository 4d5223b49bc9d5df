// SPDX-License-Identifier: Apache-2.0
// Composed operators on windows: unfold, im2col and col2im, and their gradients.
#include "graph/ir/compose.h"

#include <inttypes.h>

#define X node_value(n, 0)

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
    compose_error(b, n, E1004, "windows of size %lld with stride %lld", (long long)size,
                  (long long)step);
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
  n->results[0] = compose_put(b, build_full(b, rank, shape, 0, X->dtype), dim, indices,
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
