// SPDX-License-Identifier: Apache-2.0
// bf16 on the CPU: 16-bit integers, arithmetic in f32, rounding by integer operations. AVX512-BF16
// flushes subnormal numbers to 0; without it LLVM keeps values as f32 between blocks and calls a
// function for each conversion.
//
//   %c = fadd bfloat %a, %b
//   ->  %x = fadd float (%a as f32), (%b as f32)
//       %c = upper half of (%x as i32) + 0x7fff + (bit 16 of %x)
//
// Runs before code generation, after all passes. Arguments and results of functions are left to
// LLVM, whose target machine does not use the instruction (codegen.c).
#include "lowering/llvm/emit.h"

struct rewrite {
  LLVMModuleRef module;
  LLVMBuilderRef b;
  LLVMTypeRef bf16, f32, i16, i32;
};

static bool is_bf16(LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  if (LLVMGetTypeKind(t) == LLVMVectorTypeKind)
    t = LLVMGetElementType(t);
  return LLVMGetTypeKind(t) == LLVMBFloatTypeKind;
}

// ---- numbers ----

// A bf16, or a vector of them, as integers, and back.
static LLVMTypeRef with_element(LLVMValueRef v, LLVMTypeRef element) {
  LLVMTypeRef t = LLVMTypeOf(v);
  bool is_vector = LLVMGetTypeKind(t) == LLVMVectorTypeKind;
  return is_vector ? LLVMVectorType(element, LLVMGetVectorSize(t)) : element;
}

static LLVMValueRef integers(struct rewrite *w, LLVMValueRef v) {
  return LLVMBuildBitCast(w->b, v, with_element(v, w->i16), "");
}

static LLVMValueRef numbers(struct rewrite *w, LLVMValueRef v) {
  return LLVMBuildBitCast(w->b, v, with_element(v, w->bf16), "");
}

static LLVMValueRef bits_of(struct rewrite *w, LLVMValueRef f32) {
  return LLVMBuildBitCast(w->b, f32, w->i32, "");
}

// The value as f32: its bits are the upper half.
static LLVMValueRef wide(struct rewrite *w, LLVMValueRef v) {
  LLVMValueRef word = integers(w, v);
  word = LLVMBuildShl(w->b, LLVMBuildZExt(w->b, word, w->i32, ""), const_int(w->i32, 16), "");
  return LLVMBuildBitCast(w->b, word, w->f32, "");
}

static LLVMValueRef upper_half(struct rewrite *w, LLVMValueRef bits) {
  LLVMValueRef half = LLVMBuildLShr(w->b, bits, const_int(w->i32, 16), "");
  return LLVMBuildBitCast(w->b, LLVMBuildTrunc(w->b, half, w->i16, ""), w->bf16, "");
}

// To nearest even: the sum carries into the exponent where it must. A NaN stays one.
static LLVMValueRef rounded(struct rewrite *w, LLVMValueRef x) {
  LLVMValueRef bits = bits_of(w, x);
  LLVMValueRef odd = LLVMBuildLShr(w->b, bits, const_int(w->i32, 16), "");
  odd = LLVMBuildAnd(w->b, odd, const_int(w->i32, 1), "");
  LLVMValueRef sum = LLVMBuildAdd(w->b, bits, const_int(w->i32, 0x7fff), "");
  sum = LLVMBuildAdd(w->b, sum, odd, "");
  LLVMValueRef quiet = LLVMBuildOr(w->b, bits, const_int(w->i32, 0x400000), "");
  LLVMValueRef is_nan = LLVMBuildFCmp(w->b, LLVMRealUNO, x, x, "");
  return upper_half(w, LLVMBuildSelect(w->b, is_nan, quiet, sum, ""));
}

