// SPDX-License-Identifier: Apache-2.0
// Copies of ops, also of those with regions, use what stands for their operands.
#include "lowering/passes/clone_ops.h"
#include "mlir-dialects/build.h"
#include "pass_session.h"
#include "suites.h"

static const char text[] =
    "module { func.func @k(%n: i32, %m: i32) -> i32 {\n"
    "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
    "%s = arith.addi %n, %m : i32\n"
    "%r = scf.for %i = %c0 to %s step %c1 iter_args(%a = %m) -> (i32) : i32 {\n"
    "%next = arith.muli %a, %s : i32\nscf.yield %next : i32\n}\n"
    "return %r : i32 } }";

START_TEST(copies_use_copies) {
  struct pass_session s = pass_session_open(text);
  MlirOperation add = pass_session_op(&s, OP_ARITH_ADDI, 0);
  MlirOperation loop = pass_session_op(&s, OP_SCF_FOR, 0);
  MlirOperation end = pass_session_op(&s, OP_FUNC_RETURN, 0);
  MlirBlock block = mlirOperationGetBlock(end);
  MlirValue n = mlirBlockGetArgument(block, 0), m = mlirBlockGetArgument(block, 1);
  struct clone_map map = {.arena = s.arena};
  clone_map_set(&map, m, n);
  mlirOperationRemoveFromParent(end);
  MlirOperation sum = clone_op(&map, add, block), again = clone_op(&map, loop, block);
  mlirBlockAppendOwnedOperation(block, end);
  ck_assert(mlirValueEqual(mlirOperationGetOperand(sum, 0), n));
  ck_assert(mlirValueEqual(mlirOperationGetOperand(sum, 1), n));
  ck_assert(mlirValueEqual(clone_map_get(&map, mlirOperationGetResult(add, 0)),
                           mlirOperationGetResult(sum, 0)));
  ck_assert(mlirValueEqual(mlirOperationGetOperand(again, 1), mlirOperationGetResult(sum, 0)));
  ck_assert(mlirValueEqual(mlirOperationGetOperand(again, 3), n));
  MlirOperation product =
      mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(again, 0)));
  ck_assert(mlirValueEqual(mlirOperationGetOperand(product, 1), mlirOperationGetResult(sum, 0)));
  ck_assert(mlirValueEqual(clone_map_get(&map, n), n));
  mlirOperationSetOperand(end, 0, clone_map_get(&map, mlirOperationGetResult(loop, 0)));
  ck_assert(ir_verify(s.context.c, mlirModuleGetOperation(s.context.module)));
  pass_session_close(&s);
}
END_TEST

TCase *clone_ops_tests(void) {
  TCase *t = tcase_create("clone_ops");
  tcase_add_test(t, copies_use_copies);
  return t;
}
