// SPDX-License-Identifier: Apache-2.0
// Loads that may run ahead: those whose memory the loop does not write, and whose addresses need
// nothing but pure operations and other such loads.
#include "lowering/plan/loop_loads.h"

#include "layouts/attr.h"
#include "lowering/analysis/async_copy.h"
#include "lowering/analysis/liveness.h"
#include "lowering/analysis/provenance.h"
#include "lowering/analysis/speculation.h"
#include "lowering/plan/loop_buffers.h"

struct finder {
  struct ir_context *c;
  struct axis_analysis *axis;
  const struct target *target;
  struct arena *arena;
  MlirOperation loop;
  MlirBlock body;
  struct loop_loads *ret;
  VEC(int) written;        // arguments that stores of the loop write; -1: unknown
  VEC(MlirOperation) dots; // of this loop, not of loops in it
  VEC(MlirValue) todo;
  struct map seen;
};

MlirBlock value_block(MlirValue v) {
  return mlirValueIsABlockArgument(v) ? mlirBlockArgumentGetOwner(v)
                                      : mlirOperationGetBlock(mlirOpResultGetOwner(v));
}

MlirOperation op_in_block(MlirBlock block, MlirOperation op) {
  while (!mlirOperationIsNull(op) && !mlirBlockEqual(mlirOperationGetBlock(op), block))
    op = mlirOperationGetParentOperation(op);
  return op;
}

MlirValue load_operand(MlirOperation load, int segment) {
  int32_t sizes[3] = {1, 0, 0};
  op_attr_i32_array(load, "operandSegmentSizes", 3, sizes);
  if (!sizes[segment])
    return (MlirValue){NULL};
  return mlirOperationGetOperand(load, segment == 2 ? 1 + sizes[1] : segment);
}

unsigned load_bytes_per_thread(struct ir_context *c, MlirOperation load) {
  MlirType t = mlirValueGetType(mlirOperationGetResult(load, 0));
  const struct linear_layout *l = type_is_tensor(t) ? linear_of_type(c, t) : NULL;
  unsigned bits = type_bits(c, element_type(t));
  return (l ? ll_in_size(l, LL_REGISTER) : 1) * (bits < 8 ? 1 : bits / 8);
}

// ---- other effects of the loop ----

static const char *effect_of(struct ir_context *c, MlirOperation op) {
  switch (op_id(c, op)) {
  case OP_TILE_BARRIER:
  case OP_GPU_BARRIER: return "a barrier in the loop";
  case OP_TILE_ASSERT: return "an assertion in the loop";
  case OP_TILE_PRINT: return "the loop prints";
  case OP_TILE_DEBUG_VALUE: return "a debugger sees variables of the loop";
  case OP_TILE_INLINE_ASM: return "inline assembly with effects in the loop";
  case OP_FUNC_CALL: return "the loop calls a function";
  case OP_TILE_ATOMIC_RMW:
  case OP_TILE_ATOMIC_CAS:
    return str_eq(op_attr_str(op, "sem"), STR("relaxed"))
               ? NULL
               : "an atomic operation in the loop orders accesses of memory";
  case OP_TILE_LOAD: return op_attr_bool(op, "is_volatile") ? "a volatile load in the loop" : NULL;
  case OP_TILE_ASSUME:
  case OP_GPU_LOCAL_ALLOC:
  case OP_GPU_LOCAL_LOAD:
  case OP_GPU_LOCAL_STORE: return NULL;
  default: return op_flags(c, op) & OP_EFFECT ? "an operation with effects in the loop" : NULL;
  }
}

static bool survey(MlirOperation op, void *user) {
  struct finder *f = user;
  if (mlirOperationEqual(op, f->loop))
    return true;
  if (!f->ret->why)
    f->ret->why = effect_of(f->c, op);
  if (op_flags(f->c, op) & OP_WRITE)
    vec_push(f->arena, &f->written, pointer_argument(f->c, mlirOperationGetOperand(op, 0)));
  if (op_is(f->c, op, OP_TILE_DOT) && mlirOperationEqual(op_loop_around(f->c, op), f->loop))
    vec_push(f->arena, &f->dots, op);
  return true;
}

