// SPDX-License-Identifier: Apache-2.0
// fmod in f64 arithmetic. While the remainder r is not below |y|:
//
//   t = |y| * 2^k, with k the least for which r / t is below 2^52
//   q = trunc(r / t), at most one too large since the division rounds
//   r = r - q * t in one fma, exact because it is a multiple of t's last bit and at most t
//   if r < 0, r = r + t
//
// One round is nearly always enough; each produces 51 bits of the quotient.
#include "lowering/targets/remainder.h"

static const char name[] = "tile_remainder";

struct body {
  struct emitter *e;
  LLVMTypeRef f64, i64;
};

static LLVMValueRef unary(struct body *f, const char *intrinsic_name, LLVMValueRef x) {
  return intrinsic(f->e, intrinsic_name, 1, &f->f64, 1, &x);
}

static LLVMValueRef i64_const(struct body *f, int64_t v) {
  return LLVMConstInt(f->i64, (uint64_t)v, true);
}

static LLVMValueRef exponent_field(struct body *f, LLVMValueRef x) {
  LLVMValueRef bits = LLVMBuildBitCast(f->e->b, x, f->i64, "");
  return LLVMBuildLShr(f->e->b, bits, i64_const(f, 52), "");
}

// Biased exponent of a positive number, below 1 for subnormals.
static LLVMValueRef exponent(struct body *f, LLVMValueRef x) {
  LLVMBuilderRef b = f->e->b;
  LLVMValueRef field = exponent_field(f, x);
  LLVMValueRef scaled = LLVMBuildFMul(b, x, LLVMConstReal(f->f64, 0x1p54), "");
  LLVMValueRef low = LLVMBuildSub(b, exponent_field(f, scaled), i64_const(f, 54), "");
  LLVMValueRef subnormal = LLVMBuildICmp(b, LLVMIntEQ, field, i64_const(f, 0), "");
  return LLVMBuildSelect(b, subnormal, low, field, "");
}

static LLVMValueRef power_of_two(struct body *f, LLVMValueRef k) {
  LLVMBuilderRef b = f->e->b;
  LLVMValueRef field = LLVMBuildAdd(b, k, i64_const(f, 1023), "");
  return LLVMBuildBitCast(b, LLVMBuildShl(b, field, i64_const(f, 52), ""), f->f64, "");
}

// y * 2^k; k can be twice the largest exponent.
static LLVMValueRef scaled_divisor(struct body *f, LLVMValueRef r, LLVMValueRef y) {
  LLVMBuilderRef b = f->e->b;
  LLVMValueRef k = LLVMBuildSub(b, exponent(f, r), exponent(f, y), "");
  k = LLVMBuildSub(b, k, i64_const(f, 51), "");
  LLVMValueRef args[] = {k, i64_const(f, 0)};
  k = intrinsic(f->e, "llvm.smax", 1, &f->i64, 2, args);
  LLVMValueRef first = LLVMBuildLShr(b, k, i64_const(f, 1), "");
  LLVMValueRef second = LLVMBuildSub(b, k, first, "");
  LLVMValueRef t = LLVMBuildFMul(b, y, power_of_two(f, first), "");
  return LLVMBuildFMul(b, t, power_of_two(f, second), "");
}

static LLVMValueRef one_round(struct body *f, LLVMValueRef r, LLVMValueRef y) {
  LLVMBuilderRef b = f->e->b;
  LLVMValueRef t = scaled_divisor(f, r, y);
  LLVMValueRef q = unary(f, "llvm.trunc", LLVMBuildFDiv(b, r, t, ""));
  LLVMValueRef args[] = {LLVMBuildFNeg(b, q, ""), t, r};
  LLVMValueRef rest = intrinsic(f->e, "llvm.fma", 1, &f->f64, 3, args);
  LLVMValueRef negative = LLVMBuildFCmp(b, LLVMRealOLT, rest, LLVMConstReal(f->f64, 0), "");
  return LLVMBuildSelect(b, negative, LLVMBuildFAdd(b, rest, t, ""), rest, "");
}

static void build_body(struct body *f, LLVMValueRef fn) {
  LLVMBuilderRef b = f->e->b;
  LLVMContextRef c = f->e->llvm;
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(c, fn, "entry");
  LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(c, fn, "loop");
  LLVMBasicBlockRef inside = LLVMAppendBasicBlockInContext(c, fn, "round");
  LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(c, fn, "done");
  LLVMValueRef x = LLVMGetParam(fn, 0);
  LLVMPositionBuilderAtEnd(b, entry);
  LLVMValueRef start = unary(f, "llvm.fabs", x), y = unary(f, "llvm.fabs", LLVMGetParam(fn, 1));
  LLVMValueRef infinity = LLVMBuildFDiv(b, LLVMConstReal(f->f64, 1), LLVMConstReal(f->f64, 0), "");
  LLVMValueRef defined =
      LLVMBuildAnd(b, LLVMBuildFCmp(b, LLVMRealOGT, y, LLVMConstReal(f->f64, 0), ""),
                   LLVMBuildFCmp(b, LLVMRealOLT, start, infinity, ""), "");
  LLVMValueRef nan = LLVMBuildFSub(b, infinity, infinity, "");
  LLVMBuildCondBr(b, defined, loop, done);

  LLVMPositionBuilderAtEnd(b, loop);
  LLVMValueRef r = LLVMBuildPhi(b, f->f64, "");
  LLVMBuildCondBr(b, LLVMBuildFCmp(b, LLVMRealOGE, r, y, ""), inside, done);

  LLVMPositionBuilderAtEnd(b, inside);
  LLVMValueRef next = one_round(f, r, y);
  LLVMBuildBr(b, loop);
  LLVMAddIncoming(r, (LLVMValueRef[]){start, next}, (LLVMBasicBlockRef[]){entry, inside}, 2);

  LLVMPositionBuilderAtEnd(b, done);
  LLVMValueRef result = LLVMBuildPhi(b, f->f64, "");
  LLVMAddIncoming(result, (LLVMValueRef[]){nan, r}, (LLVMBasicBlockRef[]){entry, loop}, 2);
  LLVMValueRef args[] = {result, x};
  LLVMBuildRet(b, intrinsic(f->e, "llvm.copysign", 1, &f->f64, 2, args));
}

LLVMValueRef remainder_call(struct emitter *e, LLVMValueRef x, LLVMValueRef y) {
  LLVMTypeRef types[] = {e->f64, e->f64}, type = LLVMFunctionType(e->f64, types, 2, false);
  LLVMValueRef fn = LLVMGetNamedFunction(e->module, name);
  if (!fn) {
    fn = LLVMAddFunction(e->module, name, type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    LLVMBuilderRef outside = e->b;
    struct body f = {e, e->f64, e->i64};
    e->b = LLVMCreateBuilderInContext(e->llvm);
    build_body(&f, fn);
    LLVMDisposeBuilder(e->b);
    e->b = outside;
  }
  LLVMValueRef args[] = {x, y};
  return LLVMBuildCall2(e->b, type, fn, args, 2, "");
}
