// SPDX-License-Identifier: Apache-2.0
// Checks, assertions and device_print of the CPU device.
#include "runtime/device.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

static tile_device *device;

static void open_cpu(void) {
  setenv("TILE_CPU_THREADS", "3", 1);
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
}
static void close_cpu(void) { tile_device_close(device); }

static struct kernel_param params[] = {
    {.name = "x", .is_pointer = true, .dtype = DTYPE_F32, .divisible_by = 1},
    {.name = "n", .dtype = DTYPE_I32, .divisible_by = 1},
};
static struct kernel_info info = {
    .name = "fill", .target = "cpu", .num_warps = 1, .param_count = 2, .params = params};

static tile_status launch(cpu_kernel_fn fn, unsigned programs, void *const *values, bool check) {
  struct module *m = NULL;
  ck_assert_int_eq(module_from_cpu(device, fn, &info, NULL, NULL, &m), TILE_OK);
  tile_status s =
      module_launch(m, NULL, (tile_grid){programs, 1, 1}, values, check ? LAUNCH_CHECKED : 0);
  module_destroy(m);
  return s;
}

static const struct cpu_location location = {"fill.tile", 12, 7};

// Stores 1 to x[32 * program + thread] without a mask.
static void fill(struct cpu_thread *t, void *const *args) {
  float *x = *(float *const *)args[0] + t->program_id[0] * 32 + t->thread_id;
  if (tile_cpu_check(t, &location, 0, x, 4, CPU_STORE))
    *x = 1.0f;
}

START_TEST(accesses_outside_are_found_and_skipped) {
  float *x = NULL;
  int n = 100;
  void *values[] = {&x, &n};
  ck_assert_int_eq(tile_malloc(device, 400, (void **)&x), TILE_OK);
  ck_assert_int_eq(launch(fill, 4, values, true), TILE_CHECK_FAILED);
  const char *m = tile_error_message();
  ck_assert_ptr_nonnull(
      strstr(m, "fill.tile:12:7: out-of-bounds store to `x`: element 100 of 100"));
  ck_assert_ptr_nonnull(strstr(m, "program (3, 0, 0), thread 4"));
  ck_assert_ptr_nonnull(strstr(m, "28 violations in all"));
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_uint_eq(device_violations(device, &v, &total), 16);
  ck_assert_uint_eq(total, 28);
  for (int i = 0; i < 16; i++) {
    ck_assert_int_eq(v[i].element, 100 + i); // in order, whichever thread was first
    ck_assert_uint_eq(v[i].elements, 100);
    ck_assert_int_eq(v[i].param, 0);
    ck_assert_int_eq(v[i].access, CPU_STORE);
    ck_assert_str_eq(v[i].location.file, "fill.tile");
  }
  for (int i = 0; i < 100; i++)
    ck_assert(x[i] == 1.0f);
  // A launch without violations clears them.
  ck_assert_int_eq(launch(fill, 3, values, true), TILE_OK);
  ck_assert_uint_eq(device_violations(device, &v, &total), 0);
  ck_assert_uint_eq(total, 0);
  tile_free(device, x);
}
END_TEST

// x[-1] of program 0, and an access that begins inside and ends outside in program 1.
static void edges(struct cpu_thread *t, void *const *args) {
  uintptr_t x = *(const uintptr_t *)args[0];
  if (t->thread_id != 0)
    return;
  if (t->program_id[0] == 0)
    tile_cpu_check(t, &location, 0, (const void *)(x - 4), 4, CPU_LOAD);
  else
    tile_cpu_check(t, &location, 0, (const void *)(x + 398), 4, CPU_ATOMIC);
}

START_TEST(edges_of_a_buffer) {
  float *x = NULL;
  int n = 100;
  void *values[] = {&x, &n};
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_int_eq(tile_malloc(device, 400, (void **)&x), TILE_OK);
  ck_assert_int_eq(launch(edges, 2, values, true), TILE_CHECK_FAILED);
  ck_assert_uint_eq(device_violations(device, &v, &total), 2);
  ck_assert_int_eq(v[0].element, -1);
  ck_assert_int_eq(v[0].access, CPU_LOAD);
  ck_assert_int_eq(v[1].element, 99);
  ck_assert_int_eq(v[1].access, CPU_ATOMIC);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "load from `x`: element -1 of 100"));
  // A pointer into the middle: accesses before it in the buffer are allowed.
  float *middle = x + 50;
  values[0] = &middle;
  ck_assert_int_eq(launch(edges, 1, values, true), TILE_OK);
  ck_assert_int_eq(launch(fill, 2, values, true), TILE_CHECK_FAILED);
  device_violations(device, &v, &total);
  ck_assert_int_eq(v[0].element, 50);
  ck_assert_uint_eq(v[0].elements, 50);
  // NULL: every access is a violation. Without checks nothing is compared.
  float *null = NULL;
  values[0] = &null;
  ck_assert_int_eq(launch(edges, 1, values, true), TILE_CHECK_FAILED);
  values[0] = &x;
  ck_assert_int_eq(launch(edges, 2, values, false), TILE_OK);
  tile_free(device, x);
}
END_TEST

