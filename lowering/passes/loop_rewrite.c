// SPDX-License-Identifier: Apache-2.0
// MLIR ops have a fixed number of results: a loop is rebuilt around the same body.
#include "lowering/passes/loop_rewrite.h"

bool loop_defines(MlirOperation loop, MlirValue v) {
  MlirOperation at = mlirValueIsABlockArgument(v)
                         ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v))
                         : mlirOperationGetParentOperation(mlirOpResultGetOwner(v));
  for (; !mlirOperationIsNull(at); at = mlirOperationGetParentOperation(at))
    if (mlirOperationEqual(at, loop))
      return true;
  return false;
}

void op_append_operand(MlirOperation op, MlirValue v, struct arena *a) {
  intptr_t n = mlirOperationGetNumOperands(op);
  MlirValue *operands = arena_array(a, MlirValue, (size_t)n + 1);
  for (intptr_t i = 0; i < n; i++)
    operands[i] = mlirOperationGetOperand(op, i);
  operands[n] = v;
  mlirOperationSetOperands(op, n + 1, operands);
}

MlirOperation loop_rebuild(MlirOperation old, struct arena *a) {
  MlirBlock body = loop_body(old);
  intptr_t results = mlirBlockGetNumArguments(body) - 1, n = mlirOperationGetNumOperands(old);
  MlirType *types = arena_array(a, MlirType, (size_t)results + 1);
  MlirValue *operands = arena_array(a, MlirValue, (size_t)n + 1);
  for (intptr_t i = 0; i < results; i++)
    types[i] = mlirValueGetType(mlirBlockGetArgument(body, i + 1));
  for (intptr_t i = 0; i < n; i++)
    operands[i] = mlirOperationGetOperand(old, i);
  MlirRegion region = mlirRegionCreate();
  mlirRegionTakeBody(region, mlirOperationGetRegion(old, 0));
  MlirOperationState state = mlirOperationStateGet(mlirIdentifierStr(mlirOperationGetName(old)),
                                                   mlirOperationGetLocation(old));
  mlirOperationStateAddOperands(&state, n, operands);
  mlirOperationStateAddResults(&state, results, types);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  MlirOperation loop = mlirOperationCreate(&state);
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(old); i++) {
    MlirNamedAttribute at = mlirOperationGetAttribute(old, i);
    mlirOperationSetAttributeByName(loop, mlirIdentifierStr(at.name), at.attribute);
  }
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(old), old, loop);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(old); i++)
    value_replace(mlirOperationGetResult(old, i), mlirOperationGetResult(loop, i));
  op_erase(old);
  return loop;
}
