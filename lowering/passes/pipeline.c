// SPDX-License-Identifier: Apache-2.0
// pipeline: loads of an scf.for are issued iterations before their use, so that memory works while
// the loop computes. With S stages (tile.num_stages of the loop, else of the kernel) tiles that
// feed dots are copied asynchronously to a ring of S buffers; S - 1 of them are under way.
//
//   for %i {                        async_copy 0 -> ring[0]  commit    async_copy 1 -> ring[1]
//   commit
//     %a = load %p(%i)              for %i (%w = 2, %r = 0) {                              S = 3
//     %x = convert %a         ->      async_wait {pending = 1} ring[%r]
//     dot %x, ...                     async_copy (%i + 2 steps) -> ring[%w]  commit
//   }                                 %x = local_load ring[%r]
//                                     dot %x, ...
//                                     yield %r, (%r + 1) modulo 3 }
//                                   async_wait {pending = 0}
//
// Other loads are staged in registers that the loop carries. See docs/pipelining.md.
#include "lowering/passes/pipeline.h"

#include "lowering/analysis/liveness.h"
#include "lowering/plan/loop_products.h"

#include <math.h>

static const char stages_name[] = "tile.num_stages";

struct pipeliner {
  struct pass_context *p;
  struct ir_context *c;
  struct arena *arena;
  struct axis_analysis *axis;
  VEC(MlirOperation) loops; // inner ones first
  VEC(struct loop_schedule) plans;
  bool changed;
};

// ---- remarks ----

// Remarks for wanted loads that are not staged in shared memory, with the reason.
static void remark_loads(struct pipeliner *k, const struct loop_schedule *s) {
  for (size_t i = 0; i < s->loads.at.len; i++) {
    const struct loop_load *l = &s->loads.at.at[i];
    if (!l->wanted || !l->why)
      continue;
    if (l->staging == STAGING_NONE)
      pass_remark(k->p, l->op, "pipeline", "load not pipelined: %s", l->why);
    else if (schedule_distance(s, l->op) > 0)
      pass_remark(k->p, l->op, "pipeline",
                  "load waits in registers %u %s, not in shared memory, because %s",
                  schedule_distance(s, l->op),
                  schedule_distance(s, l->op) == 1 ? "iteration" : "iterations", l->why);
  }
  if (s->loads.hidden)
    pass_remark(k->p, s->loads.first_hidden, "pipeline",
                "load not pipelined: it is under a condition or in an inner loop");
}

static void remark_loop(struct pipeliner *k, MlirOperation loop, const char *why) {
  pass_remark(k->p, loop, "pipeline", "loop not pipelined: %s", why);
}

// ---- plans ----

static bool is_around_plan(struct pipeliner *k, MlirOperation loop) {
  for (size_t i = 0; i < k->plans.len; i++) {
    MlirOperation at = k->plans.at[i].loop;
    for (; !mlirOperationIsNull(at); at = mlirOperationGetParentOperation(at))
      if (mlirOperationEqual(at, loop))
        return true;
  }
  return false;
}

static bool wants_any(const struct loop_loads *loads) {
  for (size_t i = 0; i < loads->at.len; i++)
    if (loads->at.at[i].wanted)
      return true;
  return loads->hidden != 0;
}

// With more than one iteration in flight, the tiles of a later product have had a whole iteration
// to arrive when the first one waits: one wait and one barrier suffice.
static void wait_once(struct loop_loads *loads) {
  for (size_t i = 0; i < loads->at.len; i++)
    loads->at.at[i].level = 0;
}

// Bytes of all rings with that many buffers.
static uint64_t ring_bytes(struct pipeliner *k, const struct loop_loads *loads, unsigned stages) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < loads->at.len; i++) {
    MlirType tile = mlirValueGetType(mlirOperationGetResult(loads->at.at[i].op, 0));
    if (loads->at.at[i].staging == STAGING_SHARED)
      bytes += (uint64_t)tensor_numel(tile) * type_bits(k->c, element_type(tile)) / 8;
  }
  return bytes * stages;
}

static void plan_loop(struct pipeliner *k, MlirOperation loop) {
  bool asked;
  unsigned stages = loop_stages(k->c, loop, k->p->num_stages, &asked);
  mlirOperationRemoveAttributeByName(loop, mlirStringRefCreateFromCString(stages_name));
  k->changed |= asked;
  struct loop_loads loads = loop_loads_of(k->c, k->axis, k->p->target, loop, asked, k->arena);
  if (!wants_any(&loads))
    return;
  if (is_around_plan(k, loop)) {
    remark_loop(k, loop, "a loop in it is");
    return;
  }
  if (k->p->refused_stages && !asked && !loads.why)
    pass_remark(k->p, loop, "pipeline", "%u %s, because %u do not fit in shared memory", stages,
                stages == 1 ? "stage" : "stages", k->p->refused_stages);
  if (stages < 2 || loads.why) {
    remark_loop(k, loop, loads.why ? loads.why : "it has one stage, or one iteration");
    return;
  }
  if (ring_bytes(k, &loads, stages) > k->p->target->shared_limit)
    loop_loads_drop_co_staged(&loads);
  if (stages > 2)
    wait_once(&loads);
  loop_products_in_flight(k->c, &loads, loop);
  struct loop_schedule s = loop_schedule_of(k->c, loads, loop, stages, k->arena);
  remark_loads(k, &s);
  if (s.last)
    vec_push(k->arena, &k->plans, s);
}

