// SPDX-License-Identifier: Apache-2.0
// Which products accelerate-dot gives to wgmma, and the layout of their accumulators.
#ifndef TILE_LOWERING_PASSES_WGMMA_CHOICE_H
#define TILE_LOWERING_PASSES_WGMMA_CHOICE_H

#include "lowering/target.h"
#include "mlir-dialects/ir.h"

// The value that was converted to `v`: the operand of a tilegpu.convert_layout; else `v`.
MlirValue value_as_computed(struct ir_context *c, MlirValue v);

// NULL: wgmma has the product's types and shape, with this number of warps: 64 rows for each
// warpgroup. Else why not. Which dimension of an operand is contiguous is left to wgmma_computes.
const char *wgmma_why_not(const struct target *target, uint32_t num_warps, MlirOperation dot);

// Whether each warpgroup has whole rows of the result: it can become operand A of another product
// in registers.
bool wgmma_has_whole_rows(uint32_t num_warps, MlirOperation dot);

// Whether K must be the contiguous dimension of both operands.
bool wgmma_needs_k_inside(MlirOperation dot);

// Whether wgmma can compute the tile.dot, whose operands have blocked layouts, with this number of
// warps: the types, the operands' contiguous dimensions, and 64 rows for each warpgroup.
bool wgmma_computes(struct ir_context *c, const struct target *target, uint32_t num_warps,
                    MlirOperation dot);

// The accumulator's layout, of such a product.
MlirAttribute wgmma_layout(struct ir_context *c, uint32_t num_warps, MlirOperation dot);

#endif
