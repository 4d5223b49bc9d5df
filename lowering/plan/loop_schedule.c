// SPDX-License-Identifier: Apache-2.0
// Stages are counted from the end: the distance of an op to the last stage is the latency, in
// iterations, of the loads between it and its farthest user.
#include "lowering/plan/loop_schedule.h"

#include <assert.h>

enum {
  // Bytes per thread; not measured by themselves.
  CARRIED_BYTES = 64, // the sum for loads staged in registers
  SIDE_BYTES = 32     // and those that are not wanted
};

struct scheduler {
  struct ir_context *c;
  struct arena *arena;
  struct loop_schedule *s;
  struct map latencies; // MlirOperation.ptr of a load -> iterations
  struct map ahead;     // MlirOperation.ptr -> iterations before the last stage
  unsigned *arguments;  // iterations before the last stage
  bool changed;
};

static unsigned number_at(const struct map *m, MlirOperation op) {
  return (unsigned)(uintptr_t)ptrmap_get(m, op.ptr);
}

static void set_number(struct arena *a, struct map *m, MlirOperation op, unsigned n) {
  ptrmap_put(a, m, op.ptr, (void *)(uintptr_t)n); // NOLINT: a number
}

static unsigned most(unsigned a, unsigned b) { return a > b ? a : b; }

// ---- latencies ----

static bool travels(const struct loop_load *l) {
  return l->staging != STAGING_NONE && (l->wanted || l->is_index);
}

// How many iterations before its use the load is issued, at most `iterations`.
static unsigned latency_of(struct ir_context *c, const struct loop_load *l, unsigned iterations,
                           unsigned for_index) {
  if (l->recurs)
    return 0;
  if (l->is_index)
    return for_index;
  if (l->staging == STAGING_SHARED)
    return iterations - l->depth * for_index;
  unsigned bytes = load_bytes_per_thread(c, l->op), left = iterations - l->depth * for_index;
  return bytes * left <= CARRIED_BYTES ? left : 1;
}

static void assign_latencies(struct scheduler *k, unsigned iterations) {
  struct loop_loads *loads = &k->s->loads;
  unsigned depth = 0;
  bool any = false;
  for (size_t i = 0; i < loads->at.len; i++) {
    const struct loop_load *l = &loads->at.at[i];
    any |= travels(l) && !l->recurs;
    if (travels(l))
      depth = most(depth, l->depth);
  }
  for (size_t i = 0; any && i < loads->at.len; i++) {
    struct loop_load *l = &loads->at.at[i];
    if (travels(l))
      set_number(k->arena, &k->latencies, l->op,
                 latency_of(k->c, l, iterations, iterations / (depth + 1)));
    else if (l->staging == STAGING_REGISTERS && !l->recurs && l->depth == 0 &&
             load_bytes_per_thread(k->c, l->op) <= SIDE_BYTES)
      set_number(k->arena, &k->latencies, l->op, 1);
  }
}

// ---- stages ----

struct need {
  struct scheduler *k;
  MlirBlock body;
  unsigned iterations;
};

// Records that the value is needed that many iterations ahead.
static void raise(struct scheduler *k, MlirValue v, unsigned iterations) {
  if (!mlirBlockEqual(value_block(v), k->s->body))
    return;
  if (!mlirValueIsABlockArgument(v)) {
    MlirOperation op = mlirOpResultGetOwner(v);
    iterations += number_at(&k->latencies, op);
    if (number_at(&k->ahead, op) >= iterations)
      return;
    set_number(k->arena, &k->ahead, op, iterations);
  } else {
    intptr_t at = mlirBlockArgumentGetArgNumber(v) - 1;
    if (at < 0 || k->arguments[at] >= iterations)
      return;
    k->arguments[at] = iterations;
  }
  k->changed = true;
}

static bool raise_operands(MlirOperation op, void *user) {
  struct need *n = user;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    raise(n->k, mlirOperationGetOperand(op, i), n->iterations);
  return true;
}

// Backwards, until carried values reach a fixpoint. Distances only rise, and a cycle of carried
// values has no latency (such a load `recurs` and is not moved): at most one round per carried
// value.
static void spread(struct scheduler *k) {
  MlirOperation yield = mlirBlockGetTerminator(k->s->body);
  do {
    k->changed = false;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(yield); i++)
      raise(k, mlirOperationGetOperand(yield, i), k->arguments[i]);
    VEC(MlirOperation) ops = {0};
    for (MlirOperation op = mlirBlockGetFirstOperation(k->s->body); !mlirOperationEqual(op, yield);
         op = mlirOperationGetNextInBlock(op))
      vec_push(k->arena, &ops, op);
    for (size_t i = ops.len; i-- > 0;) {
      struct need n = {k, k->s->body, number_at(&k->ahead, ops.at[i])};
      ir_walk(ops.at[i], raise_operands, &n);
    }
  } while (k->changed);
}

// A load without uses still has its latency.
static void start_loads(struct scheduler *k) {
  for (size_t i = 0; i < k->s->loads.at.len; i++) {
    MlirOperation op = k->s->loads.at.at[i].op;
    set_number(k->arena, &k->ahead, op, number_at(&k->latencies, op));
  }
}

