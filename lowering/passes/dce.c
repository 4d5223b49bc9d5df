// SPDX-License-Identifier: Apache-2.0
// dce: removes operations whose results nobody uses and whose effects nobody sees: pure ones, and
// loads that are not volatile. Results and loop-carried values of scf.if and scf.for that nobody
// uses go too.
//
//   %1 = arith.addi %a, %b   (unused)      ->   (nothing)
//   %2 = "tile.load"(%p)     (unused)      ->   (nothing)
#include "lowering/pass.h"
#include "mlir-dialects/build.h"

struct dce {
  struct ir_context *c;
  bool changed;
};

static bool results_unused(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (value_has_uses(mlirOperationGetResult(op, i)))
      return false;
  return true;
}

static bool is_removable(struct ir_context *c, MlirOperation op) {
  enum op_id id = op_id(c, op);
  if (id == OP_TILE_LOAD)
    return !op_attr_bool(op, "is_volatile");
  if (id == OP_FUNC_FUNC || id == OP_BUILTIN_MODULE || (op_flags(c, op) & OP_TERM))
    return false;
  return op_is_pure(c, op);
}

static bool remove_dead(MlirOperation op, void *user) {
  struct dce *d = user;
  if (is_removable(d->c, op) && results_unused(op)) {
    op_erase(op);
    d->changed = true;
  }
  return true;
}

// ---- unused results of scf.if and scf.for ----

// Erasing operands of a terminator: rebuilt without those of dead positions.
static void shrink_terminator(struct ir_context *c, MlirBlock block, const bool *dead) {
  MlirOperation old = mlirBlockGetTerminator(block);
  intptr_t n = mlirOperationGetNumOperands(old), kept = 0;
  MlirValue *values = arena_array(c->arena, MlirValue, (size_t)n + 1);
  for (intptr_t i = 0; i < n; i++)
    if (!dead[i])
      values[kept++] = mlirOperationGetOperand(old, i);
  struct builder b = builder_before(c, old);
  build_yield(&b, (size_t)kept, values);
  op_erase(old);
}

// Moves the operations of `from` to the end of `to`.
static void splice(MlirBlock from, MlirBlock to) {
  for (MlirOperation o = mlirBlockGetFirstOperation(from), next; !mlirOperationIsNull(o);
       o = next) {
    next = mlirOperationGetNextInBlock(o);
    mlirOperationRemoveFromParent(o);
    mlirBlockAppendOwnedOperation(to, o);
  }
}

static void replace_live_results(MlirOperation old, MlirOperation new_op, const bool *dead) {
  for (intptr_t i = 0, k = 0; i < mlirOperationGetNumResults(old); i++)
    if (!dead[i])
      value_replace(mlirOperationGetResult(old, i), mlirOperationGetResult(new_op, k++));
}

static MlirBlock region_block(MlirOperation op, intptr_t i) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
}

static void shrink_if(struct ir_context *c, MlirOperation op, const bool *dead, size_t live,
                      const MlirType *types) {
  for (intptr_t r = 0; r < 2; r++)
    shrink_terminator(c, region_block(op, r), dead);
  struct builder b = builder_before(c, op);
  MlirBlock blocks[2];
  MlirOperation smaller =
      build_if(&b, mlirOperationGetOperand(op, 0), live, types, &blocks[0], &blocks[1]);
  for (intptr_t r = 0; r < 2; r++)
    splice(region_block(op, r), blocks[r]);
  replace_live_results(op, smaller, dead);
  op_erase(op);
}

static void shrink_for(struct ir_context *c, MlirOperation op, const bool *dead, size_t live) {
  intptr_t n = mlirOperationGetNumResults(op);
  MlirBlock body = region_block(op, 0), new_body;
  shrink_terminator(c, body, dead);
  MlirValue *inits = arena_array(c->arena, MlirValue, live + 1);
  for (intptr_t i = 0, k = 0; i < n; i++)
    if (!dead[i])
      inits[k++] = mlirOperationGetOperand(op, 3 + i);
  struct builder b = builder_before(c, op);
  MlirOperation smaller =
      build_for(&b, mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1),
                mlirOperationGetOperand(op, 2), live, inits, &new_body);
  value_replace(mlirBlockGetArgument(body, 0), mlirBlockGetArgument(new_body, 0));
  for (intptr_t i = 0, k = 1; i < n; i++)
    if (!dead[i])
      value_replace(mlirBlockGetArgument(body, 1 + i), mlirBlockGetArgument(new_body, k++));
  splice(body, new_body);
  replace_live_results(op, smaller, dead);
  op_erase(op);
}

// A carried value is dead when its result is unused and its block argument feeds nothing but its
// own next value.
static bool carried_is_dead(MlirOperation loop, intptr_t i) {
  MlirBlock body = region_block(loop, 0);
  MlirValue arg = mlirBlockGetArgument(body, 1 + i);
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (MlirOpOperand u = mlirValueGetFirstUse(arg); !mlirOpOperandIsNull(u);
       u = mlirOpOperandGetNextUse(u))
    if (!mlirOperationEqual(mlirOpOperandGetOwner(u), yield) ||
        mlirOpOperandGetOperandNumber(u) != (unsigned)i)
      return false;
  return true;
}

static bool shrink(MlirOperation op, void *user) {
  struct dce *d = user;
  enum op_id id = op_id(d->c, op);
  intptr_t n = mlirOperationGetNumResults(op);
  if ((id != OP_SCF_IF && id != OP_SCF_FOR) || n == 0)
    return true;
  bool *dead = arena_array(d->c->arena, bool, (size_t)n);
  MlirType *types = arena_array(d->c->arena, MlirType, (size_t)n);
  size_t live = 0;
  for (intptr_t i = 0; i < n; i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    dead[i] = !value_has_uses(result) && (id == OP_SCF_IF || carried_is_dead(op, i));
    if (!dead[i])
      types[live++] = mlirValueGetType(result);
  }
  if (live == (size_t)n)
    return true;
  if (id == OP_SCF_IF)
    shrink_if(d->c, op, dead, live, types);
  else
    shrink_for(d->c, op, dead, live);
  d->changed = true;
  return true;
}

enum pass_result pass_dce(struct pass_context *p) {
  MlirOperation root = mlirModuleGetOperation(p->module);
  bool any = false;
  for (;;) {
    struct dce d = {p->c, false};
    ir_walk_post(root, remove_dead, &d);
    ir_walk_post(root, shrink, &d);
    if (!d.changed)
      break;
    any = true;
  }
  return any ? PASS_CHANGED : PASS_UNCHANGED;
}
