// SPDX-License-Identifier: Apache-2.0
// Negative log likelihood and its gradient, as a comparison with the class index instead of a
// scatter, so that it fuses with the gradient of the softmax.
#include "graph/passes/decompose.h"

enum reduction { REDUCTION_NONE, REDUCTION_MEAN, REDUCTION_SUM };

// A loss of one row [C] or of rows [N, C].
struct rows {
  struct value *target; // [N, 1] or [1]
  struct value *counts; // 1 unless ignored
  struct value *weight; // of the target's class, [N, 1] or [1]; NULL: 1
  uint32_t dim;         // of the classes
};

static struct rows rows_of(struct build *b, const struct node *n, unsigned first,
                           const struct value *x) {
  struct rows r = {.dim = x->rank - 1};
  struct value *target = node_value(n, first), *weight = node_value(n, first + 1);
  const struct expr *shape[] = {x->shape[0], expr_const(b->g->exprs, 1)};
  r.target = build_view(b, target, x->rank, x->rank > 1 ? shape : shape + 1);
  r.counts = BUILD(b, OP_NE_TENSOR, TENSOR(r.target), n->args[first + 3]);
  if (weight) {
    struct value *index[] = {build_where_else(b, r.counts, r.target, 0)};
    r.weight = index[0]
                   ? BUILD(b, OP_INDEX, TENSOR(build_up(b, weight)), arg_values(b->g, 1, index))
                   : NULL;
  }
  return r;
}

// self:0 target:1 weight:2 reduction:3 ignore_index:4
bool decompose_nll_loss(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = build_up(b, node_value(n, 0));
  if (!x)
    return false;
  struct rows r = rows_of(b, n, 1, x);
  struct value *class = build_where_else(b, r.counts, r.target, 0);
  struct value *loss =
      build_unop(b, OP_NEG, BUILD(b, OP_GATHER, TENSOR(x), arg_int(b->g, r.dim), TENSOR(class)));
  if (r.weight)
    loss = build_mul(b, loss, r.weight);
  loss = build_where_else(b, r.counts, loss, 0);
  bool is_row_by_row = node_int(n, 3) == REDUCTION_NONE && x->rank > 1;
  struct dims all = dims_from(0, x->rank);
  struct value *total =
      r.weight ? build_where_else(b, r.counts, r.weight, 0) : build_convert(b, r.counts, x->dtype);
  total = build_sum(b, total, &all, false);
  if (is_row_by_row)
    total = build_number(b, 0, x->dtype);
  decompose_give(d, n, ret, 1, total);
  if (is_row_by_row)
    return decompose_is(d, n, ret, build_squeeze(b, loss, 1));
  struct value *sum = build_sum(b, loss, &all, false);
  return decompose_is(d, n, ret, node_int(n, 3) == REDUCTION_MEAN ? build_div(b, sum, total) : sum);
}

// grad_output:0 self:1 target:2 weight:3 reduction:4 ignore_index:5 total_weight:6
bool decompose_nll_loss_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  const struct value *x = node_value(n, 1);
  struct value *g = build_up(b, node_value(n, 0));
  if (!g)
    return false;
  struct rows r = rows_of(b, n, 2, x);
  if (g->rank == 1 && x->rank > 1)
    g = build_unsqueeze(b, g, 1);
  if (node_int(n, 4) == REDUCTION_MEAN)
    g = build_div(b, g, build_up(b, node_value(n, 6)));
  g = build_unop(b, OP_NEG, r.weight ? build_mul(b, g, r.weight) : g);
  g = build_where_else(b, r.counts, g, 0);
  struct value *is_class =
      build_binop(b, OP_EQ_TENSOR, build_iota(b, x->shape[r.dim], r.dim, x->rank), r.target);
  return decompose_is(d, n, ret, build_where_else(b, is_class, g, 0));
}
