// SPDX-License-Identifier: Apache-2.0
// Two registers at a time, where the target's instructions take pairs of narrow floats: arithmetic
// on f16 and bf16, and conversions.
#include "lowering/llvm/emit.h"

LLVMValueRef pair_of(struct emitter *e, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef v = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(x), 2));
  v = LLVMBuildInsertElement(e->b, v, x, const_i32(e, 0), "");
  return LLVMBuildInsertElement(e->b, v, y, const_i32(e, 1), "");
}

// f16 has packed arithmetic on all targets, bf16 complete from sm_90 on.
static bool packs_arithmetic(struct emitter *e, enum op_id id, enum dtype t) {
  if (t != DTYPE_F16 && (t != DTYPE_BF16 || e->target->sm < 90))
    return false;
  switch (id) {
  case OP_ARITH_ADDF:
  case OP_ARITH_SUBF:
  case OP_ARITH_MULF:
  case OP_MATH_FMA:
  case OP_ARITH_NEGF:
  case OP_MATH_ABSF:
  case OP_ARITH_MAXNUMF:
  case OP_ARITH_MINNUMF:
  case OP_ARITH_MAXIMUMF:
  case OP_ARITH_MINIMUMF: return true;
  default: return false;
  }
}

static bool is_half_precision(enum dtype t) { return t == DTYPE_F16 || t == DTYPE_BF16; }
static bool is_fp8(enum dtype t) { return t == DTYPE_F8E5 || t == DTYPE_F8E4NV; }

// From f32 to f16 and bf16; to and from 8-bit floats by instructions of sm_89.
static bool packs_conversion(struct emitter *e, enum dtype from, enum dtype to) {
  if (from == DTYPE_F32 && is_half_precision(to))
    return true;
  return e->target->sm >= 89 && (is_fp8(to) || is_fp8(from));
}

enum pairing pairing_of(struct emitter *e, MlirOperation op) {
  enum op_id id = op_id(e->c, op);
  MlirType type = result_type(op, 0);
  if (e->target->is_cpu || !type_is_tensor(type))
    return PAIRS_NEVER;
  enum dtype to = dtype_of_mlir(element_type(type));
  if (id == OP_TILE_FP_TO_FP || id == OP_ARITH_TRUNCF || id == OP_ARITH_EXTF)
    return !str_is(op_attr_str(op, "rounding"), "rtz") &&
                   packs_conversion(e, dtype_of_mlir(element_type(operand_type(op, 0))), to)
               ? PAIRS_CONVERT
               : PAIRS_NEVER;
  return packs_arithmetic(e, id, to) ? PAIRS_COMPUTE : PAIRS_NEVER;
}