// f64 to f32 by round-to-odd: toward zero, with the last bit set if inexact, so that rounding again
// is as good as rounding once.
static LLVMValueRef rounded_to_odd(struct rewrite *w, LLVMValueRef x) {
  LLVMTypeRef f64 = LLVMTypeOf(x);
  LLVMValueRef nearest = LLVMBuildFPTrunc(w->b, x, w->f32, "");
  LLVMValueRef back = LLVMBuildFPExt(w->b, nearest, f64, "");
  LLVMValueRef is_positive = LLVMBuildFCmp(w->b, LLVMRealOGT, x, LLVMConstNull(f64), "");
  LLVMValueRef above =
      LLVMBuildSelect(w->b, is_positive, LLVMBuildFCmp(w->b, LLVMRealOGT, back, x, ""),
                      LLVMBuildFCmp(w->b, LLVMRealOLT, back, x, ""), "");
  LLVMValueRef inexact = LLVMBuildFCmp(w->b, LLVMRealONE, back, x, "");
  LLVMValueRef bits =
      LLVMBuildSub(w->b, bits_of(w, nearest), LLVMBuildZExt(w->b, above, w->i32, ""), "");
  bits = LLVMBuildOr(w->b, bits, LLVMBuildZExt(w->b, inexact, w->i32, ""), "");
  return LLVMBuildBitCast(w->b, bits, w->f32, "");
}

static LLVMValueRef sign_changed(struct rewrite *w, LLVMValueRef v, LLVMOpcode op, uint16_t mask) {
  LLVMValueRef bits = integers(w, v);
  return LLVMBuildBitCast(w->b, LLVMBuildBinOp(w->b, op, bits, const_int(w->i16, mask), ""),
                          w->bf16, "");
}

// ---- instructions ----

static LLVMValueRef binary(struct rewrite *w, LLVMValueRef i) {
  LLVMValueRef x = wide(w, LLVMGetOperand(i, 0)), y = wide(w, LLVMGetOperand(i, 1));
  return rounded(w, LLVMBuildBinOp(w->b, LLVMGetInstructionOpcode(i), x, y, ""));
}

// An intrinsic of bf16 operands; all but fma have results exact in bf16.
static LLVMValueRef call(struct rewrite *w, LLVMValueRef i) {
  static const char *const names[] = {"llvm.fma",     "llvm.maxnum", "llvm.minnum", "llvm.maximum",
                                      "llvm.minimum", "llvm.ceil",   "llvm.floor",  "llvm.rint"};
  unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(i)), n = LLVMGetNumArgOperands(i);
  if (id && id == LLVMLookupIntrinsicID("llvm.fabs", 9))
    return sign_changed(w, LLVMGetOperand(i, 0), LLVMAnd, 0x7fff);
  for (size_t k = 0; id && k < COUNT_OF(names); k++) {
    if (id != LLVMLookupIntrinsicID(names[k], strlen(names[k])))
      continue;
    LLVMValueRef x[3] = {NULL}, f = LLVMGetIntrinsicDeclaration(w->module, id, &w->f32, 1);
    for (unsigned a = 0; a < n; a++)
      x[a] = wide(w, LLVMGetOperand(i, a));
    LLVMValueRef r = LLVMBuildCall2(w->b, LLVMGlobalGetValueType(f), f, x, n, "");
    return k == 0 ? rounded(w, r) : upper_half(w, bits_of(w, r));
  }
  return NULL;
}

static LLVMValueRef load(struct rewrite *w, LLVMValueRef i) {
  LLVMValueRef at = LLVMGetOperand(i, 0), r = LLVMBuildLoad2(w->b, with_element(i, w->i16), at, "");
  LLVMSetAlignment(r, LLVMGetAlignment(i));
  LLVMSetVolatile(r, LLVMGetVolatile(i));
  return numbers(w, r);
}

static LLVMValueRef phi(struct rewrite *w, LLVMValueRef i) {
  LLVMValueRef r = LLVMBuildPhi(w->b, with_element(i, w->i16), "");
  for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(i, k);
    LLVMPositionBuilderBefore(w->b, LLVMGetBasicBlockTerminator(from));
    LLVMValueRef v = integers(w, LLVMGetIncomingValue(i, k));
    LLVMAddIncoming(r, &v, &from, 1);
  }
  LLVMValueRef first = i; // not bf16
  while (LLVMIsAPHINode(first))
    first = LLVMGetNextInstruction(first);
  LLVMPositionBuilderBefore(w->b, first);
  return numbers(w, r);
}

static LLVMValueRef choice(struct rewrite *w, LLVMValueRef i) {
  LLVMValueRef x = integers(w, LLVMGetOperand(i, 1)), y = integers(w, LLVMGetOperand(i, 2));
  return numbers(w, LLVMBuildSelect(w->b, LLVMGetOperand(i, 0), x, y, ""));
}

