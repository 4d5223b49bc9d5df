// SPDX-License-Identifier: Apache-2.0
// Live ranges: in a block, and of values that a loop uses again in its next iteration.
#include "lowering/analysis/liveness.h"
#include "pass_session.h"
#include "suites.h"

static const char text[] =
    "func.func @k(%n: i32) -> i32 {\n"
    "%c0 = arith.constant 0 : i32\n"
    "%c1 = arith.constant 1 : i32\n"
    "%outside = arith.addi %n, %c1 : i32\n"
    "%r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {\n"
    "%inside = arith.muli %outside, %i : i32\n"
    "%next = arith.subi %s, %inside : i32\n"
    "scf.yield %next : i32\n"
    "}\n"
    "return %r : i32\n}";

struct seen {
  struct ir_context *c;
  MlirOperation func, loop, add, mul, sub, end;
};

static bool see(MlirOperation op, void *user) {
  struct seen *s = user;
  switch (op_id(s->c, op)) {
  case OP_FUNC_FUNC: s->func = op; break;
  case OP_SCF_FOR: s->loop = op; break;
  case OP_ARITH_ADDI: s->add = op; break;
  case OP_ARITH_MULI: s->mul = op; break;
  case OP_ARITH_SUBI: s->sub = op; break;
  case OP_FUNC_RETURN: s->end = op; break;
  default: break;
  }
  return true;
}

START_TEST(ranges) {
  struct pass_session session = pass_session_open(text);
  struct seen s = {.c = session.context.c};
  ir_walk(mlirModuleGetOperation(session.context.module), see, &s);
  struct liveness *l = liveness_of(s.c, s.func, session.arena);
  struct live_range outside = liveness_range(l, mlirOperationGetResult(s.add, 0));
  struct live_range inside = liveness_range(l, mlirOperationGetResult(s.mul, 0));
  struct live_range result = liveness_range(l, mlirOperationGetResult(s.loop, 0));
  ck_assert_uint_eq(outside.begin, liveness_point(l, s.add));
  ck_assert_uint_eq(outside.end, liveness_end(l, s.loop)); // the next iteration uses it again
  ck_assert_uint_eq(inside.begin, liveness_point(l, s.mul));
  ck_assert_uint_eq(inside.end, liveness_point(l, s.sub));
  ck_assert_uint_eq(result.begin, liveness_end(l, s.loop));
  ck_assert_uint_eq(result.end, liveness_point(l, s.end));
  ck_assert(live_ranges_overlap(outside, inside) && !live_ranges_overlap(inside, result));
  ck_assert(mlirOperationEqual(op_loop_around(s.c, s.mul), s.loop));
  ck_assert(mlirOperationIsNull(op_loop_around(s.c, s.add)));
  pass_session_close(&session);
}
END_TEST

TCase *liveness_tests(void) {
  TCase *t = tcase_create("liveness");
  tcase_add_test(t, ranges);
  return t;
}
