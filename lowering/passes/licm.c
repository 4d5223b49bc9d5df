// SPDX-License-Identifier: Apache-2.0
// licm: moves pure operations whose operands are defined outside a loop in front of it, inner loops
// first. A division moves only if its divisor is a constant other than 0 and -1: the loop may not
// run at all, and then nothing may divide.
//
//   scf.for ... { %1 = arith.muli %n, %s }   ->   %1 = arith.muli %n, %s
//                                                 scf.for ... { }
#include "lowering/pass.h"
#include "lowering/passes/loops.h"

struct licm {
  struct ir_context *c;
  bool changed;
};

static bool may_have_no_value(struct ir_context *c, MlirOperation op);

struct function_check {
  struct ir_context *c;
  bool may_fail;
};

static bool check_op(MlirOperation op, void *user) {
  struct function_check *f = user;
  f->may_fail |= may_have_no_value(f->c, op);
  return !f->may_fail;
}

// Does the function of scalars that `op` names as `attribute` divide by what may be zero?
static bool function_may_fail(struct ir_context *c, MlirOperation op, const char *attribute) {
  MlirOperation function = op_function(c, op, attribute);
  struct function_check f = {c, mlirOperationIsNull(function)};
  if (!f.may_fail)
    ir_walk(function, check_op, &f);
  return f.may_fail;
}

static bool may_have_no_value(struct ir_context *c, MlirOperation op) {
  switch (op_id(c, op)) {
  case OP_TILE_REDUCE:
  case OP_TILE_SCAN: return function_may_fail(c, op, "combine");
  case OP_TILE_MAP: return function_may_fail(c, op, "function");
  case OP_ARITH_DIVSI:
  case OP_ARITH_REMSI:
  case OP_ARITH_DIVUI:
  case OP_ARITH_REMUI: {
    int64_t divisor;
    return !value_const_int(c, mlirOperationGetOperand(op, 1), &divisor) || divisor == 0 ||
           divisor == -1;
  }
  default: return false;
  }
}

static bool can_move(struct ir_context *c, MlirOperation op, MlirOperation loop) {
  if (!(op_flags(c, op) & OP_PURE) || mlirOperationGetNumRegions(op) > 0 ||
      may_have_no_value(c, op))
    return false;
  for (intptr_t i = 0, n = mlirOperationGetNumOperands(op); i < n; i++)
    if (loop_defines(loop, mlirOperationGetOperand(op, i)))
      return false;
  return true;
}

// Operations of nested scf.if and loops that were not moved stay where they are: what can leave an
// inner loop has left it before, what stands in a branch may be worth nothing outside.
static void hoist_from(struct licm *l, MlirOperation loop, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block), next; !mlirOperationIsNull(op);
       op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (!can_move(l->c, op, loop))
      continue;
    mlirOperationMoveBefore(op, loop);
    l->changed = true;
  }
}

static bool visit(MlirOperation op, void *user) {
  struct licm *l = user;
  enum op_id id = op_id(l->c, op);
  if (id == OP_SCF_FOR || id == OP_SCF_WHILE)
    for (intptr_t r = 0, n = mlirOperationGetNumRegions(op); r < n; r++)
      hoist_from(l, op, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)));
  return true;
}

enum pass_result pass_licm(struct pass_context *p) {
  struct licm l = {p->c, false};
  ir_walk_post(mlirModuleGetOperation(p->module), visit, &l);
  return l.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
