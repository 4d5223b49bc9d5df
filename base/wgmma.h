// SPDX-License-Identifier: Apache-2.0
// Shapes of wgmma.mma_async (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
// Instructions"): four consecutive warps, the first a multiple of four, multiply 64 rows of A by N
// columns of B. B is read from shared memory, A from there or from registers.
#ifndef TILE_BASE_WGMMA_H
#define TILE_BASE_WGMMA_H

enum {
  WGMMA_WARPS = 4, // a warpgroup
  WGMMA_M = 64,
  WGMMA_MAX_N = 256,
  WGMMA_K_BYTES = 32,    // of a row of A: 16 elements of 16 bits
  WGMMA_MAX_PENDING = 7, // of wgmma.wait_group
  WGMMA_IN_FLIGHT = 3    // groups that the compiler leaves in flight after a product
};

#endif
