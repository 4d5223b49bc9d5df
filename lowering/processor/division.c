// SPDX-License-Identifier: Apache-2.0
// Integer quotients and remainders. Processors have no vectors of them: constants become products
// (LLVM), 32 bits and fewer are divided as f64, whose quotient, truncated, is exact. A division by
// zero gives -1, as on GPUs, and the remainder of it x.
#include "lowering/processor/strips.h"

static bool is_signed_op(enum op_id id) { return id == OP_ARITH_DIVSI || id == OP_ARITH_REMSI; }

static bool is_quotient(enum op_id id) { return id == OP_ARITH_DIVSI || id == OP_ARITH_DIVUI; }

static LLVMValueRef divide_directly(struct strip_emitter *e, enum op_id id, LLVMValueRef x,
                                    LLVMValueRef y) {
  switch (id) {
  case OP_ARITH_DIVSI: return LLVMBuildSDiv(e->b, x, y, "");
  case OP_ARITH_DIVUI: return LLVMBuildUDiv(e->b, x, y, "");
  case OP_ARITH_REMSI: return LLVMBuildSRem(e->b, x, y, "");
  default: return LLVMBuildURem(e->b, x, y, "");
  }
}

// By f64; y is not zero, and the quotient does not overflow.
static LLVMValueRef divide_as_floats(struct strip_emitter *e, enum op_id id, LLVMValueRef x,
                                     LLVMValueRef y) {
  LLVMTypeRef t = LLVMTypeOf(x), f = like(x, e->f64);
  bool is_signed = is_signed_op(id);
  LLVMValueRef a = is_signed ? LLVMBuildSIToFP(e->b, x, f, "") : LLVMBuildUIToFP(e->b, x, f, "");
  LLVMValueRef b = is_signed ? LLVMBuildSIToFP(e->b, y, f, "") : LLVMBuildUIToFP(e->b, y, f, "");
  LLVMValueRef q = LLVMBuildFDiv(e->b, a, b, "");
  q = is_signed ? LLVMBuildFPToSI(e->b, q, t, "") : LLVMBuildFPToUI(e->b, q, t, "");
  return is_quotient(id) ? q : LLVMBuildSub(e->b, x, LLVMBuildMul(e->b, q, y, ""), "");
}

static bool is_safe_constant(LLVMValueRef y) {
  if (!LLVMIsConstant(y) || LLVMIsUndef(y))
    return false;
  LLVMValueRef one = lanes_of(y) > 1 ? LLVMGetAggregateElement(y, 0) : y;
  if (!one || !LLVMIsAConstantInt(one))
    return false;
  int64_t n = LLVMConstIntGetSExtValue(one);
  return n != 0 && n != -1;
}

LLVMValueRef divide_integers(struct strip_emitter *e, enum op_id id, LLVMValueRef x,
                             LLVMValueRef y) {
  if (is_safe_constant(y))
    return divide_directly(e, id, x, y);
  LLVMTypeRef t = LLVMTypeOf(x);
  unsigned width = LLVMGetIntTypeWidth(scalar_type(x));
  LLVMValueRef zero = LLVMBuildICmp(e->b, LLVMIntEQ, y, int_constant(t, 0), ""), bad = zero;
  if (is_signed_op(id)) {
    LLVMValueRef lowest = int_constant(t, UINT64_C(1) << (width - 1));
    LLVMValueRef overflow =
        LLVMBuildAnd(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, x, lowest, ""),
                     LLVMBuildICmp(e->b, LLVMIntEQ, y, int_constant(t, UINT64_MAX), ""), "");
    bad = LLVMBuildOr(e->b, zero, overflow, "");
  }
  LLVMValueRef safe = LLVMBuildSelect(e->b, bad, int_constant(t, 1), y, "");
  LLVMValueRef r = lanes_of(x) > 1 && width > 1 && width <= 32 ? divide_as_floats(e, id, x, safe)
                                                               : divide_directly(e, id, x, safe);
  return LLVMBuildSelect(e->b, zero, is_quotient(id) ? int_constant(t, UINT64_MAX) : x, r, "");
}
