// SPDX-License-Identifier: Apache-2.0
// LLVM's opcodes and bit arithmetic that both emitters share: the one for threads (lowering/llvm)
// and the one for vectors of a processor (lowering/processor).
#ifndef TILE_LOWERING_LLVM_OPCODES_H
#define TILE_LOWERING_LLVM_OPCODES_H

#include "base/dtype.h"
#include "base/str.h"

#include <llvm-c/Core.h>

#include <stdbool.h>

// Of the attribute `predicate` of arith.cmpf; false for other numbers.
bool llvm_float_predicate(int64_t predicate, LLVMRealPredicate *ret);
// Of the attribute `kind` of atomic operations; false for other words.
bool llvm_atomic_opcode(struct str kind, LLVMAtomicRMWBinOp *ret);
// The 8-bit float (f8e5, f8e4nv) nearest to `x`, an f32 or a vector of them, in bytes, exactly as
// base/dtype.c rounds: ties to even; f8e4nv saturates, f8e5 overflows to infinity.
LLVMValueRef llvm_fp8_of_f32(LLVMBuilderRef b, LLVMValueRef x, enum dtype to);

#endif
