// SPDX-License-Identifier: Apache-2.0
// Counts the sectors of 32 bytes that the lanes of a warp touch in one access; replicated lanes add
// none.
#include "lowering/cost/access_cost.h"

#include "lowering/analysis/layout_flow.h"
#include "lowering/analysis/liveness.h"

// Sectors and transfers are the hardware's; WRITE_SCALE and MANY_ELEMENTS are chosen, not measured
// by themselves.
enum {
  SECTOR_BYTES = 32,
  SECTORS_A_TRANSFER = 4,
  WRITE_SCALE =
      2, // parts of a line that are read again hit the cache; parts written are all transferred
  MANY_ELEMENTS = 16 // of a thread: a large tile, which is accessed in full lines at any cost
};

// The tile that is loaded, stored or combined.
static MlirType accessed_type(struct ir_context *c, MlirOperation op) {
  bool is_load = op_is(c, op, OP_TILE_LOAD);
  return mlirValueGetType(is_load ? mlirOperationGetResult(op, 0) : mlirOperationGetOperand(op, 1));
}

int64_t access_cost(struct ir_context *c, struct axis_analysis *axis, const struct target *target,
                    MlirOperation op, MlirAttribute encoding) {
  MlirType type = type_with_encoding(accessed_type(c, op), encoding);
  const struct linear_layout *l = linear_of_type(c, type);
  if (!l)
    return INT64_MAX / 4;
  struct axis_vector vector = axis_vector_of(axis, op, target, l);
  MlirValue ptr = mlirOperationGetOperand(op, 0);
  unsigned width = vector.width, dim = vector.dim;
  if (width == 1)
    dim = axis_fastest_dim(axis, ptr);
  unsigned bits = type_bits(c, element_type(type));
  uint32_t bytes = bits < 8 ? 1 : bits / 8;
  int64_t run = axis_contiguity(axis, ptr, dim);
  int64_t sectors = (width * bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
  int lane = ll_find_in(l, LL_LANE);
  for (unsigned b = 0; lane >= 0 && b < l->in_bits[lane]; b++) {
    const uint32_t *at = l->basis[lane][b];
    bool elsewhere = false;
    for (unsigned d = 0; d < l->out_count; d++)
      elsewhere |= d != dim && at[d] != 0;
    bool same_sector = !elsewhere && at[dim] < run && at[dim] * bytes < SECTOR_BYTES;
    sectors <<= !same_sector;
  }
  int64_t accesses = (layout_registers(c, type) + width - 1) / width;
  return accesses * ((sectors + SECTORS_A_TRANSFER - 1) / SECTORS_A_TRANSFER);
}

// Loops hide the latency of a load. Elsewhere all threads wait for it, as for a residual after a
// product: fewer requests mean more bytes in flight.
static bool is_waited_for(struct ir_context *c, MlirOperation op) {
  return mlirOperationIsNull(op_loop_around(c, op));
}

bool access_gives_way(struct ir_context *c, struct axis_analysis *axis, const struct target *target,
                      MlirOperation op, MlirAttribute own, MlirAttribute other) {
  MlirType type = accessed_type(c, op);
  bool is_load = op_is(c, op, OP_TILE_LOAD);
  if ((!is_load || is_waited_for(c, op)) &&
      layout_registers(c, type_with_encoding(type, other)) > MANY_ELEMENTS &&
      access_cost(c, axis, target, op, other) > access_cost(c, axis, target, op, own))
    return false;
  int64_t scale = is_load ? 1 : WRITE_SCALE;
  int64_t convert = is_load ? layout_convert_cost(c, type_with_encoding(type, own), other)
                            : layout_convert_cost(c, type_with_encoding(type, other), own);
  return scale * access_cost(c, axis, target, op, other) <=
         scale * access_cost(c, axis, target, op, own) + convert;
}
