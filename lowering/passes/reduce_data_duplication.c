// SPDX-License-Identifier: Apache-2.0
// reduce-data-duplication: operands of matrix products are held by many threads at once. Where one
// is made through shared memory, it gets a buffer of its own there, laid out for those who read it,
// instead of scratch that is laid out for both sides:
//
//   %o = convert_layout %x : blocked -> dot_op     ->   %b = local_alloc %x : shared
//   tile.dot %o, ...                                    %o = local_load %b : dot_op
//                                                       tile.dot %o, ...
//
// Several operands made of one tile share its buffer. Buffers are filled, and read, right in front
// of the product, all of them at once: one barrier is enough.
#include "base/vec.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/pass.h"
#include "mlir-dialects/build.h"

struct state {
  struct pass_context *p;
  struct ir_context *c;
  VEC(MlirOperation) conversions;
  struct map buffers; // MlirValue.ptr -> MlirOperation.ptr of its local_alloc
};

static MlirType result_type(MlirOperation op) {
  return mlirValueGetType(mlirOperationGetResult(op, 0));
}

static bool collect(MlirOperation op, void *user) {
  struct state *s = user;
  if (!op_is(s->c, op, OP_GPU_CONVERT_LAYOUT))
    return true;
  MlirAttribute to = tensor_encoding(result_type(op));
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0));
  if (layout_is_dot_operand(s->c, to) && layout_convert_kind(s->c, from, to) == CONVERT_SHARED)
    vec_push(s->p->scratch, &s->conversions, op);
  return true;
}

// The first op of the conversion's block that needs its result; the next one if none does.
static MlirOperation first_user(MlirOperation op) {
  MlirBlock block = mlirOperationGetBlock(op);
  MlirOperation first = {NULL};
  MlirValue result = mlirOperationGetResult(op, 0);
  for (MlirOpOperand use = mlirValueGetFirstUse(result); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    while (!mlirBlockEqual(mlirOperationGetBlock(user), block))
      user = mlirOperationGetParentOperation(user);
    if (mlirOperationIsNull(first) || mlirOperationIsBeforeInBlock(user, first))
      first = user;
  }
  return mlirOperationIsNull(first) ? mlirOperationGetNextInBlock(op) : first;
}

// In front of the loads from buffers that stand right in front of `op`, but behind what `x` is.
static MlirOperation place_of_buffer(struct state *s, MlirOperation op, MlirValue x) {
  MlirOperation def = value_def(x), place = op;
  bool own = !mlirOperationIsNull(def) &&
             mlirBlockEqual(mlirOperationGetBlock(def), mlirOperationGetBlock(op));
  MlirOperation at = own ? mlirOperationGetNextInBlock(def)
                         : mlirBlockGetFirstOperation(mlirOperationGetBlock(op));
  bool in_loads = false;
  for (; !mlirOperationEqual(at, op); at = mlirOperationGetNextInBlock(at)) {
    bool load = op_is(s->c, at, OP_GPU_LOCAL_LOAD);
    if (load && !in_loads)
      place = at;
    in_loads = load;
  }
  return in_loads ? place : op;
}

// A buffer of `x` that has been filled in front of `op`, in its block; null if there is none.
static MlirValue existing_buffer(struct state *s, MlirValue x, MlirOperation op) {
  MlirOperation alloc = {ptrmap_get(&s->buffers, x.ptr)};
  MlirValue none = {NULL};
  return !mlirOperationIsNull(alloc) &&
                 mlirBlockEqual(mlirOperationGetBlock(alloc), mlirOperationGetBlock(op)) &&
                 mlirOperationIsBeforeInBlock(alloc, op)
             ? mlirOperationGetResult(alloc, 0)
             : none;
}

static void rewrite(struct state *s, MlirOperation op) {
  MlirValue x = mlirOperationGetOperand(op, 0);
  MlirAttribute to = tensor_encoding(result_type(op));
  MlirOperation user = first_user(op);
  MlirValue buffer = existing_buffer(s, x, user);
  if (mlirValueIsNull(buffer)) {
    struct builder b = builder_before(s->c, place_of_buffer(s, user, x));
    b.loc = mlirOperationGetLocation(op);
    MlirType tile = mlirValueGetType(x);
    buffer = build_local_alloc(&b, x, type_with_encoding(tile, layout_dot_buffer(s->c, tile, to)));
    ptrmap_put(s->p->scratch, &s->buffers, x.ptr, value_def(buffer).ptr);
  }
  struct builder b = builder_before(s->c, user);
  b.loc = mlirOperationGetLocation(op);
  value_replace(mlirOperationGetResult(op, 0), build_local_load(&b, buffer, to));
  op_erase(op);
}

enum pass_result pass_reduce_data_duplication(struct pass_context *p) {
  struct state s = {.p = p, .c = p->c};
  ir_walk(mlirModuleGetOperation(p->module), collect, &s);
  for (size_t i = 0; i < s.conversions.len; i++)
    rewrite(&s, s.conversions.at[i]);
  return s.conversions.len > 0 ? PASS_CHANGED : PASS_UNCHANGED;
}
