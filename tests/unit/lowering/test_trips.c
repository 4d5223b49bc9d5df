// SPDX-License-Identifier: Apache-2.0
// How often ops run: marks, which are assertions with a name, stand where the count is asked for.
#include "lowering/cost/trips.h"
#include "pass_session.h"
#include "suites.h"

#include <stdio.h>

#define MARK(name) "\"tile.assert\"(%t) {message = \"" name "\"} : (i1) -> ()\n"

struct counted {
  struct pass_session session;
  struct trip_counts *trips;
};

static struct counted count(const char *body, const struct cost_argument *args, size_t arg_count,
                            uint32_t x, uint32_t y) {
  static char text[4096];
  snprintf(text, sizeof text,
           "module {\n"
           "  func.func @k(%%p: !tile.ptr<f32> {tile.name = \"p\"}, %%n: i32 {tile.name = \"n\"}) "
           "attributes {tile.kernel} {\n"
           "    %%t = arith.constant true\n"
           "    %%c0 = arith.constant 0 : i32\n"
           "    %%c1 = arith.constant 1 : i32\n"
           "    %%c8 = arith.constant 8 : i32\n"
           "%s"
           "    return\n"
           "  }\n"
           "}\n",
           body);
  struct counted c = {.session = pass_session_open(text)};
  struct pass_context *p = &c.session.context;
  uint32_t grid[3] = {x, y, 1};
  c.trips = trips_of(p->c, p->module, args, arg_count, grid, p->c->arena);
  return c;
}

struct search {
  const struct trip_counts *trips;
  const char *name;
  double times;
};

static bool find(MlirOperation op, void *user) {
  struct search *s = user;
  if (str_is(op_attr_str(op, "message"), s->name))
    s->times = trips_of_op(s->trips, op);
  return true;
}

static double times(const struct counted *c, const char *name) {
  struct search s = {c->trips, name, -1};
  ir_walk(mlirModuleGetOperation(c->session.context.module), find, &s);
  return s.times;
}

static const struct cost_argument n_is_100[] = {{"n", 100}};

START_TEST(loops_count_by_their_arguments) {
  struct counted c =
      count("scf.for %i = %c0 to %n step %c8 : i32 {\n" MARK(
                "outer") "  scf.for %j = %c0 to %c8 step %c1 : i32 {\n" MARK("inner") "  }\n"
                                                                                      "}\n" MARK(
                                                                                          "behind"),
            n_is_100, 1, 4, 1);
  ck_assert_double_eq(times(&c, "outer"), 13);
  ck_assert_double_eq(times(&c, "inner"), 13 * 8);
  ck_assert_double_eq(times(&c, "behind"), 1);
  ck_assert(c.trips->is_exact);
  pass_session_close(&c.session);
}
END_TEST

START_TEST(a_triangle_is_half_a_square) {
  struct counted c = count("scf.for %i = %c0 to %n step %c1 : i32 {\n"
                           "  scf.for %j = %c0 to %i step %c1 : i32 {\n" MARK("inner") "  }\n"
                                                                                       "}\n",
                           n_is_100, 1, 1, 1);
  ck_assert_double_ge(times(&c, "inner"), 4800);
  ck_assert_double_le(times(&c, "inner"), 5050);
  pass_session_close(&c.session);
}
END_TEST

START_TEST(programs_of_the_grid_are_averaged) {
  const char *body = "%pid = \"tile.get_program_id\"() {axis = 1 : i32} : () -> i32\n"
                     "%all = \"tile.get_num_programs\"() {axis = 1 : i32} : () -> i32\n"
                     "%end = arith.muli %pid, %c8 : i32\n"
                     "%last = arith.subi %all, %c1 : i32\n"
                     "%is_last = arith.cmpi eq, %pid, %last : i32\n"
                     "scf.for %j = %c0 to %end step %c1 : i32 {\n" MARK(
                         "loop") "}\n"
                                 "scf.if %is_last {\n" MARK("last") "}\n";
  struct counted few = count(body, NULL, 0, 1, 4), many = count(body, NULL, 0, 64, 1000);
  ck_assert_double_eq(times(&few, "loop"), 8 * (0 + 1 + 2 + 3) / 4.0);
  ck_assert_double_eq(times(&few, "last"), 0.25);
  ck_assert_double_ge(times(&many, "loop"), 0.9 * 8 * 500);
  ck_assert_double_le(times(&many, "loop"), 1.1 * 8 * 500);
  ck_assert(few.trips->is_exact && many.trips->is_exact);
  pass_session_close(&few.session);
  pass_session_close(&many.session);
}
END_TEST

START_TEST(carried_numbers_that_grow_are_known) {
  struct counted c =
      count("%end = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c8) -> (i32) : i32 {\n"
            "  %y = arith.addi %x, %c1 : i32\n"
            "  scf.yield %y : i32\n"
            "}\n"
            "scf.for %i = %c0 to %end step %c1 : i32 {\n" MARK("behind") "}\n",
            n_is_100, 1, 1, 1);
  ck_assert_double_eq(times(&c, "behind"), 108);
  ck_assert(c.trips->is_exact);
  pass_session_close(&c.session);
}
END_TEST

START_TEST(what_memory_decides_is_guessed) {
  struct counted c =
      count("%m = \"tile.load\"(%p) {cache = \"\", evict = \"\", is_volatile = false, "
            "operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<f32>) -> f32\n"
            "%k = arith.fptosi %m : f32 to i32\n"
            "%b = arith.cmpi slt, %k, %n : i32\n"
            "scf.for %i = %c0 to %k step %c1 : i32 {\n" MARK(
                "loop") "}\n"
                        "scf.if %b {\n" MARK("then") "} else {\n" MARK("else") "}\n",
            NULL, 0, 1, 1);
  ck_assert_double_gt(times(&c, "loop"), 1);
  ck_assert_double_eq(times(&c, "then"), 0.5);
  ck_assert_double_eq(times(&c, "else"), 0.5);
  ck_assert(!c.trips->is_exact);
  pass_session_close(&c.session);
}
END_TEST

TCase *trips_tests(void) {
  TCase *t = tcase_create("trips");
  tcase_add_test(t, loops_count_by_their_arguments);
  tcase_add_test(t, a_triangle_is_half_a_square);
  tcase_add_test(t, programs_of_the_grid_are_averaged);
  tcase_add_test(t, carried_numbers_that_grow_are_known);
  tcase_add_test(t, what_memory_decides_is_guessed);
  return t;
}
