// SPDX-License-Identifier: Apache-2.0
// Mathematical functions and divisions. Targets implement them in f32 (and roots in f64); narrower
// floats go through f32, which has more than twice their digits.
#include "lowering/llvm/emit.h"

LLVMValueRef emit_math(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  enum op_id id = op_id(e->c, op);
  LLVMTypeRef t = LLVMTypeOf(x[0]);
  unsigned n = (unsigned)mlirOperationGetNumOperands(op);
  if (t == e->f64 && id == OP_ARITH_DIVF)
    return LLVMBuildFDiv(e->b, x[0], x[1], "");
  if (t != e->f32 && t != e->f64) {
    LLVMValueRef wide[2] = {NULL, NULL};
    for (unsigned i = 0; i < n; i++)
      wide[i] = LLVMBuildFPExt(e->b, x[i], e->f32, "");
    LLVMValueRef r = id == OP_ARITH_REMF ? e->target->hooks->remainder(e, e->f32, wide[0], wide[1])
                                         : e->target->hooks->math(e, id, e->f32, wide);
    return r ? LLVMBuildFPTrunc(e->b, r, t, "") : NULL;
  }
  return id == OP_ARITH_REMF ? e->target->hooks->remainder(e, t, x[0], x[1])
                             : e->target->hooks->math(e, id, t, x);
}
