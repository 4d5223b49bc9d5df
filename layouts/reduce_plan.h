// SPDX-License-Identifier: Apache-2.0
// How to combine the elements of a tile along one dimension. A plan is a list of steps on the
// registers x[0 .. 2^k) of every thread:
//
//   registers   x[r] with x[r ^ reg], in the thread; register bit `drop` goes
//   lanes       x[r] with x[r ^ reg] of lane ^ `lane`; both lanes have the result
//   scatter     the same for half of the registers: lanes with bit `keep_lane` keep those with bit
//               `drop`, the others the rest, and each sends what the other keeps
//
// Where warps share an element's group, the partial results then go through shared memory, once,
// into the layout `spread`, and a second list of steps ends it. Every step follows from the layout:
// with E = A + O (along the axis, and the other dimensions), a step is a vector of registers and
// lanes whose image lies in A; the layout of what is left is the quotient by it.
//
// An ordered plan combines neighbours first, so that every partial result is that of a run of
// elements: what a function needs that is associative only. Others take registers first, then
// lanes.
#ifndef TILE_LAYOUTS_REDUCE_PLAN_H
#define TILE_LAYOUTS_REDUCE_PLAN_H

#include "layouts/linear.h"

enum { REDUCE_MAX_VALUES = 8 };

// What is reduced: so many tiles at once, with elements of so many bits in memory.
struct reduce_request {
  unsigned count, bits[REDUCE_MAX_VALUES];
  bool ordered;      // the function may not be commutative
  bool by_warp;      // one instruction can do it for all lanes of a warp
  unsigned combines; // about how many instructions the function takes; 0 counts as 1
};

enum reduce_step_kind { REDUCE_REGISTERS, REDUCE_LANES, REDUCE_SCATTER };

struct reduce_step {
  enum reduce_step_kind kind;
  uint32_t reg, lane; // xor to the own register and lane: the partner
  unsigned drop, keep_lane;
  // The own value is the later one where parity(r & order_register) + parity(thread &
  // order_thread) is odd; r counts registers before the step, after it for a scatter. Both 0: any
  // order will do.
  uint32_t order_register, order_thread;
};

struct reduce_phase {
  unsigned register_bits; // of the first step
  unsigned count;
  struct reduce_step step[LL_MAX_BITS];
  bool whole_warp;              // the lanes' steps are consecutive and take all lanes of a warp
  struct linear_layout partial; // what the steps leave; the axis is what remains of it
};

struct reduce_plan {
  unsigned axis;
  // The registers of the operand that differ: bit i of the first step's register is this bit.
  unsigned start_bit[LL_MAX_BITS];
  struct reduce_phase local;
  bool exchanges;
  struct linear_layout spread; // the layout that local.partial is loaded in
  struct reduce_phase last;    // where it exchanges
  struct linear_layout result; // of the reduced tile, to be converted to the one asked for
  // Bytes of shared memory for the exchange, and where the values' areas start.
  uint32_t scratch_bytes, offset[REDUCE_MAX_VALUES];
};

// dst: the layout of the result, without the axis; NULL for a scalar that all threads get. False
// when `src` is not surjective on its tile or the tiles do not agree.
bool reduce_plan_make(const struct linear_layout *src, unsigned axis,
                      const struct linear_layout *dst, const struct reduce_request *request,
                      struct reduce_plan *ret);

#endif
