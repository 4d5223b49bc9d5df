// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions: bias, factors and batches outside of the product.
#include "graph/passes/decompose.h"

// beta * self + alpha * product; self is ignored if beta is 0.
bool decompose_addmm(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  const struct value *old = n->results[0];
  struct value *self = node_value(n, 0), *y;
  if (node_is_number(n, 4, 0))
    y = build_full(b, old->rank, old->shape, 0, old->dtype);
  else
    y = build_apply(b, n->op == OP_ADDMM ? OP_MM : OP_BMM, 2, n->args + 1);
  if (!node_is_number(n, 4, 0) && !node_is_number(n, 4, 1))
    y = BUILD(b, OP_MUL_TENSOR, TENSOR(y), n->args[4]);
  if (node_is_number(n, 3, 0))
    return decompose_is(d, n, ret, y);
  if (!node_is_number(n, 3, 1))
    self = BUILD(b, OP_MUL_TENSOR, TENSOR(self), n->args[3]);
  return decompose_is(d, n, ret, build_add(b, y, self));
}

// [.., K] as [M, K]
static struct value *rows(struct build *b, struct value *x) {
  if (!x)
    return NULL;
  struct dims outer = dims_from(0, x->rank - 1);
  const struct expr *shape[] = {build_count(b, x, &outer), x->shape[x->rank - 1]};
  return build_view(b, x, 2, shape);
}

bool decompose_linear(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  const struct value *old = n->results[0];
  struct value *weight = node_value(n, 1), *bias = node_value(n, 2), *y;
  if (weight->rank == 1)
    weight = build_unsqueeze(b, weight, 0);
  y = build_binop(b, OP_MM, rows(b, node_value(n, 0)), build_swap(b, weight, 0, 1));
  if (bias)
    y = build_add(b, y, bias);
  return decompose_is(d, n, ret, build_view(b, y, old->rank, old->shape));
}

// The last two dimensions of x with the leading ones of `like`, as [batch, rows, columns].
static struct value *batches(struct build *b, struct value *x, uint32_t rank,
                             const struct expr *const *outer) {
  if (!x)
    return NULL;
  const struct expr *shape[GRAPH_MAX_RANK], *flat[3];
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = outer[i];
  shape[rank] = flat[1] = x->shape[x->rank - 2];
  shape[rank + 1] = flat[2] = x->shape[x->rank - 1];
  flat[0] = expr_product(b->g->exprs, outer, rank);
  return build_view(b, build_expand(b, x, rank + 2, shape), 3, flat);
}

bool decompose_matmul(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  const struct value *old = n->results[0];
  struct value *x = node_value(n, 0), *y = node_value(n, 1), *product;
  bool is_row = x->rank == 1, is_column = y->rank == 1;
  if (is_row)
    x = build_unsqueeze(b, x, 0);
  if (is_column)
    y = build_unsqueeze(b, y, 1);
  if (!x || !y)
    return false;
  if (y->rank == 2)
    product = build_binop(b, OP_MM, rows(b, x), y);
  else {
    uint32_t outer = old->rank - 2 + is_row; // y has rank 2 or more here
    product =
        build_binop(b, OP_BMM, batches(b, x, outer, old->shape), batches(b, y, outer, old->shape));
  }
  return decompose_is(d, n, ret, build_view(b, product, old->rank, old->shape));
}

// ---- convolutions ----

// A number for each dimension: a single one counts for all.
static struct arg extents(struct build *b, const struct node *n, unsigned i, uint32_t count) {
  const struct expr *values[GRAPH_MAX_RANK];
  const struct arg *list;
  size_t given = node_list(n, i, &list);
  for (uint32_t k = 0; k < count; k++)
    values[k] = list[k < given ? k : given - 1].number;
  return arg_exprs(b->g, count, values);
}

static bool has_extents(const struct node *n, unsigned i, uint32_t count) {
  return n->args[i].kind == ARG_LIST && n->args[i].list.count == count;
}

// stride, padding, dilation of a convolution over `count` dimensions, from argument i on.
struct window {
  struct arg stride, padding, dilation;
};

static struct window window_of(struct build *b, const struct node *n, unsigned i, uint32_t count) {
  return (struct window){extents(b, n, i, count), extents(b, n, i + 1, count),
                         extents(b, n, i + 2, count)};
}

static struct value *convolve(struct build *b, struct value *x, struct value *w,
                              const struct window *at, struct arg groups) {
  int64_t zeros[GRAPH_MAX_RANK] = {0};
  return BUILD(b, OP_CONVOLUTION, TENSOR(x), TENSOR(w), (struct arg){0}, at->stride, at->padding,
               at->dilation, ARG_B(false), arg_ints(b->g, at->stride.list.count, zeros), groups);
}

static struct arg shape_arg(struct build *b, const struct value *v) {
  return arg_exprs(b->g, v->rank, v->shape);
}

static struct value *gradient_of_input(struct build *b, struct value *g, struct value *w,
                                       const struct value *like, const struct window *at,
                                       struct arg groups) {
  return BUILD(b, OP_CONVOLUTION_GRAD_INPUT, TENSOR(g), shape_arg(b, like), TENSOR(w), at->stride,
               at->padding, at->dilation, groups);
}

static struct value *gradient_of_weight(struct build *b, struct value *g, struct value *x,
                                        const struct value *like, const struct window *at,
                                        struct arg groups) {
  return BUILD(b, OP_CONVOLUTION_GRAD_WEIGHT, TENSOR(g), shape_arg(b, like), TENSOR(x), at->stride,
               at->padding, at->dilation, groups);
}

// A transposed convolution is the input gradient of a convolution.
bool decompose_convolution(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0), *w = node_value(n, 1), *bias = node_value(n, 2);
  uint32_t count = x->rank - 2;
  bool is_transposed = node_truth(n, 6);
  if (!bias && !is_transposed && has_extents(n, 3, count) && has_extents(n, 4, count) &&
      has_extents(n, 5, count))
    return decompose_keep(d);
  struct window at = window_of(b, n, 3, count);
  struct value *y = is_transposed ? gradient_of_input(b, x, w, n->results[0], &at, n->args[8])
                                  : convolve(b, x, w, &at, n->args[8]);
  if (bias)
    y = build_add(b, y, build_along(b, bias, 1, x->rank));
  return decompose_is(d, n, ret, y);
}

// grad_output:0 input:1 weight:2 bias_sizes:3 stride:4 padding:5 dilation:6 transposed:7
// output_padding:8 groups:9 output_mask:10
bool decompose_convolution_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *g = node_value(n, 0), *x = node_value(n, 1), *w = node_value(n, 2);
  struct window at = window_of(b, n, 4, x->rank - 2);
  bool is_transposed = node_truth(n, 7);
  struct arg groups = n->args[9];
  if (n->results[0])
    decompose_give(d, n, ret, 0,
                   is_transposed ? convolve(b, g, w, &at, groups)
                                 : gradient_of_input(b, g, w, x, &at, groups));
  if (n->results[1])
    decompose_give(d, n, ret, 1,
                   is_transposed ? gradient_of_weight(b, x, g, w, &at, groups)
                                 : gradient_of_weight(b, g, x, w, &at, groups));
  if (n->results[2]) {
    struct dims dims = dims_from(0, x->rank - 1);
    for (uint32_t i = 1; i < dims.count; i++)
      dims.at[i]++;
    decompose_give(d, n, ret, 2, build_sum(b, build_up(b, g), &dims, false));
  }
  return true;
}
