// SPDX-License-Identifier: Apache-2.0
// Accumulators of loops: values with one use each, the product and the yield.
#include "lowering/analysis/loop_accumulator.h"

#include <assert.h>

static bool has_one_use(MlirValue v) {
  MlirOpOperand use = mlirValueGetFirstUse(v);
  return !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

intptr_t loop_accumulator(MlirOperation loop, MlirOperation product) {
  assert(mlirOperationGetNumOperands(product) == 3 && mlirOperationGetNumResults(product) == 1);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0));
  MlirValue acc = mlirOperationGetOperand(product, 2), sum = mlirOperationGetResult(product, 0);
  enum dtype t = dtype_of_mlir(element_type(mlirValueGetType(sum)));
  if ((t != DTYPE_F32 && t != DTYPE_I32) || !mlirBlockEqual(mlirOperationGetBlock(product), body) ||
      !mlirValueIsABlockArgument(acc) || !mlirBlockEqual(mlirBlockArgumentGetOwner(acc), body) ||
      !has_one_use(acc) || !has_one_use(sum))
    return -1;
  MlirOpOperand use = mlirValueGetFirstUse(sum);
  intptr_t carried = mlirBlockArgumentGetArgNumber(acc) - 1; // argument 0 is the induction variable
  bool is_yielded = mlirOperationEqual(mlirOpOperandGetOwner(use), mlirBlockGetTerminator(body)) &&
                    mlirOpOperandGetOperandNumber(use) == carried;
  return is_yielded ? carried : -1;
}
