// SPDX-License-Identifier: Apache-2.0
// One walk; each op goes to the function of its family.
#include "lowering/cost/performance.h"

#include "lowering/analysis/scratch.h"
#include "lowering/analysis/shared_effects.h"
#include "lowering/cost/occupancy.h"

struct survey {
  struct op_survey of_op;
  struct ir_context *c;
  uint32_t num_warps;
  struct arena *a;
  const struct shared_items *items; // of the current function
  MlirOperation kernel;
  bool in_kernel; // the current function is the kernel
  struct performance *ret;
};

static MlirValue operand(MlirOperation op, intptr_t i) { return mlirOperationGetOperand(op, i); }

// ---- loops ----

// Trips of all loops around the op that are constants; *ret_unknown: some are not.
static uint64_t trips_of(struct survey *s, MlirOperation op, bool *ret_unknown) {
  uint64_t trips = 1;
  *ret_unknown = false;
  for (MlirOperation at = mlirOperationGetParentOperation(op); !mlirOperationIsNull(at);
       at = mlirOperationGetParentOperation(at)) {
    int64_t lower, upper, step;
    if (!op_is_loop(s->c, at))
      continue;
    if (op_is(s->c, at, OP_SCF_FOR) && value_const_int(s->c, operand(at, 0), &lower) &&
        value_const_int(s->c, operand(at, 1), &upper) &&
        value_const_int(s->c, operand(at, 2), &step) && step > 0 && upper > lower)
      trips *= (uint64_t)((upper - lower + step - 1) / step);
    else
      *ret_unknown = true;
  }
  return trips;
}

// ---- families ----

static void see_access(struct survey *s, MlirOperation op) {
  struct memory_access m;
  if (!survey_access(&s->of_op, op, &m))
    return;
  enum op_id id = op_id(s->c, op);
  m.bytes *= trips_of(s, op, &m.in_loop);
  s->ret->in_loop |= m.in_loop;
  bool reads = id == OP_TILE_LOAD || id == OP_GPU_ASYNC_COPY || id == OP_GPU_MAP_COPY;
  bool writes = id == OP_TILE_STORE || id == OP_GPU_MAP_STORE;
  s->ret->bytes_read += writes ? 0 : m.bytes;
  s->ret->bytes_written += reads ? 0 : m.bytes;
  vec_push(s->a, &s->ret->accesses, m);
}

static void see_copy(struct survey *s, MlirOperation op) {
  MlirOperation buffer = value_def(operand(op, 1));
  if (op_is(s->c, buffer, OP_GPU_LOCAL_INDEX) && mlirAttributeIsNull(op_attr(buffer, "phase")))
    return; // in front of the loop
  see_access(s, op);
}

static void see_product(struct survey *s, MlirOperation op) {
  struct product_cost p;
  if (!survey_product(&s->of_op, op, &p))
    return;
  for (size_t i = 0; i < s->ret->products.len; i++) {
    struct product_cost *q = &s->ret->products.at[i];
    if (mlirLocationEqual(mlirOperationGetLocation(q->op), mlirOperationGetLocation(op)) &&
        !q->instruction == !p.instruction) {
      q->count += p.count;
      return;
    }
  }
  vec_push(s->a, &s->ret->products, p);
  struct product_feeds f = {{operand_feed(s->c, op, 0), operand_feed(s->c, op, 1)}};
  vec_push(s->a, &s->ret->feeds, f);
}

static void see_conversion(struct survey *s, MlirOperation op) {
  struct layout_conversion v;
  if (survey_conversion(&s->of_op, op, &v))
    vec_push(s->a, &s->ret->conversions, v);
}

static void see_reduction(struct survey *s, MlirOperation op) {
  struct reduction_cost r;
  if (survey_reduction(&s->of_op, op, &r))
    vec_push(s->a, &s->ret->reductions, r);
}

// ---- shared memory ----

static void see_buffer(struct survey *s, MlirOperation alloc, struct shared_use *u) {
  u->copies = alloc_copies(alloc);
  u->use = buffer_use_of(s->c, alloc);
  u->engine = buffer_feed(s->c, alloc).engine;
  u->name = buffer_name(s->c, alloc);
}

