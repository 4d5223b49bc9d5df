// SPDX-License-Identifier: Apache-2.0
// Shared by the PTX target's files only.
#ifndef TILE_LOWERING_TARGETS_PTX_H
#define TILE_LOWERING_TARGETS_PTX_H

#include "lowering/llvm/emit.h"

void ptx_load(struct emitter *e, const struct access *a, const LLVMValueRef *other,
              LLVMValueRef *ret);
void ptx_store(struct emitter *e, const struct access *a, const LLVMValueRef *words);
LLVMValueRef ptx_atomic_rmw(struct emitter *e, const struct access *a, struct str kind,
                            enum dtype dtype, LLVMValueRef value);

#endif
