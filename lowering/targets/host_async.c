// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies on the host: the executor keeps them (runtime/host_async.c).
#include "lowering/targets/host.h"

void host_async_copy(struct emitter *e, const struct access *a, LLVMValueRef to) {
  LLVMValueRef from = a->ptr;
  if (a->pred)
    from = LLVMBuildSelect(e->b, a->pred, from, LLVMConstNull(LLVMTypeOf(from)), "");
  LLVMValueRef args[] = {e->host_thread,
                         host_checked_location(e),
                         const_i32(e, (uint32_t)host_param_of(e, a)),
                         to,
                         from,
                         const_i32(e, a->count * a->word_bits / 8)};
  call_routine(e, "tile_host_async_copy", LLVMVoidTypeInContext(e->llvm), 6, args);
}

void host_async_commit(struct emitter *e) {
  call_routine(e, "tile_host_async_commit", LLVMVoidTypeInContext(e->llvm), 1, &e->host_thread);
}

void host_async_wait(struct emitter *e, unsigned pending) {
  LLVMValueRef args[] = {e->host_thread, const_i32(e, pending)};
  call_routine(e, "tile_host_async_wait", LLVMVoidTypeInContext(e->llvm), 2, args);
}
