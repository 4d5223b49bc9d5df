// SPDX-License-Identifier: Apache-2.0
// tilegpu.part on layouts: a part of a tile that each thread finds in its own registers.
#ifndef TILE_LOWERING_ANALYSIS_PART_VIEW_H
#define TILE_LOWERING_ANALYSIS_PART_VIEW_H

#include "layouts/linear.h"

struct part_view {
  uint32_t first;             // the tile's register that is register 0 of the part
  uint32_t bits[LL_MAX_BITS]; // which of its bits change with each bit of the part's
};

// at: where the part begins, multiples of its dimensions. False if other threads have elements
// of it.
bool part_view_make(const struct linear_layout *whole, const struct linear_layout *part,
                    const int32_t *at, struct part_view *ret);
// The tile's register that is register r of the part.
uint32_t part_view_register(const struct part_view *v, uint32_t r);

#endif
