// SPDX-License-Identifier: Apache-2.0
// Functions for passes that rewrite loops.
#ifndef TILE_LOWERING_PASSES_LOOPS_H
#define TILE_LOWERING_PASSES_LOOPS_H

#include "mlir-dialects/ir.h"

static inline MlirBlock loop_body(MlirOperation loop) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0));
}

// Is `v` defined inside `loop` (as an op's result or as a block argument)?
bool loop_defines(MlirOperation loop, MlirValue v);

// Appends an operand to an op.
void op_append_operand(MlirOperation op, MlirValue v, struct arena *a);

// Replaces the scf.for `old` by one with results for all arguments of its body; operands and
// terminator must already match. Uses of old results move to the new ones of the same number.
MlirOperation loop_rebuild(MlirOperation old, struct arena *a);

#endif
