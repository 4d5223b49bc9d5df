// SPDX-License-Identifier: Apache-2.0
// The distance that a pointer advances, a parameter of 32 bits times a constant, as a shift of the
// extended parameter instead of one multiplication (mul.wide).
//
//   %s = sext i32 %stride to i64           %s = cvt.s64.s32 %stride      opaque to LLVM
//   %d = shl i64 %s, 6              ->     %d = shl i64 %s, 6
//   loop: %p' = getelementptr %p, %d       loop: %p' = getelementptr %p, %d
//
// ptxas repeats a mul.wide in the loop, fused with the addition (IMAD.WIDE), and these instructions
// delay wgmma. All uses of the parameter see the shift: LLVM derives distances from the others. f16
// products at 4096 cubed lose 9 % with eight of them in an iteration. Only kernels with wgmma,
// after all passes, before code generation.
#include "lowering/llvm/emit.h"

// Is `user` a multiplication of `v` by a constant, or an address at the index `v`?
static bool is_step(LLVMValueRef user, LLVMValueRef v) {
  switch (LLVMGetInstructionOpcode(user)) {
  case LLVMShl:
  case LLVMMul: return LLVMGetOperand(user, 0) == v && LLVMIsAConstantInt(LLVMGetOperand(user, 1));
  case LLVMGetElementPtr: return LLVMGetOperand(user, 0) != v;
  default: return false;
  }
}

static LLVMValueRef opaque_extension(LLVMBuilderRef b, LLVMValueRef extension) {
  bool is_signed = LLVMGetInstructionOpcode(extension) == LLVMSExt;
  const char *text = is_signed ? "cvt.s64.s32 $0, $1;" : "cvt.u64.u32 $0, $1;";
  static const char constraints[] = "=l,r";
  LLVMValueRef from = LLVMGetOperand(extension, 0);
  LLVMTypeRef type = LLVMTypeOf(from);
  LLVMTypeRef fn = LLVMFunctionType(LLVMTypeOf(extension), &type, 1, false);
  LLVMValueRef code =
      LLVMGetInlineAsm(fn, text, strlen(text), constraints, sizeof constraints - 1,
                       /*HasSideEffects=*/false, false, LLVMInlineAsmDialectATT, false);
  LLVMPositionBuilderBefore(b, extension);
  return LLVMBuildCall2(b, fn, code, &from, 1, "");
}

static bool has_steps(LLVMValueRef extension) {
  for (LLVMUseRef use = LLVMGetFirstUse(extension); use; use = LLVMGetNextUse(use))
    if (is_step(LLVMGetUser(use), extension))
      return true;
  return false;
}

static bool is_extended_parameter(LLVMValueRef i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  if ((op != LLVMSExt && op != LLVMZExt) || !LLVMIsAArgument(LLVMGetOperand(i, 0)))
    return false;
  LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(i, 0)), to = LLVMTypeOf(i);
  return LLVMGetTypeKind(from) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(from) == 32 &&
         LLVMGetIntTypeWidth(to) == 64;
}

void keep_loop_steps(LLVMModuleRef module) {
  if (!LLVMGetModuleFlag(module, WGMMA_FLAG, sizeof WGMMA_FLAG - 1))
    return;
  LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block))
      for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (is_extended_parameter(i) && has_steps(i))
          LLVMReplaceAllUsesWith(i, opaque_extension(b, i));
  LLVMDisposeBuilder(b);
}
