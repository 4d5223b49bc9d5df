// SPDX-License-Identifier: Apache-2.0
// The model of a ring over time: slots are reused when their iteration has ended, copies share one
// path, computing is in order; what a kernel's ring is.
#include "lowering/cost/ring_time.h"
#include "suites.h"

// Copies are faster than computing: after the first wait nothing waits.
START_TEST(computing_limits) {
  struct ring_model m = {.slots = 2, .latency = 100, .copy = 10, .compute = 200, .iterations = 50};
  struct ring_step s[6];
  ring_schedule(&m, 6, s);
  ck_assert_double_eq(s[0].begin, 110);
  ck_assert_double_eq(s[1].arrived, 120);
  for (unsigned i = 1; i < 6; i++) {
    ck_assert_double_eq(s[i].begin, s[i - 1].end);
    ck_assert_uint_eq(s[i].slot, i % 2);
  }
  ck_assert_double_eq(s[2].issued, s[0].end);
}
END_TEST

// The path limits: iterations are as far apart as copies.
START_TEST(copies_limit) {
  struct ring_model m = {.slots = 4, .latency = 50, .copy = 300, .compute = 20, .iterations = 50};
  struct ring_step s[8];
  ring_schedule(&m, 8, s);
  for (unsigned i = 1; i < 4; i++)
    ck_assert_double_eq(s[i].begin - s[i - 1].begin, 300);
  for (unsigned i = 4; i < 8; i++)
    ck_assert_double_ge(s[i].arrived - s[i - 1].arrived, 300);
}
END_TEST

// With one slot nothing overlaps: each iteration pays the latency.
START_TEST(one_slot) {
  struct ring_model m = {.slots = 1, .latency = 40, .copy = 5, .compute = 7, .iterations = 3};
  struct ring_step s[3];
  ring_schedule(&m, 3, s);
  ck_assert_double_eq(s[2].end, 3 * (40 + 5 + 7));
}
END_TEST

// Random rings: each iteration computes after its copy and after the one before, and no slot holds
// two iterations at once.
START_TEST(random_rings) {
  uint32_t seed = 7;
  for (int round = 0; round < 1000; round++) {
    double parts[3];
    for (int i = 0; i < 3; i++)
      parts[i] = (seed = seed * 1664525 + 1013904223) >> 22;
    struct ring_model m = {
        .slots = 1 + seed % 6, .latency = parts[0], .copy = parts[1], .compute = parts[2]};
    struct ring_step s[RING_MAX_STEPS];
    ring_schedule(&m, RING_MAX_STEPS, s);
    for (unsigned i = 0; i < RING_MAX_STEPS; i++) {
      ck_assert_double_ge(s[i].arrived, s[i].issued + m.latency);
      ck_assert_double_ge(s[i].begin, s[i].arrived);
      ck_assert(i == 0 || s[i].begin >= s[i - 1].end);
      ck_assert(i < m.slots || s[i].issued >= s[i - m.slots].end);
    }
  }
}
END_TEST

START_TEST(ring_of_a_kernel) {
  const struct machine *m = machine_of(target_find(STR("sm_90a")));
  struct shared_use uses[] = {
      {.bytes = 4 * 16384, .copies = 4, .use = BUFFER_DATA, .engine = FEED_TMA},
      {.bytes = 3 * 8192, .copies = 3, .use = BUFFER_DATA, .engine = FEED_TMA},
      {.bytes = 64, .copies = 8, .use = BUFFER_BARRIERS},
      {.bytes = 9000, .copies = 5, .use = BUFFER_DATA, .engine = FEED_COMPUTED},
      {.bytes = 4096, .copies = 1, .use = BUFFER_DATA, .engine = FEED_TMA}};
  struct performance p = {0};
  struct kernel_cost c = {.iterations = 10, .tensor_cycles = 5000, .instructions = 10};
  p.shared.at = uses;
  p.shared.len = COUNT_OF(uses);
  struct ring_model r = ring_model_of(&p, &c, m);
  ck_assert_uint_eq(r.slots, 4);
  ck_assert_double_eq(r.bytes, 16384 + 8192);
  ck_assert_double_eq(r.compute, 500);
  ck_assert_double_eq(r.copy, r.bytes / m->l2_bytes);
  ck_assert_double_gt(r.from_memory, r.copy);
  ck_assert_uint_eq(ring_steps(&r), 10);
  c.iterations = 3;
  r = ring_model_of(&p, &c, m);
  ck_assert_uint_eq(ring_steps(&r), 3);
  c.iterations = 0; // no loop that copies
  r = ring_model_of(&p, &c, m);
  ck_assert_uint_eq(ring_steps(&r), 0);
  c.iterations = 1e9;
  p.shared.len = 0;
  r = ring_model_of(&p, &c, m);
  ck_assert_uint_eq(r.slots, 0);
}
END_TEST

TCase *ring_time_tests(void) {
  TCase *t = tcase_create("ring_time");
  tcase_add_test(t, computing_limits);
  tcase_add_test(t, copies_limit);
  tcase_add_test(t, one_slot);
  tcase_add_test(t, random_rings);
  tcase_add_test(t, ring_of_a_kernel);
  return t;
}
