// SPDX-License-Identifier: Apache-2.0
// Operations on integers of 8 bits, four at a time: those on bits as on one word, and conversions
// to half precision where the target has packed arithmetic: a
// byte becomes the mantissa of a number whose last digit is 1, and a packed subtraction takes the
// rest away. Both steps are exact.
//
//   f16, x of i8:   u = x ^ 0x80                   x + 128 as an unsigned byte
//                   0x6400 | u                     1024 + u
//                   - 1152                         x
//   bf16, x of i8:  0x4300 | (x & 0x7f)            128 + the low 7 bits
//                   - (0x4300 | (x & 0x80))        128, or 256 where x is negative
//   bf16, unsigned: the same of x ^ 0x80, + 128
#include "lowering/llvm/emit.h"

enum { BYTES = 4, HALVES = 2 };

static LLVMValueRef word_of(struct emitter *e, const LLVMValueRef x[BYTES]) {
  struct packing p = packing_of(e, e->i8, BYTES);
  LLVMValueRef word;
  pack_elements(e, &p, x, &word);
  return word;
}

// The bytes 2 i and 2 i + 1 of the word in the lower halves of two of 16 bits, `high` in the upper.
static LLVMValueRef spread(struct emitter *e, LLVMValueRef word, unsigned i, uint8_t high) {
  LLVMTypeRef vector = LLVMVectorType(e->i8, BYTES);
  LLVMValueRef highs[BYTES], order[BYTES];
  for (unsigned k = 0; k < BYTES; k++) {
    highs[k] = const_int(e->i8, high);
    order[k] = const_i32(e, k % 2 ? BYTES : 2 * i + k / 2);
  }
  LLVMValueRef bytes =
      LLVMBuildShuffleVector(e->b, LLVMBuildBitCast(e->b, word, vector, ""),
                             LLVMConstVector(highs, BYTES), LLVMConstVector(order, BYTES), "");
  return LLVMBuildBitCast(e->b, bytes, e->i32, "");
}

static LLVMValueRef masked(struct emitter *e, LLVMValueRef word, uint32_t mask, LLVMTypeRef type) {
  return LLVMBuildBitCast(e->b, LLVMBuildAnd(e->b, word, const_i32(e, mask), ""), type, "");
}

static LLVMValueRef two_of(LLVMTypeRef element, double value) {
  LLVMValueRef pair[] = {LLVMConstReal(element, value), LLVMConstReal(element, value)};
  return LLVMConstVector(pair, HALVES);
}

static LLVMValueRef to_f16(struct emitter *e, LLVMValueRef word, unsigned i, bool is_signed) {
  LLVMTypeRef type = LLVMVectorType(e->f16, HALVES);
  LLVMValueRef v = LLVMBuildBitCast(e->b, spread(e, word, i, 0x64), type, "");
  return LLVMBuildFSub(e->b, v, two_of(e->f16, is_signed ? 1024 + 128 : 1024), "");
}

static LLVMValueRef to_bf16(struct emitter *e, LLVMValueRef word, unsigned i, bool is_signed) {
  LLVMTypeRef type = LLVMVectorType(e->bf16, HALVES);
  LLVMValueRef v = spread(e, word, i, 0x43);
  v = LLVMBuildFSub(e->b, masked(e, v, 0xff7fff7f, type), masked(e, v, 0xff80ff80, type), "");
  return is_signed ? v : LLVMBuildFAdd(e->b, v, two_of(e->bf16, 128), "");
}

static bool has_packed(struct emitter *e, enum dtype t) {
  return t == DTYPE_F16 || (t == DTYPE_BF16 && e->target->sm >= 90);
}

static void to_half(struct emitter *e, MlirOperation op, const LLVMValueRef x[BYTES],
                    LLVMValueRef ret[BYTES]) {
  bool is_signed = op_id(e->c, op) == OP_ARITH_SITOFP;
  bool is_f16 = dtype_of_mlir(element_type(result_type(op, 0))) == DTYPE_F16;
  LLVMValueRef word = word_of(e, x);
  if (is_f16 == is_signed)
    word = LLVMBuildXor(e->b, word, const_i32(e, 0x80808080), "");
  for (unsigned i = 0; i < BYTES / HALVES; i++) {
    LLVMValueRef pair = is_f16 ? to_f16(e, word, i, is_signed) : to_bf16(e, word, i, is_signed);
    for (unsigned k = 0; k < HALVES; k++)
      ret[HALVES * i + k] = LLVMBuildExtractElement(e->b, pair, const_i32(e, k), "");
  }
}

// ---- bits of bytes ----

// The constant by which all four are shifted. False: they are not shifted by one.
static bool shift_of(const LLVMValueRef by[BYTES], unsigned *ret) {
  if (!LLVMIsAConstantInt(by[0]))
    return false;
  for (unsigned i = 1; i < BYTES; i++)
    if (by[i] != by[0])
      return false;
  *ret = (unsigned)LLVMConstIntGetZExtValue(by[0]);
  return *ret < 8;
}

bool compute_bytes(struct emitter *e, MlirOperation op, const LLVMValueRef x[BYTES],
                   const LLVMValueRef y[BYTES], LLVMValueRef ret[BYTES]) {
  LLVMValueRef z;
  unsigned shift;
  switch (op_id(e->c, op)) {
  case OP_ARITH_SITOFP:
  case OP_ARITH_UITOFP:
    if (!has_packed(e, dtype_of_mlir(element_type(result_type(op, 0)))))
      return false;
    to_half(e, op, x, ret);
    return true;
  case OP_ARITH_ANDI: z = LLVMBuildAnd(e->b, word_of(e, x), word_of(e, y), ""); break;
  case OP_ARITH_ORI: z = LLVMBuildOr(e->b, word_of(e, x), word_of(e, y), ""); break;
  case OP_ARITH_XORI: z = LLVMBuildXor(e->b, word_of(e, x), word_of(e, y), ""); break;
  case OP_ARITH_SHRUI:
    if (!shift_of(y, &shift))
      return false;
    z = LLVMBuildLShr(e->b, word_of(e, x), const_i32(e, shift), "");
    z = LLVMBuildAnd(e->b, z, const_i32(e, 0x01010101u * (0xffu >> shift)), "");
    break;
  default: return false;
  }
  struct packing p = packing_of(e, e->i8, BYTES);
  unpack_elements(e, &p, &z, ret);
  return true;
}
