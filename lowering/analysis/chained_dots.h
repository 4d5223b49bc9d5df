// SPDX-License-Identifier: Apache-2.0
// Products that feed each other, as the two of attention do: the result of one becomes operand A of
// the next in registers.
#ifndef TILE_LOWERING_ANALYSIS_CHAINED_DOTS_H
#define TILE_LOWERING_ANALYSIS_CHAINED_DOTS_H

#include "mlir-dialects/ir.h"

// Whether elementwise ops and conversions of layout lead, in the block of the tile.dot, from its
// result to operand A of another product, or from another product to its own operand A.
bool dot_is_chained(struct ir_context *c, MlirOperation dot, struct arena *scratch);

#endif
