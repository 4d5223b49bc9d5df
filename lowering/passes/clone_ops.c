// SPDX-License-Identifier: Apache-2.0
// Ops in the regions of a copied op get their operands replaced, too.
#include "lowering/passes/clone_ops.h"

void clone_map_set(struct clone_map *m, MlirValue v, MlirValue copy) {
  MlirValue *at = arena_new(m->arena, MlirValue);
  *at = copy;
  ptrmap_put(m->arena, &m->values, v.ptr, at);
}

MlirValue clone_map_get(const struct clone_map *m, MlirValue v) {
  const MlirValue *at = ptrmap_get(&m->values, v.ptr);
  return at ? *at : v;
}

static bool replace_operands(MlirOperation op, void *user) {
  const struct clone_map *m = user;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    mlirOperationSetOperand(op, i, clone_map_get(m, mlirOperationGetOperand(op, i)));
  return true;
}

MlirOperation clone_op(struct clone_map *m, MlirOperation op, MlirBlock to) {
  MlirOperation copy = mlirOperationClone(op);
  ir_walk(copy, replace_operands, m);
  mlirBlockAppendOwnedOperation(to, copy);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    clone_map_set(m, mlirOperationGetResult(op, i), mlirOperationGetResult(copy, i));
  return copy;
}
