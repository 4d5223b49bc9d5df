// SPDX-License-Identifier: Apache-2.0
// Buffers follow the users of a load: conversions to dot operands, and buffers that other passes
// made for them already.
#include "lowering/analysis/loop_buffers.h"

#include "layouts/attr.h"

// Dimensions as the load has them: its fastest first.
static void order_of(struct ir_context *c, MlirType tile, uint32_t *ret) {
  const struct encoding *e = encoding_of_attr(c, tensor_encoding(tile));
  const struct linear_layout *l = linear_of_type(c, tile);
  unsigned rank = tensor_rank(tile);
  if (e && e->kind == ENC_BLOCKED) {
    memcpy(ret, e->blocked.order, rank * sizeof *ret);
    return;
  }
  for (unsigned i = 0; i < rank; i++) {
    uint32_t d = rank - 1 - i;
    unsigned at = i;
    for (;
         at > 0 && ll_consecutive(l, LL_REGISTER, ret[at - 1]) < ll_consecutive(l, LL_REGISTER, d);
         at--)
      ret[at] = ret[at - 1];
    ret[at] = d;
  }
}

static MlirAttribute layout_for(struct ir_context *c, MlirType tile, const struct encoding *user) {
  uint32_t order[LL_MAX_OUT] = {0};
  int64_t shape[LL_MAX_OUT];
  for (unsigned i = 0; i < tensor_rank(tile); i++)
    shape[i] = tensor_dim(tile, i);
  order_of(c, tile, order);
  struct encoding e = encoding_shared_for_dot(user, shape, order, type_bits(c, element_type(tile)));
  return encoding_attr(c, &e);
}

// What the user wants of the buffer; null if it does not mind.
static MlirAttribute wish_of(struct ir_context *c, MlirOperation user, MlirType tile) {
  MlirAttribute none = {NULL};
  if (op_is(c, user, OP_GPU_LOCAL_ALLOC))
    return tensor_encoding(memdesc_tile(c, mlirValueGetType(mlirOperationGetResult(user, 0))));
  if (!op_is(c, user, OP_GPU_CONVERT_LAYOUT))
    return none;
  const struct encoding *to =
      encoding_of_attr(c, tensor_encoding(mlirValueGetType(mlirOperationGetResult(user, 0))));
  return to && to->kind == ENC_DOT_OP ? layout_for(c, tile, to) : none;
}

MlirAttribute loop_buffer_layout(struct ir_context *c, MlirOperation load) {
  MlirValue loaded = mlirOperationGetResult(load, 0);
  MlirType tile = mlirValueGetType(loaded);
  MlirAttribute wanted = {NULL};
  if (!type_is_tensor(tile) || type_is_ptr(c, element_type(tile)) ||
      type_bits(c, element_type(tile)) < 8 || !linear_of_type(c, tile))
    return wanted;
  MlirAttribute plain = layout_for(c, tile, encoding_of_attr(c, tensor_encoding(tile)));
  for (MlirOpOperand use = mlirValueGetFirstUse(loaded); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirAttribute wish = wish_of(c, mlirOpOperandGetOwner(use), tile);
    if (mlirAttributeIsNull(wish))
      continue;
    if (!mlirAttributeIsNull(wanted) && !mlirAttributeEqual(wanted, wish))
      return plain;
    wanted = wish;
  }
  return mlirAttributeIsNull(wanted) ? plain : wanted;
}
