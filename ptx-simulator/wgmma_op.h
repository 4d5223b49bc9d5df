// SPDX-License-Identifier: Apache-2.0
// Products of warpgroups: decoded (wgmma_decode.c) and executed (wgmma.c).
#ifndef TILE_SIMULATOR_WGMMA_OP_H
#define TILE_SIMULATOR_WGMMA_OP_H

#include "ptx-simulator/decode.h"
#include "ptx-simulator/matrix.h"

enum { WGMMA_A_WORDS = 4 }; // registers of A

struct wgmma {
  struct matrix_mma mma; // m16n8 with the same types and K
  unsigned n, words;     // registers of the accumulator
  bool a_in_registers, a_transposed, b_transposed;
};

void wgmma_product_op(struct warp *w, const struct op *op, uint32_t lanes);
void wgmma_commit_op(struct warp *w, const struct op *op, uint32_t lanes);
void wgmma_wait_op(struct warp *w, const struct op *op, uint32_t lanes);
void wgmma_fence_op(struct warp *w, const struct op *op, uint32_t lanes);

#endif
