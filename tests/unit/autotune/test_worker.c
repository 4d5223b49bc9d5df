// SPDX-License-Identifier: Apache-2.0
// The worker with real kernels on the CPU: valid ones, wrong ones, those that crash, hang or end
// the worker; and how the worker itself ends.
#include "bench_kernels.h"
#include "suites_worker.h"

#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// Long enough for a loaded machine, short enough to wait for hanging kernels.
#define SHORT_TIMEOUT_MS 3000
#define LONG_TIMEOUT_MS 60000

static struct worker_case c;

static void open_cpu(void) {
  worker_case_make(&c, "cpu");
  worker_case_open(&c, LONG_TIMEOUT_MS);
}
static void close_case(void) { worker_case_close(&c); }

static struct tune_reply load(uint32_t config, const char *kernel) {
  worker_case_load(&c, config, kernel);
  struct tune_reply r = worker_case_reply(&c);
  ck_assert_uint_eq(r.config, config);
  ck_assert_msg(r.outcome == TUNE_MEASURED, "%s: %s", kernel, r.reason);
  return r;
}

static struct tune_reply check(uint32_t config, bool is_reference) {
  tune_worker_check(c.worker, config, is_reference);
  struct tune_reply r = worker_case_reply(&c);
  ck_assert_uint_eq(r.config, config);
  return r;
}

static struct tune_reply measure(uint32_t config) {
  tune_worker_measure(c.worker, config, 1, 5, 5, 0);
  struct tune_reply r = worker_case_reply(&c);
  ck_assert_uint_eq(r.config, config);
  return r;
}

static void expect(struct tune_reply r, enum tune_outcome outcome, const char *reason) {
  ck_assert_msg(r.outcome == outcome, "%s (%s)", tune_outcome_name(r.outcome), r.reason);
  ck_assert_msg(strstr(r.reason, reason) != NULL, "`%s` is not in: %s", reason, r.reason);
}

static void have_reference(void) {
  load(0, "right");
  expect(check(0, true), TUNE_MEASURED, "");
}

START_TEST(device_is_known) {
  tile_device_properties p = worker_case_device(&c);
  ck_assert(p.is_cpu);
  ck_assert_str_eq(p.target, "cpu");
  ck_assert_int_gt(p.multiprocessors, 0);
  have_reference();
  ck_assert(tune_worker_copy_gbs(c.worker) > 0);
}
END_TEST

START_TEST(loads_checks_measures) {
  have_reference();
  load(1, "nearly");
  struct tune_reply r = check(1, false);
  expect(r, TUNE_MEASURED, "");
  ck_assert(r.max_abs > 0 && r.max_abs < 0.01);
  r = check(0, false);
  ck_assert(r.outcome == TUNE_MEASURED && r.max_abs == 0 && r.max_rel == 0);
  r = measure(1);
  expect(r, TUNE_MEASURED, "");
  ck_assert_uint_eq(r.sample.count, 5);
  ck_assert(r.sample.median > 0 && r.sample.p20 <= r.sample.median &&
            r.sample.median <= r.sample.p80);
  ck_assert_uint_eq(tune_worker_restarts(c.worker), 0);
}
END_TEST

START_TEST(replies_come_in_order_without_waiting) {
  for (uint32_t i = 0; i < 6; i++)
    worker_case_load(&c, i, "right");
  tune_worker_check(c.worker, 3, true);
  for (uint32_t i = 0; i < 6; i++)
    tune_worker_check(c.worker, i, false);
  unsigned loads = 0, next = 0;
  bool reference = false;
  for (int i = 0; i < 13; i++) {
    struct pollfd p = {tune_worker_fd(c.worker), POLLIN, 0};
    ck_assert_int_eq(poll(&p, 1, 60000), 1);
    struct tune_reply r = worker_case_reply(&c);
    expect(r, TUNE_MEASURED, "");
    if (r.check_ms == 0) {
      loads++;
    } else if (!reference) {
      ck_assert_uint_eq(r.config, 3);
      reference = true;
    } else {
      ck_assert_uint_eq(r.config, next++);
    }
  }
  ck_assert_uint_eq(loads, 6);
  ck_assert_uint_eq(next, 6);
  struct tune_reply none;
  ck_assert(!tune_worker_next(c.worker, -1, &none)); // nothing is pending: it does not wait
  struct pollfd p = {tune_worker_fd(c.worker), POLLIN, 0};
  ck_assert_int_eq(poll(&p, 1, 0), 0);
}
END_TEST

