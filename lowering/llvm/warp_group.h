// SPDX-License-Identifier: Apache-2.0
// Products by warpgroups, shared by the check of what wgmma can read (warp_group_fits.c), the
// descriptors of operands (warp_group_descriptors.c) and the instructions (warp_group_products.c).
#ifndef TILE_LOWERING_LLVM_WARP_GROUP_H
#define TILE_LOWERING_LLVM_WARP_GROUP_H

#include "base/wgmma.h"
#include "layouts/encoding.h"
#include "lowering/llvm/dot.h"

struct shared_operand {
  const struct encoding *encoding; // nvmma_shared
  bool k_is_inner;
  uint32_t rows;           // elements of the other dimension than the contiguous one
  uint32_t strip;          // elements of the contiguous dimension in a strip
  LLVMValueRef descriptor; // i64, of the warpgroup's first element
};

struct warp_group_product {
  MlirOperation op;
  const struct encoding *mma;
  enum dtype dtype[2], acc_dtype;   // of A and B
  uint32_t k, n, k_step;            // n and k_step: of the layout's instruction
  uint32_t promoted_every;          // elements of K; 0: never
  unsigned row_tiles, column_tiles; // of a warpgroup
  unsigned groups[2];               // warpgroups along M and N
  struct shared_operand a, b;
  bool a_in_registers;
};

// The tile of operand i, which may be in a buffer.
MlirType warp_group_tile(struct emitter *e, MlirOperation op, unsigned i);
// Whether wgmma can compute the tilegpu.warp_group_dot; reports why not.
bool warp_group_fits(struct emitter *e, MlirOperation op);

// Fills the descriptor of the buffer that operand i is in.
void warp_group_describe(struct emitter *e, struct warp_group_product *p, unsigned i);
// The descriptor (i64) of operand i from element k on, for row or column `first` of tile `tile` of
// the warpgroup.
LLVMValueRef warp_group_descriptor(struct emitter *e, const struct warp_group_product *p,
                                   unsigned i, unsigned tile, uint32_t first, uint32_t k);

// Constraints of accumulators that are results of an assembly and its first arguments, each pair in
// one register. Returns the type of the results.
LLVMTypeRef warp_group_tie(struct emitter *e, unsigned count, bool floats,
                           struct strbuf *constraints);
// Emits the product and binds the result of the op.
void warp_group_multiply(struct emitter *e, const struct warp_group_product *p);

#endif
