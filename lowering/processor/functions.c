// SPDX-License-Identifier: Apache-2.0
// exp2, log2 and tanh of f32, as inlined polynomials: calls would save all vector registers. The
// other functions of the language are written in it (lang/std) and use these.
#include "lowering/processor/strips.h"

static LLVMValueRef real(LLVMValueRef x, double value) {
  return float_constant(LLVMTypeOf(x), value);
}

static LLVMValueRef fma_of(struct strip_emitter *e, LLVMValueRef x, LLVMValueRef y,
                           LLVMValueRef z) {
  LLVMValueRef args[] = {x, y, z};
  return plain_intrinsic(e, "llvm.fma", 3, args);
}

// ((c[0] x + c[1]) x + c[2]) x ...
static LLVMValueRef polynomial(struct strip_emitter *e, LLVMValueRef x, const double *c,
                               unsigned n) {
  LLVMValueRef p = real(x, c[0]);
  for (unsigned i = 1; i < n; i++)
    p = fma_of(e, p, x, real(x, c[i]));
  return p;
}

// x 2^n in two steps, since 2^n alone may be out of range. n: a whole number within 2 * 126.
static LLVMValueRef scale(struct strip_emitter *e, LLVMValueRef x, LLVMValueRef n) {
  LLVMTypeRef t = like(x, e->i32);
  if (e->registers.bytes == STRIP * sizeof(float) && lanes_of(x) == STRIP) { // vscalefps
    LLVMValueRef args[] = {x, n, x, int_constant(e->i16, 0xffff), int_constant(e->i32, 4)};
    return call_intrinsic(e, "llvm.x86.avx512.mask.scalef.ps.512", 0, NULL, 5, args);
  }
  n = LLVMBuildFreeze(e->b, LLVMBuildFPToSI(e->b, n, t, ""), "");
  LLVMValueRef half = LLVMBuildAShr(e->b, n, int_constant(t, 1), "");
  LLVMValueRef parts[] = {half, LLVMBuildSub(e->b, n, half, "")};
  for (int i = 0; i < 2; i++) {
    LLVMValueRef power = LLVMBuildAdd(e->b, parts[i], int_constant(t, 127), "");
    power = of_bits(e, LLVMBuildShl(e->b, power, int_constant(t, 23), ""), e->f32);
    x = LLVMBuildFMul(e->b, x, power, "");
  }
  return x;
}

// 2^x = 2^n 2^r with |r| <= 1/2; the polynomial (minimax, degree 6) is within 0.04 ulp.
LLVMValueRef exp2_of(struct strip_emitter *e, LLVMValueRef x) {
  static const double c[] = {0.00015353360504377633,
                             0.0013398875016719103,
                             0.00961843691766262,
                             0.055503323674201965,
                             0.24022647738456726,
                             0.6931471824645996,
                             1.0};
  // Comparisons that a NaN passes unchanged.
  LLVMValueRef high = LLVMBuildFCmp(e->b, LLVMRealOGT, x, real(x, 129), "");
  x = LLVMBuildSelect(e->b, high, real(x, 129), x, "");
  // Masked elements are often -infinity: no subnormal numbers on the way, which are slow.
  LLVMValueRef low = LLVMBuildFCmp(e->b, LLVMRealOLT, x, real(x, -150), "");
  x = LLVMBuildSelect(e->b, low, real(x, 0), x, "");
  LLVMValueRef n = plain_intrinsic(e, "llvm.rint", 1, &x);
  LLVMValueRef r = LLVMBuildFSub(e->b, x, n, "");
  x = scale(e, polynomial(e, r, c, COUNT_OF(c)), n);
  return LLVMBuildSelect(e->b, low, real(x, 0), x, "");
}