START_TEST(wrong_results_are_told_and_do_not_last) {
  have_reference();
  load(1, "wrong");
  load(2, "spoils_input");
  load(3, "nearly");
  expect(check(1, false), TUNE_WRONG, "`out`[4321] is 1564.5, the reference has 1561.5; 1 of 5000");
  expect(measure(1), TUNE_WRONG, "`out`[4321]"); // never timed
  struct tune_reply r = check(2, false);
  expect(r, TUNE_WRONG, "`x`[");
  ck_assert(r.max_abs == 1);
  expect(check(3, false), TUNE_MEASURED, "");
  expect(measure(3), TUNE_MEASURED, "");
}
END_TEST

START_TEST(arrays_are_restored_before_each_check) {
  have_reference();
  load(1, "adds");
  expect(check(1, false), TUNE_MEASURED, "");
  expect(measure(1), TUNE_MEASURED, ""); // adds up 6 times
  expect(check(1, false), TUNE_MEASURED, "");
}
END_TEST

START_TEST(arrays_to_be_zeroed_are) {
  c.arrays[1].zero = true;
  c.out_first = 17;
  worker_case_open(&c, LONG_TIMEOUT_MS);
  have_reference();
  load(1, "adds");
  expect(check(1, false), TUNE_MEASURED, "");
}
END_TEST

// Expected results are compared with the reference's too.
START_TEST(expected_results) {
  c.arrays[1].has_expected = true;
  c.arrays[1].expected = 65536;
  worker_case_open(&c, LONG_TIMEOUT_MS);
  for (int i = 0; i < KERNEL_N; i++)
    c.data[65536 / 4 + i] = c.data[i] * 2 + 1;
  load(0, "wrong");
  load(1, "right");
  expect(check(0, true), TUNE_WRONG, "`out`[4321] is 1564.5, expected is 1561.5; 1 of 5000");
  expect(check(1, true), TUNE_MEASURED, "");
  load(2, "nearly");
  load(3, "wrong");
  load(4, "spoils_input");
  expect(check(2, false), TUNE_MEASURED, "");
  expect(check(3, false), TUNE_WRONG, "expected is 1561.5");
  expect(check(4, false), TUNE_WRONG, "`x`[1200] is 1, the reference has 0; 5000 of 5000");
}
END_TEST

// The CPU device reports it; crashes of a driver are in test_worker_gpu.c.
START_TEST(fault_costs_one_candidate) {
  have_reference();
  load(1, "crashes");
  load(2, "right");
  tune_worker_check(c.worker, 1, false);
  tune_worker_measure(c.worker, 1, 1, 2, 2, 0);
  tune_worker_check(c.worker, 2, false);
  tune_worker_measure(c.worker, 2, 1, 3, 3, 0);
  expect(worker_case_reply(&c), TUNE_BAD_LAUNCH, "out-of-bounds store");
  expect(worker_case_reply(&c), TUNE_BAD_LAUNCH, "out-of-bounds store");
  struct tune_reply r = worker_case_reply(&c);
  expect(r, TUNE_MEASURED, "");
  ck_assert_uint_eq(r.config, 2);
  ck_assert(r.max_abs == 0);
  r = worker_case_reply(&c);
  expect(r, TUNE_MEASURED, "");
  ck_assert_uint_eq(r.sample.count, 3);
  ck_assert_uint_eq(tune_worker_restarts(c.worker), 0);
}
END_TEST

