// SPDX-License-Identifier: Apache-2.0
// Recursion is the algorithm: operands are followed back to the buffers and loads that they come
// from, buffers forward to the ops that write them.
#include "lowering/cost/feed_survey.h"

#include "lowering/analysis/liveness.h"
#include "lowering/analysis/provenance.h"
#include "mlir-dialects/rings.h"

enum { FOLLOWED = 32 }; // values on one chain

static const char *const engine_names[] = {[FEED_COMPUTED] = "computed",
                                           [FEED_LOADS] = "loads",
                                           [FEED_CP_ASYNC] = "cp.async",
                                           [FEED_TMA] = "TMA"};

const char *feed_engine_name(enum feed_engine e) { return engine_names[e]; }

static MlirValue operand(MlirOperation op, intptr_t i) { return mlirOperationGetOperand(op, i); }

// ---- names ----

const char *map_parameter(struct ir_context *c, MlirOperation op, uint32_t number) {
  MlirOperation func = function_around(c, op);
  struct kernel_map map;
  if (mlirOperationIsNull(func) ||
      !module_map(c, mlirOperationGetParentOperation(func), number, &map))
    return NULL;
  return parameter_name(c, c->arena, op, (int)map.base);
}

static const char *pointer_name(struct ir_context *c, MlirOperation op) {
  return parameter_name(c, c->arena, op, pointer_argument(c, operand(op, 0)));
}

// ---- buffers ----

static MlirOperation alloc_of(struct ir_context *c, MlirValue memdesc) {
  MlirOperation def = value_def(memdesc);
  while (!mlirOperationIsNull(def) && !op_is(c, def, OP_GPU_LOCAL_ALLOC))
    def = mlirOperationGetNumOperands(def) ? value_def(operand(def, 0)) : (MlirOperation){NULL};
  return def;
}

// Calls `see` with each use of the buffer, or of a view of it, until it returns false.
static bool walk_uses(struct ir_context *c, MlirValue memdesc,
                      bool (*see)(void *user, MlirOperation op, intptr_t i), void *user) {
  for (MlirOpOperand use = mlirValueGetFirstUse(memdesc); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    bool is_view = op_is(c, op, OP_GPU_LOCAL_INDEX) || op_is(c, op, OP_GPU_LOCAL_TRANS);
    if (is_view ? !walk_uses(c, mlirOperationGetResult(op, 0), see, user)
                : !see(user, op, mlirOpOperandGetOperandNumber(use)))
      return false;
  }
  return true;
}

static struct feed value_feed(struct ir_context *c, MlirValue v, unsigned depth);

struct writer {
  struct ir_context *c;
  struct feed found;
  unsigned depth;
};

static bool see_writer(void *user, MlirOperation op, intptr_t i) {
  struct writer *w = user;
  switch (op_id(w->c, op)) {
  case OP_GPU_MAP_COPY:
    if (i != 0)
      return true;
    w->found.engine = FEED_TMA;
    w->found.parameter = map_parameter(w->c, op, (uint32_t)op_attr_int(op, "map", 0));
    return false;
  case OP_GPU_ASYNC_COPY:
    w->found.engine = FEED_CP_ASYNC;
    w->found.parameter = pointer_name(w->c, op);
    return false;
  case OP_GPU_LOCAL_STORE: {
    struct feed of = value_feed(w->c, operand(op, 0), w->depth);
    w->found.engine = of.engine;
    w->found.parameter = of.parameter;
    return false;
  }
  default: return true;
  }
}

static struct feed feed_through(struct ir_context *c, MlirOperation alloc, unsigned depth) {
  struct writer w = {.c = c, .found.buffer = alloc, .depth = depth};
  if (mlirOperationGetNumOperands(alloc)) {
    w.found = value_feed(c, operand(alloc, 0), depth);
    w.found.buffer = alloc;
  } else {
    walk_uses(c, mlirOperationGetResult(alloc, 0), see_writer, &w);
  }
  return w.found;
}

struct feed buffer_feed(struct ir_context *c, MlirOperation alloc) {
  return feed_through(c, alloc, FOLLOWED);
}

struct use_look {
  struct ir_context *c;
  MlirOperation init, store;
};

static bool see_use(void *user, MlirOperation op, intptr_t i) {
  struct use_look *l = user;
  (void)i;
  if (op_is(l->c, op, OP_GPU_RING_INIT))
    l->init = op;
  if (op_is(l->c, op, OP_GPU_MAP_STORE))
    l->store = op;
  return mlirOperationIsNull(l->init) && mlirOperationIsNull(l->store);
}

static struct use_look look_at_uses(struct ir_context *c, MlirOperation alloc) {
  struct use_look l = {.c = c};
  walk_uses(c, mlirOperationGetResult(alloc, 0), see_use, &l);
  return l;
}

enum buffer_use buffer_use_of(struct ir_context *c, MlirOperation alloc) {
  struct use_look l = look_at_uses(c, alloc);
  return !mlirOperationIsNull(l.init)    ? BUFFER_BARRIERS
         : !mlirOperationIsNull(l.store) ? BUFFER_STAGING
                                         : BUFFER_DATA;
}

