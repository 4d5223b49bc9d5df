// SPDX-License-Identifier: Apache-2.0
// Products of 8-bit floats whose sums are promoted. The tensor cores of Hopper keep about 14 bits
// of a sum of such products, also in an f32 accumulator. A tile.dot whose `max_num_imprecise_acc`
// is at most K sums so many elements of K at a time, from zero, and adds each of these sums to the
// accumulator in f32.
#ifndef TILE_LOWERING_ANALYSIS_DOT_PROMOTION_H
#define TILE_LOWERING_ANALYSIS_DOT_PROMOTION_H

#include "mlir-dialects/ir.h"

// After how many elements of K wgmma has to promote the sums of a tile.dot: a multiple of its K, at
// most `max_num_imprecise_acc`. 0: never; they are added to in the tensor core.
int32_t dot_promoted_every(MlirOperation dot);

#endif
