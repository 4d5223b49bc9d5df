// SPDX-License-Identifier: Apache-2.0
// The worker over the fake CUDA driver: assembling in threads, errors that destroy a context,
// crashes in the driver, and the request to blame. Words in the "PTX" control them (fake_cuda.h).
#include "bench_kernels.h"
#include "suites_worker.h"

#include <string.h>
#include <unistd.h>

static struct worker_case c;

static void make_gpu(void) {
  worker_case_make(&c, "cuda");
  c.args[1].type = TILE_I32; // the fake GPU's kernels store bytes
}
static void open_gpu(void) {
  make_gpu();
  worker_case_open(&c, 60000);
}
static void close_case(void) { worker_case_close(&c); }

static void expect(struct tune_reply r, uint32_t config, enum tune_outcome outcome,
                   const char *reason) {
  ck_assert_uint_eq(r.config, config);
  ck_assert_msg(r.outcome == outcome, "%u: %s (%s)", r.config, tune_outcome_name(r.outcome),
                r.reason);
  ck_assert_msg(strstr(r.reason, reason) != NULL, "`%s` is not in: %s", reason, r.reason);
}

static struct tune_reply load(uint32_t config, const char *text) {
  worker_case_load_text(&c, config, text);
  return worker_case_reply(&c);
}

static struct tune_reply check(uint32_t config, bool is_reference) {
  tune_worker_check(c.worker, config, is_reference);
  return worker_case_reply(&c);
}

static void have_reference(void) {
  expect(load(0, "store=5 ms=2.5"), 0, TUNE_MEASURED, "");
  expect(check(0, true), 0, TUNE_MEASURED, "");
}

START_TEST(loads_checks_measures) {
  tile_device_properties p = worker_case_device(&c);
  ck_assert_str_eq(p.name, "Fake GPU 0");
  ck_assert_str_eq(p.target, "sm_90a");
  ck_assert(!p.is_cpu && p.l2_bytes == 1u << 20 && p.multiprocessors == 132);
  struct tune_reply r = load(0, "store=5 ms=2.5");
  expect(r, 0, TUNE_MEASURED, "");
  ck_assert_int_eq(r.registers, 40);
  ck_assert_int_eq(r.local_bytes, 16);
  expect(check(0, true), 0, TUNE_MEASURED, "");
  expect(load(1, "store=5 ms=1.25"), 1, TUNE_MEASURED, "");
  expect(check(1, false), 1, TUNE_MEASURED, "");
  tune_worker_measure(c.worker, 1, 0, 4, 4, 0);
  r = worker_case_reply(&c);
  expect(r, 1, TUNE_MEASURED, "");
  ck_assert_uint_eq(r.sample.count, 4);
  ck_assert(r.sample.median == 1.25 && r.sample.p80 == 1.25);
  tune_worker_measure(c.worker, 0, 1e9, 9, 9, 2.0);
  r = worker_case_reply(&c);
  ck_assert_uint_eq(r.sample.count, 3); // surely slower than 2 ms
}
END_TEST

START_TEST(wrong_results_leave_the_first_contents) {
  have_reference();
  expect(load(1, "store=6"), 1, TUNE_MEASURED, "");
  expect(check(1, false), 1, TUNE_WRONG, "`out`[0] is 6, the reference has 5; 1 of 5000");
  expect(load(2, "store=5"), 2, TUNE_MEASURED, "");
  expect(check(2, false), 2, TUNE_MEASURED, "");
  ck_assert_uint_eq(tune_worker_restarts(c.worker), 0);
}
END_TEST

START_TEST(assembler_errors) {
  have_reference();
  struct tune_reply r = load(1, "bad");
  expect(r, 1, TUNE_BAD_BUILD, "does not assemble");
  expect(check(1, false), 1, TUNE_BAD_BUILD, "does not assemble");
  ck_assert_uint_eq(tune_worker_restarts(c.worker), 0);
}
END_TEST

// The assembler's thread crashes while another candidate uses the device, and is the one to blame.
START_TEST(assembler_crash_is_not_the_launch_s) {
  have_reference();
  expect(load(1, "hang"), 1, TUNE_MEASURED, "");
  tune_worker_check(c.worker, 1, false);
  struct tune_reply r;
  ck_assert(!tune_worker_next(c.worker, 300, &r));
  worker_case_load_text(&c, 2, "badcrash");
  expect(worker_case_reply(&c), 2, TUNE_BAD_BUILD, "killed by SIGSEGV");
  ck_assert_uint_ge(tune_worker_restarts(c.worker), 0);
  ck_assert(!tune_worker_next(c.worker, 300, &r)); // the check was sent again, and hangs again
}
END_TEST

