// SPDX-License-Identifier: Apache-2.0
// Rings fit into shared memory, as large as possible.
#include "lowering/plan/ring_slots.h"
#include "suites.h"

START_TEST(rings_leave_memory) {
  const struct target *t = target_find(STR("sm_90a"));
  ck_assert_ptr_nonnull(t);
  for (uint64_t bytes = 1 << 10; bytes <= 256 << 10; bytes *= 2) {
    unsigned n = ring_slots_that_fit(t, bytes, 0);
    ck_assert_uint_le(n * bytes, t->shared_limit - (32u << 10));
    ck_assert_uint_gt((n + 1) * bytes + (40u << 10), t->shared_limit);
  }
  ck_assert_uint_eq(ring_slots_that_fit(t, 32 << 10, 0),
                    6); // 128x128x64 of f16: six, as measured best
  ck_assert_uint_lt(ring_slots_that_fit(t, 128 << 10, 0), LEAST_RING_SLOTS);
  ck_assert_uint_eq(ring_slots_that_fit(t, 0, 0), 0);
  // A block that is stored as a whole, by warps that lie side by side.
  ck_assert_uint_eq(ring_slots_that_fit(t, 48 << 10, 0), 4);
  ck_assert_uint_eq(ring_slots_that_fit(t, 48 << 10, 64 << 10), 3);
  ck_assert_uint_eq(ring_slots_that_fit(t, 48 << 10, 300 << 10), 0);
}
END_TEST

TCase *ring_slots_tests(void) {
  TCase *t = tcase_create("ring_slots");
  tcase_add_test(t, rings_leave_memory);
  return t;
}
