// SPDX-License-Identifier: Apache-2.0
// The schedule of a conversion inside a warp (CONVERT_SHUFFLES). All is linear over GF(2), so the
// schedule is a few masks. With t = warp * 32 + lane of the thread and par(t & m) the parity of the
// masked bits, the emitted code does, on values x[src] of a thread:
//
//   1. send side:  for each pre stage:   x[i] = par(t & mask) ? x[i ^ flip] : x[i]      (for all i)
//   2. exchange:   for each round r, 0 <= r < 2^dst_bits:
//                    y[r] = shuffle(x[send(r)], from lane(t) ^ lane_flip(r))
//                  with choice_count choices, the same again for x[send(r) ^ choice_flip[c]] and
//                  a select, see shuffle_round
//   3. receive:    for each post stage:  y[i] = par(t & mask) ? y[i ^ flip] : y[i]      (for all i)
//
// y is then the destination's registers. Stages select between two registers a value; rounds that
// repeat an earlier one (replicated destinations) cost nothing; a round that reads the own lane is
// a move. All lanes take part in every shuffle.
#ifndef TILE_LAYOUTS_SHUFFLE_PLAN_H
#define TILE_LAYOUTS_SHUFFLE_PLAN_H

#include "layouts/convert_plan.h"

enum { SHUFFLE_MAX_STAGES = 16, SHUFFLE_LANE_BITS = 5 };

struct shuffle_stage {
  uint32_t thread_mask, flip;
};

struct shuffle_plan {
  unsigned src_bits, dst_bits; // log2 of the registers of x and of y
  unsigned pre_count, post_count, choice_count;
  struct shuffle_stage pre[SHUFFLE_MAX_STAGES], post[SHUFFLE_MAX_STAGES];
  // Readers of one lane may need different registers of it, in patterns that no choice of rounds
  // resolves: then every round sends 2^choice_count registers, x[send ^ (flips of c)] for every
  // subset c, and bit i of the reader's own choice is par(t & choice[i].thread_mask).
  struct shuffle_stage choice[SHUFFLE_LANE_BITS];
  uint32_t lane_mask[SHUFFLE_LANE_BITS]; // bit i of lane(t) is par(t & lane_mask[i])
  bool lane_is_own;                      // lane(t) is the thread's own lane
  uint32_t send_of[LL_MAX_BITS], lane_flip_of[LL_MAX_BITS]; // images of the bits of r
};

struct shuffle_round {
  uint32_t send;      // register of x
  uint32_t lane_flip; // xor to lane(t)
  uint32_t same_as;   // a lower round with the same send and lane_flip, or r itself
  bool is_move;       // no shuffle: the source is the thread itself
};

// False when the plan's kind is CONVERT_SHARED (data crosses warps); true for all other kinds.
bool shuffle_plan_make(const struct convert_plan *p, struct shuffle_plan *ret);
struct shuffle_round shuffle_plan_round(const struct shuffle_plan *s, uint32_t r);
// Instructions per thread for 32-bit values: shuffles and selects.
unsigned shuffle_plan_shuffles(const struct shuffle_plan *s);
unsigned shuffle_plan_selects(const struct shuffle_plan *s);

#endif