// Each element by two threads, as if a tile is smaller than the CTA.
static void fill_twice(struct cpu_thread *t, void *const *args) {
  float *x = *(float *const *)args[0] + t->program_id[0] * 16 + t->thread_id % 16;
  if (tile_cpu_check(t, &location, 0, x, 4, CPU_STORE))
    *x = 1.0f;
}

START_TEST(replicated_elements_are_kept_once) {
  float *x = NULL;
  int n = 100;
  void *values[] = {&x, &n};
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_int_eq(tile_malloc(device, 400, (void **)&x), TILE_OK);
  ck_assert_int_eq(launch(fill_twice, 7, values, true), TILE_CHECK_FAILED);
  ck_assert_uint_eq(device_violations(device, &v, &total), 12);
  ck_assert_uint_eq(total, 24);
  for (int i = 0; i < 12; i++)
    ck_assert_int_eq(v[i].element, 100 + i);
  tile_free(device, x);
}
END_TEST

START_TEST(memory_from_elsewhere_is_not_judged) {
  float own[32], *x = own;
  int n = 32;
  void *values[] = {&x, &n};
  ck_assert_int_eq(launch(fill, 1, values, true), TILE_OK);
  ck_assert(own[31] == 1.0f);
}
END_TEST

static void unknown(struct cpu_thread *t, void *const *args) {
  char *address = *(char *const *)args[0] + *(const int *)args[1];
  if (t->thread_id == 0)
    tile_cpu_check(t, &location, -1, address, 4, CPU_LOAD);
}

START_TEST(unknown_parameter_may_be_any_buffer) {
  char *x = NULL, *y = NULL;
  tile_malloc(device, 400, (void **)&x);
  tile_malloc(device, 400, (void **)&y);
  int to_y = (int)(y - x), inside = 396, across = 397;
  void *values[] = {&x, &to_y};
  ck_assert_int_eq(launch(unknown, 1, values, true), TILE_OK);
  values[1] = &inside;
  ck_assert_int_eq(launch(unknown, 1, values, true), TILE_OK);
  values[1] = &across;
  ck_assert_int_eq(launch(unknown, 1, values, true), TILE_CHECK_FAILED);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "outside every buffer"));
  tile_free(device, x);
  tile_free(device, y);
}
END_TEST

static void assert_positive(struct cpu_thread *t, void *const *args) {
  int *reached = *(int *const *)args[0];
  int n = *(const int *)args[1];
  if (t->thread_id == 3 && n <= 0)
    tile_cpu_assert_fail(t, &location, "n must be positive");
  reached[t->thread_id] = 1;
}

static void assert_in_turn_or_fibers(bool fibers) {
  int *reached = NULL, n = 0;
  void *values[] = {&reached, &n};
  tile_malloc(device, 32 * sizeof(int), (void **)&reached);
  memset(reached, 0, 32 * sizeof(int));
  info.uses_collectives = fibers;
  ck_assert_int_eq(launch(assert_positive, 1, values, false), TILE_CHECK_FAILED);
  ck_assert_ptr_nonnull(
      strstr(tile_error_message(), "fill.tile:12:7: assertion failed: n must be positive"));
  ck_assert_int_eq(reached[2], 1);
  ck_assert_int_eq(reached[3], 0); // the thread stopped
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_uint_eq(device_violations(device, &v, &total), 1);
  ck_assert(v[0].kind == CPU_ASSERTION);
  ck_assert_str_eq(v[0].message, "n must be positive");
  n = 1;
  ck_assert_int_eq(launch(assert_positive, 1, values, false), TILE_OK);
  ck_assert_int_eq(reached[31], 1);
  info.uses_collectives = false;
  tile_free(device, reached);
}

