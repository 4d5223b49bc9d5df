// SPDX-License-Identifier: Apache-2.0
// Schedules of pipelined loops: how many iterations loads run ahead, alone and behind each other;
// nothing is needed before it is there.
#include "lowering/plan/loop_schedule.h"
#include "pass_session.h"
#include "suites.h"

enum { MAX_CHAIN = 4, MAX_STAGES = 7 };

#define LOAD                                                                                       \
  "\"tile.load\"(%%p%u) {cache = \"\", evict = \"\", is_volatile = false, operandSegmentSizes = "  \
  "array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32\n"
#define HEAD                                                                                       \
  "func.func @k(%b: !tile.ptr<i32>, %n: i32) -> i32 {\n"                                           \
  "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"

struct scheduled {
  struct pass_session session;
  struct axis_analysis *axis;
  struct loop_schedule schedule;
};

static bool find_loop(MlirOperation op, void *user) {
  struct scheduled *s = user;
  if (op_is(s->session.context.c, op, OP_SCF_FOR))
    s->schedule.loop = op;
  return true;
}

static struct scheduled schedule_text(const char *text, unsigned stages) {
  struct scheduled s = {.session = pass_session_open(text)};
  struct pass_context *p = &s.session.context;
  MlirOperation module = mlirModuleGetOperation(p->module);
  ir_walk(module, find_loop, &s);
  s.axis = axis_analyse(p->c, module, s.session.arena);
  struct loop_loads loads =
      loop_loads_of(p->c, s.axis, p->target, s.schedule.loop, true, s.session.arena);
  ck_assert_ptr_null(loads.why);
  s.schedule = loop_schedule_of(p->c, loads, s.schedule.loop, stages, s.session.arena);
  return s;
}

// Made in a stage that is not behind the one where it is used.
static void check_order(const struct loop_schedule *s) {
  MlirOperation yield = mlirBlockGetTerminator(s->body);
  for (MlirOperation op = mlirBlockGetFirstOperation(s->body); op.ptr;
       op = mlirOperationGetNextInBlock(op))
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
      MlirValue v = mlirOperationGetOperand(op, i);
      unsigned used = mlirOperationEqual(op, yield) ? s->arguments[i] : schedule_stage(s, op);
      if (mlirBlockEqual(value_block(v), s->body))
        ck_assert_uint_le(schedule_stage_of_value(s, v), used);
    }
}

// A loop whose last load is found by `indices` others.
static char *chain_text(struct arena *a, unsigned indices) {
  struct strbuf t = {0};
  strbuf_puts(&t, HEAD "%r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {\n"
                       "%p0 = \"tile.addptr\"(%b, %i) : (!tile.ptr<i32>, i32) -> !tile.ptr<i32>\n");
  for (unsigned k = 0; k <= indices; k++) {
    strbuf_printf(&t, "%%x%u = " LOAD, k, k);
    if (k < indices)
      strbuf_printf(&t,
                    "%%p%u = \"tile.addptr\"(%%b, %%x%u) : (!tile.ptr<i32>, i32) -> "
                    "!tile.ptr<i32>\n",
                    k + 1, k);
  }
  strbuf_printf(&t,
                "%%t = arith.addi %%s, %%x%u : i32\nscf.yield %%t : i32\n}\nreturn %%r : i32\n}",
                indices);
  char *text = arena_strdup(a, strbuf_cstr(&t));
  strbuf_finish(&t);
  return text;
}

START_TEST(chains_share_the_iterations) {
  struct arena *a = arena_create();
  for (unsigned indices = 0; indices <= MAX_CHAIN; indices++)
    for (unsigned stages = 1; stages <= MAX_STAGES; stages++) {
      struct scheduled k = schedule_text(chain_text(a, indices), stages);
      const struct loop_schedule *s = &k.schedule;
      unsigned iterations = stages - 1, each = iterations / (indices + 1);
      ck_assert_uint_eq(s->last, iterations);
      ck_assert_uint_eq(s->loads.at.len, indices + 1);
      for (unsigned i = 0; i <= indices; i++) {
        ck_assert_uint_eq(s->loads.at.at[i].depth, i);
        ck_assert_int_eq(s->loads.at.at[i].is_index, i < indices);
        ck_assert_uint_eq(schedule_stage(s, s->loads.at.at[i].op), i * each);
      }
      check_order(s);
      pass_session_close(&k.session);
    }
  arena_destroy(a);
}
END_TEST

