// SPDX-License-Identifier: Apache-2.0
// Gathers: in registers of the thread, in registers of the warp, or through shared memory.
#include "lowering/analysis/gather_plan.h"
#include "pass_session.h"
#include "suites.h"

#define KERNEL(size, threads, warps)                                                               \
  "#a = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, " size "], threads_per_warp = "    \
  "[" threads "], warps_per_cta = [" warps "]}>\n"                                                 \
  "!t = tensor<128x8xf32, #a>\n"                                                                   \
  "module { func.func @k(%x: !t, %i: tensor<128x8xi32, #a>) {\n"                                   \
  "%g = \"tile.gather\"(%x, %i) {axis = 1 : i32} : (!t, tensor<128x8xi32, #a>) -> !t\n"            \
  "return } }"

static struct gather_plan plan_of(const char *text, uint32_t *ret_bytes) {
  struct pass_session s = pass_session_open(text);
  MlirOperation op = pass_session_op(&s, OP_TILE_GATHER, 0);
  struct gather_plan p;
  ck_assert(gather_plan_of(s.context.c, op, &p));
  *ret_bytes = gather_scratch_bytes(s.context.c, op);
  pass_session_close(&s);
  return p;
}

START_TEST(a_row_in_a_thread) {
  uint32_t bytes;
  struct gather_plan p = plan_of(KERNEL("8", "32, 1", "4, 1"), &bytes);
  ck_assert(p.in_warp && p.own_lane);
  ck_assert_uint_eq(bytes, 0);
  ck_assert_uint_eq(p.axis_bits, 3);
  for (unsigned b = 0; b < 3; b++) {
    ck_assert_uint_eq(p.axis_register[b], 1u << b);
    ck_assert_uint_eq(p.axis_lane[b], 0);
  }
}
END_TEST

START_TEST(a_row_in_a_warp) {
  uint32_t bytes;
  struct gather_plan p = plan_of(KERNEL("2", "8, 4", "4, 1"), &bytes);
  ck_assert(p.in_warp && !p.own_lane);
  ck_assert_uint_eq(bytes, 0);
  ck_assert_uint_eq(p.axis_register[0], 1);
  ck_assert_uint_eq(p.axis_lane[1], 1);
  ck_assert_uint_eq(p.axis_lane[2], 2);
}
END_TEST

START_TEST(a_row_across_warps) {
  uint32_t bytes;
  struct gather_plan p = plan_of(KERNEL("1", "16, 2", "1, 4"), &bytes);
  ck_assert(!p.in_warp);
  ck_assert_uint_eq(bytes, 128 * 8 * 4);
}
END_TEST

TCase *gather_plan_tests(void) {
  TCase *t = tcase_create("gather_plan");
  tcase_add_test(t, a_row_in_a_thread);
  tcase_add_test(t, a_row_in_a_warp);
  tcase_add_test(t, a_row_across_warps);
  return t;
}
