// SPDX-License-Identifier: Apache-2.0
// insert-barriers: inserts a barrier of the CTA before each op that accesses shared memory which
// other threads may still have to read or write, through branches and around loops.
// lowering/plan/barrier_plan.h decides where; the pass visits callees before their callers.
//
//   "tilegpu.local_store"(%x, %m)          "tilegpu.local_store"(%x, %m)
//                                          "tilegpu.barrier"()
//   %y = "tilegpu.local_load"(%m)    ->    %y = "tilegpu.local_load"(%m)
//
// In programs with products by wgmma a barrier with `reads_only` has no write before it that such a
// product would have to see.
//
// Warps that store rows of their own through a map (`warps` of tilegpu.map_store) meet in groups.
//
// An op with scratch has a barrier of its own between writing and reading it; after the op only its
// reads are pending.
#include "lowering/pass.h"
#include "lowering/plan/barrier_plan.h"
#include "mlir-dialects/build.h"

struct state {
  struct pass_context *p;
  struct map calls, done; // func.func -> its call_effects; -> non-NULL
  bool has_products;      // by wgmma
  bool changed, failed;
};

static void insert(struct state *s, const struct planned_barrier *x) {
  struct builder b = builder_before(s->p->c, x->op);
  build_gpu_barrier(&b, s->has_products && !x->is_behind_writes, (int32_t)x->warps);
  pass_remark(s->p, x->op, "shared", "a barrier before this: it reuses shared memory in use");
  s->changed = true;
}

// Only IR that was written by hand can be refused here.
static void refuse(struct state *s, MlirOperation op) {
  struct diag *d = diag_error(s->p->c->diag, op_span(s->p->c, op), E0602,
                              "`%s` writes shared memory that a product in flight reads",
                              op_info(op_id(s->p->c, op))->name);
  diag_help(d, "put `tilegpu.warp_group_dot_wait` with a smaller `pending` in front of it");
  s->failed = true;
}

static void visit_function(struct state *s, MlirOperation func);

static bool visit_callee(MlirOperation op, void *user) {
  struct state *s = user;
  if (!op_is(s->p->c, op, OP_FUNC_CALL))
    return true;
  MlirOperation callee = op_function(s->p->c, op, "callee");
  if (!mlirOperationIsNull(callee))
    visit_function(s, callee);
  return true;
}

// Callees first: what they leave pending is pending after the call.
static void visit_function(struct state *s, MlirOperation func) {
  struct arena *a = s->p->scratch;
  if (ptrmap_get(&s->done, func.ptr))
    return;
  ptrmap_put(a, &s->done, func.ptr, func.ptr);
  ir_walk(func, visit_callee, s);
  const struct shared_items *items = shared_items_of(s->p->c, func, s->p->num_warps, a);
  struct barrier_plan plan = barrier_plan_make(items, func, &s->calls, NULL, NULL, a);
  ptrmap_put(a, &s->calls, func.ptr, call_effects_of(items, func, &s->calls, &plan, a));
  if (!mlirOperationIsNull(plan.overwrites))
    refuse(s, plan.overwrites);
  for (size_t i = 0; i < plan.before.len; i++)
    insert(s, &plan.before.at[i]);
}

static bool find_products(MlirOperation op, void *user) {
  struct state *s = user;
  s->has_products |= op_is(s->p->c, op, OP_GPU_WARP_GROUP_DOT);
  return true;
}

static bool visit(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_is(s->p->c, op, OP_FUNC_FUNC))
    visit_function(s, op);
  return true;
}

enum pass_result pass_insert_barriers(struct pass_context *p) {
  struct state s = {.p = p};
  ir_walk(mlirModuleGetOperation(p->module), find_products, &s);
  ir_walk(mlirModuleGetOperation(p->module), visit, &s);
  if (s.failed)
    return PASS_FAILED;
  return s.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