// x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2); log(1 + f) as lang/std/math_f32.tile.
LLVMValueRef log2_of(struct strip_emitter *e, LLVMValueRef x) {
  static const double c[] = {0.08787265491105985,  -0.14159647010229592, 0.1483478683882001,
                             -0.16588488531898676, 0.19972049709984188,  -0.2500114767763388,
                             0.33333670610157023,  -0.49999997132727997};
  const double log2e = 1.44269502162933349609375, log2e_rest = 1.9259629911e-8;
  LLVMTypeRef t = like(x, e->i32);
  LLVMValueRef tiny = LLVMBuildFCmp(e->b, LLVMRealOLT, x, real(x, 0x1p-126), "");
  LLVMValueRef larger = LLVMBuildFMul(e->b, x, real(x, 0x1p23), "");
  LLVMValueRef bits = bits_of(e, LLVMBuildSelect(e->b, tiny, larger, x, ""));
  LLVMValueRef k = LLVMBuildSub(e->b, bits, int_constant(t, 0x3f3504f3), "");
  k = LLVMBuildAShr(e->b, k, int_constant(t, 23), "");
  LLVMValueRef m = LLVMBuildSub(e->b, bits, LLVMBuildShl(e->b, k, int_constant(t, 23), ""), "");
  LLVMValueRef f = LLVMBuildFSub(e->b, of_bits(e, m, e->f32), real(x, 1), "");
  LLVMValueRef whole = LLVMBuildSIToFP(e->b, k, LLVMTypeOf(x), "");
  whole = LLVMBuildFAdd(e->b, whole, LLVMBuildSelect(e->b, tiny, real(x, -23), real(x, 0), ""), "");
  LLVMValueRef square = LLVMBuildFMul(e->b, f, f, "");
  LLVMValueRef p = LLVMBuildFMul(e->b, square, polynomial(e, f, c, COUNT_OF(c)), "");
  // (f + p) log2(e) + k, the large terms last.
  LLVMValueRef r = LLVMBuildFMul(e->b, f, real(x, log2e_rest), "");
  r = fma_of(e, p, real(x, log2e), r);
  r = fma_of(e, f, real(x, log2e), r);
  r = LLVMBuildFAdd(e->b, r, whole, "");
  LLVMValueRef is_zero = LLVMBuildFCmp(e->b, LLVMRealOEQ, x, real(x, 0), "");
  LLVMValueRef is_positive = LLVMBuildFCmp(e->b, LLVMRealOGT, x, real(x, 0), "");
  LLVMValueRef wrong = LLVMBuildSelect(e->b, is_zero, real(x, -1.0 / 0.0), real(x, 0.0 / 0.0), "");
  r = LLVMBuildSelect(e->b, is_positive, r, wrong, "");
  LLVMValueRef infinite = LLVMBuildFCmp(e->b, LLVMRealOEQ, x, real(x, 1.0 / 0.0), "");
  return LLVMBuildSelect(e->b, infinite, x, r, "");
}

// A polynomial near 0, else 1 - 2 / (e^2a + 1), as lang/std/math_f32.tile.
LLVMValueRef tanh_of(struct strip_emitter *e, LLVMValueRef x) {
  static const double c[] = {-0.00626911971964973, 0.02111095904951479, -0.053873948848643334,
                             0.13332915366987452, -0.3333333033273155};
  LLVMValueRef a = plain_intrinsic(e, "llvm.fabs", 1, &x);
  LLVMValueRef z = LLVMBuildFMul(e->b, x, x, "");
  LLVMValueRef near = LLVMBuildFMul(e->b, a, z, "");
  near = fma_of(e, near, polynomial(e, z, c, COUNT_OF(c)), a);
  LLVMValueRef power = exp2_of(e, LLVMBuildFMul(e->b, a, real(x, 2.8853900817779268), ""));
  LLVMValueRef far = LLVMBuildFAdd(e->b, power, real(x, 1), "");
  far = LLVMBuildFSub(e->b, real(x, 1), LLVMBuildFDiv(e->b, real(x, 2), far, ""), "");
  LLVMValueRef is_near = LLVMBuildFCmp(e->b, LLVMRealOLT, a, real(x, 0.6), "");
  LLVMValueRef r = LLVMBuildSelect(e->b, is_near, near, far, "");
  LLVMValueRef signed_[] = {r, x};
  return plain_intrinsic(e, "llvm.copysign", 2, signed_);
}
