// SPDX-License-Identifier: Apache-2.0
// Convolutions and their gradients: bias outside of the product, transposed convolutions as
// gradients, gradients of strided ones by phases.
#include "graph/passes/decompose.h"

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

// ---- gradients of inputs by phases ----
// Of stride s, position s q + r of the input is read by the taps k0 + s j alone, k0 = (r + padding)
// mod s. So the positions of each phase r are the gradient by every s-th tap with stride 1, and
// products with all taps would multiply s times as much, mostly by 0 (Dumoulin and Visin, A guide
// to convolution arithmetic for deep learning, 2016, section 4.6).

enum { MOST_PHASES = 8 };

struct phases {
  struct build *b;
  struct value *grad, *w;
  const struct value *like;
  uint32_t spatial;
  int64_t stride[GRAPH_MAX_RANK], padding[GRAPH_MAX_RANK], taps[GRAPH_MAX_RANK];
  const struct expr *shape[GRAPH_MAX_RANK]; // of a phase
  size_t count;
};

static bool has_phases(struct phases *p, const struct window *at, const struct arg *groups) {
  int64_t dilation;
  p->count = 1;
  p->shape[0] = p->like->shape[0];
  p->shape[1] = p->like->shape[1];
  for (uint32_t d = 0; d < p->spatial; d++) {
    if (!expr_is_const(at->stride.list.at[d].number, &p->stride[d]) ||
        !expr_is_const(at->padding.list.at[d].number, &p->padding[d]) ||
        !expr_is_const(at->dilation.list.at[d].number, &dilation) ||
        !expr_is_const(p->w->shape[2 + d], &p->taps[d]) || p->padding[d] < 0 || dilation != 1 ||
        p->stride[d] > MOST_PHASES)
      return false;
    p->count *= (size_t)p->stride[d];
    p->shape[2 + d] =
        expr_cdiv(p->b->g->exprs, p->like->shape[2 + d], expr_const(p->b->g->exprs, p->stride[d]));
  }
  return p->count > 1 && p->count <= MOST_PHASES && expr_is(groups->number, 1);
}

// Phase `at` of each dimension; zeros if no tap reads it.
static struct value *phase(struct phases *p, const int64_t *at) {
  struct exprs *x = p->b->g->exprs;
  struct value *w = p->w;
  int64_t ones[GRAPH_MAX_RANK], padding[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < p->spatial; d++) {
    int64_t first = (at[d] + p->padding[d]) % p->stride[d];
    ones[d] = 1;
    padding[d] = (at[d] + p->padding[d]) / p->stride[d];
    if (first >= p->taps[d])
      return build_full(p->b, p->like->rank, p->shape, 0, p->like->dtype);
    w = build_slice(p->b, w, 2 + d, expr_const(x, first), p->w->shape[2 + d], p->stride[d]);
  }
  struct graph *g = p->b->g;
  return BUILD(p->b, OP_CONVOLUTION_GRAD_INPUT, TENSOR(p->grad),
               arg_exprs(g, p->like->rank, p->shape), TENSOR(w), arg_ints(g, p->spatial, ones),
               arg_ints(g, p->spatial, padding), arg_ints(g, p->spatial, ones), arg_int(g, 1));
}

// [phases N, C, H, W] as [N, C, H s, W s], and without what is beyond the result.
static struct value *interleave(struct phases *p, struct value *all) {
  struct exprs *x = p->b->g->exprs;
  const struct expr *apart[GRAPH_MAX_RANK], *joined[GRAPH_MAX_RANK];
  struct dims order = {.count = p->like->rank + p->spatial};
  for (uint32_t d = 0; d < p->like->rank; d++) {
    apart[p->spatial + d] = joined[d] = p->shape[d];
    order.at[d < 2 ? d : 2 * d - 2] = p->spatial + d;
    if (d < 2)
      continue;
    apart[d - 2] = expr_const(x, p->stride[d - 2]);
    order.at[2 * d - 1] = d - 2;
    joined[d] = expr_muli(x, p->shape[d], p->stride[d - 2]);
  }
  struct value *v = build_view(p->b, all, order.count, apart);
  v = v ? build_permute(p->b, v, &order) : NULL;
  v = v ? build_view(p->b, v, p->like->rank, joined) : NULL;
  for (uint32_t d = 2; d < p->like->rank; d++)
    v = build_slice(p->b, v, d, expr_const(x, 0), p->like->shape[d], 1);
  return v;
}

static struct value *gradient_by_phases(struct phases *p) {
  struct value *all[MOST_PHASES];
  for (size_t i = 0; i < p->count; i++) {
    int64_t at[GRAPH_MAX_RANK];
    size_t rest = i;
    for (uint32_t d = p->spatial; d-- > 0; rest /= (size_t)p->stride[d])
      at[d] = (int64_t)(rest % (size_t)p->stride[d]);
    all[i] = phase(p, at);
    if (!all[i])
      return NULL;
  }
  struct graph *g = p->b->g;
  return interleave(p, BUILD(p->b, OP_CAT, arg_values(g, p->count, all), arg_int(g, 0)));
}

static struct value *gradient_of_input(struct build *b, struct value *g, struct value *w,
                                       const struct value *like, const struct window *at,
                                       struct arg groups) {
  struct phases p = {.b = b, .grad = g, .w = w, .like = like, .spatial = like->rank - 2};
  if (has_phases(&p, at, &groups))
    return gradient_by_phases(&p);
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
