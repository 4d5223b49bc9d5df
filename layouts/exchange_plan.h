// SPDX-License-Identifier: Apache-2.0
// Conversions through shared memory (CONVERT_SHARED): a place in memory for every element, such
// that storing from the source's registers and loading into the destination's are both as wide as
// they can be together and free of bank conflicts. Where a side could go wider alone, it does.
//
// The emission, for each side: for every register r with (r & skip_mask) == 0, one access of
// 2^vec_bits elements at the offset `offsets` gives for (r, lane, warp); element i of it is
// register r + (the sum of 1 << vec_register[k] for the set bits k of i). Threads that only
// replicate need not store. Between the two sides a barrier.
#ifndef TILE_LAYOUTS_EXCHANGE_PLAN_H
#define TILE_LAYOUTS_EXCHANGE_PLAN_H

#include "layouts/linear.h"

enum { EXCHANGE_VEC_BITS = 4 }; // 16 elements of 8 bits

struct exchange_side {
  struct linear_layout offsets; // (register, lane, warp) -> offset in elements, one dimension
  unsigned vec_bits;            // log2 of the elements of an access
  unsigned vec_register[EXCHANGE_VEC_BITS];
  uint32_t skip_mask; // registers inside a vector, and copies of other registers
};

struct exchange_plan {
  struct linear_layout shared; // offset -> coordinates, a bijection: no padding
  struct exchange_side store, load;
};

// Both layouts must be surjective on the same shape; `element_bits` is 8, 16, 32 or 64.
bool exchange_plan_make(const struct linear_layout *src, const struct linear_layout *dst,
                        unsigned element_bits, struct exchange_plan *ret);
// The same where the places are given.
bool exchange_plan_with(const struct linear_layout *src, const struct linear_layout *dst,
                        const struct linear_layout *shared, unsigned element_bits,
                        struct exchange_plan *ret);
// Wavefronts of shared memory that warp 0 needs for the whole side. `copies`: lanes that stand
// aside, as bits of the lane's number.
unsigned exchange_wavefronts(const struct exchange_side *side, unsigned element_bits,
                             uint32_t copies);

#endif
