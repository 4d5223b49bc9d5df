// SPDX-License-Identifier: Apache-2.0
// One function per shape op: its inverse on coordinates, applied to the bases of the result.
#include "lowering/analysis/shape_view.h"

// One coordinate of all bases becomes 0, and its dimension of size 1.
static void clear_coordinate(struct linear_layout *l, unsigned dim) {
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++)
      l->basis[i][b][dim] = 0;
  l->out_bits[dim] = 0;
}

static struct linear_layout before_broadcast(const struct linear_layout *operand,
                                             const struct linear_layout *result) {
  struct linear_layout l = *result;
  for (unsigned d = 0; d < l.out_count; d++)
    if (operand->out_bits[d] == 0)
      clear_coordinate(&l, d);
  return l;
}

// Result dim i is operand dim order[i]; the way back is the inverse permutation.
static struct linear_layout before_trans(MlirOperation op, const struct linear_layout *result) {
  int32_t order[LL_MAX_OUT];
  unsigned back[LL_MAX_OUT] = {0};
  size_t n = op_attr_i32_array(op, "order", LL_MAX_OUT, order);
  for (size_t i = 0; i < n; i++)
    back[order[i]] = (unsigned)i;
  return ll_transpose_outs(result, back);
}

bool shape_view(struct ir_context *c, MlirOperation op, struct linear_layout *ret) {
  if (mlirOperationGetNumOperands(op) != 1 || mlirOperationGetNumResults(op) != 1)
    return false;
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0));
  MlirType to = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!type_is_tensor(from) || !type_is_tensor(to))
    return false;
  const struct linear_layout *operand = linear_of_type(c, from), *result = linear_of_type(c, to);
  if (!operand || !result)
    return false;
  switch (op_id(c, op)) {
  case OP_TILE_EXPAND_DIMS:
    *ret = ll_remove_out(result, (unsigned)op_attr_int(op, "axis", 0));
    return true;
  case OP_TILE_BROADCAST: *ret = before_broadcast(operand, result); return true;
  case OP_TILE_RESHAPE: return ll_reshape_outs(result, operand->out_count, operand->out_bits, ret);
  case OP_TILE_TRANS: *ret = before_trans(op, result); return true;
  default: return false;
  }
}
