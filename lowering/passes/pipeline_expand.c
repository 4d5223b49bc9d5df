// SPDX-License-Identifier: Apache-2.0
// Rebuilds a loop by its schedule. There is no epilogue: in the last iterations the early stages
// work for iterations that do not exist, on ops that are pure or masked off.
//
//   for %i { A0; B2 }  ->  A0(0)  A0(1)  for %i { A0(%i + 2 steps)  B2(%i) }
#include "lowering/analysis/speculation.h"
#include "lowering/passes/pipeline.h"

// ---- bounds ----

// Iterations at or above limits[d] have no iteration d later. The sums cannot overflow.
static void build_limits(struct expansion *x) {
  MlirType type = mlirValueGetType(x->lower);
  int64_t step;
  bool known = value_const_int(x->c, x->step, &step);
  x->limits[0] = x->upper;
  for (unsigned d = 1; d <= x->s->last; d++) {
    MlirValue count = build_const_int(&x->b, type, known ? d * step : d), at = x->limits[d - 1];
    x->ahead[d] = known ? count : build_binary(&x->b, OP_ARITH_MULI, x->step, count);
    MlirValue runs = build_cmpi(&x->b, 2, x->lower, at);
    MlirValue room = build_binary(&x->b, OP_ARITH_SUBI, at, x->lower);
    MlirValue more = build_cmpi(&x->b, 8, room, x->step);
    MlirValue both = build_binary(&x->b, OP_ARITH_ANDI, runs, more);
    MlirValue before = build_binary(&x->b, OP_ARITH_SUBI, at, x->step);
    x->limits[d] = build_select(&x->b, both, before, x->lower);
  }
}

// ---- operations ----

struct remap {
  struct expansion *x;
  MlirOperation copy;
  unsigned stage;
};

// A divisor of an iteration that does not exist may be anything.
static void guard_division(struct remap *m, MlirOperation op) {
  enum op_id id = op_id(m->x->c, op);
  bool divides =
      id == OP_ARITH_DIVSI || id == OP_ARITH_DIVUI || id == OP_ARITH_REMSI || id == OP_ARITH_REMUI;
  MlirValue exists = {NULL};
  if (divides && op_may_have_no_value(m->x->c, op))
    exists = expansion_predicate(m->x, m->stage);
  if (mlirValueIsNull(exists))
    return;
  struct builder at = mlirOperationEqual(op, m->copy) ? m->x->b : builder_before(m->x->c, op);
  MlirValue divisor = mlirOperationGetOperand(op, 1);
  MlirValue one = build_const_int(&at, mlirValueGetType(divisor), 1);
  mlirOperationSetOperand(op, 1, build_select(&at, exists, divisor, one));
}

static bool remap_op(MlirOperation op, void *user) {
  struct remap *m = user;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    mlirOperationSetOperand(op, i, expansion_value(m->x, mlirOperationGetOperand(op, i), m->stage));
  guard_division(m, op);
  return true;
}

static void copy_op(struct expansion *x, MlirOperation op, unsigned stage) {
  MlirOperation copy = mlirOperationClone(op);
  struct remap m = {x, copy, stage};
  ir_walk(copy, remap_op, &m);
  if (mlirOperationIsNull(x->b.before))
    mlirBlockAppendOwnedOperation(x->b.block, copy);
  else
    mlirBlockInsertOwnedOperationBefore(x->b.block, x->b.before, copy);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    expansion_set_at(x, x->now, mlirOperationGetResult(op, i), mlirOperationGetResult(copy, i));
}

static void copy_early_load(struct expansion *x, MlirOperation op, unsigned stage) {
  MlirValue mask = load_operand(op, 1), other = load_operand(op, 2);
  MlirValue ptr = expansion_value(x, mlirOperationGetOperand(op, 0), stage);
  if (!mlirValueIsNull(mask))
    mask = expansion_value(x, mask, stage);
  if (!mlirValueIsNull(other))
    other = expansion_value(x, other, stage);
  mask = expansion_mask(x, ptr, mask, stage);
  expansion_set_at(x, x->now, mlirOperationGetResult(op, 0),
                   build_load(&x->b, ptr, mask, other, expansion_text(x, op, "cache"),
                              expansion_text(x, op, "evict"), false));
}

