// SPDX-License-Identifier: Apache-2.0
// Matrix instructions in code for the CPU.
#ifndef TILE_LOWERING_TARGETS_CPU_MATRICES_H
#define TILE_LOWERING_TARGETS_CPU_MATRICES_H

#include "lowering/llvm/emit.h"

void cpu_load_matrices(struct emitter *e, const struct matrices *m, LLVMValueRef *ret);
void cpu_store_matrices(struct emitter *e, const struct matrices *m, const LLVMValueRef *words);
// `location`: of the op, for checks; a null pointer: none.
void cpu_mma(struct emitter *e, const struct mma_operands *m, LLVMValueRef location,
             LLVMValueRef *ret);

#endif
