// SPDX-License-Identifier: Apache-2.0
// See users.h.
#include "lowering/passes/users.h"

MlirOperation op_first_user(MlirOperation op) {
  MlirBlock block = mlirOperationGetBlock(op);
  MlirOperation first = {NULL}, none = {NULL};
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, i));
         !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
      MlirOperation user = mlirOpOperandGetOwner(use);
      while (!mlirOperationIsNull(user) && !mlirBlockEqual(mlirOperationGetBlock(user), block))
        user = mlirOperationGetParentOperation(user);
      if (mlirOperationIsNull(user))
        return none;
      if (mlirOperationIsNull(first) || mlirOperationIsBeforeInBlock(user, first))
        first = user;
    }
  return first;
}
