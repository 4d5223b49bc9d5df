// SPDX-License-Identifier: Apache-2.0
// warp-group-dot: products whose accumulator has the layout of wgmma read their operands from
// shared memory. B always; A stays in registers if it was computed there.
//
//   %a = local_load %x    %b = local_load %y
//   %d = dot %a, %b, %c                            ->   %d = warp_group_dot %x, %y, %c
//
// An operand without a buffer that wgmma can read gets one.
//
// A product whose accumulator a loop carries stays in flight while the next iteration begins:
//
//   for (%acc)                           for (%acc)
//     %d = dot %a, %b, %acc                %d = warp_group_dot %x, %y, %acc {pending = 1}
//     yield %d                     ->      yield %d
//                                        warp_group_dot_wait {pending = 0}
//
// Its operands have to be in buffers that the next iteration does not write before its last
// product: slots of rings that specialize-warps made are released one iteration later then.
// Products of 8-bit floats whose sums are promoted (dot_promotion.h) are complete when they end.
#include "base/vec.h"
#include "base/wgmma.h"
#include "lowering/analysis/dot_promotion.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/analysis/liveness.h"
#include "lowering/analysis/loop_accumulator.h"
#include "lowering/analysis/scratch.h"
#include "lowering/pass.h"
#include "mlir-dialects/rings.h"

struct state {
  struct pass_context *p;
  struct ir_context *c;
  VEC(MlirOperation) dots;     // tile.dot
  VEC(MlirOperation) products; // what they became
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

static bool is_in(MlirOperation loop, MlirOperation op) {
  while (!mlirOperationIsNull(op) && !mlirOperationEqual(op, loop))
    op = mlirOperationGetParentOperation(op);
  return !mlirOperationIsNull(op);
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

// A buffer that one op fills and that all others read: blocks that a loop multiplies again and
// again.
static bool is_filled_once(struct state *s, MlirValue buffer) {
  MlirOperation alloc = value_def(buffer);
  if (mlirOperationIsNull(alloc) || !op_is(s->c, alloc, OP_GPU_LOCAL_ALLOC) ||
      mlirOperationGetNumOperands(alloc) != 1)
    return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!op_is(s->c, user, OP_GPU_LOCAL_LOAD) && !op_is(s->c, user, OP_GPU_WARP_GROUP_DOT))
      return false;
  }
  return true;
}

// The local_index whose buffer the operand is; null if it is none.
static MlirOperation index_of(struct state *s, MlirValue operand) {
  MlirOperation index = value_def(operand);
  while (!mlirOperationIsNull(index) && op_is(s->c, index, OP_GPU_LOCAL_TRANS))
    index = value_def(mlirOperationGetOperand(index, 0));
  bool is_index = !mlirOperationIsNull(index) && op_is(s->c, index, OP_GPU_LOCAL_INDEX);
  return is_index ? index : (MlirOperation){NULL};
}

// The ring_full that the operand's slot is from; null if it is not in such a ring.
static MlirOperation slot_of(struct state *s, MlirValue operand) {
  MlirOperation index = index_of(s, operand);
  if (mlirOperationIsNull(index))
    return index;
  MlirOperation full = value_def(mlirOperationGetOperand(index, 1));
  bool is_full = !mlirOperationIsNull(full) && op_is(s->c, full, OP_GPU_RING_FULL);
  return is_full ? full : (MlirOperation){NULL};
}

struct ring_search {
  struct state *s;
  int64_t ring;
  bool found;
};

static bool find_ring_op(MlirOperation op, void *user) {
  struct ring_search *r = user;
  r->found |= (op_is(r->s->c, op, OP_GPU_RING_FULL) || op_is(r->s->c, op, OP_GPU_RING_RELEASE)) &&
              op_attr_int(op, "ring", -1) == r->ring;
  return !r->found;
}

static bool has_ring_op(struct state *s, MlirOperation in, MlirOperation slot) {
  struct ring_search r = {s, op_attr_int(slot, "ring", -1), false};
  ir_walk(in, find_ring_op, &r);
  return r.found;
}

