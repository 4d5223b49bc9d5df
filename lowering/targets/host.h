// SPDX-License-Identifier: Apache-2.0
// Shared by the host target's files only.
#ifndef TILE_LOWERING_TARGETS_HOST_H
#define TILE_LOWERING_TARGETS_HOST_H

#include "lowering/llvm/emit.h"

extern const struct target_hooks host_hooks;

// Where the op stands in its source.
LLVMValueRef host_location(struct emitter *e, MlirOperation op);
// Where the op being emitted stands, for kernels compiled with checks; else a null pointer.
LLVMValueRef host_checked_location(struct emitter *e);
// The number of the kernel's parameter that the access's pointer comes from; -1: not known.
int host_param_of(struct emitter *e, const struct access *a);

void host_load_words(struct emitter *e, const struct access *a, const LLVMValueRef *other,
                     LLVMValueRef *ret);
void host_store_words(struct emitter *e, const struct access *a, const LLVMValueRef *words);
unsigned host_atomic_width(struct emitter *e, const struct atomic *a);
void host_atomic_rmw(struct emitter *e, const struct atomic *a, const LLVMValueRef *values,
                     LLVMValueRef *ret);
LLVMValueRef host_atomic_cas(struct emitter *e, const struct access *a, LLVMValueRef compare,
                             LLVMValueRef value);

void host_async_copy(struct emitter *e, const struct access *a, LLVMValueRef to);
void host_async_commit(struct emitter *e);
void host_async_wait(struct emitter *e, unsigned pending);

#endif
