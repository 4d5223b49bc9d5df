// SPDX-License-Identifier: Apache-2.0
// The backward slice of an op's operands, through carried values and branches.
#include "lowering/analysis/producer_slice.h"

#include "base/vec.h"
#include "lowering/analysis/provenance.h"

struct slice {
  struct ir_context *c;
  MlirOperation kernel;
  struct arena *a;
  const char *why;
  struct map seen; // of values and ops
  VEC(MlirValue) todo;
  VEC(int) written; // memory that the kernel's stores write (pointer_memory)
};

static bool note_write(MlirOperation op, void *user) {
  struct slice *s = user;
  if (op_is(s->c, op, OP_FUNC_CALL))
    vec_push(s->a, &s->written, -1);
  else if (op_flags(s->c, op) & OP_WRITE)
    vec_push(s->a, &s->written, pointer_memory(s->c, mlirOperationGetOperand(op, 0)));
  return true;
}

static bool is_written(struct slice *s, MlirOperation load) {
  int from = pointer_memory(s->c, mlirOperationGetOperand(load, 0));
  for (size_t i = 0; i < s->written.len; i++)
    if (from < 0 || s->written.at[i] < 0 || s->written.at[i] == from)
      return true;
  return false;
}

static void need(struct slice *s, MlirValue v) {
  if (ptrmap_get(&s->seen, v.ptr))
    return;
  ptrmap_put(s->a, &s->seen, v.ptr, s);
  vec_push(s->a, &s->todo, v);
}

static MlirValue yielded(MlirOperation op, intptr_t region, intptr_t i) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
  return mlirOperationGetOperand(mlirBlockGetTerminator(block), i);
}

// Of scf.condition: 0 is the condition, i + 1 what result i and argument i of the body are.
static MlirValue condition_operand(MlirOperation loop, intptr_t i) { return yielded(loop, 0, i); }

// The control flow that decides whether `op` is executed.
static void need_parents(struct slice *s, MlirOperation op) {
  for (MlirOperation at = mlirOperationGetParentOperation(op); !mlirOperationEqual(at, s->kernel);
       at = mlirOperationGetParentOperation(at)) {
    if (ptrmap_get(&s->seen, at.ptr))
      return;
    ptrmap_put(s->a, &s->seen, at.ptr, s);
    if (op_is(s->c, at, OP_SCF_WHILE))
      need(s, condition_operand(at, 0));
    intptr_t n = op_is(s->c, at, OP_SCF_FOR) ? 3 : op_is(s->c, at, OP_SCF_IF) ? 1 : 0;
    for (intptr_t i = 0; i < n; i++)
      need(s, mlirOperationGetOperand(at, i));
  }
}

static void visit_argument(struct slice *s, MlirValue v) {
  MlirOperation parent = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v));
  intptr_t i = mlirBlockArgumentGetArgNumber(v);
  if (mlirOperationEqual(parent, s->kernel))
    return;
  need_parents(s, mlirBlockGetTerminator(mlirBlockArgumentGetOwner(v)));
  if (op_is(s->c, parent, OP_SCF_WHILE)) {
    MlirBlock before = mlirRegionGetFirstBlock(mlirOperationGetRegion(parent, 0));
    bool is_body = !mlirBlockEqual(mlirBlockArgumentGetOwner(v), before);
    need(s, is_body ? condition_operand(parent, i + 1) : mlirOperationGetOperand(parent, i));
    if (!is_body)
      need(s, yielded(parent, 1, i));
  } else if (i > 0) {
    need(s, mlirOperationGetOperand(parent, i + 2));
    need(s, yielded(parent, 0, i - 1));
  }
}

static void visit_result(struct slice *s, MlirOperation op, intptr_t i) {
  need_parents(s, op);
  switch (op_id(s->c, op)) {
  case OP_SCF_FOR:
    for (intptr_t k = 0; k < 3; k++)
      need(s, mlirOperationGetOperand(op, k));
    need(s, mlirOperationGetOperand(op, i + 3));
    need(s, yielded(op, 0, i));
    return;
  case OP_SCF_WHILE:
    need(s, condition_operand(op, 0));
    need(s, condition_operand(op, i + 1));
    return;
  case OP_SCF_IF:
    need(s, mlirOperationGetOperand(op, 0));
    need(s, yielded(op, 0, i));
    need(s, yielded(op, 1, i));
    return;
  case OP_TILE_LOAD:
    if (op_attr_bool(op, "is_volatile") || is_written(s, op))
      s->why = "its offsets are loaded from memory that the kernel may write";
    break;
  default:
    if (!op_is_pure(s->c, op) || mlirOperationGetNumRegions(op) > 0)
      s->why = "its offsets depend on an operation with effects, or on a tile";
  }
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); k++)
    need(s, mlirOperationGetOperand(op, k));
}

const char *producer_cannot_compute(struct ir_context *c, MlirOperation kernel, MlirOperation op,
                                    struct arena *a) {
  struct slice s = {.c = c, .kernel = kernel, .a = a};
  ir_walk(kernel, note_write, &s);
  need_parents(&s, op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    need(&s, mlirOperationGetOperand(op, i));
  while (s.todo.len && !s.why) {
    MlirValue v = vec_pop(&s.todo);
    if (type_is_tensor(mlirValueGetType(v)))
      s.why = "its offsets depend on an operation with effects, or on a tile";
    else if (mlirValueIsABlockArgument(v))
      visit_argument(&s, v);
    else
      visit_result(&s, mlirOpResultGetOwner(v), mlirOpResultGetResultNumber(v));
  }
  return s.why;
}
