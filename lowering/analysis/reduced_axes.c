// SPDX-License-Identifier: Apache-2.0
// A worklist of (value, dimension), from the operands of reductions back to loads. Each pair is
// visited once, so loops end.
#include "lowering/analysis/reduced_axes.h"

#include "base/vec.h"

struct value_axis {
  MlirValue value;
  unsigned axis;
};

struct reduced_axes {
  struct ir_context *c;
  struct arena *arena;
  struct map seen; // MlirValue.ptr -> uint32_t *: dimensions already followed
  VEC(struct value_axis) todo;
};

static void follow(struct reduced_axes *r, MlirValue v, unsigned axis) {
  MlirType type = mlirValueGetType(v);
  if (!type_is_tensor(type) || axis >= tensor_rank(type))
    return;
  uint32_t *mask = ptrmap_get(&r->seen, v.ptr);
  if (!mask) {
    mask = arena_new(r->arena, uint32_t);
    ptrmap_put(r->arena, &r->seen, v.ptr, mask);
  }
  if (*mask >> axis & 1)
    return;
  *mask |= 1u << axis;
  vec_push(r->arena, &r->todo, ((struct value_axis){v, axis}));
}

static MlirOperation end_of(MlirOperation op, intptr_t region) {
  return mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region)));
}

static void follow_argument(struct reduced_axes *r, MlirValue v, unsigned axis) {
  MlirBlock block = mlirBlockArgumentGetOwner(v);
  MlirOperation op = mlirBlockGetParentOperation(block);
  intptr_t at = mlirBlockArgumentGetArgNumber(v);
  if (op_is(r->c, op, OP_SCF_FOR)) {
    follow(r, mlirOperationGetOperand(op, at + 2), axis);
    follow(r, mlirOperationGetOperand(end_of(op, 0), at - 1), axis);
  } else if (op_is(r->c, op, OP_SCF_WHILE)) {
    if (mlirBlockEqual(block, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)))) {
      follow(r, mlirOperationGetOperand(op, at), axis);
      follow(r, mlirOperationGetOperand(end_of(op, 1), at), axis);
    } else {
      follow(r, mlirOperationGetOperand(end_of(op, 0), at + 1), axis);
    }
  }
}

static void follow_operands(struct reduced_axes *r, MlirOperation op, unsigned axis) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    follow(r, mlirOperationGetOperand(op, i), axis);
}

static void follow_result(struct reduced_axes *r, MlirValue v, unsigned axis) {
  MlirOperation op = mlirOpResultGetOwner(v);
  intptr_t at = mlirOpResultGetResultNumber(v);
  unsigned own = (unsigned)op_attr_int(op, "axis", 0);
  int32_t order[32];
  switch (op_id(r->c, op)) {
  case OP_SCF_FOR:
    follow(r, mlirOperationGetOperand(op, at + 3), axis);
    follow(r, mlirOperationGetOperand(end_of(op, 0), at), axis);
    return;
  case OP_SCF_WHILE: follow(r, mlirOperationGetOperand(end_of(op, 0), at + 1), axis); return;
  case OP_SCF_IF:
    follow(r, mlirOperationGetOperand(end_of(op, 0), at), axis);
    follow(r, mlirOperationGetOperand(end_of(op, 1), at), axis);
    return;
  case OP_TILE_REDUCE:
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
      follow(r, mlirOperationGetOperand(op, i), axis + (axis >= own));
    return;
  case OP_TILE_EXPAND_DIMS:
    if (axis != own)
      follow(r, mlirOperationGetOperand(op, 0), axis - (axis > own));
    return;
  case OP_TILE_BROADCAST: {
    MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0));
    if (tensor_dim(from, axis) > 1)
      follow(r, mlirOperationGetOperand(op, 0), axis);
    return;
  }
  case OP_TILE_TRANS:
    if (op_attr_i32_array(op, "order", COUNT_OF(order), order) > axis)
      follow(r, mlirOperationGetOperand(op, 0), (unsigned)order[axis]);
    return;
  case OP_TILE_SCAN:
  case OP_GPU_CONVERT_LAYOUT: follow_operands(r, op, axis); return;
  default:
    if (op_flags(r->c, op) & OP_EW)
      follow_operands(r, op, axis);
  }
}

static bool start_at_scan(MlirOperation op, void *user) {
  struct reduced_axes *r = user;
  if (op_is(r->c, op, OP_TILE_SCAN))
    follow_operands(r, op, (unsigned)op_attr_int(op, "axis", 0));
  return true;
}

static bool start(MlirOperation op, void *user) {
  struct reduced_axes *r = user;
  if (op_is(r->c, op, OP_TILE_REDUCE))
    follow_operands(r, op, (unsigned)op_attr_int(op, "axis", 0));
  return start_at_scan(op, user);
}

static struct reduced_axes *find_from(struct ir_context *c, MlirOperation root, struct arena *a,
                                      bool (*from)(MlirOperation op, void *user)) {
  struct reduced_axes *r = arena_new(a, struct reduced_axes);
  r->c = c;
  r->arena = a;
  ir_walk(root, from, r);
  while (r->todo.len) {
    struct value_axis p = vec_pop(&r->todo);
    if (mlirValueIsABlockArgument(p.value))
      follow_argument(r, p.value, p.axis);
    else
      follow_result(r, p.value, p.axis);
  }
  return r;
}

struct reduced_axes *reduced_axes_find(struct ir_context *c, MlirOperation root, struct arena *a) {
  return find_from(c, root, a, start);
}

struct reduced_axes *scanned_axes_find(struct ir_context *c, MlirOperation root, struct arena *a) {
  return find_from(c, root, a, start_at_scan);
}

uint32_t reduced_axes_of(struct reduced_axes *r, MlirOperation load) {
  const uint32_t *mask = ptrmap_get(&r->seen, mlirOperationGetResult(load, 0).ptr);
  return mask ? *mask : 0;
}
