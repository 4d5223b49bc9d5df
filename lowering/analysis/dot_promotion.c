// SPDX-License-Identifier: Apache-2.0
// Decides from the types, K and the bound of a product whether its sums are promoted, by the rule of
// Triton: a bound of all of K promotes, too.
#include "lowering/analysis/dot_promotion.h"

#include "base/dtype.h"
#include "base/wgmma.h"

static enum dtype operand_dtype(MlirOperation op, intptr_t i) {
  return dtype_of_mlir(element_type(mlirValueGetType(mlirOperationGetOperand(op, i))));
}

int32_t dot_promoted_every(MlirOperation dot) {
  MlirType a = mlirValueGetType(mlirOperationGetOperand(dot, 0));
  enum dtype t = operand_dtype(dot, 0);
  int64_t most = op_attr_int(dot, "max_num_imprecise_acc", 0);
  bool is_imprecise = (t == DTYPE_F8E5 || t == DTYPE_F8E4NV) && operand_dtype(dot, 2) == DTYPE_F32;
  if (!is_imprecise || most > tensor_dim(a, tensor_rank(a) - 1))
    return 0;
  return (int32_t)(most / WGMMA_K_BYTES * WGMMA_K_BYTES);
}
