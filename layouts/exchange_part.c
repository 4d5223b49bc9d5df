// SPDX-License-Identifier: Apache-2.0
// Reads a part of a tile whose offsets are given. The part's corner is one more vector that moves
// offsets: while the side is planned it counts as bits of the warp, so that no access is wider than
// the corner allows; then these bits are removed.
#include "layouts/exchange_plan.h"

// The layout of the part, seen in the whole tile: one more warp basis for each bit of the tile's
// coordinates that the part does not have.
static bool in_whole(const struct linear_layout *part, const struct linear_layout *shared,
                     struct linear_layout *ret) {
  if (part->out_count != shared->out_count)
    return false;
  *ret = *part;
  memcpy(ret->out_bits, shared->out_bits, sizeof ret->out_bits);
  for (unsigned d = 0; d < part->out_count; d++) {
    if (part->out_bits[d] > shared->out_bits[d])
      return false;
    for (unsigned b = part->out_bits[d]; b < shared->out_bits[d]; b++) {
      uint32_t coords[LL_MAX_OUT] = {[0] = 0};
      coords[d] = 1u << b;
      ll_push_basis(ret, LL_WARP, coords);
    }
  }
  return true;
}

// The offset of the corner: the sum of the images that in_whole added.
static uint32_t corner_of(const struct linear_layout *whole, const struct linear_layout *part,
                          const struct linear_layout *offsets, const uint32_t *corner) {
  int warps = ll_find_in(whole, LL_WARP), to = ll_find_in(offsets, LL_WARP);
  uint32_t at = 0;
  for (unsigned b = ll_in_bits(part, LL_WARP); b < ll_in_bits(whole, LL_WARP); b++)
    for (unsigned d = 0; d < part->out_count; d++)
      if (corner[d] & whole->basis[warps][b][d])
        at ^= offsets->basis[to][b][0];
  return at;
}

bool exchange_part_with(const struct linear_layout *layout, const struct linear_layout *shared,
                        const uint32_t *corner, unsigned element_bits, unsigned instructions,
                        struct exchange_side *ret) {
  struct linear_layout whole;
  struct exchange_plan plan;
  if (!in_whole(layout, shared, &whole) ||
      !exchange_plan_with(&whole, &whole, shared, element_bits, instructions, &plan))
    return false;
  *ret = plan.load;
  ret->start = corner_of(&whole, layout, &ret->offsets, corner);
  ret->offsets = ll_resize_in(&ret->offsets, LL_WARP, ll_in_bits(layout, LL_WARP));
  return true;
}