static bool may_be_written(const struct finder *f, MlirOperation load) {
  int from = f->written.len ? pointer_argument(f->c, mlirOperationGetOperand(load, 0)) : -1;
  for (size_t i = 0; i < f->written.len; i++)
    if (from < 0 || f->written.at[i] < 0 || f->written.at[i] == from)
      return true;
  return false;
}

// ---- which loads feed which dots ----

static struct loop_load *find(struct finder *f, MlirOperation op) {
  for (size_t i = 0; i < f->ret->at.len; i++)
    if (mlirOperationEqual(f->ret->at.at[i].op, op))
      return &f->ret->at.at[i];
  return NULL;
}

static void push_once(struct finder *f, MlirValue v) {
  if (ptrmap_get(&f->seen, v.ptr))
    return;
  ptrmap_put(f->arena, &f->seen, v.ptr, f);
  vec_push(f->arena, &f->todo, v);
}

// Does the op pass the tile of its operand on to a dot?
static bool passes_tiles(struct ir_context *c, MlirOperation op) {
  switch (op_id(c, op)) {
  case OP_GPU_LOCAL_ALLOC:
  case OP_GPU_LOCAL_TRANS:
  case OP_GPU_LOCAL_LOAD:
  case OP_GPU_CONVERT_LAYOUT:
  case OP_TILE_TRANS:
  case OP_TILE_RESHAPE:
  case OP_TILE_BROADCAST:
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_JOIN:
  case OP_TILE_SPLIT: return true;
  default: return op_flags(c, op) & OP_EW;
  }
}

static void note_feeding(struct finder *f, MlirOperation load, unsigned level) {
  struct loop_load *l = find(f, load);
  if (!l) {
    if (f->ret->hidden++ == 0)
      f->ret->first_hidden = load;
    return;
  }
  l->level = l->feeds && l->level < level ? l->level : level;
  l->feeds = l->wanted = true;
}

static void feed(struct finder *f, MlirOperation dot, unsigned level) {
  f->todo.len = 0;
  f->seen = (struct map){0};
  for (int i = 3; i-- > 0;)
    push_once(f, mlirOperationGetOperand(dot, i));
  while (f->todo.len) {
    MlirOperation def = value_def(vec_pop(&f->todo));
    if (mlirOperationIsNull(def) || mlirOperationIsNull(op_in_block(f->body, def)))
      continue;
    if (op_is(f->c, def, OP_TILE_LOAD))
      note_feeding(f, def, level);
    else if (passes_tiles(f->c, def))
      for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++)
        push_once(f, mlirOperationGetOperand(def, i));
  }
}

struct depths {
  struct finder *f;
  struct map after; // MlirOperation.ptr of the body -> dots in sequence up to its results
  uintptr_t now;
};

// The accumulators of dots do not count: sums depend on each other anyway.
static bool note_depth(MlirOperation op, void *user) {
  struct depths *d = user;
  intptr_t n = op_is(d->f->c, op, OP_TILE_DOT) ? 2 : mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < n; i++) {
    MlirOperation def = value_def(mlirOperationGetOperand(op, i));
    uintptr_t depth = mlirOperationIsNull(def) ? 0 : (uintptr_t)ptrmap_get(&d->after, def.ptr);
    d->now = depth > d->now ? depth : d->now;
  }
  return true;
}

static bool holds_dot(struct finder *f, MlirOperation op) {
  for (size_t i = 0; i < f->dots.len; i++)
    if (mlirOperationEqual(op_in_block(f->body, f->dots.at[i]), op))
      return true;
  return false;
}

// Marks the loads that feed dots, with the level of the first of these.
static void feed_dots(struct finder *f) {
  struct depths d = {.f = f};
  for (MlirOperation op = mlirBlockGetFirstOperation(f->body); f->dots.len && op.ptr;
       op = mlirOperationGetNextInBlock(op)) {
    d.now = 0;
    ir_walk(op, note_depth, &d);
    bool has_dot = holds_dot(f, op);
    for (size_t i = 0; has_dot && i < f->dots.len; i++)
      if (mlirOperationEqual(op_in_block(f->body, f->dots.at[i]), op))
        feed(f, f->dots.at[i], (unsigned)d.now);
    ptrmap_put(f->arena, &d.after, op.ptr, (void *)(d.now + has_dot)); // NOLINT: a number
  }
}

