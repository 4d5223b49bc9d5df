// SPDX-License-Identifier: Apache-2.0
// The plan of a scan along one dimension. Every bit of the coordinate along the axis must be one
// bit of the register, the lane or the warp; the bits are processed from the lowest up:
//
//   serial   the lowest bits, registers: a thread goes through its neighbours one by one
//   steps    then lanes and registers, one bit at a time: of two runs side by side, the later one
//            learns the total of the earlier one, and both the total of the two
//   rest     from the first bit of a warp on: all totals go through shared memory, and every thread
//            combines those before its own
//
// The prefix of a run is kept separately and combined with its elements once, at the end. Other
// layouts are first converted to one of this form, and the result back.
#ifndef TILE_LAYOUTS_LAYOUT_SCAN_PLAN_H
#define TILE_LAYOUTS_LAYOUT_SCAN_PLAN_H

#include "layouts/linear.h"

enum { SCAN_MAX_VALUES = 8 };

struct scan_step {
  bool is_lane;
  unsigned bit; // of the lane's or of the register's number
};

struct scan_plan {
  unsigned axis;
  struct linear_layout layout;                // to scan in; replicated registers are dropped
  bool converts;                              // the operand has another layout
  unsigned serial_count, serial[LL_MAX_BITS]; // register bits, the lowest first
  unsigned step_count;
  struct scan_step step[LL_MAX_BITS];
  // The rest: bit i of the index among the totals is that of this register or thread bit.
  unsigned rest_count;
  uint32_t rest_register[LL_MAX_BITS], rest_thread[LL_MAX_BITS]; // masks of one bit, or 0
  unsigned total_count, total_bit[LL_MAX_BITS];                  // register bits that number totals
  // Layouts of the totals as stored (register i: total_bit) and as loaded by every thread: first
  // the bits of the rest, then the register bits `own_bit` of other dimensions.
  struct linear_layout totals, spread;
  unsigned own_count, own_bit[LL_MAX_BITS];
  uint32_t scratch_bytes, offset[SCAN_MAX_VALUES];
};

// `bits`: of the elements of `count` tiles in memory. False when `src` is not surjective.
bool scan_plan_make(const struct linear_layout *src, unsigned axis, unsigned count,
                    const unsigned *bits, struct scan_plan *ret);

#endif
