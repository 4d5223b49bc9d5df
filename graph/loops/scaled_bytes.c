// SPDX-License-Identifier: Apache-2.0
// Recursion is the algorithm: a value is an expression tree.
// Operands of products that are 8-bit floats times scales, with one operator or written out. They
// are not stored: the product reads the bytes (graph/plan/product_scales.c).
#include "graph/loops/loops_internal.h"

static bool is_eight_bits(enum dtype t) { return t == DTYPE_F8E4NV || t == DTYPE_F8E5; }

bool loops_comes_from_bytes(const struct value *v) {
  v = loops_behind_views(v);
  const struct node *n = v->def;
  if (!n || !dtype_is_float(v->dtype))
    return false;
  if (n->op == OP_CONVERT_ELEMENT_TYPE) {
    const struct value *x = node_value(n, 0);
    return is_eight_bits(x->dtype) || loops_comes_from_bytes(x);
  }
  if (n->op != OP_MUL_TENSOR)
    return false;
  for (unsigned i = 0; i < 2; i++)
    if (n->args[i].kind == ARG_VALUE && loops_comes_from_bytes(n->args[i].value))
      return true;
  return false;
}

bool scalar_is_scaled_bytes(const struct scalar *v) {
  if (v->kind == SCALAR_CONVERT)
    return v->dtype == DTYPE_F32 && v->in[0]->kind == SCALAR_LOAD && is_eight_bits(v->in[0]->dtype);
  return v->kind == SCALAR_APPLY && v->op == SCALAR_MUL &&
         (scalar_is_scaled_bytes(v->in[0]) || scalar_is_scaled_bytes(v->in[1]));
}