START_TEST(hang_costs_one_candidate) {
  worker_case_open(&c, SHORT_TIMEOUT_MS);
  have_reference();
  load(1, "hangs");
  load(2, "nearly");
  tune_worker_check(c.worker, 1, false);
  tune_worker_check(c.worker, 2, false);
  struct tune_reply r = worker_case_reply(&c);
  ck_assert_uint_eq(r.config, 1);
  expect(r, TUNE_TIMEOUT, "no answer in 3 s");
  expect(worker_case_reply(&c), TUNE_MEASURED, "");
  expect(measure(1), TUNE_TIMEOUT, "no answer"); // at once: it is known to hang
  ck_assert_uint_eq(tune_worker_restarts(c.worker), 1);
}
END_TEST

START_TEST(code_that_does_not_load) {
  static struct kernel_info info = {.name = "k", .target = "cpu", .num_warps = 1};
  struct tune_built b = {.config = 9, .ok = true, .info = info, .code = STR("no object file")};
  have_reference();
  tune_worker_load(c.worker, &b);
  tune_worker_check(c.worker, 9, false);
  expect(worker_case_reply(&c), TUNE_BAD_BUILD, "CPU code of `k` cannot be linked");
  expect(worker_case_reply(&c), TUNE_BAD_BUILD, "CPU code of `k`");
  expect(check(5, false), TUNE_UNTRIED, "not loaded");
  expect(check(0, false), TUNE_MEASURED, "");
}
END_TEST

START_TEST(nothing_to_compare_with) {
  load(1, "right");
  expect(check(1, false), TUNE_UNTRIED, "no results to compare with");
  expect(check(1, true), TUNE_MEASURED, "");
  expect(check(1, false), TUNE_MEASURED, "");
}
END_TEST

// The child process of this one; 0: none. Found in /proc.
static pid_t child_of(pid_t parent) {
  DIR *proc = opendir("/proc");
  pid_t found = 0;
  for (struct dirent *e; proc && (e = readdir(proc));) {
    char path[300], line[512] = "";
    int pid, ppid;
    snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
    FILE *f = e->d_name[0] >= '0' && e->d_name[0] <= '9' ? fopen(path, "re") : NULL;
    if (!f)
      continue;
    const char *tail = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (tail && sscanf(line, "%d", &pid) == 1 && sscanf(tail, ") %*c %d", &ppid) == 1 &&
        ppid == parent)
      found = pid;
    fclose(f);
  }
  if (proc)
    closedir(proc);
  return found;
}

START_TEST(kill_from_outside) {
  have_reference();
  pid_t first = child_of(getpid());
  ck_assert_int_gt(first, 0);
  ck_assert_int_eq(kill(first, SIGKILL), 0); // while it is idle: no request is to blame
  expect(check(0, false), TUNE_MEASURED, "");
  ck_assert_int_ne(child_of(getpid()), first);
  ck_assert_uint_eq(tune_worker_restarts(c.worker), 1);
  load(1, "hangs");
  tune_worker_check(c.worker, 1, false);
  struct tune_reply r;
  for (int i = 0; !tune_worker_next(c.worker, 500, &r); i++) { // once more if it had not begun yet
    ck_assert_int_lt(i, 10);
    pid_t child = child_of(getpid());
    if (child > 0)
      kill(child, SIGKILL);
  }
  expect(r, TUNE_BAD_LAUNCH, "killed by SIGKILL");
  expect(check(0, false), TUNE_MEASURED, "");
}
END_TEST

// Killed repeatedly while it works: each request is answered once, most of them successfully.
START_TEST(killed_at_any_moment) {
  enum { N = 60 };
  unsigned answers[N + 1] = {0}, good = 0;
  have_reference();
  worker_case_load(&c, 1, "nearly");
  expect(worker_case_reply(&c), TUNE_MEASURED, "");
  for (uint32_t i = 2; i <= N; i++)
    worker_case_load_again(&c, i, 1);
  // Before it has all requests, so that at least one worker ends early however fast they are.
  pid_t first = child_of(getpid());
  ck_assert_int_gt(first, 0);
  kill(first, SIGKILL);
  for (uint32_t i = 2; i <= N; i++)
    tune_worker_check(c.worker, i, false);
  for (unsigned n = 0; n < 2 * (N - 1); n++) {
    struct tune_reply r = worker_case_reply(&c);
    ck_assert(r.config >= 2 && r.config <= N);
    answers[r.config]++;
    good += r.outcome == TUNE_MEASURED;
    if (r.outcome != TUNE_MEASURED)
      ck_assert_msg(strstr(r.reason, "killed by SIGKILL"), "%s", r.reason);
    pid_t child = n % 20 == 7 ? child_of(getpid()) : 0;
    if (child > 0)
      kill(child, SIGKILL);
  }
  for (uint32_t i = 2; i <= N; i++)
    ck_assert_uint_eq(answers[i], 2);
  ck_assert_uint_ge(good, 2 * (N - 1) - 2 * 7);
  ck_assert_uint_ge(tune_worker_restarts(c.worker), 1);
}
END_TEST

