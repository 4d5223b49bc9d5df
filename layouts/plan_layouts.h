// SPDX-License-Identifier: Apache-2.0
// What the plans of reductions and scans share: normalised layouts, and space for partial results
// in shared memory.
#ifndef TILE_LAYOUTS_PLAN_LAYOUTS_H
#define TILE_LAYOUTS_PLAN_LAYOUTS_H

#include "layouts/linear.h"

enum { PLAN_LANE_BITS = 5 };

// l with exactly the inputs register, lane (PLAN_LANE_BITS at least) and warp.
struct linear_layout plan_threads(const struct linear_layout *l);
// l, of that form, with those registers that are independent of lower ones; ret_bits: which bits of
// the register they were.
struct linear_layout plan_distinct_registers(const struct linear_layout *l, unsigned *ret_bits);
// `count` areas of 2^element_bits elements of `bits[i]` bits one after another; returns the bytes
// of all.
uint32_t plan_areas(unsigned count, const unsigned *bits, unsigned element_bits,
                    uint32_t *ret_offset);

#endif