// A slot that is held from its load until behind the loop that has the product.
static bool is_held(struct state *s, MlirValue buffer, MlirOperation load, MlirOperation dot) {
  MlirOperation slot = slot_of(s, buffer), op = mlirOperationGetNextInBlock(load);
  if (mlirOperationIsNull(slot))
    return false;
  for (; !mlirOperationIsNull(op) && !is_in(op, dot); op = mlirOperationGetNextInBlock(op))
    if (has_ring_op(s, op, slot))
      return false;
  return !mlirOperationIsNull(op) && !has_ring_op(s, op, slot);
}

// The buffer is read at the product, no longer at the load: nothing may write to it in between.
static bool may_read_later(struct state *s, MlirValue operand, MlirOperation dot) {
  MlirOperation load = value_def(operand);
  MlirValue buffer = mlirOperationGetOperand(load, 0);
  if (is_filled_once(s, buffer) || is_held(s, buffer, load, dot))
    return true;
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
  int32_t every = dot_promoted_every(dot);
  MlirValue sum = every ? build_promoted_warp_group_dot(&b, x[0], x[1], x[2], every)
                        : build_warp_group_dot(&b, x[0], x[1], x[2], 0);
  value_replace(mlirOperationGetResult(dot, 0), sum);
  vec_push(s->p->scratch, &s->products, mlirOpResultGetOwner(sum));
  op_erase(dot);
  for (unsigned i = 0; i < 2; i++)
    if (!mlirValueEqual(old[i], x[i]) && !value_has_uses(old[i]))
      op_erase(value_def(old[i]));
}

// ---- products in flight ----

static bool is_used_behind(MlirOperation index, MlirOperation last) {
  MlirBlock block = mlirOperationGetBlock(last);
  for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(index, 0));
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!mlirBlockEqual(mlirOperationGetBlock(user), block) ||
        !mlirOperationIsBeforeInBlock(last, user))
      return false;
  }
  return true;
}

// Does the loop leave the ring's buffer of this iteration alone until the last product of the next
// one was issued? Phase 0 of this iteration is the last phase of the next.
static bool ring_is_left_alone(struct state *s, MlirOperation loop, MlirValue ring, int64_t copies,
                               MlirOperation last) {
  for (MlirOpOperand use = mlirValueGetFirstUse(ring); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation index = mlirOpOperandGetOwner(use);
    if (!is_in(loop, index))
      continue;
    int64_t phase = op_attr_int(index, "phase", -1);
    if (!op_is(s->c, index, OP_GPU_LOCAL_INDEX) || phase < 0 ||
        !mlirOperationEqual(op_loop_around(s->c, index), loop) ||
        (phase == copies - 1 && !is_used_behind(index, last)))
      return false;
  }
  return true;
}

// A slot can be held for one more iteration, or is held by all.
static bool may_hold(struct state *s, MlirOperation loop, MlirOperation slot) {
  return is_in(loop, slot) ? op_attr_int(slot, "slots", 1) > 1 : !has_ring_op(s, loop, slot);
}

static bool may_read_in_flight(struct state *s, MlirOperation loop, MlirValue operand,
                               MlirOperation last) {
  MlirOperation slot = slot_of(s, operand), index = index_of(s, operand);
  if (!mlirOperationIsNull(slot))
    return may_hold(s, loop, slot);
  if (mlirOperationIsNull(index) || op_attr_int(index, "phase", -1) != 0 || !is_in(loop, index))
    return false;
  MlirValue ring = mlirOperationGetOperand(index, 0);
  MlirOperation alloc = value_def(ring);
  return !mlirOperationIsNull(alloc) && op_is(s->c, alloc, OP_GPU_LOCAL_ALLOC) &&
         !is_in(loop, alloc) && alloc_copies(alloc) > 1 &&
         ring_is_left_alone(s, loop, ring, alloc_copies(alloc), last);
}

