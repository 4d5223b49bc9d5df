// SPDX-License-Identifier: Apache-2.0
// What passes that change loops share.
#ifndef TILE_LOWERING_PASSES_LOOPS_H
#define TILE_LOWERING_PASSES_LOOPS_H

#include "mlir-dialects/ir.h"

static inline MlirBlock loop_body(MlirOperation loop) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0));
}

// Is `v` defined inside `loop` (as an op's result or as a block argument)?
bool loop_defines(MlirOperation loop, MlirValue v);

// Gives an op one operand more, its last.
void op_append_operand(MlirOperation op, MlirValue v, struct arena *a);

// Replaces the scf.for `old` by one whose results are what its body's arguments say, in number and
// type; operands and the terminator are expected to agree already. Uses of old results move to the
// new ones of the same number.
MlirOperation loop_rebuild(MlirOperation old, struct arena *a);

#endif
