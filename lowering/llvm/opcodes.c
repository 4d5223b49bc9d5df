// SPDX-License-Identifier: Apache-2.0
// What both emitters share: predicates of comparisons, atomic opcodes, the encoding of 8-bit floats.
#include "lowering/llvm/opcodes.h"

#include "base/attrs.h"

#include <assert.h>

// MLIR puts `uno` behind the other unordered predicates, LLVM before them.
bool llvm_float_predicate(int64_t predicate, LLVMRealPredicate *ret) {
  static const LLVMRealPredicate predicates[] = {LLVMRealPredicateFalse,
                                                 LLVMRealOEQ,
                                                 LLVMRealOGT,
                                                 LLVMRealOGE,
                                                 LLVMRealOLT,
                                                 LLVMRealOLE,
                                                 LLVMRealONE,
                                                 LLVMRealORD,
                                                 LLVMRealUEQ,
                                                 LLVMRealUGT,
                                                 LLVMRealUGE,
                                                 LLVMRealULT,
                                                 LLVMRealULE,
                                                 LLVMRealUNE,
                                                 LLVMRealUNO,
                                                 LLVMRealPredicateTrue};
  if (predicate < 0 || (size_t)predicate >= COUNT_OF(predicates))
    return false;
  *ret = predicates[predicate];
  return true;
}

bool llvm_atomic_opcode(struct str kind, LLVMAtomicRMWBinOp *ret) {
  static const struct {
    const char *kind;
    LLVMAtomicRMWBinOp op;
  } ops[] = {{"add", LLVMAtomicRMWBinOpAdd},   {"fadd", LLVMAtomicRMWBinOpFAdd},
             {"and", LLVMAtomicRMWBinOpAnd},   {"or", LLVMAtomicRMWBinOpOr},
             {"xor", LLVMAtomicRMWBinOpXor},   {"max", LLVMAtomicRMWBinOpMax},
             {"min", LLVMAtomicRMWBinOpMin},   {"umax", LLVMAtomicRMWBinOpUMax},
             {"umin", LLVMAtomicRMWBinOpUMin}, {"fmax", LLVMAtomicRMWBinOpFMax},
             {"fmin", LLVMAtomicRMWBinOpFMin}, {"xchg", LLVMAtomicRMWBinOpXchg}};
  for (size_t i = 0; i < COUNT_OF(ops); i++)
    if (str_is(kind, ops[i].kind)) {
      *ret = ops[i].op;
      return true;
    }
  return false;
}

// ---- 8-bit floats ----

struct fp8_format {
  unsigned digits, bias;
  uint32_t largest, overflow; // largest finite encoding; that of overflow
};

// An integer type of `bits` in the shape of v.
static LLVMTypeRef integers(LLVMValueRef v, unsigned bits) {
  LLVMTypeRef shape = LLVMTypeOf(v), t = LLVMIntTypeInContext(LLVMGetTypeContext(shape), bits);
  return LLVMGetTypeKind(shape) == LLVMVectorTypeKind ? LLVMVectorType(t, LLVMGetVectorSize(shape))
                                                      : t;
}

// A number for each element of v.
static LLVMValueRef word(LLVMValueRef v, uint32_t value) {
  enum { MOST = 64 };
  LLVMTypeRef t = LLVMTypeOf(v);
  if (LLVMGetTypeKind(t) != LLVMVectorTypeKind)
    return LLVMConstInt(t, value, false);
  LLVMValueRef at[MOST];
  unsigned n = LLVMGetVectorSize(t);
  assert(n <= MOST);
  for (unsigned i = 0; i < n; i++)
    at[i] = LLVMConstInt(LLVMGetElementType(t), value, false);
  return LLVMConstVector(at, n);
}

// Rounds to nearest even: adding half of the last bit (less one if it is even) carries into the
// exponent where it must.
static LLVMValueRef encode_normal(LLVMBuilderRef b, const struct fp8_format *f, LLVMValueRef u) {
  unsigned shift = 23 - f->digits;
  uint32_t rebias = (f->bias - 127u) << 23;
  LLVMValueRef odd = LLVMBuildLShr(b, u, word(u, shift), "");
  odd = LLVMBuildAnd(b, odd, word(u, 1), "");
  LLVMValueRef sum = LLVMBuildAdd(b, u, word(u, rebias + (1u << (shift - 1)) - 1), "");
  return LLVMBuildLShr(b, LLVMBuildAdd(b, sum, odd, ""), word(u, shift), "");
}

// Adding a power of two whose last bit is the smallest subnormal leaves the multiple of it in the
// low bits, rounded by the addition.
static LLVMValueRef encode_subnormal(LLVMBuilderRef b, const struct fp8_format *f, LLVMValueRef u,
                                     LLVMTypeRef floats) {
  LLVMValueRef magic = word(u, (127 + 23 + 1 - f->bias - f->digits) << 23);
  LLVMValueRef sum =
      LLVMBuildFAdd(b, LLVMBuildBitCast(b, u, floats, ""), LLVMConstBitCast(magic, floats), "");
  return LLVMBuildSub(b, LLVMBuildBitCast(b, sum, LLVMTypeOf(u), ""), magic, "");
}

LLVMValueRef llvm_fp8_of_f32(LLVMBuilderRef b, LLVMValueRef x, enum dtype to) {
  static const struct fp8_format e5m2 = {2, 15, 0x7b, 0x7c}, e4m3 = {3, 7, 0x7e, 0x7e};
  const struct fp8_format *f = to == DTYPE_F8E5 ? &e5m2 : &e4m3;
  LLVMValueRef bits = LLVMBuildBitCast(b, x, integers(x, 32), "");
  LLVMValueRef u = LLVMBuildAnd(b, bits, word(bits, 0x7fffffff), "");
  LLVMValueRef is_small = LLVMBuildICmp(b, LLVMIntULT, u, word(u, (128 - f->bias) << 23), "");
  LLVMValueRef r = LLVMBuildSelect(b, is_small, encode_subnormal(b, f, u, LLVMTypeOf(x)),
                                   encode_normal(b, f, u), "");
  LLVMValueRef over = LLVMBuildICmp(b, LLVMIntUGT, r, word(r, f->largest), "");
  r = LLVMBuildSelect(b, over, word(r, f->overflow), r, "");
  LLVMValueRef is_nan = LLVMBuildICmp(b, LLVMIntUGT, u, word(u, 0x7f800000), "");
  r = LLVMBuildSelect(b, is_nan, word(r, 0x7f), r, "");
  LLVMValueRef sign = LLVMBuildLShr(b, bits, word(bits, 24), "");
  sign = LLVMBuildAnd(b, sign, word(bits, 0x80), "");
  return LLVMBuildTrunc(b, LLVMBuildOr(b, r, sign, ""), integers(x, 8), "");
}
