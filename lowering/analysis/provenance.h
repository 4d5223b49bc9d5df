// SPDX-License-Identifier: Apache-2.0
// Where a pointer comes from: which kernel parameter it was derived from.
#ifndef TILE_LOWERING_ANALYSIS_PROVENANCE_H
#define TILE_LOWERING_ANALYSIS_PROVENANCE_H

#include "mlir-dialects/ir.h"

// The index of the function argument that `ptr` (a pointer or a tile of pointers) is derived from
// by pointer arithmetic, shape ops, layout conversions, selects and loops; -1 when it comes from
// memory, from an integer, or from more than one argument.
int pointer_argument(struct ir_context *c, MlirValue ptr);

// Whether `ptr`, an operand of `user`, may be derived from an argument of `kernel` that is known to
// be no multiple of 16 bytes (tile.unaligned).
bool pointer_is_unaligned(struct ir_context *c, MlirOperation kernel, MlirOperation user,
                          MlirValue ptr);

#endif