// ---- addresses ----

static bool push_operands(MlirOperation op, void *user) {
  struct finder *f = user;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    if (mlirBlockEqual(value_block(v), f->body))
      push_once(f, v);
  }
  return true;
}

static bool check_total(MlirOperation op, void *user) {
  struct finder *f = user;
  switch (op_id(f->c, op)) {
  case OP_TILE_REDUCE:
  case OP_TILE_SCAN:
  case OP_TILE_MAP:
    if (op_may_have_no_value(f->c, op))
      f->ret = NULL;
    return f->ret != NULL;
  default: return true; // unknown divisors are replaced where needed
  }
}

// May the op run for iterations that do not exist?
static bool is_total(struct finder *f, MlirOperation op) {
  struct finder copy = *f;
  ir_walk(op, check_total, &copy);
  return copy.ret != NULL;
}

static bool can_run_ahead(struct finder *f, MlirOperation op) {
  if (op_is(f->c, op, OP_TILE_LOAD))
    return !may_be_written(f, op);
  return op_is_pure(f->c, op) && is_total(f, op);
}

// What the load's operands need, through carried values too. False if some of it cannot run ahead.
static bool find_slice(struct finder *f, struct loop_load *l) {
  bool ok = true;
  f->todo.len = 0;
  f->seen = (struct map){0};
  push_operands(l->op, f);
  while (f->todo.len) {
    MlirValue v = vec_pop(&f->todo);
    if (mlirValueIsABlockArgument(v)) {
      intptr_t at = mlirBlockArgumentGetArgNumber(v);
      if (at > 0) {
        MlirValue next = mlirOperationGetOperand(mlirBlockGetTerminator(f->body), at - 1);
        if (mlirBlockEqual(value_block(next), f->body))
          push_once(f, next);
      }
      continue;
    }
    MlirOperation op = mlirOpResultGetOwner(v);
    if (ptrmap_get(&l->slice, op.ptr))
      continue;
    ptrmap_put(f->arena, &l->slice, op.ptr, op.ptr);
    ok = ok && can_run_ahead(f, op);
    ir_walk(op, push_operands, f);
  }
  l->recurs = ptrmap_get(&l->slice, l->op.ptr) != NULL;
  return ok;
}

static void judge(struct finder *f, struct loop_load *l) {
  if (may_be_written(f, l->op))
    l->why = "a store in the loop may change what it reads";
  else if (!find_slice(f, l))
    l->why = "its address needs an operation that cannot run ahead";
  else
    l->staging = STAGING_REGISTERS;
}

// ---- loads whose addresses need loads ----

static bool leads_to(const struct loop_load *l, const struct loop_load *index) {
  return l != index && l->staging != STAGING_NONE && ptrmap_get(&l->slice, index->op.ptr);
}

static void mark_indices(struct finder *f) {
  for (size_t i = 0; i < f->ret->at.len; i++)
    for (size_t k = 0; k < f->ret->at.len; k++)
      if (f->ret->at.at[i].wanted && leads_to(&f->ret->at.at[i], &f->ret->at.at[k]))
        f->ret->at.at[k].is_index = true;
}

// Loads that do not recur depend on each other in one direction only.
static unsigned find_depth(struct finder *f, struct loop_load *l) {
  for (size_t i = 0; !l->depth_known && i < f->ret->at.len; i++) {
    struct loop_load *index = &f->ret->at.at[i];
    if (!leads_to(l, index) || index->recurs)
      continue;
    unsigned depth = 1 + find_depth(f, index);
    l->depth = depth > l->depth ? depth : l->depth;
  }
  l->depth_known = true;
  return l->depth;
}

// ---- staging ----

// Bytes per thread that may be staged in registers without tile.num_stages; not measured by itself.
enum { CHEAP_BYTES = 32 };

