// SPDX-License-Identifier: Apache-2.0
// Matrix products: bias, factors and batches outside of the product.
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
