// SPDX-License-Identifier: Apache-2.0
// Functions of reductions and scans, and the shared memory of their plans.
#include "lowering/analysis/collective.h"
#include "pass_session.h"
#include "suites.h"

#define ONE                                                                                        \
  "operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, "  \
  "0, 0, 0, 0, 0, 0, 0>"

static const char text[] =
    "#w = #tilegpu.blocked<{order = [0], size_per_thread = [2], threads_per_warp = [32], "
    "warps_per_cta = [4]}>\n"
    "#one = #tilegpu.blocked<{order = [0], size_per_thread = [2], threads_per_warp = [32], "
    "warps_per_cta = [1]}>\n"
    "module {\n"
    "func.func private @add(%x: i32, %y: i32) -> i32 {\n"
    "%s = arith.addi %y, %x : i32\nreturn %s : i32 }\n"
    "func.func private @sub(%x: i32, %y: i32) -> i32 {\n"
    "%s = arith.subi %x, %y : i32\nreturn %s : i32 }\n"
    "func.func private @twice(%x: i32, %y: i32) -> i32 {\n"
    "%s = arith.addi %x, %y : i32\n%d = arith.addi %s, %s : i32\nreturn %d : i32 }\n"
    "func.func @k(%t: tensor<256xi32, #w>, %u: tensor<64xi32, #one>) attributes {tile.kernel} {\n"
    "%0 = \"tile.reduce\"(%t) {axis = 0 : i32, combine = @add, " ONE
    "} : (tensor<256xi32, #w>) -> i32\n"
    "%1 = \"tile.reduce\"(%t) {axis = 0 : i32, combine = @sub, " ONE
    "} : (tensor<256xi32, #w>) -> i32\n"
    "%2 = \"tile.reduce\"(%u) {axis = 0 : i32, combine = @twice, " ONE
    "} : (tensor<64xi32, #one>) -> i32\n"
    "%3 = \"tile.scan\"(%t) {axis = 0 : i32, combine = @add, reverse = false, " ONE
    "} : (tensor<256xi32, #w>) -> tensor<256xi32, #w>\n"
    "return } }";

START_TEST(functions) {
  struct pass_session s = pass_session_open(text);
  struct ir_context *c = s.context.c;
  struct combine_info add = combine_info_of(c, pass_session_op(&s, OP_TILE_REDUCE, 0));
  struct combine_info sub = combine_info_of(c, pass_session_op(&s, OP_TILE_REDUCE, 1));
  struct combine_info twice = combine_info_of(c, pass_session_op(&s, OP_TILE_REDUCE, 2));
  ck_assert_uint_eq(add.count, 1);
  ck_assert(add.simple[0] == OP_ARITH_ADDI && add.commutative); // in either order
  ck_assert(sub.simple[0] == OP_UNKNOWN && !sub.commutative);
  ck_assert(twice.simple[0] == OP_UNKNOWN && !twice.commutative);
  ck_assert_uint_eq(add.operations, 1);
  ck_assert_uint_eq(twice.operations, 2);
  ck_assert(combine_is_free(OP_ARITH_MAXIMUMF) && !combine_is_free(OP_ARITH_SUBI));
  pass_session_close(&s);
}
END_TEST

START_TEST(plans) {
  struct pass_session s = pass_session_open(text);
  struct ir_context *c = s.context.c;
  struct reduce_plan p;
  struct scan_plan q;
  MlirOperation across = pass_session_op(&s, OP_TILE_REDUCE, 0);
  ck_assert(reduce_plan_of(c, across, &p) && p.exchanges);
  ck_assert_uint_eq(reduce_scratch_bytes(c, across), 4 * 4); // a number of each warp
  ck_assert_uint_eq(reduce_scratch_bytes(c, pass_session_op(&s, OP_TILE_REDUCE, 2)), 0);
  MlirOperation scan = pass_session_op(&s, OP_TILE_SCAN, 0);
  ck_assert(scan_plan_of(c, scan, &q));
  ck_assert_uint_eq(scan_scratch_bytes(c, scan), q.scratch_bytes);
  ck_assert_uint_gt(q.scratch_bytes, 0);
  pass_session_close(&s);
}
END_TEST

TCase *collective_tests(void) {
  TCase *t = tcase_create("collective");
  tcase_add_test(t, functions);
  tcase_add_test(t, plans);
  return t;
}
