// SPDX-License-Identifier: Apache-2.0
// Products that add to a tile which a loop carries:
//
//   scf.for ... iter_args(%acc = %zero) { ...  %sum = dot %a, %b, %acc   scf.yield %sum }
//
// Nothing else in the loop reads such a tile, so that a product may be in flight (wgmma) while the
// next iteration begins: products of one accumulator complete in order.
// Only of 32 bits: 16-bit accumulators share registers, which would be unpacked and packed between
// products.
#ifndef TILE_LOWERING_ANALYSIS_LOOP_ACCUMULATOR_H
#define TILE_LOWERING_ANALYSIS_LOOP_ACCUMULATOR_H

#include "mlir-dialects/ir.h"

// The index of the carried 32-bit value that the product (operand 2 is the accumulator) adds to, if it
// is in the body of `loop`, an scf.for, and nothing else reads that value or the sum in it; else
// -1.
intptr_t loop_accumulator(MlirOperation loop, MlirOperation product);

#endif
