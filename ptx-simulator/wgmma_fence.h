// SPDX-License-Identifier: Apache-2.0
// wgmma.fence (PTX ISA, "wgmma.fence"): a fence comes before the first wgmma.mma_async of a warp,
// and between an access of a register by another instruction and a wgmma.mma_async that has it as
// accumulator or as part of A. Accumulators of products of one shape need none between them.
#ifndef TILE_SIMULATOR_WGMMA_FENCE_H
#define TILE_SIMULATOR_WGMMA_FENCE_H

#include "ptx-simulator/decode.h"

// The registers of products that an instruction names, numbered in the program.
struct wgmma_registers {
  bool is_product; // accumulators first, then A
  unsigned count;
  const uint32_t *at;
};

// Of a function that is decoded next: [register] is its number plus 1, 0 if no product has it.
// NULL: it has no products.
const uint32_t *wgmma_registers_find(struct decoder *d, const struct function *f);
// Of the instruction that is decoded; NULL if it names none.
const struct wgmma_registers *wgmma_registers_of(struct decoder *d);

// With `check`: an operation that names registers of products; wgmma.fence; a product, whose first
// `in_flight` registers are of a product in flight.
void wgmma_touch(struct warp *w, const struct op *op);
void wgmma_fence(struct warp *w);
void wgmma_check_fence(struct warp *w, const struct op *op, unsigned in_flight);

#endif
