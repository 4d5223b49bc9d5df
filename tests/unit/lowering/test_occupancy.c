// SPDX-License-Identifier: Apache-2.0
// Occupancy: the programs of a multiprocessor, and what limits them, by the numbers of NVIDIA's
// occupancy calculator.
#include "lowering/cost/occupancy.h"
#include "suites.h"

static const struct {
  const char *target, *limit;
  uint32_t num_warps, registers, shared_bytes;
  unsigned programs;
} cases[] = {
    {"sm_80", "warps", 4, 0, 0, 16},
    {"sm_80", "programs", 1, 0, 0, 32},
    {"sm_80", "registers", 4, 255, 0, 2}, // 256 a thread are allocated: 65536 / 32768
    {"sm_80", "registers", 8, 64, 0, 4},
    {"sm_80", "registers", 8, 65, 0, 3}, // of a warp 2304, in steps of 256
    {"sm_90a", "shared memory", 4, 32, 100 * 1024, 2},
    {"sm_86", "warps", 4, 0, 0, 12},
};

START_TEST(programs_of_a_multiprocessor) {
  const char *limit = NULL;
  const struct target *t = target_find(str_from(cases[_i].target));
  ck_assert_uint_eq(resource_programs_per_sm(t, cases[_i].num_warps, cases[_i].registers,
                                             cases[_i].shared_bytes, &limit),
                    cases[_i].programs);
  ck_assert_str_eq(limit, cases[_i].limit);
}
END_TEST

START_TEST(registers_of_a_thread) {
  const struct target *t = target_find(STR("sm_90a"));
  ck_assert_uint_eq(resource_registers(t, 32), 64);
  ck_assert_uint_eq(resource_registers(t, 8), 255);
  ck_assert_uint_eq(resource_registers(t, 16), 128);
}
END_TEST

TCase *occupancy_tests(void) {
  TCase *t = tcase_create("occupancy");
  tcase_add_loop_test(t, programs_of_a_multiprocessor, 0, COUNT_OF(cases));
  tcase_add_test(t, registers_of_a_thread);
  return t;
}
