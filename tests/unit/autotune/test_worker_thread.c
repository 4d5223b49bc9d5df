// SPDX-License-Identifier: Apache-2.0
// The worker as a thread, if there is no worker program: it replies as a process does, a hanging
// one is detached, and any other leaves nothing behind.
#include "autotune/worker/state.h"
#include "bench_kernels.h"
#include "suites_worker.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct worker_case c;

static void make_case(void) {
  unsetenv("TILE_WORKER"); // this test program is not called tilec
  worker_case_make(&c, "cpu");
}
static void close_case(void) { worker_case_close(&c); }

static void open_worker(double timeout_ms) {
  worker_case_open(&c, timeout_ms);
  if (c.worker->program) // an installed one
    exit(0);
}

static size_t entries(const char *folder) {
  DIR *d = opendir(folder);
  size_t n = 0;
  ck_assert_ptr_nonnull(d);
  while (readdir(d))
    n++;
  closedir(d);
  return n;
}

static void expect(enum tune_outcome outcome, const char *reason) {
  struct tune_reply r = worker_case_reply(&c);
  ck_assert_msg(r.outcome == outcome, "%s (%s)", tune_outcome_name(r.outcome), r.reason);
  ck_assert_msg(strstr(r.reason, reason) != NULL, "`%s` is not in: %s", reason, r.reason);
}

static void load(uint32_t config, const char *kernel) {
  worker_case_load(&c, config, kernel);
  expect(TUNE_MEASURED, "");
}

START_TEST(a_thread_answers_as_a_process_does) {
  size_t files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  open_worker(60000);
  ck_assert(worker_case_device(&c).is_cpu);
  load(0, "right");
  load(1, "nearly");
  load(2, "wrong");
  tune_worker_check(c.worker, 0, true);
  tune_worker_check(c.worker, 1, false);
  tune_worker_check(c.worker, 2, false);
  tune_worker_measure(c.worker, 1, 1, 3, 3, 0);
  expect(TUNE_MEASURED, "");
  expect(TUNE_MEASURED, "");
  expect(TUNE_WRONG, "`out`[4321]");
  expect(TUNE_MEASURED, "");
  tune_worker_close(c.worker);
  c.worker = NULL;
  ck_assert_uint_eq(entries("/proc/self/fd"), files);
  for (int i = 0; entries("/proc/self/task") != threads; i++) { // the last one is still ending
    ck_assert_int_lt(i, 600);
    usleep(10000);
  }
}
END_TEST

START_TEST(a_thread_that_hangs_is_left_behind) {
  open_worker(3000);
  load(0, "right");
  load(1, "hangs");
  load(2, "nearly");
  tune_worker_check(c.worker, 0, true);
  tune_worker_check(c.worker, 1, false);
  tune_worker_check(c.worker, 2, false);
  expect(TUNE_MEASURED, "");
  expect(TUNE_TIMEOUT, "no answer in 3 s");
  expect(TUNE_MEASURED, "");
  ck_assert_uint_eq(tune_worker_restarts(c.worker), 1);
}
END_TEST

Suite *worker_thread_suite(void) {
  Suite *s = suite_create("worker thread");
  TCase *t = tcase_create("cpu");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, make_case, close_case);
  tcase_add_test(t, a_thread_answers_as_a_process_does);
  tcase_add_test(t, a_thread_that_hangs_is_left_behind);
  suite_add_tcase(s, t);
  return s;
}