START_TEST(lost_context_costs_one_candidate) {
  have_reference();
  expect(load(1, "error=700"), 1, TUNE_MEASURED, "");
  expect(load(2, "store=5"), 2, TUNE_MEASURED, "");
  tune_worker_check(c.worker, 1, false);
  tune_worker_check(c.worker, 2, false);
  worker_case_load_text(&c, 3, "store=5");
  // 2 is checked by the next worker; 3, a load, may be answered by either.
  bool seen[4] = {false};
  for (int i = 0; i < 3; i++) {
    struct tune_reply r = worker_case_reply(&c);
    if (r.config == 1) {
      expect(r, 1, TUNE_BAD_LAUNCH, "(700)");
      ck_assert_ptr_null(strchr(r.reason, '\n'));
      ck_assert(!seen[2]);
    } else {
      expect(r, r.config, TUNE_MEASURED, "");
    }
    ck_assert(!seen[r.config]);
    seen[r.config] = true;
  }
  ck_assert_uint_eq(tune_worker_restarts(c.worker), 1);
}
END_TEST

START_TEST(crashes_and_exits) {
  have_reference();
  expect(load(1, "crash"), 1, TUNE_MEASURED, "");
  expect(check(1, false), 1, TUNE_BAD_LAUNCH, "killed by SIGSEGV");
  expect(load(2, "exit"), 2, TUNE_MEASURED, "");
  expect(check(2, false), 2, TUNE_BAD_LAUNCH, "exited with status 7");
  expect(check(0, false), 0, TUNE_MEASURED, "");
  ck_assert_uint_eq(tune_worker_restarts(c.worker), 2);
}
END_TEST

START_TEST(hang) {
  worker_case_open(&c, 3000);
  have_reference();
  expect(load(1, "hang"), 1, TUNE_MEASURED, "");
  expect(check(1, false), 1, TUNE_TIMEOUT, "no answer in 3 s");
  expect(check(0, false), 0, TUNE_MEASURED, "");
}
END_TEST

// Many at once: every load is answered once, whatever happens to the others.
START_TEST(a_crowd) {
  static const char *const texts[] = {"store=5", "bad",       "store=6",  "crash",
                                      "store=5", "error=719", "badcrash", "exit"};
  static const enum tune_outcome checked[] = {TUNE_MEASURED,   TUNE_BAD_BUILD, TUNE_WRONG,
                                              TUNE_BAD_LAUNCH, TUNE_MEASURED,  TUNE_BAD_LAUNCH,
                                              TUNE_BAD_BUILD,  TUNE_BAD_LAUNCH};
  enum { N = 48 };
  unsigned loads[N] = {0}, checks[N] = {0};
  have_reference();
  for (uint32_t i = 0; i < N; i++)
    worker_case_load_text(&c, i + 1, texts[i % 8]);
  for (uint32_t i = 0; i < N; i++)
    tune_worker_check(c.worker, i + 1, false);
  for (unsigned n = 0; n < 2 * N; n++) {
    struct tune_reply r = worker_case_reply(&c);
    ck_assert(r.config >= 1 && r.config <= N);
    uint32_t i = r.config - 1;
    // A load is answered before its check, for the loads were queued first.
    if (loads[i]++ == 0)
      continue;
    checks[i]++;
    ck_assert_msg(r.outcome == checked[i % 8], "%s: %s (%s)", texts[i % 8],
                  tune_outcome_name(r.outcome), r.reason);
  }
  for (uint32_t i = 0; i < N; i++)
    ck_assert(loads[i] == 2 && checks[i] == 1);
}
END_TEST

START_TEST(arrays_that_do_not_fit) {
  struct tune_reply r;
  tile_device_properties p;
  tile_status status = TILE_OK;
  c.arrays[0].bytes = (uint64_t)1 << 37; // never touched
  c.data_bytes = (uint64_t)1 << 38;
  ck_assert_int_eq(ftruncate(c.data_fd, (off_t)c.data_bytes), 0);
  worker_case_open(&c, 60000);
  worker_case_load_text(&c, 0, "store=5");
  tune_worker_check(c.worker, 0, true);
  bool failed = false;
  for (int i = 0; i < 2; i++) {
    r = worker_case_reply(&c);
    failed |= r.outcome == TUNE_UNTRIED && strstr(r.reason, "no room for 137438953");
  }
  ck_assert(failed);
  ck_assert(tune_worker_device(c.worker, &p, &status)); // it was there
  c.data_bytes = 3 * 32768;
}
END_TEST

Suite *worker_gpu_suite(void) {
  Suite *s = suite_create("worker on a fake GPU");
  TCase *t = tcase_create("opened");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, open_gpu, close_case);
  tcase_add_test(t, loads_checks_measures);
  tcase_add_test(t, wrong_results_leave_the_first_contents);
  tcase_add_test(t, assembler_errors);
  tcase_add_test(t, assembler_crash_is_not_the_launch_s);
  tcase_add_test(t, lost_context_costs_one_candidate);
  tcase_add_test(t, crashes_and_exits);
  tcase_add_test(t, a_crowd);
  suite_add_tcase(s, t);
  t = tcase_create("opened by the test");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, make_gpu, close_case);
  tcase_add_test(t, hang);
  tcase_add_test(t, arrays_that_do_not_fit);
  suite_add_tcase(s, t);
  return s;
}
