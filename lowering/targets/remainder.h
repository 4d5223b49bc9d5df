// SPDX-License-Identifier: Apache-2.0
// fmod, for targets without an instruction.
#ifndef TILE_LOWERING_TARGETS_REMAINDER_H
#define TILE_LOWERING_TARGETS_REMAINDER_H

#include "lowering/llvm/emit.h"

// x - trunc(x / y) * y of f64 values, exact as C's fmod: a call of a function that the first use
// adds to the module.
LLVMValueRef remainder_call(struct emitter *e, LLVMValueRef x, LLVMValueRef y);

#endif