START_TEST(closing_while_busy_leaves_nothing) {
  have_reference();
  load(1, "hangs");
  tune_worker_check(c.worker, 1, false);
  worker_case_load(&c, 2, "right");
  struct tune_reply r;
  (void)tune_worker_next(c.worker, 300, &r);
  ck_assert_int_gt(child_of(getpid()), 0);
  tune_worker_close(c.worker);
  c.worker = NULL;
  ck_assert_int_eq(child_of(getpid()), 0);
  ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); // no zombie either
}
END_TEST

// Open files of this process: closing gives all of them back.
static unsigned open_files(void) {
  unsigned n = 0;
  for (int fd = 0; fd < 256; fd++)
    n += access((char[32]){0}, F_OK) == 0 || dup2(fd, fd) == fd;
  return n;
}

START_TEST(no_file_stays_open) {
  unsigned before = open_files();
  for (int i = 0; i < 3; i++) {
    struct worker_case one;
    worker_case_make(&one, "cpu");
    worker_case_open(&one, LONG_TIMEOUT_MS);
    if (i)
      worker_case_device(&one); // else it is closed while it starts
    worker_case_close(&one);
  }
  ck_assert_uint_eq(open_files(), before);
}
END_TEST

// A process that opens a worker, has it hang, and dies: the worker goes too.
START_TEST(worker_goes_with_its_parent) {
  int told[2];
  ck_assert_int_eq(pipe(told), 0);
  pid_t middle = fork();
  if (middle == 0) {
    struct worker_case own;
    worker_case_make(&own, "cpu");
    worker_case_open(&own, LONG_TIMEOUT_MS);
    worker_case_load(&own, 1, "hangs");
    tune_worker_check(own.worker, 1, true);
    struct tune_reply r;
    while (!tune_worker_next(own.worker, 1000, &r)) // the load
      continue;
    (void)tune_worker_next(own.worker, 300, &r);
    pid_t worker = child_of(getpid());
    ssize_t done = write(told[1], &worker, sizeof worker);
    (void)done;
    pause();
  }
  pid_t worker = 0;
  ck_assert_int_eq(read(told[0], &worker, sizeof worker), sizeof worker);
  ck_assert_int_gt(worker, 0);
  kill(middle, SIGKILL);
  waitpid(middle, NULL, 0);
  for (int i = 0; i < 600 && kill(worker, 0) == 0; i++) {
    FILE *f; // it may stay as a zombie of its new parent
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)worker);
    f = fopen(path, "re");
    bool gone = !f || (fscanf(f, "%*d (%*[^)]) %c", &state) == 1 && state == 'Z');
    if (f)
      fclose(f);
    if (gone)
      break;
    usleep(100000);
    ck_assert_int_lt(i, 599);
  }
  close(told[0]);
  close(told[1]);
}
END_TEST

