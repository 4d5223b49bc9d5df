// SPDX-License-Identifier: Apache-2.0
// reduce-data-duplication: operands of matrix products are replicated in many threads. Where one is
// converted through shared memory, it gets a buffer with a layout for its loads, instead of scratch
// with a layout for both sides:
//
//   %o = convert_layout %x : blocked -> dot_op     ->   %b = local_alloc %x : shared
//   tile.dot %o, ...                                    %o = local_load %b : dot_op
//                                                       tile.dot %o, ...
//
// Several operands from one tile share its buffer. Buffers are stored and loaded right before the
// product, all of them together: one barrier is enough.
#include "base/vec.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/pass.h"
#include "lowering/passes/users.h"
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

// Where `x` is stored to its buffer for a load before `op`: before the first load from a buffer
// with only pure ops between it and `op`, but after the definition of `x`.
static MlirOperation insertion_point_of(struct state *s, MlirOperation op, MlirValue x) {
  MlirOperation def = value_def(x), point = op;
  bool own = !mlirOperationIsNull(def) &&
             mlirBlockEqual(mlirOperationGetBlock(def), mlirOperationGetBlock(op));
  MlirOperation at = own ? mlirOperationGetNextInBlock(def)
                         : mlirBlockGetFirstOperation(mlirOperationGetBlock(op));
  for (; !mlirOperationEqual(at, op); at = mlirOperationGetNextInBlock(at)) {
    bool load = op_is(s->c, at, OP_GPU_LOCAL_LOAD);
    if (load && mlirOperationEqual(point, op))
      point = at;
    if (!load && !op_is_pure(s->c, at))
      point = op;
  }
  return point;
}

// The buffer of `x`, stored before `op`. A store for another op that is later in the block moves
// up.
static MlirValue buffer_of(struct state *s, MlirValue x, MlirAttribute dot, MlirOperation op) {
  MlirOperation alloc = {ptrmap_get(&s->buffers, x.ptr)}, point = insertion_point_of(s, op, x);
  if (!mlirOperationIsNull(alloc) &&
      mlirBlockEqual(mlirOperationGetBlock(alloc), mlirOperationGetBlock(op))) {
    if (!mlirOperationIsBeforeInBlock(alloc, op))
      mlirOperationMoveBefore(alloc, point);
    return mlirOperationGetResult(alloc, 0);
  }
  struct builder b = builder_before(s->c, point);
  MlirType tile = mlirValueGetType(x);
  b.loc = mlirOperationGetLocation(op);
  MlirValue buffer =
      build_local_alloc(&b, x, type_with_encoding(tile, layout_dot_buffer(s->c, tile, dot)));
  ptrmap_put(s->p->scratch, &s->buffers, x.ptr, value_def(buffer).ptr);
  return buffer;
}

static MlirOperation user_of(MlirOperation op) {
  MlirOperation user = op_first_user(op);
  return mlirOperationIsNull(user) ? mlirOperationGetNextInBlock(op) : user;
}

// Within a block, by the order of uses.
static void sort_by_user(struct state *s) {
  for (size_t i = 1; i < s->conversions.len; i++)
    for (size_t k = i; k > 0; k--) {
      MlirOperation *pair = &s->conversions.at[k - 1];
      MlirOperation before = user_of(pair[0]), after = user_of(pair[1]);
      if (!mlirBlockEqual(mlirOperationGetBlock(before), mlirOperationGetBlock(after)) ||
          !mlirOperationIsBeforeInBlock(after, before))
        break;
      MlirOperation later = pair[0];
      pair[0] = pair[1];
      pair[1] = later;
    }
}

static void rewrite(struct state *s, MlirOperation op) {
  MlirAttribute to = tensor_encoding(result_type(op));
  MlirOperation user = user_of(op);
  MlirValue buffer = buffer_of(s, mlirOperationGetOperand(op, 0), to, user);
  struct builder b = builder_before(s->c, user);
  b.loc = mlirOperationGetLocation(op);
  value_replace(mlirOperationGetResult(op, 0), build_local_load(&b, buffer, to));
  op_erase(op);
}

enum pass_result pass_reduce_data_duplication(struct pass_context *p) {
  struct state s = {.p = p, .c = p->c};
  ir_walk(mlirModuleGetOperation(p->module), collect, &s);
  sort_by_user(&s);
  for (size_t i = 0; i < s.conversions.len; i++)
    rewrite(&s, s.conversions.at[i]);
  return s.conversions.len > 0 ? PASS_CHANGED : PASS_UNCHANGED;
}