struct loop_schedule loop_schedule_of(struct ir_context *c, struct loop_loads loads,
                                      MlirOperation loop, unsigned stages, struct arena *a) {
  assert(stages >= 1 && !mlirOperationIsNull(loop));
  struct loop_schedule s = {.loop = loop, .body = loop_block(loop), .loads = loads};
  size_t carried = (size_t)mlirOperationGetNumResults(loop);
  struct scheduler k = {.c = c, .arena = a, .s = &s};
  k.arguments = arena_array(a, unsigned, carried + 1);
  s.arguments = arena_array(a, unsigned, carried + 1);
  memset(k.arguments, 0, (carried + 1) * sizeof *k.arguments);
  if (stages < 2)
    return s;
  assign_latencies(&k, stages - 1);
  start_loads(&k);
  spread(&k);
  for (MlirOperation op = mlirBlockGetFirstOperation(s.body); op.ptr;
       op = mlirOperationGetNextInBlock(op))
    s.last = most(s.last, number_at(&k.ahead, op));
  for (MlirOperation op = mlirBlockGetFirstOperation(s.body); op.ptr;
       op = mlirOperationGetNextInBlock(op))
    set_number(a, &s.stages, op, s.last - number_at(&k.ahead, op) + 1);
  for (size_t i = 0; i < carried; i++)
    s.arguments[i] = s.last - k.arguments[i];
  return s;
}

unsigned schedule_stage(const struct loop_schedule *s, MlirOperation op) {
  unsigned known = number_at(&s->stages, op);
  return known ? known - 1 : s->last;
}

bool schedule_is_induction(const struct loop_schedule *s, MlirValue v) {
  return mlirValueIsABlockArgument(v) && mlirBlockEqual(mlirBlockArgumentGetOwner(v), s->body) &&
         mlirBlockArgumentGetArgNumber(v) == 0;
}

unsigned schedule_stage_of_value(const struct loop_schedule *s, MlirValue v) {
  if (!mlirValueIsABlockArgument(v))
    return schedule_stage(s, mlirOpResultGetOwner(v));
  intptr_t at = mlirBlockArgumentGetArgNumber(v);
  return at > 0 ? s->arguments[at - 1] : 0;
}

// ---- repeating ----

struct repeater {
  struct ir_context *c;
  struct arena *arena;
  struct loop_schedule *s;
  struct map cheap; // MlirOperation.ptr -> non-NULL
};

static bool is_cheap(struct repeater *r, MlirOperation op) {
  if (mlirOperationGetNumResults(op) != 1)
    return false;
  switch (op_id(r->c, op)) {
  case OP_TILE_MAKE_RANGE:
  case OP_TILE_SPLAT:
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST: break;
  case OP_TILE_MAP:
  case OP_TILE_INLINE_ASM: return false;
  default:
    if ((op_flags(r->c, op) & (OP_PURE | OP_EW)) != (OP_PURE | OP_EW) &&
        !op_is(r->c, op, OP_ARITH_CONSTANT))
      return false;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    if (mlirBlockEqual(value_block(v), r->s->body) && !schedule_is_induction(r->s, v) &&
        (mlirValueIsABlockArgument(v) || !ptrmap_get(&r->cheap, mlirOpResultGetOwner(v).ptr)))
      return false;
  }
  return true;
}

// The op that uses it, or for carried values the stage that needs it.
static unsigned stage_of_use(struct repeater *r, MlirOpOperand use) {
  MlirOperation user = op_in_block(r->s->body, mlirOpOperandGetOwner(use));
  if (!mlirOperationEqual(user, mlirBlockGetTerminator(r->s->body)))
    return schedule_stage(r->s, user);
  return r->s->arguments[mlirOpOperandGetOperandNumber(use)];
}

static void repeat_in(struct repeater *r, MlirOperation op, unsigned stage) {
  VEC(MlirOpOperand) uses = {0};
  MlirValue v = mlirOperationGetResult(op, 0);
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    if (stage_of_use(r, use) == stage)
      vec_push(r->arena, &uses, use);
  if (!uses.len)
    return;
  MlirOperation copy = mlirOperationClone(op);
  mlirBlockInsertOwnedOperationAfter(r->s->body, op, copy);
  set_number(r->arena, &r->s->stages, copy, stage + 1);
  for (size_t i = 0; i < uses.len; i++)
    mlirOperationSetOperand(mlirOpOperandGetOwner(uses.at[i]),
                            mlirOpOperandGetOperandNumber(uses.at[i]),
                            mlirOperationGetResult(copy, 0));
}

void schedule_repeat_cheap(struct ir_context *c, struct loop_schedule *s, struct arena *a) {
  struct repeater r = {.c = c, .arena = a, .s = s};
  VEC(MlirOperation) cheap = {0};
  for (MlirOperation op = mlirBlockGetFirstOperation(s->body); op.ptr;
       op = mlirOperationGetNextInBlock(op))
    if (is_cheap(&r, op)) {
      ptrmap_put(a, &r.cheap, op.ptr, op.ptr);
      vec_push(a, &cheap, op);
    }
  for (size_t i = cheap.len; i-- > 0;)
    for (unsigned stage = schedule_stage(s, cheap.at[i]) + 1; stage <= s->last; stage++)
      repeat_in(&r, cheap.at[i], stage);
}
