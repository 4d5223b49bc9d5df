// SPDX-License-Identifier: Apache-2.0
// Shared by the CPU target's files only.
#ifndef TILE_LOWERING_TARGETS_CPU_H
#define TILE_LOWERING_TARGETS_CPU_H

#include "lowering/llvm/emit.h"

extern const struct target_hooks cpu_hooks;

// The source location of the op.
LLVMValueRef cpu_location(struct emitter *e, MlirOperation op);
// The location of the op being emitted, for kernels compiled with checks; else a null pointer.
LLVMValueRef cpu_checked_location(struct emitter *e);
// The number of the kernel's parameter that the access's pointer comes from; -1: not known.
int cpu_param_of(struct emitter *e, const struct access *a);

void cpu_load_words(struct emitter *e, const struct access *a, const LLVMValueRef *other,
                    LLVMValueRef *ret);
void cpu_store_words(struct emitter *e, const struct access *a, const LLVMValueRef *words);
unsigned cpu_atomic_width(struct emitter *e, const struct atomic *a);
void cpu_atomic_rmw(struct emitter *e, const struct atomic *a, const LLVMValueRef *values,
                    LLVMValueRef *ret);
LLVMValueRef cpu_atomic_cas(struct emitter *e, const struct access *a, LLVMValueRef compare,
                            LLVMValueRef value);

void cpu_async_copy(struct emitter *e, const struct access *a, LLVMValueRef to);
void cpu_async_commit(struct emitter *e);
void cpu_async_wait(struct emitter *e, unsigned pending);

#endif
