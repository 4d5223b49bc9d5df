// SPDX-License-Identifier: Apache-2.0
// Conversions between floats, of scalars and vectors, through f32: bf16 and 8-bit floats are
// integers here. All round to nearest even, once; f8e4nv saturates, f8e5 overflows to infinity
// (base/dtype.c).
#include "lowering/llvm/opcodes.h"
#include "lowering/processor/strips.h"

static LLVMValueRef word(LLVMValueRef like_this, uint64_t value) {
  return int_constant(LLVMTypeOf(like_this), value);
}

// ---- bf16 ----

static LLVMValueRef widen_bf16(struct strip_emitter *e, LLVMValueRef v) {
  LLVMValueRef wide = LLVMBuildZExt(e->b, v, like(v, e->i32), "");
  return of_bits(e, LLVMBuildShl(e->b, wide, word(wide, 16), ""), e->f32);
}

// The sum carries into the exponent where it must. A NaN stays one.
static LLVMValueRef round_to_bf16(struct strip_emitter *e, LLVMValueRef v, bool toward_zero) {
  LLVMValueRef bits = bits_of(e, v), sum = bits;
  if (!toward_zero) {
    LLVMValueRef odd = LLVMBuildLShr(e->b, bits, word(bits, 16), "");
    odd = LLVMBuildAnd(e->b, odd, word(bits, 1), "");
    sum = LLVMBuildAdd(e->b, bits, word(bits, 0x7fff), "");
    sum = LLVMBuildAdd(e->b, sum, odd, "");
  }
  LLVMValueRef quiet = LLVMBuildOr(e->b, bits, word(bits, 0x400000), "");
  LLVMValueRef is_nan = LLVMBuildFCmp(e->b, LLVMRealUNO, v, v, "");
  LLVMValueRef r = LLVMBuildSelect(e->b, is_nan, quiet, sum, "");
  r = LLVMBuildLShr(e->b, r, word(r, 16), "");
  return LLVMBuildTrunc(e->b, r, like(v, e->i16), "");
}

// ---- 8-bit floats ----

// f8e5 is the upper half of an f16. Exponent and mantissa of f8e4nv in the positions of f16 are a
// value 2^-8 times as large; one multiplication corrects that, for subnormals too.
static LLVMValueRef widen_fp8(struct strip_emitter *e, LLVMValueRef v, enum dtype from) {
  LLVMValueRef w = LLVMBuildZExt(e->b, v, like(v, e->i16), "");
  if (from == DTYPE_F8E5) {
    w = of_bits(e, LLVMBuildShl(e->b, w, word(w, 8), ""), e->f16);
    return LLVMBuildFPExt(e->b, w, like(v, e->f32), "");
  }
  LLVMValueRef magnitude = LLVMBuildAnd(e->b, w, word(w, 0x7f), "");
  LLVMValueRef placed = of_bits(e, LLVMBuildShl(e->b, magnitude, word(w, 7), ""), e->f16);
  LLVMValueRef x = LLVMBuildFPExt(e->b, placed, like(v, e->f32), "");
  x = LLVMBuildFMul(e->b, x, float_constant(LLVMTypeOf(x), 256.0), "");
  LLVMValueRef bits = bits_of(e, x);
  LLVMValueRef is_nan = LLVMBuildICmp(e->b, LLVMIntEQ, magnitude, word(w, 0x7f), "");
  bits = LLVMBuildSelect(e->b, is_nan, word(bits, 0x7fc00000), bits, "");
  LLVMValueRef sign =
      LLVMBuildZExt(e->b, LLVMBuildAnd(e->b, w, word(w, 0x80), ""), LLVMTypeOf(bits), "");
  sign = LLVMBuildShl(e->b, sign, word(sign, 24), "");
  return of_bits(e, LLVMBuildOr(e->b, bits, sign, ""), e->f32);
}

// ---- f32 and the others ----

LLVMValueRef float_to_f32(struct strip_emitter *e, LLVMValueRef v, enum dtype from) {
  switch (from) {
  case DTYPE_BF16: return widen_bf16(e, v);
  case DTYPE_F16: return LLVMBuildFPExt(e->b, v, like(v, e->f32), "");
  case DTYPE_F8E5:
  case DTYPE_F8E4NV: return widen_fp8(e, v, from);
  default: return v;
  }
}

LLVMValueRef float_from_f32(struct strip_emitter *e, LLVMValueRef v, enum dtype to) {
  switch (to) {
  case DTYPE_BF16: return round_to_bf16(e, v, false);
  case DTYPE_F16: return LLVMBuildFPTrunc(e->b, v, like(v, e->f16), "");
  case DTYPE_F8E5:
  case DTYPE_F8E4NV: return llvm_fp8_of_f32(e->b, v, to);
  default: return v;
  }
}

// f64 to f32 toward zero, with the last bit set if inexact, so that rounding again is as good as
// rounding once.
static LLVMValueRef round_to_odd(struct strip_emitter *e, LLVMValueRef v) {
  LLVMValueRef nearest = LLVMBuildFPTrunc(e->b, v, like(v, e->f32), "");
  LLVMValueRef back = LLVMBuildFPExt(e->b, nearest, LLVMTypeOf(v), "");
  LLVMValueRef size = plain_intrinsic(e, "llvm.fabs", 1, &v);
  LLVMValueRef above =
      LLVMBuildFCmp(e->b, LLVMRealOGT, plain_intrinsic(e, "llvm.fabs", 1, &back), size, "");
  LLVMValueRef inexact = LLVMBuildFCmp(e->b, LLVMRealONE, back, v, "");
  LLVMValueRef bits = bits_of(e, nearest);
  bits = LLVMBuildSub(e->b, bits, LLVMBuildZExt(e->b, above, LLVMTypeOf(bits), ""), "");
  bits = LLVMBuildOr(e->b, bits, LLVMBuildZExt(e->b, inexact, LLVMTypeOf(bits), ""), "");
  return of_bits(e, bits, e->f32);
}

static bool is_known(enum dtype t) {
  switch (t) {
  case DTYPE_BF16:
  case DTYPE_F16:
  case DTYPE_F32:
  case DTYPE_F64:
  case DTYPE_F8E5:
  case DTYPE_F8E4NV: return true;
  default: return false;
  }
}

// NULL: unknown types, or a rounding that is not offered.
LLVMValueRef float_convert(struct strip_emitter *e, MlirOperation op, LLVMValueRef v,
                           enum dtype from, enum dtype to) {
  bool toward_zero = str_is(op_attr_str(op, "rounding"), "rtz");
  if (!is_known(from) || !is_known(to))
    return NULL;
  if (from == to)
    return v;
  if (toward_zero && from == DTYPE_F32 && to == DTYPE_BF16)
    return round_to_bf16(e, v, true);
  bool is_fp8 = to == DTYPE_F8E5 || to == DTYPE_F8E4NV;
  if (toward_zero && !is_fp8 && dtype_bits(to) < dtype_bits(from))
    return NULL;
  if (from == DTYPE_F64 && to == DTYPE_F32)
    return LLVMBuildFPTrunc(e->b, v, like(v, e->f32), "");
  v = from == DTYPE_F64 ? round_to_odd(e, v) : float_to_f32(e, v, from);
  return to == DTYPE_F64 ? LLVMBuildFPExt(e->b, v, like(v, e->f64), "") : float_from_f32(e, v, to);
}
