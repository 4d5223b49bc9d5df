// SPDX-License-Identifier: Apache-2.0
// Shared by the CPU target's files only.
#ifndef TILE_LOWERING_TARGETS_CPU_H
#define TILE_LOWERING_TARGETS_CPU_H

#include "lowering/llvm/emit.h"

// Where the op being emitted stands, for kernels compiled with checks; else a null pointer.
LLVMValueRef cpu_checked_location(struct emitter *e);
// The number of the kernel's parameter that the access's pointer comes from; -1: not known.
int cpu_param_of(struct emitter *e, const struct access *a);

void cpu_async_copy(struct emitter *e, const struct access *a, LLVMValueRef to);
void cpu_async_commit(struct emitter *e);
void cpu_async_wait(struct emitter *e, unsigned pending);

#endif
