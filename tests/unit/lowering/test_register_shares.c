// SPDX-License-Identifier: Apache-2.0
// The registers of warps beside a producer: its share goes to warps with many accumulators.
#include "lowering/plan/register_shares.h"
#include "pass_session.h"
#include "suites.h"

#define MMA(warps, columns)                                                                        \
  "#tilegpu.mma<{instr_shape = [16, " columns ", 16], version = 3, warps_per_cta = [" warps ", "   \
  "1]}>"
#define SUM(m, n, warps) "tensor<" m "x" n "xf32, " MMA(warps, n) ">"
#define OPERAND                                                                                    \
  "#tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [4, 8], "        \
  "warps_per_cta = [4, 1]}>"
#define KERNEL(attributes, m, n, warps)                                                            \
  "module " attributes "{ func.func @k(%a: tensor<" m "x64xf16, " OPERAND ">, %b: tensor<64x" n    \
  "xf16, " OPERAND                                                                                 \
  ">, %z: " SUM(m, n, warps) ") attributes {tile.kernel} {\n%s = \"tile.dot\"("                    \
                             "%a, %b, %z) {input_precision = \"ieee\", max_num_imprecise_acc = 0 " \
                             ": i32} : (tensor<" m "x64xf16, " OPERAND ">, tensor<64x" n           \
                             "xf16, " OPERAND                                                      \
                             ">, " SUM(m, n, warps) ") -> " SUM(m, n, warps) "\nreturn } }"

static struct register_shares shares(const char *text, uint32_t num_warps) {
  struct pass_session s = pass_session_open(text);
  struct ir_context *c = s.context.c;
  struct register_shares r = register_shares_of(c, mlirModuleGetOperation(s.context.module),
                                                module_kernel(c, s.context.module), num_warps);
  pass_session_close(&s);
  return r;
}

START_TEST(two_groups_take_the_producers_share) {
  struct register_shares r = shares(KERNEL("", "128", "256", "8"), 8);
  ck_assert_uint_eq(r.entry, 168);
  ck_assert_uint_eq(r.producer, 40);
  ck_assert_uint_eq(r.computing, 232);
  ck_assert_uint_eq(r.ctas, 1);
  ck_assert_uint_le(r.producer + 2 * r.computing, 3 * r.entry);
}
END_TEST

START_TEST(few_accumulators_keep_their_share) {
  struct register_shares r = shares(KERNEL("", "128", "64", "8"), 8);
  ck_assert_uint_eq(r.entry, 168);
  ck_assert_uint_eq(r.computing, 0);
}
END_TEST

START_TEST(a_limit_is_that_at_first) {
  struct register_shares r =
      shares(KERNEL("attributes {tilegpu.max_registers = 128 : i32} ", "64", "256", "4"), 4);
  ck_assert_uint_eq(r.entry, 128);
  ck_assert_uint_eq(r.computing, 216);
  ck_assert_uint_eq(r.ctas, 2);
}
END_TEST

TCase *register_shares_tests(void) {
  TCase *t = tcase_create("register_shares");
  tcase_add_test(t, two_groups_take_the_producers_share);
  tcase_add_test(t, few_accumulators_keep_their_share);
  tcase_add_test(t, a_limit_is_that_at_first);
  return t;
}