START_TEST(assertions) {
  assert_in_turn_or_fibers(false);
  assert_in_turn_or_fibers(true);
}
END_TEST

// ---- shared memory ----

static const struct cpu_location here = {"sum.tile", 3, 5}, there = {"sum.tile", 4, 9};

static struct kernel_info cta_info = {
    .name = "cta", .num_warps = 2, .shared_bytes = 256, .uses_collectives = true};

static void write_word(struct cpu_thread *t, const struct cpu_location *at, int i, int v) {
  int *p = (int *)t->shared + i;
  tile_cpu_shared_check(t, at, p, 4, CPU_STORE);
  *p = v;
}

static int read_word(struct cpu_thread *t, const struct cpu_location *at, int i) {
  const int *p = (int *)t->shared + i;
  tile_cpu_shared_check(t, at, p, 4, CPU_LOAD);
  return *p;
}

static tile_status launch_cta(cpu_kernel_fn fn, unsigned programs, bool check) {
  struct module *m = NULL;
  ck_assert_int_eq(module_from_cpu(device, fn, &cta_info, NULL, NULL, &m), TILE_OK);
  tile_status s =
      module_launch(m, NULL, (tile_grid){programs, 1, 1}, NULL, check ? LAUNCH_CHECKED : 0);
  module_destroy(m);
  return s;
}

// The only violation of a launch of three identical programs.
static struct cpu_violation only_violation(cpu_kernel_fn fn) {
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_int_eq(launch_cta(fn, 3, true), TILE_CHECK_FAILED);
  ck_assert_uint_eq(device_violations(device, &v, &total), 1);
  ck_assert_uint_ge(total, 3);
  ck_assert_int_eq(v->program_id[0], 0);
  ck_assert_int_eq(launch_cta(fn, 3, false), TILE_OK);
  return *v;
}

// Thread i passes its number to thread i + 1, without a race.
static void rotate(struct cpu_thread *t, void *const *args) {
  (void)args;
  int own = t->thread_id, next = (own + 1) % 64;
  for (int round = 0; round < 3; round++) {
    write_word(t, &here, own, own);
    tile_cpu_barrier(t, &here);
    read_word(t, &there, next);
    tile_cpu_barrier(t, &there);
  }
}

START_TEST(barriers_keep_accesses_apart) {
  ck_assert_int_eq(launch_cta(rotate, 50, true), TILE_OK);
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_uint_eq(device_violations(device, &v, &total), 0);
}
END_TEST

START_TEST(without_barriers_all_is_a_race) {
  setenv("TILE_CPU_NO_BARRIERS", "1", 1);
  ck_assert_int_eq(launch_cta(rotate, 1, true), TILE_CHECK_FAILED);
  unsetenv("TILE_CPU_NO_BARRIERS");
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_uint_eq(device_violations(device, &v, &total), 2);
  ck_assert_int_eq(v[0].kind, CPU_SHARED_RACE);
}
END_TEST

static void read_too_early(struct cpu_thread *t, void *const *args) {
  (void)args;
  write_word(t, &here, t->thread_id, 1);
  tile_cpu_shuffle(t, 0, 0, NULL); // orders no memory
  if (t->thread_id == 9)
    read_word(t, &there, 8);
}

START_TEST(read_after_write) {
  struct cpu_violation v = only_violation(read_too_early);
  ck_assert_int_eq(v.kind, CPU_SHARED_RACE);
  ck_assert_int_eq(v.access, CPU_LOAD);
  ck_assert_int_eq(v.thread_id, 9);
  ck_assert_int_eq(v.element, 32);
  ck_assert_uint_eq(v.location.line, 4);
  ck_assert_int_eq(v.other_access, CPU_STORE);
  ck_assert_int_eq(v.other_thread, 8);
  ck_assert_uint_eq(v.other_location.line, 3);
  ck_assert_str_eq(v.other_location.file, "sum.tile");
  launch_cta(read_too_early, 1, true);
  const char *m = tile_error_message();
  ck_assert_msg(strstr(m, "sum.tile:4:9: race in shared memory: load from byte 32, and "
                          "sum.tile:3:5 store to it by thread 8 (kernel `cta`, program (0, 0, 0), "
                          "thread 9)"),
                "%s", m);
}
END_TEST