static void run_stage(struct expansion *x, unsigned stage) {
  MlirOperation end = mlirBlockGetTerminator(x->s->body);
  for (MlirOperation op = mlirBlockGetFirstOperation(x->s->body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    if (schedule_stage(x->s, op) != stage)
      continue;
    x->b.loc = mlirOperationGetLocation(op);
    bool is_load = op_is(x->c, op, OP_TILE_LOAD);
    if (is_load && ring_of(x, mlirOperationGetResult(op, 0))) {
      rings_copy_at(x, op);
      continue;
    }
    if (stage == x->s->last)
      rings_wait_for(x, op);
    if (is_load && stage < x->s->last)
      copy_early_load(x, op, stage);
    else
      copy_op(x, op, stage);
  }
}

// ---- what the loop carries ----

static MlirValue yielded(const struct expansion *x, intptr_t i) {
  return mlirOperationGetOperand(mlirBlockGetTerminator(x->s->body), i);
}

static MlirValue argument(const struct expansion *x, intptr_t i) {
  return mlirBlockGetArgument(x->s->body, i + 1);
}

// The carried value at its first stage in the current round; null before there is one.
static MlirValue carried_now(struct expansion *x, intptr_t i) {
  unsigned stage = x->s->arguments[i];
  if (x->now < stage)
    return (MlirValue){NULL};
  if (x->now == stage)
    return mlirOperationGetOperand(x->s->loop, i + 3);
  x->now--;
  MlirValue v = expansion_value(x, yielded(x, i), stage);
  x->now++;
  return v;
}

static void need(struct expansion *x, MlirValue v, unsigned stage) {
  if (!mlirBlockEqual(value_block(v), x->s->body) || schedule_is_induction(x->s, v))
    return;
  unsigned iterations = stage - expansion_stage_made(x, v);
  if (iterations == 0)
    return;
  struct delay *d = expansion_delay(x, v);
  if (!d)
    vec_push(x->arena, &x->delays, (struct delay){.of = v, .iterations = iterations});
  else if (d->iterations < iterations)
    d->iterations = iterations;
}

struct needs {
  struct expansion *x;
  unsigned stage;
};

static bool need_operands(MlirOperation op, void *user) {
  struct needs *n = user;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    need(n->x, mlirOperationGetOperand(op, i), n->stage);
  return true;
}

static void find_needs(struct expansion *x) {
  MlirOperation end = mlirBlockGetTerminator(x->s->body);
  for (MlirOperation op = mlirBlockGetFirstOperation(x->s->body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    struct needs n = {x, schedule_stage(x->s, op)};
    ir_walk(op, need_operands, &n);
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(x->s->loop); i++) {
    bool behind = value_has_uses(mlirOperationGetResult(x->s->loop, i));
    if (!behind && !value_has_uses(argument(x, i)))
      continue;
    vec_push(x->arena, &x->kept, i);
    need(x, yielded(x, i), x->s->arguments[i]);
    if (behind)
      need(x, argument(x, i), x->s->last);
  }
}

static void begin_round(struct expansion *x) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(x->s->loop); i++) {
    MlirValue v = carried_now(x, i);
    if (!mlirValueIsNull(v))
      expansion_set_at(x, x->now, argument(x, i), v);
  }
}

