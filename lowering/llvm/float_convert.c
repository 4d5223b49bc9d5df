// SPDX-License-Identifier: Apache-2.0
// Conversions between floats. 8-bit floats are bytes to LLVM: they are decoded to f16 and encoded
// from f32 or f16 in integer arithmetic, exactly as base/dtype.c does (nearest even; f8e4nv
// saturates, f8e5 overflows to infinity), or by the target's instructions, which take two at a
// time.
#include "lowering/llvm/emit.h"
#include "lowering/llvm/opcodes.h"

static bool is_fp8(enum dtype t) { return t == DTYPE_F8E5 || t == DTYPE_F8E4NV; }

// ---- decoding ----

static LLVMValueRef decode(struct emitter *e, LLVMValueRef x, enum dtype from) {
  LLVMValueRef word = LLVMBuildZExt(e->b, x, e->i16, "");
  if (from == DTYPE_F8E5) // the upper half of an f16
    return LLVMBuildBitCast(e->b, LLVMBuildShl(e->b, word, const_int(e->i16, 8), ""), e->f16, "");
  LLVMValueRef f16x2 = e->target->hooks->fp8_to_f16x2(e, word, from);
  if (f16x2)
    return LLVMBuildExtractElement(e->b, f16x2, const_i32(e, 0), "");
  // Exponent and mantissa in the positions of f16 are a value 2^-8 times as large; one
  // multiplication corrects that, for subnormals too.
  LLVMValueRef magnitude = LLVMBuildAnd(e->b, word, const_int(e->i16, 0x7f), "");
  LLVMValueRef placed = LLVMBuildShl(e->b, magnitude, const_int(e->i16, 7), "");
  LLVMValueRef value = LLVMBuildFMul(e->b, LLVMBuildBitCast(e->b, placed, e->f16, ""),
                                     LLVMConstReal(e->f16, 256.0), "");
  LLVMValueRef bits = LLVMBuildBitCast(e->b, value, e->i16, "");
  LLVMValueRef is_nan = LLVMBuildICmp(e->b, LLVMIntEQ, magnitude, const_int(e->i16, 0x7f), "");
  bits = LLVMBuildSelect(e->b, is_nan, const_int(e->i16, 0x7e00), bits, "");
  LLVMValueRef sign = LLVMBuildAnd(e->b, word, const_int(e->i16, 0x80), "");
  sign = LLVMBuildShl(e->b, sign, const_int(e->i16, 8), "");
  return LLVMBuildBitCast(e->b, LLVMBuildOr(e->b, bits, sign, ""), e->f16, "");
}

// ---- encoding ----

// Values from halfway between the largest number and infinity on become infinite; instructions
// saturate there.
static LLVMValueRef overflow_to_infinity(struct emitter *e, LLVMValueRef x, LLVMValueRef byte) {
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMValueRef over = LLVMBuildFCmp(e->b, LLVMRealOGE, intrinsic(e, "llvm.fabs", 1, &t, 1, &x),
                                    LLVMConstReal(t, 61440), "");
  LLVMValueRef sign = LLVMBuildAnd(e->b, byte, const_int(e->i8, 0x80), "");
  return LLVMBuildSelect(e->b, over, LLVMBuildOr(e->b, sign, const_int(e->i8, 0x7c), ""), byte, "");
}

// Two f32 or f16 by instruction; false where there is none.
static bool encode_pair(struct emitter *e, const LLVMValueRef x[2], enum dtype to,
                        LLVMValueRef ret[2]) {
  LLVMValueRef pair = e->target->hooks->floats_to_fp8(e, x, to);
  if (!pair)
    return false;
  LLVMValueRef bytes = LLVMBuildBitCast(e->b, pair, LLVMVectorType(e->i8, 2), "");
  for (unsigned i = 0; i < 2; i++) {
    ret[i] = LLVMBuildExtractElement(e->b, bytes, const_i32(e, i), "");
    if (to == DTYPE_F8E5)
      ret[i] = overflow_to_infinity(e, x[i], ret[i]);
  }
  return true;
}

// The upper half of an f16, rounded: the sum carries into the exponent where it must.
static LLVMValueRef encode_upper_half_of_f16(struct emitter *e, LLVMValueRef x) {
  LLVMTypeRef t = e->i16;
  LLVMValueRef bits = LLVMBuildBitCast(e->b, x, t, "");
  LLVMValueRef u = LLVMBuildAnd(e->b, bits, const_int(t, 0x7fff), "");
  LLVMValueRef odd = LLVMBuildLShr(e->b, u, const_int(t, 8), "");
  odd = LLVMBuildAnd(e->b, odd, const_int(t, 1), "");
  LLVMValueRef sum = LLVMBuildAdd(e->b, u, const_int(t, 0x7f), "");
  sum = LLVMBuildLShr(e->b, LLVMBuildAdd(e->b, sum, odd, ""), const_int(t, 8), "");
  LLVMValueRef is_nan = LLVMBuildICmp(e->b, LLVMIntUGT, u, const_int(t, 0x7c00), "");
  LLVMValueRef r = LLVMBuildSelect(e->b, is_nan, const_int(t, 0x7f), sum, "");
  LLVMValueRef sign = LLVMBuildLShr(e->b, bits, const_int(t, 8), "");
  sign = LLVMBuildAnd(e->b, sign, const_int(t, 0x80), "");
  return LLVMBuildTrunc(e->b, LLVMBuildOr(e->b, r, sign, ""), e->i8, "");
}