static bool may_stay_in_flight(struct state *s, MlirOperation loop, MlirOperation product,
                               MlirOperation last) {
  return may_read_in_flight(s, loop, mlirOperationGetOperand(product, 0), last) &&
         may_read_in_flight(s, loop, mlirOperationGetOperand(product, 1), last);
}

static void wait_behind(struct state *s, MlirOperation loop, intptr_t carried) {
  struct builder b = builder_after(s->c, loop);
  MlirValue sum = mlirOperationGetResult(loop, carried);
  MlirValue complete = build_warp_group_dot_wait(&b, sum, 0, 0, NULL);
  value_replace(sum, complete);
  mlirOperationSetOperand(mlirOpResultGetOwner(complete), 0, sum);
}

// The slots that the product reads are released when the next product was issued; the last ones
// after the loop, when it is complete.
static void hold_slots(struct state *s, MlirOperation loop, MlirOperation product) {
  for (intptr_t i = 0; i < 2; i++) {
    MlirOperation slot = slot_of(s, mlirOperationGetOperand(product, i));
    if (mlirOperationIsNull(slot) || !is_in(loop, slot))
      continue;
    struct ring_ref ring = {mlirOperationGetOperand(slot, 0), (int32_t)op_attr_int(slot, "ring", 0),
                            (int32_t)op_attr_int(slot, "slots", 1)};
    for (MlirOperation op = mlirOperationGetNextInBlock(slot); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
      if (op_is(s->c, op, OP_GPU_RING_RELEASE) && op_attr_int(op, "ring", -1) == ring.number &&
          op_attr_int(op, "keep", 0) == 0) {
        mlirOperationSetAttributeByName(op, mlirStringRefCreateFromCString("keep"),
                                        attr_i32(s->c, 1));
        struct builder b = builder_after(s->c, loop);
        build_ring_release(&b, &ring, 0);
      }
  }
}

static bool is_promoted(MlirOperation product) {
  return !mlirAttributeIsNull(op_attr(product, "promoted_every"));
}

// After each of n products at most n groups stay in flight, and no more than the barrier plan
// tracks: all of the previous iteration are complete when the last product was issued.
static void keep_in_flight(struct state *s, MlirOperation loop) {
  VEC(MlirOperation) candidates = {0}, in_flight = {0};
  for (size_t i = 0; i < s->products.len; i++)
    if (loop_accumulator(loop, s->products.at[i]) >= 0 && !is_promoted(s->products.at[i]))
      vec_push(s->p->scratch, &candidates, s->products.at[i]);
  for (size_t i = 0; i < candidates.len; i++)
    if (may_stay_in_flight(s, loop, candidates.at[i], candidates.at[candidates.len - 1]))
      vec_push(s->p->scratch, &in_flight, candidates.at[i]);
  int32_t pending = in_flight.len < WGMMA_IN_FLIGHT ? (int32_t)in_flight.len : WGMMA_IN_FLIGHT;
  for (size_t i = in_flight.len; i-- > 0;) {
    mlirOperationSetAttributeByName(in_flight.at[i], mlirStringRefCreateFromCString("pending"),
                                    attr_i32(s->c, pending));
    hold_slots(s, loop, in_flight.at[i]);
    wait_behind(s, loop, loop_accumulator(loop, in_flight.at[i]));
  }
}

static bool visit_loop(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_is(s->c, op, OP_SCF_FOR))
    keep_in_flight(s, op);
  return true;
}

enum pass_result pass_warp_group_dot(struct pass_context *p) {
  struct state s = {.p = p, .c = p->c};
  ir_walk(mlirModuleGetOperation(p->module), collect, &s);
  for (size_t i = 0; i < s.dots.len; i++)
    rewrite(&s, s.dots.at[i]);
  if (s.products.len)
    ir_walk(mlirModuleGetOperation(p->module), visit_loop, &s);
  return s.dots.len ? PASS_CHANGED : PASS_UNCHANGED;
}
