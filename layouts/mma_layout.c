// SPDX-License-Identifier: Apache-2.0
// Tensor-core fragments, as the PTX ISA lays them out: accumulators of mma.sync m16n8 (version 2)
// and wgmma m64nN (version 3), and the A and B operands in registers.
//
// All follow one pattern: 8 rows of 4 lanes; each lane holds `inner` neighbouring elements of the
// inner dimension (2 of an accumulator, k_width of an operand); then registers step 8 rows further,
// then along the inner dimension.
#include "layouts/encoding_internal.h"

struct fragment {
  unsigned outer, inner;           // dimensions of the tensor
  unsigned outer_bits, inner_bits; // log2 of the fragment's size
  unsigned neighbour_bits;         // log2 of the elements a lane holds side by side
};

static void extend_fragment(struct linear_layout *tile, struct fragment f) {
  tile_extend(tile, LL_REGISTER, f.inner, f.neighbour_bits);
  tile_extend(tile, LL_LANE, f.inner, 2);
  tile_extend(tile, LL_LANE, f.outer, 3);
  tile_extend(tile, LL_REGISTER, f.outer, f.outer_bits - 3);
  tile_extend(tile, LL_REGISTER, f.inner, f.inner_bits - 2 - f.neighbour_bits);
}

// mma.sync counts warps row-major; wgmma stacks them along M, since four consecutive ones share its
// 64 rows. Warps along `skip` hold the same elements.
static void extend_warps(struct linear_layout *tile, const struct encoding *mma, int skip) {
  for (unsigned k = 0; k < mma->rank; k++) {
    unsigned d = mma->mma.version == 3 ? k : mma->rank - 1 - k;
    unsigned bits = log2_floor(mma->mma.warps_per_cta[d]);
    if ((int)d != skip)
      tile_extend(tile, LL_WARP, d, bits);
    else
      tile_replicate(tile, LL_WARP, bits);
  }
}

bool mma_to_linear(const struct encoding *e, const struct shape_bits *shape,
                   struct linear_layout *ret, const char **ret_why) {
  (void)ret_why;
  unsigned rank = e->rank;
  struct linear_layout tile = tile_start(rank);
  extend_fragment(&tile, (struct fragment){.outer = rank - 2,
                                           .inner = rank - 1,
                                           .outer_bits = 4,
                                           .inner_bits = log2_floor(e->mma.instr_shape[1]),
                                           .neighbour_bits = 1});
  extend_warps(&tile, e, -1);
  uint32_t order[LL_MAX_OUT];
  for (unsigned k = 0; k < rank; k++)
    order[k] = rank - 1 - k;
  *ret = tile_fit(&tile, shape, order);
  return true;
}

bool mma_dot_to_linear(const struct encoding *dot, const struct shape_bits *shape,
                       struct linear_layout *ret, const char **ret_why) {
  const struct encoding *mma = dot->dot.parent;
  unsigned rank = dot->rank;
  bool is_a = dot->dot.op_idx == 0;
  (void)ret_why;
  // A is M x K with K inner; B is K x N, its fragment transposed: K inner, N outer.
  unsigned k_dim = is_a ? rank - 1 : rank - 2, other = is_a ? rank - 2 : rank - 1;
  unsigned width_bits = log2_floor(dot->dot.k_width);
  // wgmma itself takes B from shared memory; the columns of a warpgroup stay together.
  unsigned columns_bits = mma->mma.version == 3 ? log2_floor(mma->mma.instr_shape[1]) : 3;
  struct linear_layout tile = tile_start(rank);
  extend_fragment(&tile, (struct fragment){.outer = other,
                                           .inner = k_dim,
                                           .outer_bits = is_a ? 4 : columns_bits,
                                           .inner_bits = width_bits + 3,
                                           .neighbour_bits = width_bits});
  // K of A lies where the accumulator has N, K of B where it has M: warps there share operands.
  extend_warps(&tile, mma, (int)k_dim);
  uint32_t order[LL_MAX_OUT] = {k_dim, other};
  for (unsigned k = 2; k < rank; k++)
    order[k] = rank - 1 - k;
  *ret = tile_fit(&tile, shape, order);
  return true;
}
