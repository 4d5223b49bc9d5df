// SPDX-License-Identifier: Apache-2.0
// Bank conflicts of shared memory, counted from the layouts alone: 32 banks of 4 bytes; an access
// of a warp is served in wavefronts, each of which reads one 4-byte word of every bank. Lanes that
// access the same word share it.
#ifndef TILE_LAYOUTS_BANKS_H
#define TILE_LAYOUTS_BANKS_H

#include "layouts/linear.h"

enum { BANK_COUNT = 32, BANK_BYTES = 4 };

struct bank_report {
  unsigned instructions; // of one warp, to move all its registers
  unsigned wavefronts;   // of all of them
  unsigned ideal;        // the least that the number of distinct bytes allows
};

static inline unsigned bank_conflicts(struct bank_report r) { return r.wavefronts - r.ideal; }

// `shared` maps (offset) to coordinates, `access` (register, lane, ...) to coordinates; warp 0
// moves `vec` registers (1, 2, 4, ...) an instruction, at most 16 bytes a lane. False when `vec`
// registers are not `vec` consecutive, aligned offsets, or the layouts are of different tensors.
bool bank_report_of(const struct linear_layout *shared, const struct linear_layout *access,
                    unsigned element_bits, unsigned vec, struct bank_report *ret);
// The widest `vec` that bank_report_of accepts; at least 1.
unsigned bank_vector_width(const struct linear_layout *shared, const struct linear_layout *access,
                           unsigned element_bits);

// One warp-wide access: lane i moves `bytes` (a power of two up to 16) at address[i], a multiple of
// `bytes`. 8-byte accesses are served by half warps, 16-byte ones by quarters.
unsigned bank_wavefronts(const uint32_t *address, unsigned lanes, unsigned bytes);

#endif
