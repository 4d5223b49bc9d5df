// SPDX-License-Identifier: Apache-2.0
// Ops that must not run where the program would not run them: divisions by what may be 0 or -1.
#include "lowering/analysis/speculation.h"
#include "pass_session.h"
#include "suites.h"

#define ONE                                                                                        \
  "operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, "  \
  "0, 0, 0, 0, 0, 0, 0>"

static const char text[] =
    "module {\n"
    "func.func private @add(%x: i32, %y: i32) -> i32 {\n"
    "%s = arith.addi %x, %y : i32\nreturn %s : i32 }\n"
    "func.func private @divide(%x: i32, %y: i32) -> i32 {\n"
    "%s = arith.remui %x, %y : i32\nreturn %s : i32 }\n"
    "func.func private @same(%x: i32) -> i32 {\nreturn %x : i32 }\n"
    "func.func @k(%n: i32, %t: tensor<8xi32>) {\n"
    "%zero = arith.constant 0 : i32\n%three = arith.constant 3 : i32\n"
    "%minus = arith.constant -1 : i32\n"
    "%0 = arith.divsi %n, %three : i32\n%1 = arith.divsi %three, %n : i32\n"
    "%2 = arith.divsi %n, %zero : i32\n%3 = arith.divsi %n, %minus : i32\n"
    "%4 = \"tile.reduce\"(%t) {axis = 0 : i32, combine = @add, " ONE "} : (tensor<8xi32>) -> i32\n"
    "%5 = \"tile.reduce\"(%t) {axis = 0 : i32, combine = @divide, " ONE
    "} : (tensor<8xi32>) -> i32\n"
    "%6 = \"tile.map_elementwise\"(%n) {function = @same, pack = 1 : i32, " ONE "} : (i32) -> i32\n"
    "return } }";

START_TEST(divisions) {
  static const struct {
    enum op_id id;
    unsigned number;
    bool may;
  } cases[] = {{OP_ARITH_DIVSI, 0, false}, {OP_ARITH_DIVSI, 1, true},  {OP_ARITH_DIVSI, 2, true},
               {OP_ARITH_DIVSI, 3, true},  {OP_TILE_REDUCE, 0, false}, {OP_TILE_REDUCE, 1, true},
               {OP_TILE_MAP, 0, false},    {OP_ARITH_REMUI, 0, true},  {OP_ARITH_ADDI, 0, false}};
  struct pass_session s = pass_session_open(text);
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    ck_assert_msg(
        op_may_have_no_value(s.context.c, pass_session_op(&s, cases[i].id, cases[i].number)) ==
            cases[i].may,
        "case %zu", i);
  pass_session_close(&s);
}
END_TEST

TCase *speculation_tests(void) {
  TCase *t = tcase_create("speculation");
  tcase_add_test(t, divisions);
  return t;
}
