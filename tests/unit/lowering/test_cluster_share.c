// SPDX-License-Identifier: Apache-2.0
// Which integers are the same in all programs of a cluster of two, and what the launch has to
// satisfy for that.
#include "lowering/analysis/cluster_share.h"
#include "pass_session.h"
#include "suites.h"

#define PI "!tile.ptr<i32>"
#define HEAD                                                                                       \
  "func.func @k(%a: " PI ", %m: i32, %n: i32, %c: i1) attributes {tile.kernel} {\n"                \
  "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n%c2 = arith.constant 2 : i32\n"     \
  "%c3 = arith.constant 3 : i32\n%c8 = arith.constant 8 : i32\n"                                   \
  "%x = \"tile.get_program_id\"() {axis = 0 : i32} : () -> i32\n"                                  \
  "%y = \"tile.get_program_id\"() {axis = 1 : i32} : () -> i32\n"
// The op that is asked about.
#define ASK(v)                                                                                     \
  "%q = \"tile.addptr\"(%a, " v ") : (" PI ", i32) -> " PI "\n"                                    \
  "\"tile.store\"(%q, %n) {cache = \"\", evict = \"\", operandSegmentSizes = array<i32: 1, 1, 0>}" \
  " : (" PI ", i32) -> ()\n"
#define END "return\n}"
#define OP(to, name, x, y) to " = arith." name " " x ", " y " : i32\n"
#define LOOP(from, to, step, body)                                                                 \
  "scf.for %i = " from " to " to " step " step " : i32 {\n" body "}\n"
#define DEPENDS "depend on the program's number"

