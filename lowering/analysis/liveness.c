// SPDX-License-Identifier: Apache-2.0
// Points are numbers in program order; a use inside a loop of a value from outside counts at the
// loop's end.
#include "lowering/analysis/liveness.h"

struct liveness {
  struct ir_context *c;
  struct arena *arena;
  struct map points; // MlirOperation.ptr -> struct live_range *: its point and its end point
  uint32_t count;
};

bool op_is_loop(struct ir_context *c, MlirOperation op) {
  enum op_id id = op_id(c, op);
  return id == OP_SCF_FOR || id == OP_SCF_WHILE;
}

MlirOperation op_loop_around(struct ir_context *c, MlirOperation op) {
  do
    op = mlirOperationGetParentOperation(op);
  while (!mlirOperationIsNull(op) && !op_is(c, op, OP_FUNC_FUNC) && !op_is_loop(c, op));
  return mlirOperationIsNull(op) || op_is_loop(c, op) ? op : (MlirOperation){NULL};
}

static void number_op(struct liveness *l, MlirOperation op) {
  struct live_range *at = arena_new(l->arena, struct live_range);
  at->begin = at->end = l->count++;
  ptrmap_put(l->arena, &l->points, op.ptr, at);
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (MlirOperation in = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(in);
           in = mlirOperationGetNextInBlock(in))
        number_op(l, in);
  }
  if (mlirOperationGetNumRegions(op) > 0)
    at->end = l->count++;
}

struct liveness *liveness_of(struct ir_context *c, MlirOperation func, struct arena *a) {
  struct liveness *l = arena_new(a, struct liveness);
  *l = (struct liveness){.c = c, .arena = a};
  number_op(l, func);
  return l;
}

static struct live_range points_of(const struct liveness *l, MlirOperation op) {
  const struct live_range *at = ptrmap_get(&l->points, op.ptr);
  return at ? *at : (struct live_range){0, 0};
}

uint32_t liveness_point(const struct liveness *l, MlirOperation op) {
  return points_of(l, op).begin;
}
uint32_t liveness_end(const struct liveness *l, MlirOperation op) { return points_of(l, op).end; }
uint32_t liveness_count(const struct liveness *l) { return l->count; }

// The use's point, or the end of the outermost loop around it that does not define the value.
static uint32_t point_of_use(const struct liveness *l, MlirBlock defined_in, MlirOperation user) {
  uint32_t point = liveness_point(l, user);
  for (MlirOperation at = user;
       !mlirOperationIsNull(at) && !mlirBlockEqual(mlirOperationGetBlock(at), defined_in);) {
    at = mlirOperationGetParentOperation(at);
    if (!mlirOperationIsNull(at) && op_is_loop(l->c, at))
      point = liveness_end(l, at);
  }
  return point;
}

struct live_range liveness_range(const struct liveness *l, MlirValue v) {
  struct live_range live;
  MlirBlock block;
  if (mlirValueIsABlockArgument(v)) {
    block = mlirBlockArgumentGetOwner(v);
    live.begin = liveness_point(l, mlirBlockGetParentOperation(block));
  } else {
    MlirOperation def = mlirOpResultGetOwner(v);
    block = mlirOperationGetBlock(def);
    live.begin = liveness_end(l, def);
  }
  live.end = live.begin;
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    uint32_t point = point_of_use(l, block, mlirOpOperandGetOwner(use));
    live.end = point > live.end ? point : live.end;
  }
  return live;
}

// ---- control flow ----

static MlirBlock region_block(MlirOperation op, intptr_t i) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
}

void flow_of_values(struct ir_context *c, MlirOperation op,
                    void (*fn)(MlirValue from, MlirValue to, void *user), void *user) {
  enum op_id id = op_id(c, op);
  intptr_t results = mlirOperationGetNumResults(op);
  if (id == OP_SCF_IF) {
    for (intptr_t r = 0; results > 0 && r < 2; r++)
      for (intptr_t i = 0; i < results; i++)
        fn(mlirOperationGetOperand(mlirBlockGetTerminator(region_block(op, r)), i),
           mlirOperationGetResult(op, i), user);
  } else if (id == OP_SCF_FOR) {
    MlirBlock body = region_block(op, 0);
    MlirOperation yield = mlirBlockGetTerminator(body);
    for (intptr_t i = 0; i < results; i++) {
      MlirValue arg = mlirBlockGetArgument(body, i + 1);
      fn(mlirOperationGetOperand(op, i + 3), arg, user);
      fn(mlirOperationGetOperand(yield, i), arg, user);
      fn(arg, mlirOperationGetResult(op, i), user);
    }
  } else if (id == OP_SCF_WHILE) {
    MlirBlock before = region_block(op, 0), after = region_block(op, 1);
    MlirOperation condition = mlirBlockGetTerminator(before), yield = mlirBlockGetTerminator(after);
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(before); i++) {
      fn(mlirOperationGetOperand(op, i), mlirBlockGetArgument(before, i), user);
      fn(mlirOperationGetOperand(yield, i), mlirBlockGetArgument(before, i), user);
    }
    for (intptr_t i = 0; i < results; i++) {
      MlirValue passed = mlirOperationGetOperand(condition, i + 1);
      fn(passed, mlirBlockGetArgument(after, i), user);
      fn(passed, mlirOperationGetResult(op, i), user);
    }
  }
}
