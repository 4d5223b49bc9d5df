// SPDX-License-Identifier: Apache-2.0
// Pointwise and creation operators: constants, iota, random numbers.
#include "graph/loops/loops_internal.h"

static bool is_logical(enum operator_id op) {
  return op == OP_LOGICAL_NOT || op == OP_LOGICAL_AND || op == OP_LOGICAL_OR ||
         op == OP_LOGICAL_XOR;
}

// The dtype that operands are converted to.
static enum dtype operand_dtype(const struct node *n, unsigned arity) {
  if (is_logical(n->op))
    return DTYPE_I1;
  if (n->op == OP_TO_BITS || n->op == OP_FROM_BITS)
    return dtype_to_compute(node_value(n, 0)->dtype);
  if (operator_row(n->op)->promotion == PROMOTE_BOOL)
    return dtype_to_compute(promote(n->args, arity, PROMOTE_SAME));
  return dtype_to_compute(n->results[0]->dtype);
}

static enum scalar_op scalar_of(const struct node *n) {
  switch (n->op) {
  case OP_ADD_TENSOR: return SCALAR_ADD;
  case OP_SUB_TENSOR: return SCALAR_SUB;
  case OP_TO_BITS: return scalar_to_bits(node_value(n, 0)->dtype);
  case OP_FROM_BITS: return scalar_from_bits(n->results[0]->dtype);
  default: return operator_row(n->op)->scalar;
  }
}

bool loops_lower_pointwise(struct builder *b, const struct node *n) {
  struct deferred *z = loops_deferred(b, n->results[0]);
  uint32_t rank = z->value->rank;
  enum dtype t = dtype_to_compute(z->value->dtype);
  const struct scalar *in[3];
  if (n->op == OP_CONVERT_ELEMENT_TYPE || n->op == OP_CLONE)
    return loops_define(b, n, z, loops_operand(b, n, 0, t, rank, z->at));
  enum scalar_op op = scalar_of(n);
  if (op == SCALAR_NONE)
    return loops_refuse(b, n, "it should have been decomposed");
  unsigned arity = scalar_row(op)->arity;
  enum dtype of = operand_dtype(n, arity);
  for (unsigned i = 0; i < arity; i++)
    in[i] = loops_operand(b, n, i, op == SCALAR_WHERE && i == 0 ? DTYPE_I1 : of, rank, z->at);
  return loops_define(b, n, z, scalar_apply(b->s, op, t, in));
}

bool loops_lower_create(struct builder *b, const struct node *n) {
  struct deferred *z = loops_deferred(b, n->results[0]);
  enum dtype t = dtype_to_compute(z->value->dtype);
  if (n->op == OP_FULL)
    return loops_define(b, n, z, loops_number(b, &n->args[1], t));
  if (n->op == OP_TILE_SEED)
    return loops_define(b, n, z, scalar_real(b->s, t, 1));
  if (n->op == OP_TILE_RAND) {
    if (node_expr(n, 1)->kind != EXPR_CONST)
      return loops_refuse(b, n, "its stream is not a constant");
    const struct scalar *r =
        scalar_random(b->s, (uint32_t)node_int(n, 1), loops_linear(b, z->value, z->at));
    return loops_define(b, n, z, scalar_convert(b->s, r, t));
  }
  const struct expr *e = expr_add(b->x, node_expr(n, 1), expr_mul(b->x, node_expr(n, 2), z->at[0]));
  return loops_define(b, n, z, scalar_convert(b->s, scalar_index(b->s, e), t));
}