// Stages that only feed copies behind the products. Their addresses are computed there too, so that
// a pointer advances in its register.
static bool is_late(struct expansion *x, unsigned stage) {
  if (stage == x->s->last || !rings_are_late(x, stage))
    return false;
  for (MlirOperation op = mlirBlockGetFirstOperation(x->s->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (schedule_stage(x->s, op) == stage && op_is(x->c, op, OP_TILE_LOAD) &&
        !ring_of(x, mlirOperationGetResult(op, 0)))
      return false;
  return true;
}

static void run_stages(struct expansion *x, bool late) {
  rings_idle(x, late);
  for (unsigned stage = x->s->last; stage-- > 0;) {
    if (stage > x->now)
      continue;
    if (is_late(x, stage) == late)
      run_stage(x, stage);
    rings_commit(x, stage, late);
  }
}

static void run_prologue(struct expansion *x) {
  for (x->now = 0; x->now < x->s->last; x->now++) {
    begin_round(x);
    run_stages(x, false);
    run_stages(x, true);
  }
}

// ---- the loop ----

static void copy_options(MlirOperation from, MlirOperation to) {
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(from); i++) {
    MlirNamedAttribute a = mlirOperationGetAttribute(from, i);
    mlirOperationSetAttributeByName(to, mlirIdentifierStr(a.name), a.attribute);
  }
}

// Carried values, earlier values of them and of others, indices of buffers.
static void open_loop(struct expansion *x) {
  struct value_list inits = {0};
  x->now = x->s->last;
  for (size_t i = 0; i < x->kept.len; i++)
    vec_push(x->arena, &inits.at, carried_now(x, x->kept.at[i]));
  for (size_t i = 0; i < x->delays.len; i++) {
    x->delays.at[i].first = (intptr_t)inits.at.len + 1;
    for (unsigned d = 1; d <= x->delays.at[i].iterations; d++)
      vec_push(x->arena, &inits.at, expansion_value_at(x, x->now - d, x->delays.at[i].of));
  }
  rings_carry(x, &inits);
  x->b.loc = mlirOperationGetLocation(x->s->loop);
  x->result = build_for(&x->b, x->lower, x->upper, x->step, inits.at.len, inits.at.at, &x->block);
  copy_options(x->s->loop, x->result);
  x->b = builder_at_end(x->c, x->block, x->b.loc);
  for (size_t i = 0; i < x->kept.len; i++)
    expansion_set_at(x, x->now, argument(x, x->kept.at[i]),
                     mlirBlockGetArgument(x->block, (intptr_t)i + 1));
}

static void close_loop(struct expansion *x) {
  struct value_list next = {0};
  rings_wait_for(x, mlirBlockGetTerminator(x->s->body));
  run_stages(x, true);
  for (size_t i = 0; i < x->kept.len; i++)
    vec_push(x->arena, &next.at,
             expansion_value(x, yielded(x, x->kept.at[i]), x->s->arguments[x->kept.at[i]]));
  for (size_t i = 0; i < x->delays.len; i++) {
    const struct delay *d = &x->delays.at[i];
    vec_push(x->arena, &next.at, expansion_value_at(x, x->now, d->of));
    for (unsigned k = 1; k < d->iterations; k++)
      vec_push(x->arena, &next.at, mlirBlockGetArgument(x->block, d->first + (intptr_t)k - 1));
  }
  rings_yield(x, &next);
  build_yield(&x->b, next.at.len, next.at.at);
}

// The results of the old loop are what its last stage would read next.
static void replace_results(struct expansion *x) {
  for (size_t k = 0; k < x->kept.len; k++) {
    intptr_t i = x->kept.at[k];
    unsigned old = x->s->last - x->s->arguments[i];
    const struct delay *d = expansion_delay(x, argument(x, i));
    MlirValue v = mlirOperationGetResult(x->s->loop, i);
    if (value_has_uses(v))
      value_replace(
          v, mlirOperationGetResult(x->result, old ? d->first + (intptr_t)old - 2 : (intptr_t)k));
  }
}

static int64_t known_trips(struct expansion *x) {
  int64_t lower, upper, step;
  if (!value_const_int(x->c, x->lower, &lower) || !value_const_int(x->c, x->upper, &upper) ||
      !value_const_int(x->c, x->step, &step) || step <= 0)
    return -1;
  uint64_t span = (uint64_t)upper - (uint64_t)lower;
  return lower >= upper ? 0 : (int64_t)((span - 1) / (uint64_t)step + 1);
}

static MlirValue *no_values(struct expansion *x) {
  size_t n = x->s->last + 1;
  MlirValue *values = arena_array(x->arena, MlirValue, n);
  memset(values, 0, n * sizeof *values);
  return values;
}

static struct expansion open_expansion(struct pass_context *p, struct loop_schedule *s) {
  struct expansion x = {.p = p, .c = p->c, .arena = p->scratch, .s = s};
  x.b = builder_before(p->c, s->loop);
  x.lower = mlirOperationGetOperand(s->loop, 0);
  x.upper = mlirOperationGetOperand(s->loop, 1);
  x.step = mlirOperationGetOperand(s->loop, 2);
  x.trips = known_trips(&x);
  x.ahead = no_values(&x), x.limits = no_values(&x);
  x.starts = no_values(&x), x.firsts = no_values(&x);
  x.rounds = arena_array(x.arena, struct round, s->last + 1);
  for (unsigned r = 0; r <= s->last; r++)
    x.rounds[r] = (struct round){.predicates = no_values(&x), .inductions = no_values(&x)};
  return x;
}

MlirOperation pipeline_expand(struct pass_context *p, struct loop_schedule *s) {
  struct expansion x = open_expansion(p, s);
  rings_open(&x);
  build_limits(&x);
  find_needs(&x);
  run_prologue(&x);
  open_loop(&x);
  rings_begin_iteration(&x);
  run_stages(&x, false);
  run_stage(&x, s->last);
  close_loop(&x);
  x.b = builder_after(p->c, x.result);
  rings_close(&x);
  replace_results(&x);
  op_erase(s->loop);
  return x.result;
}
