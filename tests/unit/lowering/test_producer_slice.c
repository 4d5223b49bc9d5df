// SPDX-License-Identifier: Apache-2.0
// Which loads one thread can issue by itself: those whose offsets and control flow need only
// scalars, and no memory that the kernel writes.
#include "lowering/analysis/producer_slice.h"
#include "pass_session.h"
#include "suites.h"

#define PI "!tile.ptr<i32>"
#define SEGMENTS(s) "operandSegmentSizes = array<i32: " s ">"
#define HEAD                                                                                       \
  "func.func @k(%a: " PI ", %b: " PI ", %n: i32, %c: i1) attributes {tile.kernel} {\n"             \
  "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
#define LOAD(to, from)                                                                             \
  to " = \"tile.load\"(" from                                                                      \
     ") {cache = \"\", evict = \"\", is_volatile = false, " SEGMENTS("1, 0, 0") "} : (" PI         \
                                                                                ") -> i32\n"
#define STORE(to, v)                                                                               \
  "\"tile.store\"(" to ", " v ") {cache = \"\", evict = \"\", " SEGMENTS("1, 1, 0") "} : (" PI     \
                                                                                    ", i32) -> "   \
                                                                                    "()\n"
// The op that is asked about.
#define ASK(v) "%q = \"tile.addptr\"(%a, " v ") : (" PI ", i32) -> " PI "\n" STORE("%q", "%n")
#define END "return\n}"
#define LOOP(from, body)                                                                           \
  "%r = scf.for %i = %c0 to %n step %c1 iter_args(%s = " from ") -> (i32) : i32 {\n" body          \
  "scf.yield %t : i32\n}\n"
#define WHILE_OF(condition, passed, body)                                                          \
  "%w = scf.while (%x = %n) : (i32) -> i32 {\nscf.condition(" condition ") " passed                \
  " : i32\n} do {\n^bb0(%y: i32):\n" body "scf.yield %y : i32\n}\n"
#define WHILE(body) WHILE_OF("%c", "%x", body)
// A pointer from the memory of `from`.
#define TABLE(to, from)                                                                            \
  to "t = \"tile.bitcast\"(" from ") : (" PI ") -> !tile.ptr<i64>\n" to "n = \"tile.load\"(" to    \
     "t) {cache = \"\", evict = \"\", is_volatile = false, " SEGMENTS(                             \
         "1, 0, 0") "} : (!tile.ptr<i64>) -> i64\n" to "  = \"tile.int_to_ptr\"(" to               \
                    "n) : (i64) -> " PI "\n"

static const struct {
  const char *text, *why; // why: part of the reason; NULL: none
} cases[] = {
    {HEAD LOOP("%n", "%t = arith.addi %s, %i : i32\n" ASK("%s")) END, NULL},
    {HEAD "scf.if %c {\n" ASK("%n") "}\n" END, NULL},
    {HEAD LOAD("%l", "%b") ASK("%l") END, NULL},
    {HEAD LOAD("%l", "%b") "scf.if %c {\n" STORE("%b", "%n") "}\n" ASK("%l") END, "may write"},
    {HEAD LOOP("%n", LOAD("%t", "%b") ASK("%s")) STORE("%b", "%n") END, "may write"},
    {HEAD WHILE(ASK("%n")) END, NULL},
    {HEAD WHILE(ASK("%y")) END, NULL},
    {HEAD WHILE("") ASK("%w") END, NULL},
    {HEAD LOAD("%l", "%b") "%d = arith.cmpi slt, %l, %n : i32\n" STORE("%b", "%n")
         WHILE_OF("%d", "%x", ASK("%n")) END,
     "may write"},
    {HEAD STORE("%b", "%n") WHILE_OF("%c", "%x", LOAD("%t", "%b") ASK("%t")) END, "may write"},
    {HEAD TABLE("%q1", "%a") STORE("%q1", "%n") LOAD("%l", "%b") ASK("%l") END, NULL},
    {HEAD TABLE("%q1", "%a") TABLE("%q2", "%a") STORE("%q1", "%n") LOAD("%l", "%q2") ASK("%l") END,
     "may write"},
    {HEAD TABLE("%q1", "%a") TABLE("%q2", "%b") STORE("%q1", "%n") LOAD("%l", "%q2") ASK("%l") END,
     NULL},
    {HEAD LOOP("%n", LOAD("%t", "%b")) ASK("%r") STORE("%b", "%n") END, "may write"},
    {HEAD "%o = \"tile.atomic_rmw\"(%b, %n) {kind = \"add\", sem = \"relaxed\", scope = "
          "\"gpu\", " SEGMENTS("1, 1, 0") "} : (" PI ", i32) -> i32\n" ASK("%o") END,
     "effects"},
    {HEAD "%v = \"tile.make_range\"() {start = 0 : i32, end = 1 : i32} : () -> tensor<1xi32>\n"
          "%o = \"tile.unsplat\"(%v) : (tensor<1xi32>) -> i32\n" ASK("%o") END,
     "on a tile"},
    {HEAD "%o = scf.if %c -> (i32) {\nscf.yield %n : i32\n} else {\n" LOAD("%l", "%b")
         STORE("%b", "%n") "scf.yield %l : i32\n}\n" ASK("%o") END,
     "may write"},
};

// The last addptr is asked about, so that the stores of the cases do not count.
static bool find(MlirOperation op, void *user) {
  MlirOperation *last = user;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (str_is((struct str){name.data, name.length}, "tile.addptr"))
    *last = op;
  return true;
}

START_TEST(reasons) {
  struct pass_session s = pass_session_open(cases[_i].text);
  MlirOperation kernel = module_kernel(s.context.c, s.context.module), op = {NULL};
  ir_walk(kernel, find, &op);
  ck_assert(!mlirOperationIsNull(op));
  const char *why = producer_cannot_compute(s.context.c, kernel, op, s.context.c->arena);
  if (!cases[_i].why)
    ck_assert_msg(!why, "case %d: %s", _i, why ? why : "");
  else
    ck_assert_msg(why && strstr(why, cases[_i].why), "case %d: %s", _i, why ? why : "none");
  pass_session_close(&s);
}
END_TEST

TCase *producer_slice_tests(void) {
  TCase *t = tcase_create("producer_slice");
  tcase_add_loop_test(t, reasons, 0, COUNT_OF(cases));
  return t;
}