static void write_too_early(struct cpu_thread *t, void *const *args) {
  (void)args;
  write_word(t, &here, t->thread_id, 1);
  tile_cpu_barrier(t, &here);
  if (t->thread_id < 4)
    read_word(t, &here, 20); // threads 0 to 3; then thread 3 may not write
  if (t->thread_id == 3)
    write_word(t, &there, 20, 2);
}

START_TEST(write_after_reads) {
  struct cpu_violation v = only_violation(write_too_early);
  ck_assert_int_eq(v.kind, CPU_SHARED_RACE);
  ck_assert_int_eq(v.access, CPU_STORE);
  ck_assert_int_eq(v.thread_id, 3);
  ck_assert_int_eq(v.element, 80);
  ck_assert_int_eq(v.other_access, CPU_LOAD);
  ck_assert_int_eq(v.other_thread, 0);
}
END_TEST

// Its own word again: read, written and read by one thread alone.
static void keep_to_oneself(struct cpu_thread *t, void *const *args) {
  (void)args;
  write_word(t, &here, t->thread_id, 1);
  read_word(t, &here, t->thread_id);
  write_word(t, &there, t->thread_id, 2);
}

static void write_the_same(struct cpu_thread *t, void *const *args) {
  (void)args;
  write_word(t, &here, t->thread_id % 8, t->thread_id % 8);
}

static void write_different(struct cpu_thread *t, void *const *args) {
  (void)args;
  write_word(t, &here, 0, t->thread_id == 40);
}

START_TEST(write_after_write) {
  ck_assert_int_eq(launch_cta(keep_to_oneself, 3, true), TILE_OK);
  ck_assert_int_eq(launch_cta(write_the_same, 3, true), TILE_OK);
  struct cpu_violation v = only_violation(write_different);
  ck_assert_int_eq(v.kind, CPU_SHARED_RACE);
  ck_assert_int_eq(v.thread_id, 40);
  ck_assert_int_eq(v.other_thread, 39);
  ck_assert_int_eq(v.other_access, CPU_STORE);
}
END_TEST

static void count_atomically(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id == 0)
    write_word(t, &here, 0, 0);
  tile_cpu_barrier(t, &here);
  tile_cpu_shared_check(t, &there, t->shared, 4, CPU_ATOMIC);
  ++*(int *)t->shared;
}

static void count_and_look(struct cpu_thread *t, void *const *args) {
  count_atomically(t, args);
  if (t->thread_id == 63)
    read_word(t, &here, 0);
}

START_TEST(atomic_operations_do_not_race) {
  ck_assert_int_eq(launch_cta(count_atomically, 3, true), TILE_OK);
  struct cpu_violation v = only_violation(count_and_look);
  ck_assert_int_eq(v.kind, CPU_SHARED_RACE);
  ck_assert_int_eq(v.access, CPU_LOAD);
  ck_assert_int_eq(v.other_access, CPU_ATOMIC);
  ck_assert_int_eq(v.other_thread, 0);
}
END_TEST

// Program 0 writes, those after it on the same worker do not.
static void read_foreign(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->program_id[0] == 0)
    write_word(t, &here, t->thread_id, 1);
  tile_cpu_barrier(t, &here);
  read_word(t, &there, t->thread_id);
}

START_TEST(unwritten_bytes) {
  ck_assert_int_eq(launch_cta(read_foreign, 1, true), TILE_OK);
  ck_assert_int_eq(launch_cta(read_foreign, 100, true), TILE_CHECK_FAILED);
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_uint_eq(device_violations(device, &v, &total), 1);
  ck_assert_uint_eq(total, 99 * 64);
  ck_assert_int_eq(v->kind, CPU_SHARED_UNWRITTEN);
  ck_assert_int_eq(v->program_id[0], 1);
  ck_assert_int_eq(v->thread_id, 0);
  ck_assert_uint_eq(v->location.line, 4);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "shared memory that nothing wrote: byte 0"));
}
END_TEST

static void write_behind(struct cpu_thread *t, void *const *args) {
  (void)args;
  write_word(t, &here, t->thread_id + 1, 0); // thread 63 writes byte 256
}

static void read_before(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id == 33)
    read_word(t, &here, -1);
}

