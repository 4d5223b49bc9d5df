// SPDX-License-Identifier: Apache-2.0
// Which products and sums may become one fma.
#include "lowering/llvm/emit.h"

static bool is_move(enum op_id id) {
  switch (id) {
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS:
  case OP_TILE_JOIN:
  case OP_TILE_SPLIT:
  case OP_TILE_GATHER: return true;
  default: return false;
  }
}

// Whether the value is a product that was moved to other elements: whether it is still in the same
// thread depends on layouts.
static bool is_moved_product(struct emitter *e, MlirValue v, bool is_moved) {
  if (!mlirValueIsAOpResult(v))
    return false;
  MlirOperation op = mlirOpResultGetOwner(v);
  enum op_id id = op_id(e->c, op);
  if (id == OP_ARITH_MULF)
    return is_moved;
  if (!is_move(id) && id != OP_GPU_CONVERT_LAYOUT && id != OP_ARITH_NEGF)
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (is_moved_product(e, mlirOperationGetOperand(op, i), is_moved || is_move(id)))
      return true;
  return false;
}

bool may_fuse(struct emitter *e, MlirOperation op) {
  if (!mlirAttributeIsNull(op_attr(op, "tile.unfused")))
    return false;
  if (op_id(e->c, op) == OP_ARITH_MULF)
    return true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (is_moved_product(e, mlirOperationGetOperand(op, i), false))
      return false;
  return true;
}
