// SPDX-License-Identifier: Apache-2.0
// unroll: a loop with tile.loop_unroll_factor = F runs F iterations of its body as one, and the
// remainder in the original loop. The first loop counts iterations, so that no step can overflow.
//
//   scf.for %i = %l to %u step %s { A(%i) }    ->    scf.for %k = 0 to trips - trips % F step F {
//                                                      A(%l + %k * %s)  A(%l + (%k + 1) * %s) ...
//                                                    }
//                                                    scf.for %i = %l + ... to %u step %s { A(%i) }
//
// With a known number of iterations canonicalize folds loops that run never or once.
#include "base/vec.h"
#include "lowering/pass.h"
#include "lowering/passes/loop_rewrite.h"
#include "mlir-dialects/build.h"

enum { MAX_OPS = 8192 }; // operations, of the unrolled body; chosen, not measured

static const char factor_name[] = "tile.loop_unroll_factor";

struct unroll {
  struct pass_context *p;
  struct ir_context *c;
  struct arena *arena;
  VEC(MlirOperation) loops; // inner ones first
  struct map now;           // MlirValue.ptr of the body -> MlirValue * in the current copy
};

// ---- copies of the body ----

static void set_now(struct unroll *u, MlirValue of, MlirValue v) {
  MlirValue *slot = arena_new(u->arena, MlirValue);
  *slot = v;
  ptrmap_put(u->arena, &u->now, of.ptr, slot);
}

static MlirValue now(struct unroll *u, MlirValue v) {
  const MlirValue *found = ptrmap_get(&u->now, v.ptr);
  return found ? *found : v;
}

static bool remap(MlirOperation op, void *user) {
  struct unroll *u = user;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    mlirOperationSetOperand(op, i, now(u, mlirOperationGetOperand(op, i)));
  return true;
}

// Appends a copy of `body` without its terminator to `to`, with operands mapped by `now`.
static void append_copy(struct unroll *u, MlirBlock body, MlirBlock to) {
  MlirOperation end = mlirBlockGetTerminator(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    MlirOperation copy = mlirOperationClone(op);
    mlirBlockAppendOwnedOperation(to, copy);
    ir_walk(copy, remap, u);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
      set_now(u, mlirOperationGetResult(op, i), mlirOperationGetResult(copy, i));
  }
}

// ---- counting ----

struct counts {
  MlirValue whole; // iterations that the unrolled loop does: a multiple of the factor
  MlirValue rest;  // where the other loop starts
};

// As unsigned numbers: max(ceil((upper - lower) / step), 0). A count beyond the signed comparison
// of the loop is left to the second loop.
static struct counts count(struct builder *b, MlirOperation loop, int64_t factor) {
  MlirValue lower = mlirOperationGetOperand(loop, 0), upper = mlirOperationGetOperand(loop, 1);
  MlirValue step = mlirOperationGetOperand(loop, 2);
  MlirType type = mlirValueGetType(lower);
  MlirValue zero = build_const_int(b, type, 0), one = build_const_int(b, type, 1);
  MlirValue span =
      build_binary(b, OP_ARITH_SUBI, build_binary(b, OP_ARITH_SUBI, upper, lower), one);
  MlirValue trips =
      build_binary(b, OP_ARITH_ADDI, build_binary(b, OP_ARITH_DIVUI, span, step), one);
  MlirValue runs = build_cmpi(b, 2, lower, upper);
  trips = build_select(b, runs, trips, zero);
  MlirValue left = build_binary(b, OP_ARITH_REMUI, trips, build_const_int(b, type, factor));
  MlirValue whole =
      build_binary(b, OP_ARITH_MAXSI, build_binary(b, OP_ARITH_SUBI, trips, left), zero);
  struct counts n = {
      whole, build_binary(b, OP_ARITH_ADDI, lower, build_binary(b, OP_ARITH_MULI, whole, step))};
  // Past the last iteration the sum may overflow; then nothing is left to do.
  MlirValue done = build_cmpi(b, 0, whole, trips);
  n.rest = build_select(b, done, upper, n.rest);
  return n;
}

// ---- the loop ----

static bool count_op(MlirOperation op, void *user) {
  (void)op;
  ++*(int64_t *)user;
  return true;
}

