// SPDX-License-Identifier: Apache-2.0
// The buffer's encoding says where each element lies; accesses are as wide as it and the tile's
// layout allow together.
#include "lowering/analysis/buffer_access.h"

#include "layouts/attr.h"
#include "lowering/analysis/convert_scratch.h"

static bool whole(struct ir_context *c, const struct target *target, MlirType tile, MlirType buffer,
                  struct exchange_plan *ret) {
  const struct linear_layout *offsets_in_buffer = linear_of_type(c, memdesc_tile(c, buffer));
  const struct linear_layout *l = type_is_tensor(tile) ? linear_of_type(c, tile) : NULL;
  return offsets_in_buffer && l &&
         exchange_plan_with(l, l, offsets_in_buffer, memory_bits(c, element_type(tile)),
                            target->matrix_moves, ret);
}

bool buffer_store_side(struct ir_context *c, const struct target *target, MlirType tile,
                       MlirType buffer, struct exchange_side *ret) {
  struct exchange_plan plan;
  if (!whole(c, target, tile, buffer, &plan))
    return false;
  *ret = plan.store;
  return true;
}

bool buffer_read_side(struct ir_context *c, const struct target *target, MlirType tile,
                      MlirType buffer, struct exchange_side *ret) {
  struct exchange_plan plan;
  if (!whole(c, target, tile, buffer, &plan))
    return false;
  *ret = plan.load;
  return true;
}

bool buffer_load_side(struct ir_context *c, const struct target *target, MlirOperation op,
                      struct exchange_side *ret) {
  MlirType buffer = mlirValueGetType(mlirOperationGetOperand(op, 0));
  MlirType tile = mlirValueGetType(mlirOperationGetResult(op, 0));
  int32_t at[LL_MAX_OUT];
  uint32_t corner[LL_MAX_OUT] = {0};
  if (mlirAttributeIsNull(op_attr(op, "offsets"))) {
    return buffer_read_side(c, target, tile, buffer, ret);
  }
  unsigned rank = (unsigned)op_attr_i32_array(op, "offsets", LL_MAX_OUT, at);
  for (unsigned d = 0; d < rank; d++)
    corner[d] = (uint32_t)at[d];
  const struct linear_layout *offsets_in_buffer = linear_of_type(c, memdesc_tile(c, buffer));
  const struct linear_layout *l = linear_of_type(c, tile);
  return offsets_in_buffer && l &&
         exchange_part_with(l, offsets_in_buffer, corner, memory_bits(c, element_type(tile)),
                            target->matrix_moves, ret);
}
