// SPDX-License-Identifier: Apache-2.0
// Matrix products: operands as tables from coordinates to registers. Shared by the two
// implementations, chains of fma (emit_dot.c) and matrix instructions (emit_mma.c).
#ifndef TILE_LOWERING_LLVM_DOT_H
#define TILE_LOWERING_LLVM_DOT_H

#include "lowering/llvm/emit.h"

enum dot_dim { DOT_BATCH, DOT_ROW, DOT_COLUMN, DOT_DIMS };

// The coordinates of one dimension in registers of thread 0, ascending. Those of another thread are
// xor-ed with its own offset.
struct dot_axis {
  uint32_t size; // of the tile
  unsigned count;
  const uint32_t *coords;
  const uint32_t *number; // of a coordinate; UINT32_MAX: absent
};

// An operand, or the accumulator. A tile of rank 2 is one batch.
struct dot_tile {
  const struct linear_layout *layout;
  enum dtype dtype;
  struct dot_axis axis[DOT_DIMS];
  LLVMValueRef *at; // by the numbers of coordinates, batches outermost; NULL: in no register
};

struct dot {
  MlirOperation op;
  struct dot_tile a, b, acc; // acc is also the result
};

// The table of a value of this type.
struct dot_tile dot_tile_of(struct emitter *e, MlirType type, const struct emitted *x);
// Binds the result of the op to the registers of the accumulator.
void dot_bind_result(struct emitter *e, const struct dot *d);
// The slot of the element; NULL: not in thread 0.
LLVMValueRef *dot_at(const struct dot_tile *t, uint32_t batch, uint32_t row, uint32_t column);
// Coordinate `dim` of the image of bit `bit` of the lane or the warp.
uint32_t dot_image(const struct dot_tile *t, enum ll_in in, unsigned bit, enum dot_dim dim);

// The product of operands in registers of these types; op has the accumulator and the result.
bool emit_dot_of(struct emitter *e, MlirOperation op, const MlirType types[2],
                 const struct emitted x[2]);

// emit_mma.c: the products by matrix instructions.
bool emit_mma(struct emitter *e, struct dot *d);

#endif