static int64_t size_of(MlirOperation op) {
  int64_t n = 0;
  ir_walk(op, count_op, &n);
  return n;
}

// Both loops keep the options other than the factor.
static void copy_options(MlirOperation from, MlirOperation to) {
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(from); i++) {
    MlirNamedAttribute a = mlirOperationGetAttribute(from, i);
    mlirOperationSetAttributeByName(to, mlirIdentifierStr(a.name), a.attribute);
  }
}

static void unroll_loop(struct unroll *u, MlirOperation loop, int64_t factor) {
  struct builder b = builder_before(u->c, loop);
  struct counts n = count(&b, loop, factor);
  MlirValue lower = mlirOperationGetOperand(loop, 0), step = mlirOperationGetOperand(loop, 2);
  MlirType type = mlirValueGetType(lower);
  intptr_t carried = mlirOperationGetNumResults(loop);
  MlirValue *values = arena_array(u->arena, MlirValue, (size_t)carried + 1);
  for (intptr_t i = 0; i < carried; i++)
    values[i] = mlirOperationGetOperand(loop, i + 3);
  MlirBlock body = loop_body(loop), wide;
  MlirOperation unrolled =
      build_for(&b, build_const_int(&b, type, 0), n.whole, build_const_int(&b, type, factor),
                (size_t)carried, values, &wide);
  copy_options(loop, unrolled);
  for (intptr_t i = 0; i < carried; i++)
    set_now(u, mlirBlockGetArgument(body, i + 1), mlirBlockGetArgument(wide, i + 1));
  struct builder inner = builder_at_end(u->c, wide, b.loc);
  MlirValue first = mlirBlockGetArgument(wide, 0);
  first =
      build_binary(&inner, OP_ARITH_ADDI, lower, build_binary(&inner, OP_ARITH_MULI, first, step));
  MlirOperation end = mlirBlockGetTerminator(body);
  for (int64_t f = 0; f < factor; f++) {
    set_now(u, mlirBlockGetArgument(body, 0), first);
    append_copy(u, body, wide);
    for (intptr_t i = 0; i < carried; i++)
      values[i] = now(u, mlirOperationGetOperand(end, i));
    for (intptr_t i = 0; i < carried; i++)
      set_now(u, mlirBlockGetArgument(body, i + 1), values[i]);
    if (f + 1 < factor)
      first = build_binary(&inner, OP_ARITH_ADDI, first, step);
  }
  build_yield(&inner, (size_t)carried, values);
  mlirOperationSetOperand(loop, 0, n.rest);
  for (intptr_t i = 0; i < carried; i++)
    mlirOperationSetOperand(loop, i + 3, mlirOperationGetResult(unrolled, i));
}

static bool collect(MlirOperation op, void *user) {
  struct unroll *u = user;
  if (op_is(u->c, op, OP_SCF_FOR) && !mlirAttributeIsNull(op_attr(op, factor_name)))
    vec_push(u->arena, &u->loops, op);
  return true;
}

enum pass_result pass_unroll(struct pass_context *p) {
  struct unroll u = {.p = p, .c = p->c, .arena = p->scratch};
  ir_walk_post(p->scratch, mlirModuleGetOperation(p->module), collect, &u);
  for (size_t i = 0; i < u.loops.len; i++) {
    MlirOperation loop = u.loops.at[i];
    int64_t factor = op_attr_int(loop, factor_name, 1), ops = size_of(loop);
    mlirOperationRemoveAttributeByName(loop, mlirStringRefCreateFromCString(factor_name));
    if (factor > 1 && ops * factor > MAX_OPS) {
      pass_remark(p, loop, "unroll", "not unrolled: %lld operations, %lld times, are too many",
                  (long long)ops, (long long)factor);
      continue;
    }
    MlirType type = mlirValueGetType(mlirOperationGetOperand(loop, 0));
    if (factor > 1 && type_bits(p->c, type) < 32) {
      pass_remark(p, loop, "unroll", "not unrolled: it counts in %u bits", type_bits(p->c, type));
      continue;
    }
    if (factor > 1)
      unroll_loop(&u, loop, factor);
  }
  return u.loops.len ? PASS_CHANGED : PASS_UNCHANGED;
}