// Through shared memory, if a buffer and cp.async support the tile.
static void try_shared(struct finder *f, struct loop_load *l) {
  l->buffer = loop_buffer_layout(f->c, f->target, l->op);
  if (mlirAttributeIsNull(l->buffer)) {
    l->why = "it is no tile of numbers";
    return;
  }
  MlirType tile = type_with_encoding(mlirValueGetType(mlirOperationGetResult(l->op, 0)), l->buffer);
  struct async_copy_plan plan;
  if (!async_copy_plan_of(f->c, f->axis, f->target, mlirOperationGetOperand(l->op, 0),
                          load_operand(l->op, 1), tile, &plan))
    l->why = "its buffer has another shape";
  else if (plan.bytes == 0)
    l->why = plan.why;
  else
    l->staging = STAGING_SHARED;
}

static void choose_path(struct finder *f, struct loop_load *l) {
  if (l->staging == STAGING_NONE || !l->wanted || l->is_index)
    return;
  if (l->recurs) {
    l->staging = STAGING_NONE;
    l->why = "its address needs what it loaded in the iteration before";
  } else if (l->feeds || load_bytes_per_thread(f->c, l->op) >= CHEAP_BYTES) {
    try_shared(f, l);
  }
}

// A large tile beside the operands is co-staged where that costs no registers.
static void take_along(struct finder *f, struct loop_load *l) {
  if (l->staging != STAGING_REGISTERS || l->wanted || l->is_index || l->recurs || l->depth > 0 ||
      load_bytes_per_thread(f->c, l->op) < CHEAP_BYTES)
    return;
  try_shared(f, l);
  l->wanted = l->co_staged = l->staging == STAGING_SHARED;
  l->why = NULL;
}

void loop_loads_drop_co_staged(struct loop_loads *loads) {
  for (size_t i = 0; i < loads->at.len; i++)
    if (loads->at.at[i].co_staged) {
      loads->at.at[i].staging = STAGING_REGISTERS;
      loads->at.at[i].wanted = loads->at.at[i].co_staged = false;
    }
}

static bool any_wanted(const struct loop_loads *loads) {
  for (size_t i = 0; i < loads->at.len; i++)
    if (loads->at.at[i].wanted)
      return true;
  return false;
}

unsigned loop_stages(struct ir_context *c, MlirOperation loop, unsigned stages, bool *ret_asked) {
  int64_t lower, upper, step, asked = op_attr_int(loop, "tile.num_stages", -1);
  *ret_asked = asked >= 0;
  uint64_t most = asked >= 0 ? (uint64_t)asked : stages;
  if (value_const_int(c, mlirOperationGetOperand(loop, 0), &lower) &&
      value_const_int(c, mlirOperationGetOperand(loop, 1), &upper) &&
      value_const_int(c, mlirOperationGetOperand(loop, 2), &step) && step > 0) {
    uint64_t span = lower < upper ? (uint64_t)upper - (uint64_t)lower : 0;
    uint64_t iterations = span / (uint64_t)step + (span % (uint64_t)step != 0);
    most = iterations < most ? iterations : most;
  }
  return (unsigned)most;
}

struct loop_loads loop_loads_of(struct ir_context *c, struct axis_analysis *axis,
                                const struct target *target, MlirOperation loop, bool all,
                                struct arena *a) {
  struct loop_loads ret = {0};
  struct finder f = {.c = c,
                     .axis = axis,
                     .target = target,
                     .arena = a,
                     .loop = loop,
                     .body = loop_block(loop),
                     .ret = &ret};
  for (MlirOperation op = mlirBlockGetFirstOperation(f.body); op.ptr;
       op = mlirOperationGetNextInBlock(op))
    if (op_is(c, op, OP_TILE_LOAD))
      vec_push(a, &ret.at, (struct loop_load){.op = op, .wanted = all});
  ir_walk(loop, survey, &f);
  feed_dots(&f);
  if (!any_wanted(&ret))
    return ret;
  for (size_t i = 0; !ret.why && i < ret.at.len; i++)
    judge(&f, &ret.at.at[i]);
  if (!ret.why)
    mark_indices(&f);
  for (size_t i = 0; !ret.why && i < ret.at.len; i++)
    find_depth(&f, &ret.at.at[i]);
  for (size_t i = 0; !ret.why && i < ret.at.len; i++)
    choose_path(&f, &ret.at.at[i]);
  for (size_t i = 0; !ret.why && f.dots.len && i < ret.at.len; i++)
    take_along(&f, &ret.at.at[i]);
  return ret;
}