static LLVMValueRef encode(struct emitter *e, LLVMValueRef x, enum dtype to) {
  LLVMValueRef both_of[2], alone[] = {x, LLVMConstNull(LLVMTypeOf(x))};
  if (encode_pair(e, alone, to, both_of))
    return both_of[0];
  if (LLVMTypeOf(x) == e->f16) {
    if (to == DTYPE_F8E5)
      return encode_upper_half_of_f16(e, x);
    x = LLVMBuildFPExt(e->b, x, e->f32, "");
  }
  return llvm_fp8_of_f32(e->b, x, to);
}

// ---- rounding toward zero ----

// Rounds to nearest, and if that went away from zero takes the next value toward zero.
static LLVMValueRef truncate_toward_zero(struct emitter *e, LLVMValueRef x, LLVMTypeRef to) {
  LLVMTypeRef from = LLVMTypeOf(x);
  LLVMValueRef nearest = LLVMBuildFPTrunc(e->b, x, to, "");
  LLVMValueRef back = LLVMBuildFPExt(e->b, nearest, from, "");
  LLVMValueRef above =
      LLVMBuildFCmp(e->b, LLVMRealOGT, intrinsic(e, "llvm.fabs", 1, &from, 1, &back),
                    intrinsic(e, "llvm.fabs", 1, &from, 1, &x), "");
  LLVMValueRef bits = to_bits(e, nearest);
  LLVMValueRef down = LLVMBuildSub(e->b, bits, const_int(LLVMTypeOf(bits), 1), "");
  return from_bits(e, LLVMBuildSelect(e->b, above, down, bits, ""), to);
}

// f64 to f32 by round-to-odd, so that rounding again is as good as rounding once: toward zero, with
// the last bit set if inexact.
static LLVMValueRef truncate_to_odd(struct emitter *e, LLVMValueRef x) {
  LLVMValueRef cut = truncate_toward_zero(e, x, e->f32);
  LLVMValueRef inexact =
      LLVMBuildFCmp(e->b, LLVMRealONE, LLVMBuildFPExt(e->b, cut, e->f64, ""), x, "");
  LLVMValueRef bits =
      LLVMBuildOr(e->b, to_bits(e, cut), LLVMBuildZExt(e->b, inexact, e->i32, ""), "");
  return LLVMBuildBitCast(e->b, bits, e->f32, "");
}

// ---- any of them ----

// A bf16 is the upper half of an f32. As shift and mask, the two of a word take one operation each;
// ptxas takes three for conversions of both.
static LLVMValueRef extend(struct emitter *e, LLVMValueRef x, LLVMTypeRef to) {
  LLVMTypeRef from = LLVMTypeOf(x);
  if (LLVMGetTypeKind(from) != LLVMBFloatTypeKind || to != e->f32)
    return LLVMBuildFPExt(e->b, x, to, "");
  LLVMValueRef word = LLVMBuildZExt(e->b, to_bits(e, x), e->i32, "");
  return LLVMBuildBitCast(e->b, LLVMBuildShl(e->b, word, const_i32(e, 16), ""), e->f32, "");
}

// As f32 or f16, without rounding.
static LLVMValueRef encodable(struct emitter *e, LLVMValueRef x, enum dtype from) {
  return from == DTYPE_F64 ? truncate_to_odd(e, x) : from == DTYPE_BF16 ? extend(e, x, e->f32) : x;
}

LLVMValueRef convert_float(struct emitter *e, LLVMValueRef x, enum dtype from, enum dtype to,
                           bool toward_zero) {
  if (from == to)
    return x;
  if (is_fp8(from)) {
    x = decode(e, x, from);
    from = DTYPE_F16;
  }
  if (is_fp8(to))
    return encode(e, encodable(e, x, from), to);
  LLVMTypeRef type = type_of_dtype(e, to);
  unsigned from_bits_count = dtype_bits(from), to_bits_count = dtype_bits(to);
  if (from == to)
    return x;
  if (from_bits_count == to_bits_count) { // f16 and bf16
    x = extend(e, x, e->f32);
    from_bits_count = 32;
  }
  if (to_bits_count > from_bits_count)
    return extend(e, x, type);
  return toward_zero ? truncate_toward_zero(e, x, type) : LLVMBuildFPTrunc(e->b, x, type, "");
}

void convert_float_pair(struct emitter *e, const LLVMValueRef x[2], enum dtype from, enum dtype to,
                        LLVMValueRef ret[2]) {
  LLVMValueRef y[2] = {x[0], x[1]};
  LLVMValueRef vector = NULL;
  if (is_fp8(from)) {
    LLVMValueRef bytes = LLVMBuildBitCast(e->b, pair_of(e, x[0], x[1]), e->i16, "");
    vector = e->target->hooks->fp8_to_f16x2(e, bytes, from);
    from = vector ? DTYPE_F16 : from;
  } else if (from == DTYPE_F32 && !is_fp8(to)) {
    LLVMTypeRef type = LLVMVectorType(type_of_dtype(e, to), 2);
    vector = LLVMBuildFPTrunc(e->b, pair_of(e, x[0], x[1]), type, "");
    from = to;
  }
  for (unsigned i = 0; vector && i < 2; i++)
    y[i] = LLVMBuildExtractElement(e->b, vector, const_i32(e, i), "");
  if (!is_fp8(to) || is_fp8(from)) {
    ret[0] = convert_float(e, y[0], from, to, false);
    ret[1] = convert_float(e, y[1], from, to, false);
    return;
  }
  y[0] = encodable(e, y[0], from);
  y[1] = encodable(e, y[1], from);
  if (!encode_pair(e, y, to, ret)) {
    ret[0] = encode(e, y[0], to);
    ret[1] = encode(e, y[1], to);
  }
}
