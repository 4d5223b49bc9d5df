// SPDX-License-Identifier: Apache-2.0
// Divisions, also in the functions of reductions, scans and maps.
#include "lowering/analysis/speculation.h"

struct function_check {
  struct ir_context *c;
  bool may_fail;
};

static bool check_op(MlirOperation op, void *user) {
  struct function_check *f = user;
  f->may_fail |= op_may_have_no_value(f->c, op);
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

bool op_may_have_no_value(struct ir_context *c, MlirOperation op) {
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
