// SPDX-License-Identifier: Apache-2.0
// Where a pointer comes from: which kernel parameter it was derived from.
#ifndef TILE_LOWERING_ANALYSIS_PROVENANCE_H
#define TILE_LOWERING_ANALYSIS_PROVENANCE_H

#include "mlir-dialects/ir.h"

// The index of the function argument that `ptr` (a pointer or a tile of pointers) is derived from
// by pointer arithmetic, shape ops, layout conversions, selects and loops; -1 when it comes from
// memory, from an integer, or from more than one argument.
int pointer_argument(struct ir_context *c, MlirValue ptr);

// The function around `op`, or `op` itself; null if there is none.
MlirOperation function_around(struct ir_context *c, MlirOperation op);
// The name of argument `at` of that function, on `a`; NULL if it has none, or `at` is -1.
const char *parameter_name(struct ir_context *c, struct arena *a, MlirOperation op, int at);

// Memory by name: n, the memory of argument n; POINTED_MEMORY + n, the memory that pointers stored
// in the memory of argument n lead to (a table of matrices); -1: unknown. Like the memory of two
// arguments, memory of different names is taken as disjoint where accesses of one thread or another
// are reordered.
enum { POINTED_MEMORY = 1 << 16 };
int pointer_memory(struct ir_context *c, MlirValue ptr);

// Whether `ptr`, an operand of `user`, may be derived from an argument of `kernel` that is known to
// be no multiple of 16 bytes (tile.unaligned).
bool pointer_is_unaligned(struct ir_context *c, MlirOperation kernel, MlirOperation user,
                          MlirValue ptr);

#endif
