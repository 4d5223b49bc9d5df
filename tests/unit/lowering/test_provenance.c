// SPDX-License-Identifier: Apache-2.0
// The parameter that a pointer is derived from: through arithmetic, selects and loops; -1 where two
// are possible or it comes from memory.
#include "lowering/analysis/provenance.h"
#include "pass_session.h"
#include "suites.h"

#define P "!tile.ptr<f32>"
#define HEAD "func.func @k(%a: " P ", %b: " P ", %n: i32, %c: i1) {\n"
#define USE(p)                                                                                     \
  "%x = \"tile.load\"(" p ") {cache = \"\", evict = \"\", is_volatile = false, "                   \
  "operandSegmentSizes = array<i32: 1, 0, 0>} : (" P ") -> f32\nreturn\n}"
#define ADD(to, from) to " = \"tile.addptr\"(" from ", %n) : (" P ", i32) -> " P "\n"
#define LOOP(from, step)                                                                           \
  "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"                                   \
  "%r = scf.for %i = %c0 to %n step %c1 iter_args(%q = " from ") -> (" P ") : i32 {\n" step "}\n"

static const struct {
  const char *text;
  int argument;
} cases[] = {
    {HEAD USE("%b"), 1},
    {HEAD ADD("%p", "%a") ADD("%q", "%p") USE("%q"), 0},
    {HEAD ADD("%p", "%a") "%s = arith.select %c, %p, %a : " P "\n" USE("%s"), 0},
    {HEAD "%s = arith.select %c, %a, %b : " P "\n" USE("%s"), -1},
    {HEAD LOOP("%b", ADD("%t", "%q") "scf.yield %t : " P "\n") USE("%r"), 1},
    {HEAD LOOP("%b", "scf.yield %a : " P "\n") USE("%r"), -1},
    {HEAD "%s = scf.if %c -> (" P ") {\nscf.yield %a : " P
          "\n} else {\n" ADD("%p", "%a") "scf.yield %p : " P "\n}\n" USE("%s"),
     0},
};

static bool find_load(MlirOperation op, void *user) {
  struct pass_session *s = user;
  if (op_is(s->context.c, op, OP_TILE_LOAD))
    ck_assert_int_eq(pointer_argument(s->context.c, mlirOperationGetOperand(op, 0)),
                     cases[(intptr_t)s->log.len].argument);
  return true;
}

START_TEST(parameters) {
  struct pass_session s = pass_session_open(cases[_i].text);
  s.log.len = (size_t)_i;
  ir_walk(mlirModuleGetOperation(s.context.module), find_load, &s);
  s.log.len = 0;
  pass_session_close(&s);
}
END_TEST

// ---- memory that pointers in memory lead to ----

#define LOADED(to, from)                                                                           \
  to " = \"tile.load\"(" from ") {cache = \"\", evict = \"\", is_volatile = false, "               \
     "operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i64>) -> i64\n"
#define FROM(to, table)                                                                            \
  LOADED(to "n", table) to " = \"tile.int_to_ptr\"(" to "n) : (i64) -> " P "\n"
#define TABLES "func.func @k(%a: !tile.ptr<i64>, %b: !tile.ptr<i64>, %n: i32, %c: i1, %w: i64) {\n"

static const struct {
  const char *text;
  int memory;
} pointed[] = {
    {TABLES FROM("%p", "%a") USE("%p"), POINTED_MEMORY},
    {TABLES FROM("%p", "%b") ADD("%q", "%p") USE("%q"), POINTED_MEMORY + 1},
    {TABLES FROM("%p", "%a") FROM("%q", "%a") "%s = arith.select %c, %p, %q : " P "\n" USE("%s"),
     POINTED_MEMORY},
    {TABLES FROM("%p", "%a") FROM("%q", "%b") "%s = arith.select %c, %p, %q : " P "\n" USE("%s"),
     -1},
    {TABLES "%p = \"tile.int_to_ptr\"(%w) : (i64) -> " P "\n" USE("%p"), -1},
};

static bool find_access(MlirOperation op, void *user) {
  struct pass_session *s = user;
  bool is_last = op_is(s->context.c, op, OP_TILE_LOAD) &&
                 mlirTypeIsAF32(mlirValueGetType(mlirOperationGetResult(op, 0)));
  if (!is_last)
    return true;
  MlirValue from = mlirOperationGetOperand(op, 0);
  ck_assert_int_eq(pointer_memory(s->context.c, from), pointed[(intptr_t)s->log.len].memory);
  ck_assert_int_eq(pointer_argument(s->context.c, from), -1);
  return true;
}

START_TEST(memory) {
  struct pass_session s = pass_session_open(pointed[_i].text);
  s.log.len = (size_t)_i;
  ir_walk(mlirModuleGetOperation(s.context.module), find_access, &s);
  s.log.len = 0;
  pass_session_close(&s);
}
END_TEST

TCase *provenance_tests(void) {
  TCase *t = tcase_create("provenance");
  tcase_add_loop_test(t, parameters, 0, COUNT_OF(cases));
  tcase_add_loop_test(t, memory, 0, COUNT_OF(pointed));
  return t;
}
