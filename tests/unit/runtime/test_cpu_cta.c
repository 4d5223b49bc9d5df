// SPDX-License-Identifier: Apache-2.0
// Launches on the CPU of C functions instead of compiled kernels.
#include "runtime/device.h"
#include "suites.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static tile_device *device;

static void open_cpu(void) {
  setenv("TILE_CPU_THREADS", "3", 1);
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
}
static void close_cpu(void) { tile_device_close(device); }

static tile_status launch(cpu_kernel_fn fn, struct kernel_info *info, tile_grid grid,
                          void *const *values) {
  struct module *m = NULL;
  tile_status s = module_from_cpu(device, fn, info, NULL, NULL, &m);
  if (s == TILE_OK)
    s = module_launch(m, NULL, grid, values, 0);
  module_destroy(m);
  return s;
}

// ---- threads in turn ----

static void add(struct cpu_thread *t, void *const *args) {
  const float *x = *(float *const *)args[0], *y = *(float *const *)args[1];
  float *out = *(float *const *)args[2];
  int n = *(const int *)args[3];
  for (int k = 0; k < 8; k++) {
    int i = t->program_id[0] * 1024 + k * 128 + t->thread_id;
    if (i < n)
      out[i] = x[i] + y[i];
  }
}

START_TEST(vector_add) {
  static const int sizes[] = {1, 1023, 1024, 1025, 9973, 100000};
  struct kernel_info info = {.name = "add", .target = "cpu", .num_warps = 4};
  for (size_t k = 0; k < COUNT_OF(sizes); k++) {
    int n = sizes[k];
    float *x = calloc((size_t)n, 4), *y = calloc((size_t)n, 4), *out = calloc((size_t)n, 4);
    for (int i = 0; i < n; i++) {
      x[i] = (float)i;
      y[i] = 0.5f * (float)i;
    }
    void *values[] = {&x, &y, &out, &n};
    ck_assert_int_eq(launch(add, &info, (tile_grid){(unsigned)(n + 1023) / 1024, 1, 1}, values),
                     TILE_OK);
    for (int i = 0; i < n; i++)
      ck_assert(out[i] == x[i] + y[i]);
    free(x);
    free(y);
    free(out);
  }
}
END_TEST

static void mark_program(struct cpu_thread *t, void *const *args) {
  atomic_int *seen = *(atomic_int *const *)args[0];
  if (t->thread_id != 0)
    return;
  int at = (t->program_id[2] * t->num_programs[1] + t->program_id[1]) * t->num_programs[0] +
           t->program_id[0];
  atomic_fetch_add(&seen[at], 1);
}

START_TEST(every_program_runs_once) {
  struct kernel_info info = {.name = "mark", .target = "cpu", .num_warps = 1};
  static atomic_int seen[5 * 6 * 7];
  atomic_int *p = seen;
  void *values[] = {&p};
  ck_assert_int_eq(launch(mark_program, &info, (tile_grid){5, 6, 7}, values), TILE_OK);
  for (size_t i = 0; i < COUNT_OF(seen); i++)
    ck_assert_int_eq(atomic_load(&seen[i]), 1);
}
END_TEST

// A forked child has none of the parent's pool threads.
START_TEST(forked_child_launches) {
  struct kernel_info info = {.name = "mark", .target = "cpu", .num_warps = 1};
  static atomic_int seen[64];
  atomic_int *p = seen;
  void *values[] = {&p};
  ck_assert_int_eq(launch(mark_program, &info, (tile_grid){64, 1, 1}, values), TILE_OK);
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    alarm(20);
    bool ok = launch(mark_program, &info, (tile_grid){64, 1, 1}, values) == TILE_OK;
    for (size_t i = 0; i < COUNT_OF(seen); i++)
      ok = ok && atomic_load(&seen[i]) == 2;
    tile_device_close(device);
    _exit(!ok);
  }
  int status = -1;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ck_assert_int_eq(launch(mark_program, &info, (tile_grid){64, 1, 1}, values), TILE_OK);
}
END_TEST

