// SPDX-License-Identifier: Apache-2.0
// The first op of a block that needs a result, also from within a region.
#include "lowering/passes/users.h"
#include "pass_session.h"
#include "suites.h"

static const char text[] =
    "module { func.func @k(%n: i32, %c: i1) -> i32 {\n"
    "%a = arith.addi %n, %n : i32\n%b = arith.muli %n, %n : i32\n%d = arith.subi %n, %n : i32\n"
    "%r = scf.if %c -> (i32) {\n%x = arith.xori %b, %b : i32\nscf.yield %x : i32\n"
    "} else {\nscf.yield %a : i32\n}\n"
    "%s = arith.ori %a, %b : i32\nreturn %s : i32 } }";

START_TEST(first_users) {
  struct pass_session s = pass_session_open(text);
  MlirOperation branch = pass_session_op(&s, OP_SCF_IF, 0), none;
  MlirOperation add = pass_session_op(&s, OP_ARITH_ADDI, 0);
  ck_assert(mlirOperationEqual(op_first_user(add), branch));
  ck_assert(mlirOperationEqual(op_first_user(pass_session_op(&s, OP_ARITH_MULI, 0)), branch));
  none = op_first_user(pass_session_op(&s, OP_ARITH_SUBI, 0));
  ck_assert(mlirOperationIsNull(none));
  ck_assert(mlirOperationEqual(op_first_user(pass_session_op(&s, OP_ARITH_XORI, 0)),
                               mlirOperationGetNextInBlock(pass_session_op(&s, OP_ARITH_XORI, 0))));
  pass_session_close(&s);
}
END_TEST

TCase *users_tests(void) {
  TCase *t = tcase_create("users");
  tcase_add_test(t, first_users);
  return t;
}
