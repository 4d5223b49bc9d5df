// SPDX-License-Identifier: Apache-2.0
// warp-group-dot: products whose accumulator has the layout of wgmma read their operands from
// shared memory. B always; A stays in registers if it was computed there.
//
//   %a = local_load %x    %b = local_load %y
//   %d = dot %a, %b, %c                            ->   %d = warp_group_dot %x, %y, %c
//
// An operand without a buffer that wgmma can read gets one.
#include "base/vec.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/pass.h"
#include "mlir-dialects/build.h"

struct state {
  struct pass_context *p;
  struct ir_context *c;
  VEC(MlirOperation) dots;
};

static bool collect(MlirOperation op, void *user) {
  struct state *s = user;
  if (!op_is(s->c, op, OP_TILE_DOT))
    return true;
  MlirType acc = mlirValueGetType(mlirOperationGetOperand(op, 2));
  const struct encoding *e = encoding_of_attr(s->c, tensor_encoding(acc));
  if (e && e->kind == ENC_MMA && e->mma.version == 3)
    vec_push(s->p->scratch, &s->dots, op);
  return true;
}

// The buffer that all of the operand is read from, if wgmma can read it; else null.
static MlirValue buffer_read(struct state *s, MlirValue operand) {
  MlirOperation def = value_def(operand);
  if (mlirOperationIsNull(def) || !op_is(s->c, def, OP_GPU_LOCAL_LOAD) ||
      !mlirAttributeIsNull(op_attr(def, "offsets")))
    return (MlirValue){NULL};
  MlirValue buffer = mlirOperationGetOperand(def, 0);
  MlirType tile = memdesc_tile(s->c, mlirValueGetType(buffer));
  const struct encoding *e = encoding_of_attr(s->c, tensor_encoding(tile));
  return e && e->kind == ENC_NVMMA_SHARED ? buffer : (MlirValue){NULL};
}

// The buffer is read at the product, no longer at the load: nothing may write to shared memory in
// between.
static bool may_read_later(struct state *s, MlirValue operand, MlirOperation dot) {
  MlirOperation load = value_def(operand);
  if (!mlirBlockEqual(mlirOperationGetBlock(load), mlirOperationGetBlock(dot)))
    return false;
  for (MlirOperation at = mlirOperationGetNextInBlock(load); !mlirOperationEqual(at, dot);
       at = mlirOperationGetNextInBlock(at))
    if (!op_is_pure(s->c, at) && !op_is(s->c, at, OP_GPU_LOCAL_LOAD) &&
        !op_is(s->c, at, OP_GPU_LOCAL_ALLOC) && !op_is(s->c, at, OP_GPU_WARP_GROUP_DOT) &&
        !op_is(s->c, at, OP_TILE_LOAD))
      return false;
  return true;
}

static MlirValue new_buffer(struct state *s, struct builder *b, MlirValue operand) {
  MlirType tile = mlirValueGetType(operand);
  MlirAttribute layout = layout_dot_buffer(s->c, tile, tensor_encoding(tile));
  return build_local_alloc(b, operand, type_with_encoding(tile, layout));
}

static void rewrite(struct state *s, MlirOperation dot) {
  struct builder b = builder_before(s->c, dot);
  MlirValue x[3], old[2];
  for (intptr_t i = 0; i < 3; i++)
    x[i] = mlirOperationGetOperand(dot, i);
  for (unsigned i = 0; i < 2; i++) {
    old[i] = x[i];
    MlirValue buffer = buffer_read(s, x[i]);
    if (!mlirValueIsNull(buffer) && may_read_later(s, x[i], dot))
      x[i] = buffer;
    else if (i == 1)
      x[i] = new_buffer(s, &b, x[i]);
  }
  value_replace(mlirOperationGetResult(dot, 0), build_warp_group_dot(&b, x[0], x[1], x[2]));
  op_erase(dot);
  for (unsigned i = 0; i < 2; i++)
    if (!mlirValueEqual(old[i], x[i]) && !value_has_uses(old[i]))
      op_erase(value_def(old[i]));
}

enum pass_result pass_warp_group_dot(struct pass_context *p) {
  struct state s = {.p = p, .c = p->c};
  ir_walk(mlirModuleGetOperation(p->module), collect, &s);
  for (size_t i = 0; i < s.dots.len; i++)
    rewrite(&s, s.dots.at[i]);
  return s.dots.len ? PASS_CHANGED : PASS_UNCHANGED;
}
