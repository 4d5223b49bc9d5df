// SPDX-License-Identifier: Apache-2.0
// Matrix instructions in code for the host.
#ifndef TILE_LOWERING_TARGETS_HOST_MATRICES_H
#define TILE_LOWERING_TARGETS_HOST_MATRICES_H

#include "lowering/llvm/emit.h"

void host_load_matrices(struct emitter *e, const struct matrices *m, LLVMValueRef *ret);
void host_store_matrices(struct emitter *e, const struct matrices *m, const LLVMValueRef *words);
// `location`: of the op, for checks; a null pointer: none.
void host_mma(struct emitter *e, const struct mma_operands *m, LLVMValueRef location,
              LLVMValueRef *ret);

#endif
