// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies on NVIDIA GPUs: cp.async and its groups.
#include "lowering/targets/ptx.h"

enum { BYPASSING_BYTES = 16 }; // the one width that goes by the second cache alone

// "cg" goes by the second cache alone, "ca" through both.
static const char *cache_of(const struct access *a, unsigned bytes) {
  return bytes == BYPASSING_BYTES && !str_is(op_attr_str(a->op, "cache"), "ca") ? "cg" : "ca";
}

// With a policy of the second cache, which LLVM's intrinsics do not have.
static void copy_with_policy(struct emitter *e, const struct access *a, LLVMValueRef to,
                             unsigned bytes, LLVMValueRef read, LLVMValueRef policy) {
  const char *text =
      arena_printf(e->arena, "cp.async.%s.shared.global.L2::cache_hint [$0], [$1], %u, %s;",
                   cache_of(a, bytes), bytes, read ? "$3, $2" : "$2");
  LLVMValueRef args[] = {to, a->ptr, policy, read};
  ptx_memory_asm(e, text, read ? "l,l,l,r" : "l,l,l", LLVMVoidTypeInContext(e->llvm), args,
                 read ? 4 : 3);
}

void ptx_async_copy(struct emitter *e, const struct access *a, LLVMValueRef to) {
  unsigned bytes = a->count * a->word_bits / 8;
  // So many bytes are read, the rest become zero.
  LLVMValueRef read =
      a->pred ? LLVMBuildSelect(e->b, a->pred, const_i32(e, bytes), const_i32(e, 0), "") : NULL;
  LLVMValueRef policy = ptx_eviction_policy(e, a->op);
  if (policy) {
    copy_with_policy(e, a, to, bytes, read, policy);
    return;
  }
  const char *name = arena_printf(e->arena, "llvm.nvvm.cp.async.%s.shared.global.%u%s",
                                  cache_of(a, bytes), bytes, read ? ".s" : "");
  LLVMValueRef args[] = {to, a->ptr, read};
  intrinsic(e, name, 0, NULL, read ? 3 : 2, args);
}

void ptx_async_commit(struct emitter *e) {
  intrinsic(e, "llvm.nvvm.cp.async.commit.group", 0, NULL, 0, NULL);
}

void ptx_async_wait(struct emitter *e, unsigned pending) {
  LLVMValueRef groups = const_i32(e, pending);
  intrinsic(e, "llvm.nvvm.cp.async.wait.group", 0, NULL, 1, &groups);
}