static const struct {
  const char *text;
  const char *why; // part of the reason; NULL: all programs share it
  unsigned multiples;
} cases[] = {
    {HEAD ASK("%n") END, NULL, 0},
    {HEAD ASK("%y") END, NULL, 0},
    {HEAD ASK("%x") END, DEPENDS, 0},
    {HEAD OP("%v", "addi", "%x", "%y") ASK("%v") END, DEPENDS, 0},
    // Quotients and remainders.
    {HEAD OP("%v", "divsi", "%x", "%c8") ASK("%v") END, NULL, 0},
    {HEAD OP("%v", "divsi", "%x", "%c3") ASK("%v") END, DEPENDS, 0},
    {HEAD OP("%v", "divsi", "%x", "%n") ASK("%v") END, NULL, 1},
    {HEAD OP("%v", "divsi", "%n", "%x") ASK("%v") END, DEPENDS, 0},
    {HEAD OP("%v", "remsi", "%x", "%c8") ASK("%v") END, DEPENDS, 0},
    {HEAD OP("%v", "remsi", "%x", "%c8") OP("%w", "divsi", "%v", "%c2") ASK("%w") END, NULL, 0},
    {HEAD OP("%v", "remsi", "%x", "%c3") OP("%w", "divsi", "%v", "%c2") ASK("%w") END, DEPENDS, 0},
    {HEAD OP("%v", "muli", "%n", "%c8") OP("%w", "divsi", "%x", "%v") ASK("%w") END, NULL, 0},
    {HEAD OP("%v", "muli", "%m", "%n") OP("%w", "divsi", "%x", "%v") ASK("%w") END, NULL, 1},
    // A divisor that the launch does not know.
    {HEAD OP("%v", "divsi", "%x", "%y") ASK("%v") END, DEPENDS, 0},
    // Groups of rows: first = x / (8 n) * 8, size = min(m - first, 8), x % (8 n) / size.
    {HEAD OP("%g", "muli", "%n", "%c8") OP("%t", "divsi", "%x", "%g") OP("%f", "muli", "%t", "%c8")
         OP("%l", "subi", "%m", "%f") OP("%s", "minsi", "%l", "%c8") OP("%r", "remsi", "%x", "%g")
             OP("%v", "divsi", "%r", "%s") ASK("%v") END,
     NULL, 1},
    // A sum with a multiple is a step only if that is not negative.
    {HEAD OP("%v", "addi", "%x", "%c8") OP("%w", "divsi", "%v", "%c2") ASK("%w") END, NULL, 0},
    {HEAD OP("%k", "muli", "%n", "%c8") OP("%v", "addi", "%x", "%k") OP("%w", "divsi", "%v", "%c2")
         ASK("%w") END,
     DEPENDS, 0},
    // Branches.
    {HEAD "scf.if %c {\n" ASK("%n") "}\n" END, NULL, 0},
    {HEAD "%p = arith.cmpi slt, %x, %c8 : i32\nscf.if %p {\n" ASK("%n") "}\n" END, NULL, 0},
    {HEAD "%p = arith.cmpi slt, %x, %c3 : i32\nscf.if %p {\n" ASK("%n") "}\n" END, "branches", 0},
    {HEAD "%p = arith.cmpi sle, %x, %c8 : i32\nscf.if %p {\n" ASK("%n") "}\n" END, "branches", 0},
    {HEAD "%p = arith.cmpi slt, %x, %n : i32\nscf.if %p {\n" ASK("%n") "}\n" END, NULL, 1},
    {HEAD "%v = scf.if %c -> (i32) {\nscf.yield %n : i32\n} else {\nscf.yield %x : i32\n}\n" ASK(
         "%v") END,
     DEPENDS, 0},
    // Loops.
    {HEAD LOOP("%c0", "%n", "%c1", ASK("%i")) END, NULL, 0},
    {HEAD LOOP("%c0", "%x", "%c1", ASK("%n")) END, "loop differently often", 0},
    {HEAD LOOP("%x", "%c8", "%c2", ASK("%n")) END, NULL, 0},
    {HEAD LOOP("%x", "%c8", "%c2", ASK("%i")) END, DEPENDS, 0},
    {HEAD LOOP("%x", "%c8", "%c2", OP("%v", "divsi", "%i", "%c2") ASK("%v")) END, NULL, 0},
    {HEAD LOOP("%x", "%c3", "%c2", ASK("%n")) END, "loop differently often", 0},
    {HEAD LOOP("%x", "%c8", "%c3", ASK("%n")) END, "loop differently often", 0},
    {HEAD LOOP("%x", "%m", "%n", ASK("%c1")) END, NULL, 2},
    {HEAD "%p = \"tile.get_num_programs\"() {axis = 0 : i32} : () -> i32\n" LOOP(
         "%x", "%c8", "%p", OP("%v", "divsi", "%i", "%c2") ASK("%v")) END,
     NULL, 0},
    {HEAD "%p = \"tile.get_num_programs\"() {axis = 1 : i32} : () -> i32\n" LOOP("%x", "%c8", "%p",
                                                                                 ASK("%c1")) END,
     "loop differently often", 0},
    // What loops carry.
    {HEAD "%r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {\n" ASK("%s")
         OP("%t", "addi", "%s", "%i") "scf.yield %t : i32\n}\n" END,
     NULL, 0},
    {HEAD "%r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {\n" ASK("%s")
         OP("%t", "addi", "%s", "%x") "scf.yield %t : i32\n}\n" END,
     DEPENDS, 0},
    {HEAD
     "%r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0, %u = %c0) -> (i32, i32) : i32 "
     "{\n" ASK("%s") "scf.yield %u, %x : i32, i32\n}\n" END,
     DEPENDS, 0},
    {HEAD "%r = scf.for %i = %c0 to %x step %c1 iter_args(%s = %c0) -> (i32) : i32 {\n" OP(
         "%t", "addi", "%s", "%c1") "scf.yield %t : i32\n}\n" ASK("%r") END,
     DEPENDS, 0},
};

static bool find(MlirOperation op, void *user) {
  MlirOperation *last = user;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (str_is((struct str){name.data, name.length}, "tile.addptr"))
    *last = op;
  return true;
}

START_TEST(reasons) {
  struct pass_session s = pass_session_open(cases[_i].text);
  struct ir_context *c = s.context.c;
  MlirOperation module = mlirModuleGetOperation(s.context.module);
  MlirOperation kernel = module_kernel(c, s.context.module), op = {NULL};
  ir_walk(kernel, find, &op);
  ck_assert(!mlirOperationIsNull(op));
  struct axis_analysis *axis = axis_analyse(c, module, c->arena);
  struct cluster_share share = cluster_share_of(c, kernel, 2, axis, c->arena);
  const char *why = cluster_cannot_share(&share, op);
  if (!cases[_i].why)
    ck_assert_msg(!why, "case %d: %s", _i, why ? why : "");
  else
    ck_assert_msg(why && strstr(why, cases[_i].why), "case %d: %s", _i, why ? why : "none");
  ck_assert_msg(share.multiples.len == cases[_i].multiples, "case %d: %zu multiples", _i,
                share.multiples.len);
  pass_session_close(&s);
}
END_TEST

TCase *cluster_share_tests(void) {
  TCase *t = tcase_create("cluster_share");
  tcase_add_loop_test(t, reasons, 0, COUNT_OF(cases));
  return t;
}
