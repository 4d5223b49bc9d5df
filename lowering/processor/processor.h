// SPDX-License-Identifier: Apache-2.0
// The vector path to a processor: a program (CTA) is one call on one thread, and its tiles are
// loops over vectors. It takes kernels in `tile` form, without layouts; what it does not know it
// refuses, and the kernel goes the other way, thread by thread (lowering/targets/cpu.c).
#ifndef TILE_LOWERING_PROCESSOR_PROCESSOR_H
#define TILE_LOWERING_PROCESSOR_PROCESSOR_H

#include "base/kernel_info.h"
#include "lowering/target.h"
#include "mlir-dialects/ir.h"

#include <llvm-c/Core.h>

// Why a kernel cannot take this path.
struct refusal {
  MlirOperation op; // null: the kernel as a whole
  const char *why;  // on the context's arena
};

// The module of the kernel in context `llvm`: `void NAME(struct cpu_thread *, void *const *args)`
// (base/cpu_abi.h), called once per program, whose `shared` points to info.shared_bytes bytes of
// scratch, aligned to 64;
// `codegen` makes code of it. ret_info is on the arena of `c`. NULL: refused, or an error was
// reported.
LLVMModuleRef emit_processor(struct ir_context *c, MlirModule module, const struct target *target,
                             uint32_t num_warps, uint32_t num_stages, LLVMContextRef llvm,
                             struct kernel_info *ret_info, struct refusal *ret_refusal);

#endif
