// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies on the CPU: the executor queues them (runtime/cpu_async.c).
#include "lowering/targets/cpu.h"

void cpu_async_copy(struct emitter *e, const struct access *a, LLVMValueRef to) {
  LLVMValueRef from = a->ptr;
  if (a->pred)
    from = LLVMBuildSelect(e->b, a->pred, from, LLVMConstNull(LLVMTypeOf(from)), "");
  LLVMValueRef args[] = {e->cpu_thread,
                         cpu_checked_location(e),
                         const_i32(e, (uint32_t)cpu_param_of(e, a)),
                         to,
                         from,
                         const_i32(e, a->count * a->word_bits / 8)};
  call_routine(e, "tile_cpu_async_copy", LLVMVoidTypeInContext(e->llvm), 6, args);
}

void cpu_async_commit(struct emitter *e) {
  call_routine(e, "tile_cpu_async_commit", LLVMVoidTypeInContext(e->llvm), 1, &e->cpu_thread);
}

void cpu_async_wait(struct emitter *e, unsigned pending) {
  LLVMValueRef args[] = {e->cpu_thread, const_i32(e, pending)};
  call_routine(e, "tile_cpu_async_wait", LLVMVoidTypeInContext(e->llvm), 2, args);
}