START_TEST(grids_beyond_the_limit) {
  struct kernel_info info = {.name = "mark", .target = "cpu", .num_warps = 1};
  ck_assert_int_eq(launch(mark_program, &info, (tile_grid){0x80000000u, 1, 1}, NULL),
                   TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(
      launch(mark_program, &info, (tile_grid){0x7fffffffu, 0x7fffffffu, 0x7fffffffu}, NULL),
      TILE_INVALID_ARGUMENT);
  info.shared_bytes = 1 << 20;
  ck_assert_int_eq(launch(mark_program, &info, (tile_grid){1, 1, 1}, NULL), TILE_LIMIT);
}
END_TEST

// ---- collectives ----

// Sum over a CTA: shuffles within warps, shared memory and barriers across them.
static void sum_cta(struct cpu_thread *t, void *const *args) {
  const int *x = *(int *const *)args[0];
  int *out = *(int *const *)args[1];
  unsigned warps = *(const unsigned *)args[2];
  int *shared = t->shared;
  unsigned lane = (unsigned)t->thread_id % 32, warp = (unsigned)t->thread_id / 32;
  int v = x[(unsigned)t->program_id[0] * warps * 32 + (unsigned)t->thread_id];
  for (unsigned step = 16; step; step /= 2)
    v += (int)tile_cpu_shuffle(t, (uint32_t)v, lane ^ step, NULL);
  if (lane == 0)
    shared[warp] = v;
  tile_cpu_barrier(t, NULL);
  if (t->thread_id == 0) {
    int total = 0;
    for (unsigned w = 0; w < warps; w++)
      total += shared[w];
    shared[warps] = total;
  }
  tile_cpu_barrier(t, NULL);
  out[(unsigned)t->program_id[0] * warps * 32 + (unsigned)t->thread_id] = shared[warps];
}

START_TEST(sums_by_shuffles_and_barriers) {
  for (unsigned warps = 1; warps <= 32; warps *= 2) {
    enum { CTAS = 50 };
    unsigned n = CTAS * warps * 32;
    int *x = calloc(n, sizeof *x), *out = calloc(n, sizeof *out);
    for (unsigned i = 0; i < n; i++)
      x[i] = (int)(i * 7 % 1000);
    struct kernel_info info = {.name = "sum",
                               .num_warps = warps,
                               .shared_bytes = 4 * (warps + 1),
                               .uses_collectives = true};
    void *values[] = {&x, &out, &warps};
    ck_assert_int_eq(launch(sum_cta, &info, (tile_grid){CTAS, 1, 1}, values), TILE_OK);
    for (unsigned c = 0; c < CTAS; c++) {
      int total = 0;
      for (unsigned i = 0; i < warps * 32; i++)
        total += x[c * warps * 32 + i];
      for (unsigned i = 0; i < warps * 32; i++)
        ck_assert_int_eq(out[c * warps * 32 + i], total);
    }
    free(x);
    free(out);
  }
}
END_TEST

static void shuffle_any(struct cpu_thread *t, void *const *args) {
  uint32_t *out = *(uint32_t *const *)args[0];
  uint32_t source = (uint32_t)(t->thread_id * 5 + 3); // lanes above 31 wrap
  out[t->thread_id] = tile_cpu_shuffle(t, (uint32_t)t->thread_id * 10, source, NULL);
}

START_TEST(shuffle_gives_any_lane) {
  uint32_t got[64], *p = got;
  void *values[] = {&p};
  struct kernel_info info = {.name = "shuffle", .num_warps = 2, .uses_collectives = true};
  ck_assert_int_eq(launch(shuffle_any, &info, (tile_grid){1, 1, 1}, values), TILE_OK);
  for (uint32_t i = 0; i < 64; i++)
    ck_assert_uint_eq(got[i], (i / 32 * 32 + (i * 5 + 3) % 32) * 10);
}
END_TEST

// ---- divergence ----

static void barrier_of_some(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id < 40)
    tile_cpu_barrier(t, NULL);
}

static void shuffle_of_some(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id % 32 != 7)
    tile_cpu_shuffle(t, 1, 0, NULL);
}

static void shuffle_against_barrier(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id < 5)
    tile_cpu_barrier(t, NULL);
  else
    tile_cpu_shuffle(t, 1, 0, NULL);
}

