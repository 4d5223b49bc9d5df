// SPDX-License-Identifier: Apache-2.0
// The layout of the buffer follows the users of a load: conversions, above all to dot operands, and
// buffers that other passes built.
#include "lowering/plan/loop_buffers.h"

#include "layouts/attr.h"
#include "lowering/analysis/convert_scratch.h"

// The order of the load's layout, fastest dimension first.
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

struct buffer_request {
  struct ir_context *c;
  const struct target *target;
  MlirType tile; // with the layout of the load
};

static MlirAttribute layout_for(const struct buffer_request *w, const struct encoding *user) {
  uint32_t order[LL_MAX_OUT] = {0};
  int64_t shape[LL_MAX_OUT];
  for (unsigned i = 0; i < tensor_rank(w->tile); i++)
    shape[i] = tensor_dim(w->tile, i);
  order_of(w->c, w->tile, order);
  struct encoding e =
      encoding_shared_for_dot(user, shape, order, type_bits(w->c, element_type(w->tile)));
  return encoding_attr(w->c, &e);
}

// For registers of another layout.
static MlirAttribute layout_between(const struct buffer_request *w, MlirType user) {
  const struct linear_layout *from = linear_of_type(w->c, w->tile),
                             *to = linear_of_type(w->c, user);
  uint32_t order[LL_MAX_OUT] = {0};
  int64_t shape[LL_MAX_OUT];
  if (!from || !to)
    return mlirAttributeGetNull();
  for (unsigned i = 0; i < tensor_rank(w->tile); i++)
    shape[i] = tensor_dim(w->tile, i);
  order_of(w->c, w->tile, order);
  struct encoding e = encoding_shared_between(
      from, to, shape, order, memory_bits(w->c, element_type(w->tile)), w->target->matrix_moves);
  return encoding_attr(w->c, &e);
}

// The layout that the user prefers for the buffer; null if none.
static MlirAttribute preference_of(const struct buffer_request *w, MlirOperation user) {
  if (op_is(w->c, user, OP_GPU_LOCAL_ALLOC))
    return tensor_encoding(memdesc_tile(w->c, mlirValueGetType(mlirOperationGetResult(user, 0))));
  if (!op_is(w->c, user, OP_GPU_CONVERT_LAYOUT))
    return mlirAttributeGetNull();
  MlirType type = mlirValueGetType(mlirOperationGetResult(user, 0));
  const struct encoding *to = encoding_of_attr(w->c, tensor_encoding(type));
  if (to && to->kind == ENC_DOT_OP)
    return layout_for(w, to);
  return layout_between(w, type);
}

MlirAttribute loop_buffer_layout(struct ir_context *c, const struct target *target,
                                 MlirOperation load) {
  MlirValue loaded = mlirOperationGetResult(load, 0);
  MlirType tile = mlirValueGetType(loaded);
  MlirAttribute wanted = {NULL};
  if (!type_is_tensor(tile) || type_is_ptr(c, element_type(tile)) ||
      type_bits(c, element_type(tile)) < 8 || !linear_of_type(c, tile))
    return wanted;
  struct buffer_request w = {c, target, tile};
  MlirAttribute plain = layout_for(&w, encoding_of_attr(c, tensor_encoding(tile)));
  for (MlirOpOperand use = mlirValueGetFirstUse(loaded); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirAttribute preference = preference_of(&w, mlirOpOperandGetOwner(use));
    if (mlirAttributeIsNull(preference))
      continue;
    if (!mlirAttributeIsNull(wanted) && !mlirAttributeEqual(wanted, preference))
      return plain;
    wanted = preference;
  }
  return mlirAttributeIsNull(wanted) ? plain : wanted;
}
