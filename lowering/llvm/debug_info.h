// SPDX-License-Identifier: Apache-2.0
// Line tables of emitted LLVM IR, from the locations of operations. In PTX they are `.file` and
// `.loc` directives, which profilers, compute-sanitizer and cuda-gdb read; for the CPU they are
// DWARF, with variables, and only with TILE_DEBUG=gdb.
#ifndef TILE_LOWERING_LLVM_DEBUG_INFO_H
#define TILE_LOWERING_LLVM_DEBUG_INFO_H

#include "mlir-dialects/ir.h"

#include <llvm-c/Core.h>

struct source_location {
  const char *file; // NULL: unknown
  unsigned line, col;
};
// The innermost location. On `a`.
struct source_location source_location_of(struct arena *a, MlirLocation loc);

struct debug_info;

// What is emitted: `b` builds it, and `kernel` is the operation of `function`, named `name`.
struct debug_module {
  struct arena *a;
  LLVMContextRef llvm;
  LLVMModuleRef module;
  LLVMBuilderRef b;
  MlirOperation kernel;
  LLVMValueRef function;
  const char *name;
  bool is_cpu;
  uint64_t variable_bytes; // for the variables of a function; debuggers are told that others are
                           // optimised out
};
// NULL where no line tables are wanted; the functions below take that.
struct debug_info *debug_info_begin(const struct debug_module *m);
// Instructions from here on are those of `op`.
void debug_info_at(struct debug_info *d, MlirOperation op);
void debug_info_end(struct debug_info *d);
// Locations and variables from here on are those of `function`, of the operation `func`, until
// debug_info_leave; then again those of the function around it.
void debug_info_enter(struct debug_info *d, LLVMValueRef function, MlirOperation func,
                      const char *name);
void debug_info_leave(struct debug_info *d);
// Memory in the function's frame for the variable that `op` (tile.debug_value) gives a value: an
// element, or `shape` of them in row-major order. The caller stores the value there. NULL: nobody
// sees it.
LLVMValueRef debug_info_variable(struct debug_info *d, MlirOperation op, LLVMTypeRef element,
                                 unsigned rank, const int64_t *shape);

#endif
