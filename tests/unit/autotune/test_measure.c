// SPDX-License-Identifier: Apache-2.0
// Number and duration of measurements, with a fake clock.
#include "autotune/worker/bench.h"
#include "suites_worker.h"

struct made_up {
  const double *ms; // of each launch, repeating
  unsigned count, launches, fail_at;
  double clock, overhead; // of a launch, besides its time
};

static tile_status once(void *user, double *ret_ms) {
  struct made_up *m = user;
  if (m->fail_at && m->launches + 1 == m->fail_at)
    return TILE_LAUNCH_FAILED;
  *ret_ms = m->ms[m->launches++ % m->count];
  m->clock += *ret_ms + m->overhead;
  return TILE_OK;
}

static double now(void *user) { return ((struct made_up *)user)->clock; }

static struct tune_sample run(struct made_up *m, struct measure_plan plan) {
  const struct measure_hooks hooks = {once, now, m};
  struct tune_sample s = {0};
  ck_assert_int_eq(measure_run(&plan, &hooks, &s), TILE_OK);
  return s;
}

START_TEST(until_the_budget_is_spent) {
  const double ms[] = {2};
  struct made_up m = {ms, 1, .overhead = 3};
  struct tune_sample s = run(&m, (struct measure_plan){.budget_ms = 50, .least = 3, .most = 100});
  ck_assert_uint_eq(s.count, 9); // and one warm-up launch
  ck_assert_uint_eq(m.launches, 10);
  ck_assert(s.median == 2 && s.p20 == 2 && s.p80 == 2);
}
END_TEST

START_TEST(at_least_and_at_most) {
  const double ms[] = {10};
  struct made_up slow = {ms, 1}, quick = {ms, 1};
  ck_assert_uint_eq(run(&slow, (struct measure_plan){1, 0, 7, 50}).count, 7);
  ck_assert_uint_eq(run(&quick, (struct measure_plan){1e9, 0, 7, 50}).count, 50);
  ck_assert_uint_eq(run(&quick, (struct measure_plan){0, 0, 0, 0}).count, 1);
  ck_assert_uint_eq(run(&quick, (struct measure_plan){0, 0, 9, 2}).count, 9);
}
END_TEST

START_TEST(quantiles_leave_the_first_out) {
  const double ms[] = {99, 5, 1, 4, 2, 3, 10, 7, 8, 9, 6};
  struct made_up m = {ms, 11};
  struct tune_sample s = run(&m, (struct measure_plan){0, 0, 10, 10});
  ck_assert(s.median == 6 && s.p20 == 3 && s.p80 == 8);
}
END_TEST

START_TEST(stops_early_when_surely_slower) {
  const double even[] = {3}, twice[] = {3, 9, 9, 9}, once_quick[] = {3, 3, 3, 1, 3};
  struct made_up a = {even, 1}, b = {twice, 4}, d = {once_quick, 5};
  struct measure_plan plan = {.budget_ms = 1e9, .give_up_ms = 2, .least = 20, .most = 40};
  ck_assert_uint_eq(run(&a, plan).count, 3);
  ck_assert_uint_eq(run(&b, plan).count, 1);  // more than twice too slow
  ck_assert_uint_eq(run(&d, plan).count, 40); // it was quicker once
  plan.give_up_ms = 3;
  ck_assert_uint_eq(run(&a, plan).count, 40); // equal is not slower
}
END_TEST

START_TEST(failures_come_through) {
  const double ms[] = {1};
  for (unsigned at = 1; at < 5; at++) {
    struct made_up m = {ms, 1, .fail_at = at};
    const struct measure_hooks hooks = {once, now, &m};
    const struct measure_plan plan = {0, 0, 10, 10};
    struct tune_sample s;
    ck_assert_int_eq(measure_run(&plan, &hooks, &s), TILE_LAUNCH_FAILED);
  }
}
END_TEST

Suite *measure_suite(void) {
  Suite *s = suite_create("measure");
  TCase *t = tcase_create("measure");
  tcase_add_test(t, until_the_budget_is_spent);
  tcase_add_test(t, at_least_and_at_most);
  tcase_add_test(t, quantiles_leave_the_first_out);
  tcase_add_test(t, stops_early_when_surely_slower);
  tcase_add_test(t, failures_come_through);
  suite_add_tcase(s, t);
  return s;
}
