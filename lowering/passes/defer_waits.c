// SPDX-License-Identifier: Apache-2.0
// defer-waits: in a loop with several products by wgmma, each one stays in flight until its result
// is used, so that it runs beside what the program computes in between.
//
//   %s = warp_group_dot %k, %q            %s0 = warp_group_dot %k, %q  {pending = 1}
//   %t = warp_group_dot %v, %o            %t0 = warp_group_dot %v, %o  {pending = 2}
//                                         %s = warp_group_dot_wait %s0 {pending = 1}
//   %p = f(%s)                     ->     %p = f(%s)
//                                         %t = warp_group_dot_wait %t0 {pending = 0}
//   %d = g(%p, %t)                        %d = g(%p, %t)
//
// Products complete in the order in which they were issued (PTX ISA, "wgmma.wait_group"). All are
// complete at the end of the iteration. What ends an operand (a release of its slot, a write to its
// buffer) waits for the product, too.
#include "base/vec.h"
#include "base/wgmma.h"
#include "lowering/analysis/liveness.h"
#include "lowering/cost/registers.h"
#include "lowering/pass.h"
#include "lowering/passes/loop_rewrite.h"
#include "mlir-dialects/build.h"

// Registers of a thread that tiles may take in the loop: with more, ptxas completes each product at
// once (C7512).
enum { MOST_WORDS = 208 };

struct state {
  struct pass_context *p;
  struct ir_context *c;
  VEC(MlirOperation) loops;
  MlirOperation func;                    // around the loop
  MlirOperation flight[WGMMA_IN_FLIGHT]; // products, in the order of their issue
  unsigned count;
};

static bool is_product(const struct state *s, MlirOperation op) {
  return op_is(s->c, op, OP_GPU_WARP_GROUP_DOT);
}

// The buffer that the operand is, or is a view of.
static MlirValue buffer_of(const struct state *s, MlirValue v) {
  for (MlirOperation def = value_def(v);
       !mlirOperationIsNull(def) &&
       (op_is(s->c, def, OP_GPU_LOCAL_INDEX) || op_is(s->c, def, OP_GPU_LOCAL_TRANS));
       def = value_def(v))
    v = mlirOperationGetOperand(def, 0);
  return v;
}

// The ring whose slot the operand is; -1: it is in none.
static int64_t ring_of(const struct state *s, MlirValue v) {
  MlirOperation def = value_def(v);
  while (!mlirOperationIsNull(def) && op_is(s->c, def, OP_GPU_LOCAL_TRANS))
    def = value_def(mlirOperationGetOperand(def, 0));
  if (mlirOperationIsNull(def) || !op_is(s->c, def, OP_GPU_LOCAL_INDEX))
    return -1;
  MlirOperation full = value_def(mlirOperationGetOperand(def, 1));
  bool is_slot = !mlirOperationIsNull(full) && op_is(s->c, full, OP_GPU_RING_FULL);
  return is_slot ? op_attr_int(full, "ring", -1) : -1;
}

static bool reads_ring(const struct state *s, MlirOperation product, int64_t ring) {
  return ring_of(s, mlirOperationGetOperand(product, 0)) == ring ||
         ring_of(s, mlirOperationGetOperand(product, 1)) == ring;
}

static bool reads_buffer(const struct state *s, MlirOperation product, MlirValue buffer) {
  for (intptr_t i = 0; i < 2; i++)
    if (mlirValueEqual(buffer_of(s, mlirOperationGetOperand(product, i)), buffer))
      return true;
  return false;
}

static bool uses(MlirOperation op, MlirOperation product) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (mlirValueEqual(mlirOperationGetOperand(op, i), mlirOperationGetResult(product, 0)))
      return true;
  return false;
}

