// SPDX-License-Identifier: Apache-2.0
// The plan of a reduction along one dimension: a list of steps on the registers x[0 .. 2^k) of
// every thread:
//
//   registers   x[r] with x[r ^ reg], in the thread; register bit `drop` is removed
//   lanes       x[r] with x[r ^ reg] of lane ^ `lane`; both lanes have the result
//   scatter     the same for half of the registers: lanes with bit `keep_lane` keep those with bit
//               `drop`, the others the rest, and each sends what the other keeps
//
// Where an element's group spans warps, the partial results then go through shared memory, once,
// into the layout `spread`, and a second list of steps finishes. Every step follows from the
// layout: with E = A + O (along the axis, and the other dimensions), a step is a vector of
// registers and lanes whose image lies in A; the layout of the rest is the quotient by it.
//
// An ordered plan combines neighbours first, so that every partial result is that of a run of
// elements: as functions that are only associative need. Other plans take registers first, then
// lanes.
#ifndef TILE_LAYOUTS_REDUCE_PLAN_H
#define TILE_LAYOUTS_REDUCE_PLAN_H

#include "layouts/linear.h"

enum { REDUCE_MAX_VALUES = 8 };

// What is reduced: `count` tiles at once, with elements of bits[i] bits in memory.
struct reduce_request {
  unsigned count, bits[REDUCE_MAX_VALUES];
  bool ordered;      // the function may not be commutative
  bool by_warp;      // one instruction reduces all lanes of a warp
  unsigned combines; // instructions of the function, estimated; 0 counts as 1
};

enum reduce_step_kind { REDUCE_REGISTERS, REDUCE_LANES, REDUCE_SCATTER };

struct reduce_step {
  enum reduce_step_kind kind;
  uint32_t reg, lane; // xor to the own register and lane: the partner
  unsigned drop, keep_lane;
  // The own value is the later one where parity(r & order_register) + parity(thread & order_thread)
  // is odd; r counts registers before the step, after it for a scatter. Both 0: the order does not
  // matter.
  uint32_t order_register, order_thread;
};

struct reduce_phase {
  unsigned register_bits; // of the first step
  unsigned count;
  struct reduce_step step[LL_MAX_BITS];
  bool whole_warp;              // the lanes' steps are consecutive and take all lanes of a warp
  struct linear_layout partial; // the result of the steps; along the axis, what is not yet reduced
};

struct reduce_plan {
  unsigned axis;
  // The registers of the operand that differ: bit i of the first step's register is this bit.
  unsigned start_bit[LL_MAX_BITS];
  struct reduce_phase local;
  bool exchanges;
  struct linear_layout spread; // the layout that local.partial is loaded in
  struct reduce_phase last;    // with an exchange only
  struct linear_layout result; // of the reduced tile, before conversion to `dst`
  // Bytes of shared memory for the exchange, and where the values' areas start.
  uint32_t scratch_bytes, offset[REDUCE_MAX_VALUES];
};

// dst: the layout of the result, without the axis; NULL for a scalar that all threads get. False
// when `src` is not surjective on its tile or the tiles do not agree.
bool reduce_plan_make(const struct linear_layout *src, unsigned axis,
                      const struct linear_layout *dst, const struct reduce_request *request,
                      struct reduce_plan *ret);

#endif
