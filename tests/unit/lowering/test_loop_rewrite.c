// SPDX-License-Identifier: Apache-2.0
// Loops that get a carried value more.
#include "lowering/passes/loop_rewrite.h"
#include "pass_session.h"
#include "suites.h"

static const char text[] =
    "module { func.func @k(%n: i32, %m: i32) -> i32 {\n"
    "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
    "%r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %m) -> (i32) : i32 {\n"
    "%next = arith.addi %a, %i : i32\nscf.yield %next : i32\n} {tile.num_stages = 5 : i32}\n"
    "return %r : i32 } }";

START_TEST(what_a_loop_defines) {
  struct pass_session s = pass_session_open(text);
  MlirOperation loop = pass_session_op(&s, OP_SCF_FOR, 0);
  MlirOperation add = pass_session_op(&s, OP_ARITH_ADDI, 0);
  ck_assert(loop_defines(loop, mlirOperationGetResult(add, 0)));
  ck_assert(loop_defines(loop, mlirBlockGetArgument(loop_body(loop), 0)));
  ck_assert(!loop_defines(loop, mlirOperationGetOperand(loop, 0)));
  ck_assert(!loop_defines(loop, mlirOperationGetResult(loop, 0)));
  pass_session_close(&s);
}
END_TEST

START_TEST(one_more_carried_value) {
  struct pass_session s = pass_session_open(text);
  struct ir_context *c = s.context.c;
  MlirOperation old = pass_session_op(&s, OP_SCF_FOR, 0);
  MlirValue init = mlirOperationGetOperand(old, 3);
  MlirValue argument =
      mlirBlockAddArgument(loop_body(old), mlirValueGetType(init), mlirOperationGetLocation(old));
  op_append_operand(old, init, s.arena);
  op_append_operand(mlirBlockGetTerminator(loop_body(old)), argument, s.arena);
  MlirOperation loop = loop_rebuild(old, s.arena);
  ck_assert_int_eq(mlirOperationGetNumResults(loop), 2);
  ck_assert_int_eq(mlirOperationGetNumOperands(loop), 5);
  ck_assert(!mlirAttributeIsNull(op_attr(loop, "tile.num_stages")));
  MlirOperation end = pass_session_op(&s, OP_FUNC_RETURN, 0);
  ck_assert(mlirValueEqual(mlirOperationGetOperand(end, 0), mlirOperationGetResult(loop, 0)));
  ck_assert(ir_verify(c, mlirModuleGetOperation(s.context.module)));
  pass_session_close(&s);
}
END_TEST

TCase *loop_rewrite_tests(void) {
  TCase *t = tcase_create("loop_rewrite");
  tcase_add_test(t, what_a_loop_defines);
  tcase_add_test(t, one_more_carried_value);
  return t;
}
