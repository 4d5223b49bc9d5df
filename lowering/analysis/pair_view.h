// SPDX-License-Identifier: Apache-2.0
// tile.join and tile.split on layouts: a tile whose last dimension is 2, and its two elements.
#ifndef TILE_LOWERING_ANALYSIS_PAIR_VIEW_H
#define TILE_LOWERING_ANALYSIS_PAIR_VIEW_H

#include "layouts/linear.h"

// For each register of the result of a join with layout `pair`: its element's coordinates in the
// operand that the last coordinate selects.
struct linear_layout half_view(const struct linear_layout *pair);

// The layout of a pair in which every thread that holds an element of `half` (NULL: a scalar) holds
// both elements of the pair: register 2r + k is register r of half k.
struct linear_layout pair_view(const struct linear_layout *half);

#endif