static bool collect(MlirOperation op, void *user) {
  struct pipeliner *k = user;
  if (op_is(k->c, op, OP_SCF_FOR))
    vec_push(k->arena, &k->loops, op);
  return true;
}

// ---- before the loop is rebuilt ----

static bool is_zero(struct ir_context *c, MlirValue v) {
  int64_t n;
  double d;
  if (value_const_int(c, v, &n))
    return n == 0;
  return value_const_float(c, v, &d) && d == 0 && !signbit(d);
}

// Copies leave zeros where the mask is off; other values are selected after the ring.
static void part_from_other(struct pipeliner *k, MlirOperation load) {
  MlirValue mask = load_operand(load, 1), other = load_operand(load, 2);
  if (mlirValueIsNull(mask) || mlirValueIsNull(other) || is_zero(k->c, other))
    return;
  VEC(MlirOpOperand) uses = {0};
  MlirValue v = mlirOperationGetResult(load, 0);
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    vec_push(k->arena, &uses, use);
  struct builder b = builder_after(k->c, load);
  MlirValue chosen = build_select(&b, mask, v, other);
  for (size_t i = 0; i < uses.len; i++)
    mlirOperationSetOperand(mlirOpOperandGetOwner(uses.at[i]),
                            mlirOpOperandGetOperandNumber(uses.at[i]), chosen);
}

// May the op, a user of a load, move down?
static bool can_sink(struct pipeliner *k, const struct loop_schedule *s, MlirOperation op) {
  if (schedule_stage(s, op) != s->last || mlirOperationGetNumRegions(op) > 0)
    return false;
  switch (op_id(k->c, op)) {
  case OP_TILE_DOT:
  case OP_TILE_REDUCE:
  case OP_TILE_SCAN: return false;
  case OP_GPU_LOCAL_ALLOC:
  case OP_GPU_LOCAL_TRANS:
  case OP_GPU_LOCAL_LOAD: return true;
  default: return op_flags(k->c, op) & OP_PURE;
  }
}

static void sink(struct loop_schedule *s, MlirOperation op) {
  MlirOperation first = {NULL};
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, i));
    for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
      MlirOperation user = op_in_block(s->body, mlirOpOperandGetOwner(use));
      if (mlirOperationIsNull(first) || mlirOperationIsBeforeInBlock(user, first))
        first = user;
    }
  }
  if (!mlirOperationIsNull(first))
    mlirOperationMoveBefore(op, first);
}

static bool is_fed(const struct map *fed, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirOperation def = value_def(mlirOperationGetOperand(op, i));
    if (!mlirOperationIsNull(def) && ptrmap_get(fed, def.ptr))
      return true;
  }
  return false;
}

// Users of tiles that are waited for in the middle of an iteration move there.
static void sink_users(struct pipeliner *k, struct loop_schedule *s) {
  VEC(MlirOperation) ops = {0};
  struct map fed = {0};
  for (size_t i = 0; i < s->loads.at.len; i++)
    if (s->loads.at.at[i].staging == STAGING_SHARED && s->loads.at.at[i].level > 0)
      ptrmap_put(k->arena, &fed, s->loads.at.at[i].op.ptr, s);
  for (MlirOperation op = mlirBlockGetFirstOperation(s->body); fed.count && op.ptr;
       op = mlirOperationGetNextInBlock(op))
    if (can_sink(k, s, op) && is_fed(&fed, op)) {
      ptrmap_put(k->arena, &fed, op.ptr, s);
      vec_push(k->arena, &ops, op);
    }
  for (size_t i = ops.len; i-- > 0;)
    sink(s, ops.at[i]);
}

static void pipeline_loop(struct pipeliner *k, struct loop_schedule *s) {
  for (size_t i = 0; i < s->loads.at.len; i++)
    if (s->loads.at.at[i].staging == STAGING_SHARED)
      part_from_other(k, s->loads.at.at[i].op);
  schedule_repeat_cheap(k->c, s, k->arena);
  sink_users(k, s);
  pipeline_expand(k->p, s);
}

// A loop with an early exit is an scf.while.
static bool remark_while(MlirOperation op, void *user) {
  struct pipeliner *k = user;
  if (op_is(k->c, op, OP_TILE_DOT)) {
    MlirOperation loop = op_loop_around(k->c, op);
    if (!mlirOperationIsNull(loop) && op_is(k->c, loop, OP_SCF_WHILE))
      remark_loop(k, loop, "the number of its iterations is not known before");
  }
  return true;
}

enum pass_result pass_pipeline(struct pass_context *p) {
  struct pipeliner k = {.p = p, .c = p->c, .arena = p->scratch};
  MlirOperation module = mlirModuleGetOperation(p->module);
  ir_walk_post(p->scratch, module, collect, &k);
  ir_walk(module, remark_while, &k);
  if (k.loops.len)
    k.axis = axis_analyse(p->c, module, p->scratch);
  for (size_t i = 0; i < k.loops.len; i++)
    plan_loop(&k, k.loops.at[i]);
  for (size_t i = 0; i < k.plans.len; i++)
    pipeline_loop(&k, &k.plans.at[i]);
  return k.changed || k.plans.len ? PASS_CHANGED : PASS_UNCHANGED;
}
