// SPDX-License-Identifier: Apache-2.0
// By how much a tile of integers or pointers rises from one lane to the next, where that is a
// constant. Recursion is the algorithm: a step is computed from those of the operands.
#include "lowering/analysis/axis_info.h"
#include "lowering/processor/strips.h"

enum { MAX_FACTOR = 1 << 20 };

static bool same_for_all(struct strip_emitter *e, MlirOperation op, int lane) {
  int64_t step;
  for (unsigned i = 0; i < (unsigned)mlirOperationGetNumOperands(op); i++)
    if (!lane_step(e, operand(op, i), lane, &step) || step != 0)
      return false;
  return (op_flags(e->c, op) & OP_EW) != 0;
}

static bool of_sum(struct strip_emitter *e, MlirOperation op, int lane, int64_t sign,
                   int64_t *ret) {
  int64_t y;
  if (!lane_step(e, operand(op, 0), lane, ret) || !lane_step(e, operand(op, 1), lane, &y))
    return false;
  *ret += sign * y;
  return *ret >= -MAX_FACTOR && *ret <= MAX_FACTOR;
}

// By a constant.
static bool of_product(struct strip_emitter *e, MlirOperation op, int lane, int64_t *ret) {
  for (unsigned i = 0; i < 2; i++) {
    const struct axis_info *factor = axis_info_of(e->axis, operand(op, i));
    if (factor->is_constant && factor->constant >= 0 && factor->constant <= MAX_FACTOR &&
        lane_step(e, operand(op, 1 - i), lane, ret)) {
      *ret *= factor->constant;
      return *ret >= -MAX_FACTOR && *ret <= MAX_FACTOR;
    }
  }
  *ret = 0;
  return same_for_all(e, op, lane);
}

static bool of_wide_op(struct strip_emitter *e, MlirOperation op, int lane, int64_t *ret) {
  switch (op_id(e->c, op)) {
  case OP_ARITH_ADDI:
  case OP_TILE_ADDPTR: return of_sum(e, op, lane, 1, ret);
  case OP_ARITH_SUBI: return of_sum(e, op, lane, -1, ret);
  case OP_ARITH_MULI: return of_product(e, op, lane, ret);
  case OP_ARITH_EXTSI: return lane_step(e, operand(op, 0), lane, ret);
  default: *ret = 0; return same_for_all(e, op, lane);
  }
}

// The tile that a shape op shows, and the dimension of it that is in lanes; -1: none.
static int lane_of_operand(MlirOperation op, enum op_id id, int lane) {
  int32_t order[MAX_RANK];
  int axis;
  switch (id) {
  case OP_TILE_EXPAND_DIMS:
    axis = (int)op_attr_int(op, "axis", 0);
    return lane == axis ? -1 : lane > axis ? lane - 1 : lane;
  case OP_TILE_BROADCAST:
    return tensor_dim(mlirValueGetType(operand(op, 0)), (unsigned)lane) == 1 ? -1 : lane;
  default: op_attr_i32_array(op, "order", MAX_RANK, order); return order[lane];
  }
}

bool lane_step(struct strip_emitter *e, MlirValue v, int lane, int64_t *ret) {
  const struct value *known = known_value(e, v);
  *ret = 0;
  if (lane < 0 || !is_tile(v) || (known && known->kind == VALUE_SCALAR))
    return true;
  if (known && known->kind == VALUE_ADVANCED)
    return lane_step(e, known->from, lane, ret);
  MlirOperation op = deferred_op(e, v);
  if (mlirOperationIsNull(op))
    return false;
  switch (op_id(e->c, op)) {
  case OP_ARITH_CONSTANT:
  case OP_TILE_SPLAT: return true;
  case OP_TILE_MAKE_RANGE: *ret = 1; return true;
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_TRANS:
    return lane_step(e, operand(op, 0), lane_of_operand(op, op_id(e->c, op), lane), ret);
  default: break;
  }
  MlirType t = element_type(mlirValueGetType(v));
  bool is_wide = type_is_ptr(e->c, t) || mlirTypeIsAIndex(t) || dtype_bits(dtype_of_mlir(t)) >= 32;
  return is_wide && of_wide_op(e, op, lane, ret);
}