START_TEST(programs_that_are_no_worker) {
  const struct {
    const char *program, *message;
    tile_status status;
  } cases[] = {
      {"/nonexistent/worker", "does not start", TILE_NOT_FOUND},
      {"/bin/true", "does not stay alive: it exited with status 0", TILE_LAUNCH_FAILED},
      {"/bin/echo", "does not stay alive", TILE_LAUNCH_FAILED},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const struct tune_worker_options o = {
        .device = "cpu", .rtol = -1, .atol = -1, .program = cases[i].program};
    struct tune_worker *w = NULL;
    tile_device_properties p;
    tile_status status = TILE_OK;
    struct tune_reply r;
    ck_assert_int_eq(tune_worker_open(&o, &c.problem, c.data_fd, c.data_bytes, &w), TILE_OK);
    while (!tune_worker_device(w, &p, &status) && status == TILE_OK)
      tune_worker_next(w, 100, &r);
    ck_assert_int_eq(status, cases[i].status);
    ck_assert_msg(strstr(tile_error_message(), cases[i].message) != NULL, "%s",
                  tile_error_message());
    tune_worker_check(w, 0, false);
    ck_assert(tune_worker_next(w, 60000, &r));
    ck_assert_int_eq(r.outcome, TUNE_UNTRIED);
    tune_worker_close(w);
  }
}
END_TEST

// A worker that sends invalid frames, as if a kernel had overwritten it: it is replaced, and given
// up if that does not help.
START_TEST(workers_that_send_invalid_frames) {
  static const char *const cases[] = {
      "nonsense\n",
      "{\"frame\":\"device\",\"na", // and ends
      "{\"frame\":\"end\",\"id\":77}\n",
      "{\"frame\":\"begin\"}\n",
      "{\"frame\":\"device\",\"name\":7}\n{\"frame\":5}\n",
      "{\"frame\":\"device\",\"bytes\":-5}\n",
      "[]\n",
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    setenv("TEST_WORKER_SAYS", cases[i], 1);
    worker_case_open(&c, LONG_TIMEOUT_MS);
    worker_case_load(&c, 0, "right");
    struct tune_reply r = worker_case_reply(&c);
    expect(r, TUNE_UNTRIED, "does not stay alive");
    tune_worker_close(c.worker);
    c.worker = NULL;
  }
  unsetenv("TEST_WORKER_SAYS");
}
END_TEST

START_TEST(no_such_device) {
  const struct tune_worker_options o = {.device = "toaster", .rtol = -1, .atol = -1};
  struct tune_worker *w = NULL;
  tile_device_properties p;
  tile_status status = TILE_OK;
  struct tune_reply r;
  ck_assert_int_eq(tune_worker_open(&o, &c.problem, c.data_fd, c.data_bytes, &w), TILE_OK);
  while (!tune_worker_device(w, &p, &status) && status == TILE_OK)
    tune_worker_next(w, 100, &r);
  ck_assert_int_eq(status, TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "no device is called `toaster`"));
  tune_worker_close(w);
}
END_TEST

static void make_only(void) { worker_case_make(&c, "cpu"); }

Suite *worker_suite(void) {
  Suite *s = suite_create("worker");
  TCase *t = tcase_create("cpu");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, open_cpu, close_case);
  tcase_add_test(t, device_is_known);
  tcase_add_test(t, loads_checks_measures);
  tcase_add_test(t, replies_come_in_order_without_waiting);
  tcase_add_test(t, wrong_results_are_told_and_do_not_last);
  tcase_add_test(t, arrays_are_restored_before_each_check);
  tcase_add_test(t, fault_costs_one_candidate);
  tcase_add_test(t, code_that_does_not_load);
  tcase_add_test(t, nothing_to_compare_with);
  tcase_add_test(t, kill_from_outside);
  tcase_add_test(t, killed_at_any_moment);
  tcase_add_test(t, closing_while_busy_leaves_nothing);
  suite_add_tcase(s, t);
  t = tcase_create("opened by the test");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, make_only, close_case);
  tcase_add_test(t, arrays_to_be_zeroed_are);
  tcase_add_test(t, expected_results);
  tcase_add_test(t, hang_costs_one_candidate);
  tcase_add_test(t, no_file_stays_open);
  tcase_add_test(t, worker_goes_with_its_parent);
  tcase_add_test(t, programs_that_are_no_worker);
  tcase_add_test(t, workers_that_send_invalid_frames);
  tcase_add_test(t, no_such_device);
  suite_add_tcase(s, t);
  return s;
}