START_TEST(bytes_outside) {
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_int_eq(launch_cta(write_behind, 5, true), TILE_CHECK_FAILED);
  ck_assert_uint_eq(device_violations(device, &v, &total), 1);
  ck_assert_uint_eq(total, 5); // the others ran too
  ck_assert_int_eq(v->kind, CPU_SHARED_OUTSIDE);
  ck_assert_int_eq(v->thread_id, 63);
  ck_assert_int_eq(v->element, 256);
  ck_assert_uint_eq(v->elements, 256);
  ck_assert_int_eq(launch_cta(read_before, 5, true), TILE_CHECK_FAILED);
  device_violations(device, &v, &total);
  ck_assert_int_eq(v->element, -4);
  cta_info.shared_bytes = 0;
  ck_assert_int_eq(launch_cta(write_behind, 1, true), TILE_CHECK_FAILED);
  cta_info.shared_bytes = 256;
  ck_assert_ptr_nonnull(
      strstr(tile_error_message(), "store to shared memory outside of its 0 bytes: byte 4"));
}
END_TEST

static void barrier_in_branch(struct cpu_thread *t, void *const *args) {
  (void)args;
  tile_cpu_barrier(t, t->thread_id < 50 ? &here : &there);
}

static void shuffle_in_branch(struct cpu_thread *t, void *const *args) {
  (void)args;
  tile_cpu_shuffle(t, 1, 0, t->thread_id % 32 != 5 ? &here : &there);
}

START_TEST(divergence) {
  struct cpu_violation v = only_violation(barrier_in_branch);
  ck_assert_int_eq(v.kind, CPU_DIVERGENCE);
  ck_assert_int_eq(v.thread_id, 0);
  ck_assert_int_eq(v.other_thread, 50);
  ck_assert_uint_eq(v.location.line, 3);
  ck_assert_uint_eq(v.other_location.line, 4);
  ck_assert_str_eq(v.message, "thread 0 waits at a barrier that thread 50 does not reach (it waits "
                              "elsewhere)");
  v = only_violation(shuffle_in_branch);
  ck_assert_int_eq(v.kind, CPU_DIVERGENCE);
  ck_assert_int_eq(v.other_thread, 5);
  ck_assert_ptr_nonnull(strstr(v.message, "at a shuffle"));
}
END_TEST

static void print_some(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id != 0)
    return;
  tile_cpu_print_i64(t, "n", -1, -5, 0);
  tile_cpu_print_i64(t, "mask", 3, 255, CPU_PRINT_HEX);
  tile_cpu_print_i64(t, "u", 3, -1, CPU_PRINT_UNSIGNED);
  tile_cpu_print_f64(t, "x", 7, 1.5);
}

static void collect(void *user, const char *text) { strcat(user, text); }

START_TEST(prints_go_to_the_hook) {
  char text[512] = "";
  ck_assert_int_eq(launch(print_some, 1, NULL, false), TILE_OK); // no callback
  device_set_print(device, collect, text);
  ck_assert_int_eq(launch(print_some, 1, NULL, false), TILE_OK);
  ck_assert_str_eq(text, "pid (0, 0, 0) idx () n: -5\n"
                         "pid (0, 0, 0) idx (3) mask: 0xff\n"
                         "pid (0, 0, 0) idx (3) u: 18446744073709551615\n"
                         "pid (0, 0, 0) idx (7) x: 1.5\n");
}
END_TEST

Suite *suite_cpu_check(void) {
  Suite *s = suite_create("cpu check");
  TCase *t = tcase_create("violations");
  tcase_add_checked_fixture(t, open_cpu, close_cpu);
  tcase_add_test(t, accesses_outside_are_found_and_skipped);
  tcase_add_test(t, edges_of_a_buffer);
  tcase_add_test(t, replicated_elements_are_kept_once);
  tcase_add_test(t, memory_from_elsewhere_is_not_judged);
  tcase_add_test(t, unknown_parameter_may_be_any_buffer);
  tcase_add_test(t, assertions);
  tcase_add_test(t, prints_go_to_the_hook);
  suite_add_tcase(s, t);
  t = tcase_create("shared memory");
  tcase_add_checked_fixture(t, open_cpu, close_cpu);
  tcase_add_test(t, barriers_keep_accesses_apart);
  tcase_add_test(t, without_barriers_all_is_a_race);
  tcase_add_test(t, read_after_write);
  tcase_add_test(t, write_after_reads);
  tcase_add_test(t, write_after_write);
  tcase_add_test(t, atomic_operations_do_not_race);
  tcase_add_test(t, unwritten_bytes);
  tcase_add_test(t, bytes_outside);
  tcase_add_test(t, divergence);
  suite_add_tcase(s, t);
  return s;
}