// Of the buffer or the scratch of the op. Functions that the kernel calls have points of their own.
static struct live_range live_of(const struct survey *s, MlirOperation op) {
  for (size_t i = 0; s->in_kernel && i < s->items->items.len; i++)
    if (mlirOperationEqual(s->items->items.at[i].op, op))
      return shared_item_live(&s->items->items.at[i]);
  return (struct live_range){0, UINT32_MAX};
}

static void see_shared(struct survey *s, MlirOperation op) {
  if (mlirAttributeIsNull(op_attr(op, "tilegpu.shared_offset")))
    return;
  struct shared_use u = {
      .op = op, .offset = scratch_offset(op), .purpose = resource_purpose(s->c, op), .copies = 1};
  if (op_is(s->c, op, OP_GPU_LOCAL_ALLOC))
    see_buffer(s, op, &u);
  u.bytes = op_is(s->c, op, OP_GPU_LOCAL_ALLOC)
                ? alloc_bytes(s->c, op)
                : scratch_double_buffer(op) + scratch_bytes(s->c, op, s->num_warps);
  u.live = live_of(s, op);
  vec_push(s->a, &s->ret->shared, u);
}

// ---- the walk ----

static void see_function(struct survey *s, MlirOperation op) {
  s->items = shared_items_of(s->c, op, s->num_warps, s->a);
  s->in_kernel = !mlirOperationIsNull(s->kernel) && mlirOperationEqual(op, s->kernel);
  if (s->in_kernel)
    s->ret->points = liveness_count(s->items->live);
}

static void see_loop(struct survey *s, MlirOperation op) {
  if (!s->in_kernel || !op_is_loop(s->c, op))
    return;
  struct loop_points l = {op,
                          {liveness_point(s->items->live, op), liveness_end(s->items->live, op)}};
  vec_push(s->a, &s->ret->loops, l);
}

static bool see(MlirOperation op, void *user) {
  struct survey *s = user;
  enum op_id id = op_id(s->c, op);
  switch (id) {
  case OP_FUNC_FUNC: see_function(s, op); break;
  case OP_TILE_LOAD:
  case OP_TILE_STORE:
  case OP_TILE_ATOMIC_RMW:
  case OP_GPU_MAP_COPY:
  case OP_GPU_MAP_STORE: see_access(s, op); break;
  case OP_GPU_ASYNC_COPY: see_copy(s, op); break;
  case OP_TILE_DOT:
  case OP_GPU_WARP_GROUP_DOT: see_product(s, op); break;
  case OP_TILE_REDUCE: see_reduction(s, op); break;
  case OP_GPU_CONVERT_LAYOUT:
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS: see_conversion(s, op); break;
  default: break;
  }
  see_loop(s, op);
  see_shared(s, op);
  if (s->items && shared_effects_of(s->items, op).synchronizes)
    s->ret->barriers++;
  return true;
}

struct performance performance_of(struct ir_context *c, MlirModule module,
                                  const struct target *target, uint32_t num_warps,
                                  struct arena *a) {
  struct performance p = {0};
  MlirOperation root = mlirModuleGetOperation(module), kernel = module_kernel(c, module);
  struct survey s = {
      .of_op = {c, target, num_warps, a, axis_analyse(c, root, a)},
      .c = c,
      .num_warps = num_warps,
      .a = a,
      .ret = &p,
      .kernel = kernel,
  };
  ir_walk(root, see, &s);
  for (size_t i = 0; i < p.shared.len; i++)
    if (p.shared.at[i].live.end >= p.points)
      p.shared.at[i].live.end = p.points ? p.points - 1 : 0;
  int64_t total = scratch_total(module);
  p.shared_bytes = total < 0 ? 0 : (uint32_t)total;
  p.producer_warps = (uint32_t)op_attr_int(root, "tilegpu.producer_warps", 0);
  p.registers = warp_registers_of(c, root);
  p.cluster = (uint32_t)op_attr_int(root, "tilegpu.num_ctas", 1);
  p.persistent_loop = persistent_loop(c, kernel);
  p.spill_bytes = mlirOperationIsNull(kernel) ? 0 : spill_bytes(kernel);
  return p;
}