// %j is found by itself: it cannot come early, but what it finds can.
static const char list[] = HEAD
    "%r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0, %j = %c0) -> (i32, i32) : i32 {\n"
    "%p = \"tile.addptr\"(%b, %j) : (!tile.ptr<i32>, i32) -> !tile.ptr<i32>\n"
    "%next = \"tile.load\"(%p) {cache = \"\", evict = \"\", is_volatile = false, "
    "operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32\n"
    "%k = arith.addi %j, %i : i32\n"
    "%q = \"tile.addptr\"(%b, %k) : (!tile.ptr<i32>, i32) -> !tile.ptr<i32>\n"
    "%x = \"tile.load\"(%q) {cache = \"\", evict = \"\", is_volatile = false, "
    "operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32\n"
    "%t = arith.addi %s, %x : i32\n"
    "scf.yield %t, %next : i32, i32\n}\nreturn %r#0 : i32\n}";

START_TEST(a_list_runs_ahead_as_a_whole) {
  struct scheduled k = schedule_text(list, 4);
  const struct loop_schedule *s = &k.schedule;
  ck_assert(s->loads.at.at[0].recurs && !s->loads.at.at[1].recurs);
  ck_assert_uint_eq(s->last, 3);
  ck_assert_uint_eq(schedule_stage(s, s->loads.at.at[0].op), 0);
  ck_assert_uint_eq(schedule_stage(s, s->loads.at.at[1].op), 0);
  ck_assert_uint_eq(s->arguments[0], 3); // the sum
  ck_assert_uint_eq(s->arguments[1], 0); // the index
  check_order(s);
  pass_session_close(&k.session);
}
END_TEST

// %d depends on the counter alone, and is used early and late; %e on what the loop carries.
static const char shared[] = HEAD
    "%r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0, %j = %c0) -> (i32, i32) : i32 {\n"
    "%d = arith.muli %i, %n : i32\n"
    "%e = arith.addi %j, %n : i32\n"
    "%f = arith.addi %d, %e : i32\n"
    "%p = \"tile.addptr\"(%b, %f) : (!tile.ptr<i32>, i32) -> !tile.ptr<i32>\n"
    "%x = \"tile.load\"(%p) {cache = \"\", evict = \"\", is_volatile = false, "
    "operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32\n"
    "%t = arith.addi %x, %d : i32\n"
    "%u = arith.addi %t, %e : i32\n"
    "%v = arith.addi %s, %u : i32\n"
    "scf.yield %v, %e : i32, i32\n}\nreturn %r#0 : i32\n}";

START_TEST(what_the_counter_gives_is_repeated) {
  struct scheduled k = schedule_text(shared, 3);
  struct loop_schedule *s = &k.schedule;
  MlirOperation d = mlirBlockGetFirstOperation(s->body), e = mlirOperationGetNextInBlock(d);
  ck_assert_uint_eq(schedule_stage(s, d), 0);
  ck_assert_uint_eq(value_use_count(mlirOperationGetResult(d, 0)), 2);
  schedule_repeat_cheap(k.session.context.c, s, k.session.arena);
  ck_assert_uint_eq(value_use_count(mlirOperationGetResult(d, 0)), 1);
  MlirOperation again = mlirOperationGetNextInBlock(d);
  ck_assert(!mlirOperationEqual(again, e));
  ck_assert_uint_eq(schedule_stage(s, again), 2);
  ck_assert_uint_eq(schedule_stage(s, e), 0);
  ck_assert_uint_eq(value_use_count(mlirOperationGetResult(e, 0)), 3);
  check_order(s);
  pass_session_close(&k.session);
}
END_TEST

TCase *loop_schedule_tests(void) {
  TCase *t = tcase_create("loop_schedule");
  tcase_add_test(t, chains_share_the_iterations);
  tcase_add_test(t, a_list_runs_ahead_as_a_whole);
  tcase_add_test(t, what_the_counter_gives_is_repeated);
  return t;
}
