// SPDX-License-Identifier: Apache-2.0
// Rules of matrix products and convolutions. Both are linear in each operand, so that their
// gradients are products and convolutions.
#include "graph/autodiff/gradient_rules.h"

static struct value *transposed(struct build *b, struct value *x) {
  return x ? build_swap(b, x, x->rank - 2, x->rank - 1) : NULL;
}

// y = x w: g w^T, x^T g
void rule_product(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0), *w = node_value(n, 1);
  if (gradient_wants(d, x))
    gradient_give(d, n, 0, build_binop(b, n->op, g[0], transposed(b, w)));
  if (gradient_wants(d, w))
    gradient_give(d, n, 1, build_binop(b, n->op, transposed(b, x), g[0]));
}

static struct value *grouped(struct build *b, struct value *x, struct value *w,
                             const struct node *n) {
  struct arg args[] = {TENSOR(x), TENSOR(w), n->args[2], n->args[3]};
  return x && w ? build_apply(b, OP_TILE_GROUPED_MM, COUNT_OF(args), args) : NULL;
}

// Of groups of rows y_i = x_i w_i: g w^T by groups of rows, x^T g by groups of the inner dimension;
// of groups of the inner dimension, y_i = x_i w_i of columns and rows, the other way around.
void rule_grouped_product(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0), *w = node_value(n, 1);
  bool of_rows = w->rank == 3;
  if (gradient_wants(d, x))
    gradient_give(d, n, 0,
                  of_rows ? grouped(b, g[0], transposed(b, w), n)
                          : transposed(b, grouped(b, w, transposed(b, g[0]), n)));
  if (gradient_wants(d, w))
    gradient_give(d, n, 1, grouped(b, transposed(b, x), g[0], n));
}

// ---- convolutions ----

// The gradients of a convolution with these arguments; `at`: those from `stride` on, six.
static struct node *gradients_of(struct build *b, struct value *g, struct value *x, struct value *w,
                                 const struct arg *at, const bool *mask) {
  struct arg args[11] = {TENSOR(g), TENSOR(x), TENSOR(w),
                         g ? arg_exprs(b->g, 1, &g->shape[1]) : (struct arg){0}};
  if (!g || !x || !w)
    return NULL;
  for (unsigned i = 0; i < 6; i++)
    args[4 + i] = at[i];
  args[10] = gradient_mask(b, 3, mask);
  return graph_append(b->g, OP_CONVOLUTION_BACKWARD, args, COUNT_OF(args), b->at);
}

static struct value *result_of(const struct node *n, unsigned i) {
  return n ? n->results[i] : NULL;
}

static struct value *convolve(struct build *b, struct value *x, struct value *w, struct value *bias,
                              const struct arg *at) {
  struct arg args[9] = {TENSOR(x), TENSOR(w), ARG_V(bias)};
  for (unsigned i = 0; i < 6; i++)
    args[3 + i] = at[i];
  return build_apply(b, OP_CONVOLUTION, COUNT_OF(args), args);
}

// input weight bias stride padding dilation transposed output_padding groups
void rule_convolution(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  bool mask[3];
  for (unsigned i = 0; i < 3; i++)
    mask[i] = gradient_wants_arg(d, n, i);
  struct node *all = gradients_of(b, g[0], node_value(n, 0), node_value(n, 1), &n->args[3], mask);
  for (unsigned i = 0; i < 3; i++)
    if (mask[i])
      gradient_give(d, n, i, result_of(all, i));
}

// The gradient of a gradient: gx = adjoint(G, w), gw = correlation(G, x), gb = sum G. With
// gradients u, v, t of these: G gets conv(u, w) + conv(x, v) + t, x gets adjoint(G, v), w
// correlation(G, u). grad_output input weight bias_sizes stride padding dilation transposed
// output_padding groups
void rule_convolution_backward(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *out = node_value(n, 0), *x = node_value(n, 1), *w = node_value(n, 2);
  const struct arg *at = &n->args[4];
  const bool of_input[] = {true, false, false}, of_weight[] = {false, true, false};
  if (g[0])
    gradient_give(d, n, 0, convolve(b, g[0], w, NULL, at));
  if (g[1])
    gradient_give(d, n, 0, convolve(b, x, g[1], NULL, at));
  if (g[2])
    gradient_give(d, n, 0, build_as(b, build_along(b, g[2], 1, out->rank), out));
  if (g[1] && gradient_wants(d, x))
    gradient_give(d, n, 1, result_of(gradients_of(b, out, x, g[1], at, of_input), 0));
  if (g[0] && gradient_wants(d, w))
    gradient_give(d, n, 2, result_of(gradients_of(b, out, g[0], w, at, of_weight), 1));
}
