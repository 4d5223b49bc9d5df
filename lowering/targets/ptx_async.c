// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies on NVIDIA GPUs: cp.async and its groups.
#include "lowering/targets/ptx.h"

enum { BYPASSING_BYTES = 16 }; // the one width that .cg takes

// "cg" caches in L2 only, "ca" in L1 and L2.
static const char *cache_of(const struct access *a, unsigned bytes) {
  return bytes == BYPASSING_BYTES && !str_is(op_attr_str(a->op, "cache"), "ca") ? "cg" : "ca";
}

// Not in LLVM's intrinsics: an ignore-src predicate and an L2 cache policy. (They take the number
// of bytes to read, but then predicates become numbers, which ptxas turns into predicates again.)
static void copy_by_text(struct emitter *e, const struct access *a, LLVMValueRef to, unsigned bytes,
                         LLVMValueRef policy) {
  LLVMValueRef args[4] = {to, a->ptr};
  unsigned n = 2;
  const char *ignores = "", *cached = "", *hint = "", *constraints = "l,l";
  if (a->pred) {
    ignores = ", $2";
    constraints = "l,l,b";
    args[n++] = LLVMBuildNot(e->b, a->pred, "");
  }
  if (policy) {
    cached = arena_printf(e->arena, ", $%u", n);
    hint = ".L2::cache_hint";
    constraints = arena_printf(e->arena, "%s,l", constraints);
    args[n++] = policy;
  }
  const char *text = arena_printf(e->arena, "cp.async.%s.shared.global%s [$0], [$1], %u%s%s;",
                                  cache_of(a, bytes), hint, bytes, ignores, cached);
  ptx_memory_asm(e, text, constraints, LLVMVoidTypeInContext(e->llvm), args, n);
}

void ptx_async_copy(struct emitter *e, const struct access *a, LLVMValueRef to) {
  unsigned bytes = a->count * a->word_bits / 8;
  LLVMValueRef policy = ptx_eviction_policy(e, a->op);
  if (policy || a->pred) {
    copy_by_text(e, a, to, bytes, policy);
    return;
  }
  LLVMValueRef args[] = {to, a->ptr};
  intrinsic(
      e,
      arena_printf(e->arena, "llvm.nvvm.cp.async.%s.shared.global.%u", cache_of(a, bytes), bytes),
      0, NULL, 2, args);
}

void ptx_async_commit(struct emitter *e) {
  intrinsic(e, "llvm.nvvm.cp.async.commit.group", 0, NULL, 0, NULL);
}

void ptx_async_wait(struct emitter *e, unsigned pending) {
  LLVMValueRef groups = const_i32(e, pending);
  intrinsic(e, "llvm.nvvm.cp.async.wait.group", 0, NULL, 1, &groups);
}
