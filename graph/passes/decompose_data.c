// SPDX-License-Identifier: Apache-2.0
// Gathers and scatters: dimensions from the front; accumulation in f32.
#include "graph/passes/decompose.h"

// dim is argument 1.
bool decompose_gather(struct decompose *d, const struct node *n, struct value **ret) {
  struct value *x = node_value(n, 0);
  if (x->rank == 0 || node_int(n, 1) >= 0)
    return decompose_keep(d);
  struct arg args[OPERATOR_MAX_PARAMETERS];
  for (uint32_t i = 0; i < n->arg_count; i++)
    args[i] = n->args[i];
  args[1] = arg_int(d->b.g, node_dim(n, 1, x->rank));
  return decompose_is(d, n, ret, build_apply(&d->b, n->op, n->arg_count, args));
}

static bool is_half(const struct value *v) { return dtype_to_compute(v->dtype) != v->dtype; }

bool decompose_index_put(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  if (!node_truth(n, 3) || !is_half(x))
    return decompose_keep(d);
  struct value *values = build_up(b, node_value(n, 2));
  return decompose_is(
      d, n, ret,
      BUILD(b, OP_INDEX_PUT, TENSOR(build_up(b, x)), n->args[1], TENSOR(values), ARG_B(true)));
}

bool decompose_scatter_add(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  bool is_plain = x->rank == 0 || node_int(n, 1) >= 0;
  if (is_plain && !is_half(x))
    return decompose_keep(d);
  struct arg dim = is_plain ? n->args[1] : arg_int(b->g, node_dim(n, 1, x->rank));
  struct value *src = build_up(b, node_value(n, 3));
  return decompose_is(
      d, n, ret, BUILD(b, OP_SCATTER_ADD, TENSOR(build_up(b, x)), dim, n->args[2], TENSOR(src)));
}

static struct value *add_rows(struct build *b, struct value *into, struct value *index,
                              struct value *rows) {
  if (!index)
    return NULL;
  struct value *list[] = {index};
  return BUILD(b, OP_INDEX_PUT, TENSOR(into), arg_values(b->g, 1, list), TENSOR(rows), ARG_B(true));
}

// The number of occurrences of each index, as a float.
static struct value *frequencies(struct build *b, struct value *index, const struct expr *classes,
                                 enum dtype t) {
  struct value *ones = build_full(b, index->rank, index->shape, 1, t);
  struct value *counts = add_rows(b, build_full(b, 1, &classes, 0, t), index, ones);
  if (!counts)
    return NULL;
  struct value *list[] = {index};
  return BUILD(b, OP_INDEX, TENSOR(counts), arg_values(b->g, 1, list));
}

// The same as scattered sums, in a fixed order: a product with a matrix that has a one where the
// index is the row's number.
static struct value *sum_rows(struct build *b, struct value *index, struct value *rows,
                              const struct value *like) {
  const struct expr *count = value_numel(b->g->exprs, index);
  const struct expr *flat[] = {expr_const(b->g->exprs, 1), count};
  const struct expr *wide[] = {count, like->shape[1]};
  struct value *classes = build_iota(b, like->shape[0], 0, 2);
  index = BUILD(b, OP_RESHAPE, TENSOR(index), arg_exprs(b->g, 2, flat));
  rows = rows ? BUILD(b, OP_RESHAPE, TENSOR(rows), arg_exprs(b->g, 2, wide)) : NULL;
  struct value *is_row = build_binop(b, OP_EQ_TENSOR, classes, index);
  is_row = is_row && rows ? build_convert(b, is_row, rows->dtype) : NULL;
  return is_row ? BUILD(b, OP_MM, TENSOR(is_row), TENSOR(rows)) : NULL;
}

bool decompose_embedding_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  const struct value *old = n->results[0];
  struct value *g = build_up(b, node_value(n, 0)), *index = node_value(n, 1);
  if (!g)
    return false;
  const struct expr *minus_one = expr_const(b->g->exprs, -1);
  if (node_truth(n, 4))
    g = build_div(b, g,
                  build_unsqueeze(b, frequencies(b, index, old->shape[0], g->dtype), index->rank));
  if (node_expr(n, 3) != minus_one) {
    struct value *is_padding = BUILD(b, OP_EQ_TENSOR, TENSOR(index), n->args[3]);
    is_padding = build_unsqueeze(b, is_padding, index->rank);
    g = g ? build_where(b, is_padding, build_number(b, 0, g->dtype), g) : NULL;
  }
  if (!g)
    return false;
  if (b->g->is_deterministic)
    return decompose_is(d, n, ret, sum_rows(b, index, g, old));
  struct value *zeros = build_full(b, old->rank, old->shape, 0, g->dtype);
  return decompose_is(d, n, ret, add_rows(b, zeros, index, g));
}