static LLVMValueRef extracted(struct rewrite *w, LLVMValueRef i) {
  LLVMValueRef v = integers(w, LLVMGetOperand(i, 0));
  return numbers(w, LLVMBuildExtractElement(w->b, v, LLVMGetOperand(i, 1), ""));
}

static LLVMValueRef inserted(struct rewrite *w, LLVMValueRef i) {
  LLVMValueRef v = integers(w, LLVMGetOperand(i, 0)), x = integers(w, LLVMGetOperand(i, 1));
  return numbers(w, LLVMBuildInsertElement(w->b, v, x, LLVMGetOperand(i, 2), ""));
}

// The replacement of an instruction with a bf16 result; NULL: it stays.
static LLVMValueRef replacement(struct rewrite *w, LLVMValueRef i) {
  LLVMValueRef x = LLVMGetNumOperands(i) > 0 ? LLVMGetOperand(i, 0) : NULL;
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMFPTrunc: return rounded(w, LLVMTypeOf(x) == w->f32 ? x : rounded_to_odd(w, x));
  case LLVMSIToFP: return rounded(w, LLVMBuildSIToFP(w->b, x, w->f32, ""));
  case LLVMUIToFP: return rounded(w, LLVMBuildUIToFP(w->b, x, w->f32, ""));
  case LLVMFAdd:
  case LLVMFSub:
  case LLVMFMul: return binary(w, i);
  case LLVMFNeg: return sign_changed(w, x, LLVMXor, 0x8000);
  case LLVMCall: return call(w, i);
  case LLVMLoad: return load(w, i);
  case LLVMPHI: return phi(w, i);
  case LLVMSelect: return choice(w, i);
  case LLVMExtractElement: return extracted(w, i);
  case LLVMInsertElement: return inserted(w, i);
  default: return NULL;
  }
}

// The replacement of an instruction with bf16 operands and another result: on f32 or integers.
static void widen_operands(struct rewrite *w, LLVMValueRef i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  if (op == LLVMStore) {
    LLVMSetOperand(i, 0, integers(w, LLVMGetOperand(i, 0)));
  } else if (op == LLVMFPExt && LLVMTypeOf(i) == w->f32) {
    LLVMReplaceAllUsesWith(i, wide(w, LLVMGetOperand(i, 0)));
    LLVMInstructionEraseFromParent(i);
  } else if (op == LLVMFPExt || op == LLVMFPToSI || op == LLVMFPToUI || op == LLVMFCmp) {
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++)
      LLVMSetOperand(i, k, wide(w, LLVMGetOperand(i, k)));
  }
}

static void rewrite_block(struct rewrite *w, LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMPositionBuilderBefore(w->b, i); // with the same source location
    LLVMValueRef r = is_bf16(i) ? replacement(w, i) : NULL;
    if (r) {
      LLVMReplaceAllUsesWith(i, r);
      LLVMInstructionEraseFromParent(i);
    } else if (!is_bf16(i) && LLVMGetNumOperands(i) > 0 && is_bf16(LLVMGetOperand(i, 0))) {
      widen_operands(w, i);
    }
  }
}

// ---- bit casts of bit casts ----

static void fold_casts(LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (!LLVMIsABitCastInst(i))
      continue;
    LLVMValueRef from = LLVMGetOperand(i, 0);
    while (LLVMIsABitCastInst(from))
      from = LLVMGetOperand(from, 0);
    if (LLVMTypeOf(from) == LLVMTypeOf(i))
      LLVMReplaceAllUsesWith(i, from);
    else
      LLVMSetOperand(i, 0, from);
  }
}

static void drop_unused_casts(LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (LLVMIsABitCastInst(i) && !LLVMGetFirstUse(i))
      LLVMInstructionEraseFromParent(i);
  }
}

void cpu_rounds_bf16(LLVMModuleRef module) {
  LLVMContextRef c = LLVMGetModuleContext(module);
  struct rewrite w = {module,
                      LLVMCreateBuilderInContext(c),
                      LLVMBFloatTypeInContext(c),
                      LLVMFloatTypeInContext(c),
                      LLVMInt16TypeInContext(c),
                      LLVMInt32TypeInContext(c)};
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      rewrite_block(&w, b);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      fold_casts(b);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      drop_unused_casts(b);
  }
  LLVMDisposeBuilder(w.b);
}
