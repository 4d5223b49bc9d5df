// SPDX-License-Identifier: Apache-2.0
// Grouped products, of the experts of a mixture: group g has the rows, columns or inner indices
// from offs[g - 1] to offs[g]. Each group multiplies all of them, those of other groups as zeros: a
// batched product, and a sum over the groups where the result has no dimension for them.
#include "graph/ir/compose.h"

// Is the index along dimension `dim` of [groups, .., ..] in the group?
static struct value *is_in_group(struct build *b, struct value *offs, const struct expr *extent,
                                 uint32_t dim) {
  const struct expr *shift[] = {compose_const(b, 1), compose_const(b, -1)};
  struct value *begin =
      BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(offs), arg_exprs(b->g, 2, shift), arg_int(b->g, 0));
  struct value *at = build_iota(b, extent, dim, 3);
  return build_binop(b, OP_LOGICAL_AND,
                     build_binop(b, OP_GE_TENSOR, at, build_along(b, begin, 0, 3)),
                     build_binop(b, OP_LT_TENSOR, at, build_along(b, offs, 0, 3)));
}

// The matrix for each group, zero outside of it along dimension `dim` of the matrix.
static struct value *in_groups(struct build *b, struct value *x, struct value *offs, uint32_t dim) {
  struct value *inside = is_in_group(b, offs, x->shape[dim], dim + 1);
  return build_where_else(b, inside, build_unsqueeze(b, x, 0), 0);
}

static bool check(struct build *b, const struct node *n, const struct value *x,
                  const struct value *y, const struct value *offs) {
  bool needs_offs = x->rank == 2 || y->rank == 2;
  if (x->rank < 2 || x->rank > 3 || y->rank < 2 || y->rank > 3)
    compose_error(b, n, E1004, "operands of %u and %u dimensions; each needs 2 or 3", x->rank,
                  y->rank);
  else if (needs_offs && (!offs || offs->rank != 1))
    compose_error(b, n, E1003, "a matrix of all groups needs `offs`, the end of each group");
  else if (n->args[3].kind == ARG_VALUE)
    compose_error(b, n, E1008, "a bias of a grouped product: add it to the result");
  else
    return true;
  return false;
}

// self mat2 offs bias out_dtype
void compose_grouped_mm(struct build *b, struct node *n) {
  struct value *x = node_value(n, 0), *y = node_value(n, 1), *offs = node_value(n, 2);
  if (!check(b, n, x, y, offs))
    return;
  enum dtype t = n->args[4].kind == ARG_DTYPE ? n->args[4].dtype : x->dtype;
  bool is_sum = x->rank != y->rank;
  struct value *left = x, *right = y;
  if (x->rank == 2)
    left = in_groups(b, x, offs, y->rank == 3 ? 0 : 1);
  if (y->rank == 2 && x->rank == 3)
    right = in_groups(b, y, offs, 1);
  if (y->rank == 2 && x->rank == 2 && left) { // inner indices: zeros of one operand suffice
    const struct expr *shape[] = {left->shape[0], y->shape[0], y->shape[1]};
    right = build_expand(b, build_unsqueeze(b, y, 0), 3, shape);
  }
  struct value *product = build_binop(b, OP_BMM, left, right);
  struct dims groups = dims_one(0);
  if (is_sum)
    product = build_sum(b, product, &groups, false);
  n->results[0] = build_convert(b, product, t);
}