static void expect_divergence(cpu_kernel_fn fn, const char *waits, const char *other) {
  struct kernel_info info = {.name = "diverge", .num_warps = 2, .uses_collectives = true};
  ck_assert_int_eq(launch(fn, &info, (tile_grid){20, 1, 1}, NULL), TILE_LAUNCH_FAILED);
  const char *m = tile_error_message();
  ck_assert_msg(strstr(m, "divergence") && strstr(m, waits) && strstr(m, other), "%s", m);
}

START_TEST(divergence_is_reported) {
  expect_divergence(barrier_of_some, "thread 0 waits at a barrier", "thread 40");
  expect_divergence(shuffle_of_some, "thread 0 waits at a shuffle", "thread 7");
  expect_divergence(shuffle_against_barrier, "thread 5 waits at a shuffle", "waits elsewhere");
  // The workers are usable afterwards.
  uint32_t got[64], *p = got;
  void *values[] = {&p};
  struct kernel_info info = {.name = "shuffle", .num_warps = 2, .uses_collectives = true};
  ck_assert_int_eq(launch(shuffle_any, &info, (tile_grid){1, 1, 1}, values), TILE_OK);
}
END_TEST

START_TEST(collective_without_fibers_is_an_error) {
  struct kernel_info info = {.name = "liar", .num_warps = 2};
  ck_assert_int_eq(launch(barrier_of_some, &info, (tile_grid){9, 1, 1}, NULL), TILE_INTERNAL);
  ck_assert_int_eq(launch(shuffle_of_some, &info, (tile_grid){9, 1, 1}, NULL), TILE_INTERNAL);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "`liar`"));
}
END_TEST

// ---- several threads launch ----

static void *launch_many(void *ret) {
  unsigned warps = 2;
  int x[64], out[64], *px = x, *pout = out;
  struct kernel_info info = {
      .name = "sum", .num_warps = 2, .shared_bytes = 12, .uses_collectives = true};
  void *values[] = {&px, &pout, &warps};
  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < 64; i++)
      x[i] = i + round;
    if (launch(sum_cta, &info, (tile_grid){1, 1, 1}, values) != TILE_OK ||
        out[63] != 63 * 32 + 64 * round)
      return NULL;
  }
  return ret;
}

START_TEST(threads_may_launch_together) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, launch_many, t);
  for (int i = 0; i < 4; i++) {
    void *result = NULL;
    pthread_join(t[i], &result);
    ck_assert_ptr_eq(result, t);
  }
}
END_TEST

static void release(void *user) { ++*(int *)user; }

START_TEST(module_releases_its_code) {
  int released = 0;
  struct module *m = NULL;
  struct kernel_info info = {.name = "add", .num_warps = 1};
  int registers = -1, local = -1;
  ck_assert_int_eq(module_from_cpu(device, add, &info, release, &released, &m), TILE_OK);
  ck_assert_int_eq(module_resources(m, &registers, &local), TILE_OK);
  ck_assert_int_eq(registers, 0);
  ck_assert_int_eq(local, 0);
  module_destroy(m);
  ck_assert_int_eq(released, 1);
  module_destroy(NULL);
}
END_TEST

Suite *suite_cpu_cta(void) {
  Suite *s = suite_create("cpu cta");
  TCase *t = tcase_create("launches");
  tcase_add_checked_fixture(t, open_cpu, close_cpu);
  tcase_set_timeout(t, 60);
  tcase_add_test(t, vector_add);
  tcase_add_test(t, every_program_runs_once);
  tcase_add_test(t, forked_child_launches);
  tcase_add_test(t, grids_beyond_the_limit);
  tcase_add_test(t, sums_by_shuffles_and_barriers);
  tcase_add_test(t, shuffle_gives_any_lane);
  tcase_add_test(t, divergence_is_reported);
  tcase_add_test(t, collective_without_fibers_is_an_error);
  tcase_add_test(t, threads_may_launch_together);
  tcase_add_test(t, module_releases_its_code);
  suite_add_tcase(s, t);
  return s;
}
