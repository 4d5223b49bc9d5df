// SPDX-License-Identifier: Apache-2.0
// The report on a kernel: its accesses, conversions, barriers and shared memory.
#include "lowering/cost/performance.h"
#include "pass_session.h"
#include "suites.h"

#define ROW                                                                                        \
  "#a = #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], "           \
  "warps_per_cta = [4]}>\n"                                                                        \
  "#b = #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], "           \
  "warps_per_cta = [4]}>\n"
#define LOAD(name, ptr, layout)                                                                    \
  name " = \"tile.load\"(" ptr ") {cache = \"\", evict = \"\", is_volatile = false, "              \
       "operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<512x!tile.ptr<f32>, " layout ">) "    \
       "-> tensor<512xf32, " layout ">\n"
#define POINTERS(name, base, layout)                                                               \
  name "r = \"tile.make_range\"() {start = 0 : i32, end = 512 : i32} : () -> "                     \
       "tensor<512xi32, " layout ">\n" name "s = \"tile.splat\"(" base                             \
       ") : (!tile.ptr<f32>) -> tensor<512x!tile.ptr<f32>, " layout ">\n" name                     \
       " = \"tile.addptr\"(" name "s, " name "r) : (tensor<512x!tile.ptr<f32>, " layout            \
       ">, tensor<512xi32, " layout ">) -> tensor<512x!tile.ptr<f32>, " layout ">\n"
#define STORE(ptr, v, layout)                                                                      \
  "\"tile.store\"(" ptr ", " v                                                                     \
  ") {cache = \"\", evict = \"\"} : (tensor<512x!tile.ptr<f32>, " layout                           \
  ">, tensor<512xf32, " layout ">) -> ()\n"
#define KERNEL                                                                                     \
  ROW "module { func.func @k(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = "       \
      "\"p\"}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = \"q\"}, %n: i32 "     \
      "{tile.name = \"n\"}) attributes {tile.kernel} {\n"                                          \
      "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"

#define KERNEL_WITH(bound)                                                                         \
  KERNEL "%c6 = arith.constant 6 : i32\n" POINTERS("%x", "%p", "#a")                               \
      POINTERS("%y", "%q", "#b") "scf.for %i = %c0 to " bound " step %c1 : i32 {\n" LOAD(          \
          "%v", "%x",                                                                              \
          "#a") "%w = \"tilegpu.convert_layout\"(%v) {tilegpu.shared_offset = 256 : i32} : "       \
                "(tensor<512xf32, #a>) -> tensor<512xf32, #b>\n" STORE(                            \
                    "%y", "%w", "#b") "\"tilegpu.barrier\"() : () -> ()\n}\nreturn } }"

static struct performance report_on(struct pass_session *s) {
  return performance_of(s->context.c, s->context.module, s->context.target, 4, s->arena);
}

START_TEST(known_trips) {
  struct pass_session s = pass_session_open(KERNEL_WITH("%c6"));
  struct performance p = report_on(&s);
  ck_assert_uint_eq(p.accesses.len, 2);
  ck_assert_str_eq(p.accesses.at[1].what, "store");
  ck_assert_uint_eq(p.conversions.len, 1);
  ck_assert_uint_eq(p.barriers, 2); // its own, and one inside the conversion
  ck_assert_uint_eq(p.bytes_read, 6 * 2048);
  ck_assert_uint_eq(p.bytes_written, 6 * 2048);
  ck_assert(!p.in_loop);
  ck_assert_uint_eq(p.shared.len, 1);
  ck_assert_uint_eq(p.shared.at[0].offset, 256);
  ck_assert_uint_eq(p.shared.at[0].bytes, 2048);
  ck_assert_uint_eq(p.loops.len, 1);
  ck_assert_uint_gt(p.shared.at[0].live.begin, p.loops.at[0].live.begin); // scratch of an op in it
  ck_assert_uint_lt(p.shared.at[0].live.end, p.loops.at[0].live.end);
  ck_assert_uint_gt(p.points, p.loops.at[0].live.end);
  pass_session_close(&s);
}
END_TEST

START_TEST(unknown_trips) {
  struct pass_session s = pass_session_open(KERNEL_WITH("%n"));
  struct performance p = report_on(&s);
  ck_assert(p.in_loop && p.accesses.at[0].in_loop);
  ck_assert_uint_eq(p.bytes_read, 2048);
  pass_session_close(&s);
}
END_TEST

TCase *performance_tests(void) {
  TCase *t = tcase_create("performance");
  tcase_add_test(t, known_trips);
  tcase_add_test(t, unknown_trips);
  return t;
}
