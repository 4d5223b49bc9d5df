// SPDX-License-Identifier: Apache-2.0
// The table of machines: each target has its row, and rates follow the width of operands.
#include "lowering/cost/cost_machine.h"
#include "suites.h"

START_TEST(rows) {
  for (const char *const *name = target_names(); *name; name++) {
    const struct target *t = target_find(str_from(*name));
    ck_assert_uint_eq(machine_of(t)->sm, t->sm);
  }
  struct target future = {.name = "sm_200", .sm = 200};
  ck_assert_uint_eq(machine_of(&future)->sm, 100);
}
END_TEST

// A100: 1024 multiplications and additions of f16 in a cycle, 19.5 TFLOPS of f64 by matrices.
START_TEST(rates_of_matrix_instructions) {
  const struct machine *a100 = machine_of(target_find(STR("sm_80")));
  ck_assert_double_eq(machine_tensor_flops(a100, 16, false), 2048);
  ck_assert_double_eq(machine_tensor_flops(a100, 32, false), 1024);
  ck_assert_double_eq(machine_tensor_flops(a100, 8, true), 4096);
  ck_assert_double_eq(machine_tensor_flops(a100, 8, false), 2048); // no instruction of fp8
  double f64 = machine_tensor_flops(a100, 64, false) * a100->multiprocessors * a100->clock_ghz;
  ck_assert_double_eq_tol(f64, 19500, 100);
  const struct machine *h100 = machine_of(target_find(STR("sm_90a")));
  ck_assert_double_gt(machine_wgmma_flops(h100, 16), machine_tensor_flops(h100, 16, false));
  ck_assert_double_eq(machine_wgmma_flops(a100, 16), 2048);
}
END_TEST

TCase *cost_machine_tests(void) {
  TCase *t = tcase_create("cost_machine");
  tcase_add_test(t, rows);
  tcase_add_test(t, rates_of_matrix_instructions);
  return t;
}