// Ops that leave all operands of products alone. The end of an iteration does not.
static bool is_apart(const struct state *s, MlirOperation op) {
  switch (op_id(s->c, op)) {
  case OP_GPU_LOCAL_LOAD:
  case OP_GPU_LOCAL_ALLOC:
  case OP_GPU_WARP_GROUP_DOT:
  case OP_GPU_RING_FULL:
  case OP_GPU_MAP_WAIT:
  case OP_GPU_MAP_STORE:
  case OP_GPU_BARRIER:
  case OP_TILE_LOAD:
  case OP_TILE_STORE: return true;
  case OP_SCF_YIELD: return false;
  default: return op_is_pure(s->c, op) && mlirOperationGetNumRegions(op) == 0;
  }
}

static bool must_be_complete(const struct state *s, MlirOperation product, MlirOperation at) {
  if (uses(at, product))
    return true;
  if (op_is(s->c, at, OP_GPU_RING_RELEASE))
    return reads_ring(s, product, op_attr_int(at, "ring", -1));
  if (op_is(s->c, at, OP_GPU_LOCAL_STORE))
    return reads_buffer(s, product, buffer_of(s, mlirOperationGetOperand(at, 1)));
  return !is_apart(s, at);
}

// Completes the first `n` products in flight in front of `at`.
static void complete(struct state *s, unsigned n, MlirOperation at) {
  struct builder b = builder_before(s->c, at);
  for (unsigned i = 0; i < n; i++) {
    MlirValue sum = mlirOperationGetResult(s->flight[i], 0);
    MlirValue complete = build_warp_group_dot_wait(&b, sum, (int32_t)(s->count - n), 0, NULL);
    value_replace(sum, complete);
    mlirOperationSetOperand(mlirOpResultGetOwner(complete), 0, sum);
  }
  s->count -= n;
  memmove(s->flight, s->flight + n, s->count * sizeof *s->flight);
}

static void issue(struct state *s, MlirOperation product) {
  if (s->count == WGMMA_IN_FLIGHT)
    complete(s, 1, product);
  s->flight[s->count++] = product;
  mlirOperationSetAttributeByName(product, mlirStringRefCreateFromCString("pending"),
                                  attr_i32(s->c, (int32_t)s->count));
}

static void rewrite(struct state *s, MlirBlock body) {
  s->count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    unsigned n = s->count;
    while (n > 0 && !must_be_complete(s, s->flight[n - 1], op))
      n--;
    complete(s, n, op);
    if (is_product(s, op))
      issue(s, op);
  }
}

static bool has_registers(struct state *s, MlirOperation loop) {
  struct arena *a = s->p->scratch;
  struct axis_analysis *axis = axis_analyse(s->c, mlirModuleGetOperation(s->p->module), a);
  struct register_census *census =
      register_census_of(s->c, axis, liveness_of(s->c, s->func, a), s->func, a);
  return registers_in_loop(census, loop) <= MOST_WORDS;
}

// All are complete when they end as yet, and a wait may hold their results.
static bool is_match(const struct state *s, MlirBlock body) {
  unsigned count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (op_is(s->c, op, OP_GPU_WARP_GROUP_DOT_WAIT))
      return false;
    if (!is_product(s, op))
      continue;
    if (op_attr_int(op, "pending", 0) != 0 || !mlirAttributeIsNull(op_attr(op, "promoted_every")) ||
        type_bits(s->c, element_type(mlirValueGetType(mlirOperationGetResult(op, 0)))) != 32)
      return false;
    count++;
  }
  return count > 1;
}

static bool collect(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_is(s->c, op, OP_FUNC_FUNC))
    s->func = op;
  if (op_is(s->c, op, OP_SCF_FOR) && is_match(s, loop_body(op)) && has_registers(s, op))
    vec_push(s->p->scratch, &s->loops, op);
  return true;
}

enum pass_result pass_defer_waits(struct pass_context *p) {
  struct state s = {.p = p, .c = p->c};
  if (p->target->has_wgmma)
    ir_walk(mlirModuleGetOperation(p->module), collect, &s);
  for (size_t i = 0; i < s.loops.len; i++)
    rewrite(&s, loop_body(s.loops.at[i]));
  return s.loops.len ? PASS_CHANGED : PASS_UNCHANGED;
}
