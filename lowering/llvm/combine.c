// SPDX-License-Identifier: Apache-2.0
// The function of a reduction or scan, emitted in place for two sides of scalars.
#include "lowering/analysis/collective.h"
#include "lowering/llvm/emit.h"

bool emit_combine(struct emitter *e, const struct combine_info *f, const LLVMValueRef *lhs,
                  const LLVMValueRef *rhs, LLVMValueRef *ret) {
  MlirOperation op = e->op;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(f->function, 0));
  for (unsigned i = 0; i < f->count; i++) {
    value_bind(e, mlirBlockGetArgument(body, i))->at[0] = lhs[i];
    value_bind(e, mlirBlockGetArgument(body, i + f->count))->at[0] = rhs[i];
  }
  bool ok = emit_block(e, body);
  MlirOperation end = mlirBlockGetTerminator(body);
  for (unsigned i = 0; ok && i < f->count; i++)
    ret[i] = operand_of(e, end, i)->at[0];
  e->op = op;
  debug_info_at(e->debug, op);
  return ok;
}

bool emit_combine_in_order(struct emitter *e, const struct combine_info *f, LLVMValueRef later,
                           const LLVMValueRef *own, const LLVMValueRef *other, LLVMValueRef *ret) {
  LLVMValueRef lhs[REDUCE_MAX_VALUES], rhs[REDUCE_MAX_VALUES];
  for (unsigned i = 0; i < f->count; i++) {
    lhs[i] = LLVMBuildSelect(e->b, later, other[i], own[i], "");
    rhs[i] = LLVMBuildSelect(e->b, later, own[i], other[i], "");
  }
  return emit_combine(e, f, lhs, rhs, ret);
}