uint32_t ring_slots(struct ir_context *c, MlirOperation barriers) {
  return (uint32_t)op_attr_int(look_at_uses(c, barriers).init, "slots", 1);
}

// The buffers that copies counted by these mbarriers fill.
struct ring_names {
  struct ir_context *c;
  const char *names;
  MlirOperation last;
};

static bool see_copy(void *user, MlirOperation op, intptr_t i) {
  struct ring_names *r = user;
  if (i != 1 || !op_is(r->c, op, OP_GPU_MAP_COPY))
    return true;
  MlirOperation alloc = alloc_of(r->c, operand(op, 0));
  const char *name = map_parameter(r->c, op, (uint32_t)op_attr_int(op, "map", 0));
  if (!name || mlirOperationEqual(alloc, r->last))
    return true;
  r->last = alloc;
  // Uses are listed from the last to the first.
  r->names = r->names ? arena_printf(r->c->arena, "%s, %s", name, r->names) : name;
  return true;
}

const char *buffer_name(struct ir_context *c, MlirOperation alloc) {
  struct use_look l = look_at_uses(c, alloc);
  if (!mlirOperationIsNull(l.store))
    return map_parameter(c, l.store, (uint32_t)op_attr_int(l.store, "map", 0));
  if (mlirOperationIsNull(l.init))
    return buffer_feed(c, alloc).parameter;
  struct ring_names r = {.c = c};
  walk_uses(c, mlirOperationGetResult(alloc, 0), see_copy, &r);
  return r.names;
}

// ---- operands ----

// The value that a block argument of a loop begins with.
static MlirValue first_value(struct ir_context *c, MlirValue v) {
  MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v));
  intptr_t i = mlirBlockArgumentGetArgNumber(v);
  bool carried = op_is(c, loop, OP_SCF_FOR) && i > 0;
  return carried ? operand(loop, i + 2) : (MlirValue){NULL};
}

static struct feed value_feed(struct ir_context *c, MlirValue v, unsigned depth) {
  struct feed none = {.engine = FEED_COMPUTED};
  if (depth == 0 || mlirValueIsNull(v))
    return none;
  if (type_is_memdesc(c, mlirValueGetType(v))) {
    MlirOperation alloc = alloc_of(c, v);
    return mlirOperationIsNull(alloc) ? none : feed_through(c, alloc, depth - 1);
  }
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def))
    return value_feed(c, first_value(c, v), depth - 1);
  if (op_is(c, def, OP_TILE_LOAD))
    return (struct feed){.engine = FEED_LOADS, .parameter = pointer_name(c, def)};
  bool is_product = op_is(c, def, OP_TILE_DOT) || op_is(c, def, OP_GPU_WARP_GROUP_DOT) ||
                    op_is(c, def, OP_GPU_WARP_GROUP_DOT_WAIT);
  if (is_product || mlirOperationGetNumRegions(def))
    return none;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++) {
    MlirType t = mlirValueGetType(operand(def, i));
    if (!type_is_tensor(t) && !type_is_memdesc(c, t))
      continue;
    struct feed found = value_feed(c, operand(def, i), depth - 1);
    if (found.engine != FEED_COMPUTED)
      return found;
  }
  return none;
}

struct feed operand_feed(struct ir_context *c, MlirOperation product, intptr_t i) {
  return value_feed(c, operand(product, i), FOLLOWED);
}

// ---- persistence ----

// Is the number computed from the number of programs?
static bool counts_programs(struct ir_context *c, MlirValue v, unsigned depth) {
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def) || depth == 0)
    return false;
  bool found = op_is(c, def, OP_TILE_NUM_PROGRAMS);
  for (intptr_t i = 0; !found && i < mlirOperationGetNumOperands(def); i++)
    found = counts_programs(c, operand(def, i), depth - 1);
  return found;
}

struct loop_find {
  struct ir_context *c;
  MlirOperation found; // the last: warps that only copy have a copy of the loop in front of it
};

static bool see_loop(MlirOperation op, void *user) {
  enum { DEPTH = 4 };
  struct loop_find *f = user;
  if (op_is(f->c, op, OP_SCF_FOR) && counts_programs(f->c, operand(op, 2), DEPTH))
    f->found = op;
  return true;
}

MlirOperation persistent_loop(struct ir_context *c, MlirOperation kernel) {
  struct loop_find f = {.c = c};
  if (!mlirOperationIsNull(kernel))
    ir_walk(kernel, see_loop, &f);
  return f.found;
}

// ---- registers ----

struct register_look {
  struct ir_context *c;
  struct warp_registers found;
};

static bool see_registers(MlirOperation op, void *user) {
  struct register_look *l = user;
  if (op_is(l->c, op, OP_GPU_SET_REGISTERS)) {
    uint32_t count = (uint32_t)op_attr_int(op, "count", 0);
    *(op_attr_bool(op, "grows") ? &l->found.computing : &l->found.producer) = count;
  }
  return true;
}

struct warp_registers warp_registers_of(struct ir_context *c, MlirOperation module) {
  struct register_look l = {.c = c};
  l.found.entry = (uint32_t)op_attr_int(module, "tilegpu.entry_registers", 0);
  ir_walk(module, see_registers, &l);
  return l.found;
}
