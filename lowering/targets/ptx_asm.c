// SPDX-License-Identifier: Apache-2.0
// Calls of PTX instructions as inline assembly, with the attributes that LLVM may assume.
#include "lowering/targets/ptx.h"

#include <string.h>

void ptx_set_convergent(struct emitter *e, LLVMValueRef call) {
  unsigned kind = LLVMGetEnumAttributeKindForName("convergent", 10);
  LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                           LLVMCreateEnumAttribute(e->llvm, kind, 0));
}

LLVMValueRef ptx_pure_asm(struct emitter *e, const char *text, const char *constraints,
                          LLVMTypeRef result, const LLVMValueRef *args, unsigned n) {
  LLVMTypeRef *types = arena_array(e->arena, LLVMTypeRef, n + 1);
  LLVMValueRef *copy = arena_array(e->arena, LLVMValueRef, n + 1);
  for (unsigned i = 0; i < n; i++) {
    copy[i] = args[i];
    types[i] = LLVMTypeOf(args[i]);
  }
  LLVMTypeRef type = LLVMFunctionType(result, types, n, false);
  LLVMValueRef fn = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints),
                                     false, false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef call = LLVMBuildCall2(e->b, type, fn, copy, n, "");
  static const char *const facts[] = {"nounwind", "willreturn", "nocallback"};
  for (size_t i = 0; i < COUNT_OF(facts); i++) {
    unsigned kind = LLVMGetEnumAttributeKindForName(facts[i], strlen(facts[i]));
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(e->llvm, kind, 0));
  }
  unsigned memory = LLVMGetEnumAttributeKindForName("memory", 6);
  LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                           LLVMCreateEnumAttribute(e->llvm, memory, /*none=*/0));
  return call;
}
