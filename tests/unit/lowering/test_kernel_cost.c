// SPDX-License-Identifier: Apache-2.0
// Totals of a program: bytes and operations times the trips of their loops.
#include "lowering/cost/kernel_cost.h"
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

// Loads p and stores to q in each of n iterations.
static const char text[] = KERNEL POINTERS("%x", "%p", "#a")
    POINTERS("%y", "%q", "#a") "scf.for %i = %c0 to %n step %c1 : i32 {\n" LOAD(
        "%v", "%x",
        "#a") "%w = arith.mulf %v, %v : tensor<512xf32, #a>\n" STORE("%y", "%w",
                                                                     "#a") "}\nreturn } }";

static struct kernel_cost cost_of(struct pass_session *s, const struct cost_argument *args,
                                  size_t count) {
  static const uint32_t grid[3] = {8, 1, 1};
  return kernel_cost_of(s->context.c, s->context.module, s->context.target, 4, args, count, grid);
}

START_TEST(totals_of_a_program) {
  static const struct cost_argument ten[] = {{"n", 10}};
  struct pass_session s = pass_session_open(text);
  struct kernel_cost k = cost_of(&s, ten, 1);
  ck_assert(k.is_exact);
  ck_assert_double_eq(k.global_read, 10 * 2048);
  ck_assert_double_eq(k.global_written, 10 * 2048);
  ck_assert_double_eq(k.common_read, 10 * 2048); // no program id: all read the same
  ck_assert_double_eq(k.sectors, 2 * 10 * 2048 / 32);
  ck_assert_double_eq(k.iterations, 10);
  ck_assert_double_eq(k.tensor_flops, 0);
  ck_assert_double_eq(k.special, 0);
  ck_assert_uint_eq(k.num_warps, 4);
  pass_session_close(&s);
}
END_TEST

START_TEST(an_unknown_count_is_not_exact) {
  struct pass_session s = pass_session_open(text);
  ck_assert(!cost_of(&s, NULL, 0).is_exact);
  pass_session_close(&s);
}
END_TEST

TCase *kernel_cost_tests(void) {
  TCase *t = tcase_create("kernel_cost");
  tcase_add_test(t, totals_of_a_program);
  tcase_add_test(t, an_unknown_count_is_not_exact);
  return t;
}
