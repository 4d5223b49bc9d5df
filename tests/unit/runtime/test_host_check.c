// SPDX-License-Identifier: Apache-2.0
// The checker, assertions and device_print of the host device.
#include "runtime/device.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

static tile_device *device;

static void open_host(void) {
  setenv("TILE_HOST_THREADS", "3", 1);
  ck_assert_int_eq(tile_device_open("host", &device), TILE_OK);
}
static void close_host(void) { tile_device_close(device); }

static struct kernel_param params[] = {
    {.name = "x", .is_pointer = true, .dtype = DTYPE_F32, .divisible_by = 1},
    {.name = "n", .dtype = DTYPE_I32, .divisible_by = 1},
};
static struct kernel_info info = {
    .name = "fill", .target = "host", .num_warps = 1, .param_count = 2, .params = params};

static tile_status launch(host_kernel_fn fn, unsigned programs, void *const *values, bool check) {
  struct module *m = NULL;
  ck_assert_int_eq(module_from_host(device, fn, &info, NULL, NULL, &m), TILE_OK);
  tile_status s = module_launch(m, NULL, (tile_grid){programs, 1, 1}, values, check);
  module_destroy(m);
  return s;
}

static const struct host_place place = {"fill.tile", 12, 7};

// Stores 1 to x[32 * program + thread] without a mask.
static void fill(struct host_thread *t, void *const *args) {
  float *x = *(float *const *)args[0] + t->program_id[0] * 32 + t->thread_id;
  if (tile_host_check(t, &place, 0, x, 4, HOST_STORE))
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
  ck_assert_ptr_nonnull(strstr(m, "28 findings in all"));
  const struct host_violation *v;
  uint64_t total;
  ck_assert_uint_eq(host_device_violations(device, &v, &total), 16);
  ck_assert_uint_eq(total, 28);
  for (int i = 0; i < 16; i++) {
    ck_assert_int_eq(v[i].element, 100 + i); // in order, whatever thread found it first
    ck_assert_uint_eq(v[i].elements, 100);
    ck_assert_int_eq(v[i].param, 0);
    ck_assert_int_eq(v[i].access, HOST_STORE);
    ck_assert_str_eq(v[i].place.file, "fill.tile");
  }
  for (int i = 0; i < 100; i++)
    ck_assert(x[i] == 1.0f);
  // A clean launch clears the findings.
  ck_assert_int_eq(launch(fill, 3, values, true), TILE_OK);
  ck_assert_uint_eq(host_device_violations(device, &v, &total), 0);
  ck_assert_uint_eq(total, 0);
  tile_free(device, x);
}
END_TEST

// x[-1] of program 0, and an access that begins inside and ends outside in program 1.
static void edges(struct host_thread *t, void *const *args) {
  uintptr_t x = *(const uintptr_t *)args[0];
  if (t->thread_id != 0)
    return;
  if (t->program_id[0] == 0)
    tile_host_check(t, &place, 0, (const void *)(x - 4), 4, HOST_LOAD);
  else
    tile_host_check(t, &place, 0, (const void *)(x + 398), 4, HOST_ATOMIC);
}

START_TEST(edges_of_a_buffer) {
  float *x = NULL;
  int n = 100;
  void *values[] = {&x, &n};
  const struct host_violation *v;
  uint64_t total;
  ck_assert_int_eq(tile_malloc(device, 400, (void **)&x), TILE_OK);
  ck_assert_int_eq(launch(edges, 2, values, true), TILE_CHECK_FAILED);
  ck_assert_uint_eq(host_device_violations(device, &v, &total), 2);
  ck_assert_int_eq(v[0].element, -1);
  ck_assert_int_eq(v[0].access, HOST_LOAD);
  ck_assert_int_eq(v[1].element, 99);
  ck_assert_int_eq(v[1].access, HOST_ATOMIC);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "load from `x`: element -1 of 100"));
  // A pointer into the middle: what is before it in the buffer is allowed.
  float *middle = x + 50;
  values[0] = &middle;
  ck_assert_int_eq(launch(edges, 1, values, true), TILE_OK);
  ck_assert_int_eq(launch(fill, 2, values, true), TILE_CHECK_FAILED);
  host_device_violations(device, &v, &total);
  ck_assert_int_eq(v[0].element, 50);
  ck_assert_uint_eq(v[0].elements, 50);
  // NULL: nothing is right. Without checks nothing is compared.
  float *null = NULL;
  values[0] = &null;
  ck_assert_int_eq(launch(edges, 1, values, true), TILE_CHECK_FAILED);
  values[0] = &x;
  ck_assert_int_eq(launch(edges, 2, values, false), TILE_OK);
  tile_free(device, x);
}
END_TEST

// Each element by two threads, as where a tile is smaller than the CTA.
static void fill_twice(struct host_thread *t, void *const *args) {
  float *x = *(float *const *)args[0] + t->program_id[0] * 16 + t->thread_id % 16;
  if (tile_host_check(t, &place, 0, x, 4, HOST_STORE))
    *x = 1.0f;
}

START_TEST(replicated_elements_are_kept_once) {
  float *x = NULL;
  int n = 100;
  void *values[] = {&x, &n};
  const struct host_violation *v;
  uint64_t total;
  ck_assert_int_eq(tile_malloc(device, 400, (void **)&x), TILE_OK);
  ck_assert_int_eq(launch(fill_twice, 7, values, true), TILE_CHECK_FAILED);
  ck_assert_uint_eq(host_device_violations(device, &v, &total), 12);
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

static void unknown(struct host_thread *t, void *const *args) {
  char *address = *(char *const *)args[0] + *(const int *)args[1];
  if (t->thread_id == 0)
    tile_host_check(t, &place, -1, address, 4, HOST_LOAD);
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

static void assert_positive(struct host_thread *t, void *const *args) {
  int *reached = *(int *const *)args[0];
  int n = *(const int *)args[1];
  if (t->thread_id == 3 && n <= 0)
    tile_host_assert_fail(t, &place, "n must be positive");
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
  ck_assert_int_eq(reached[3], 0); // the thread went no further
  const struct host_violation *v;
  uint64_t total;
  ck_assert_uint_eq(host_device_violations(device, &v, &total), 1);
  ck_assert(v[0].is_assert);
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

static void print_some(struct host_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id != 0)
    return;
  tile_host_print_i64(t, "n", -1, -5, 0);
  tile_host_print_i64(t, "mask", 3, 255, HOST_PRINT_HEX);
  tile_host_print_i64(t, "u", 3, -1, HOST_PRINT_UNSIGNED);
  tile_host_print_f64(t, "x", 7, 1.5);
}

static void collect(void *user, const char *text) { strcat(user, text); }

START_TEST(prints_go_to_the_hook) {
  char text[512] = "";
  ck_assert_int_eq(launch(print_some, 1, NULL, false), TILE_OK); // nobody listens
  host_device_set_print(device, collect, text);
  ck_assert_int_eq(launch(print_some, 1, NULL, false), TILE_OK);
  ck_assert_str_eq(text, "pid (0, 0, 0) idx () n: -5\n"
                         "pid (0, 0, 0) idx (3) mask: 0xff\n"
                         "pid (0, 0, 0) idx (3) u: 18446744073709551615\n"
                         "pid (0, 0, 0) idx (7) x: 1.5\n");
}
END_TEST

Suite *suite_host_check(void) {
  Suite *s = suite_create("host check");
  TCase *t = tcase_create("findings");
  tcase_add_checked_fixture(t, open_host, close_host);
  tcase_add_test(t, accesses_outside_are_found_and_skipped);
  tcase_add_test(t, edges_of_a_buffer);
  tcase_add_test(t, replicated_elements_are_kept_once);
  tcase_add_test(t, memory_from_elsewhere_is_not_judged);
  tcase_add_test(t, unknown_parameter_may_be_any_buffer);
  tcase_add_test(t, assertions);
  tcase_add_test(t, prints_go_to_the_hook);
  suite_add_tcase(s, t);
  return s;
}
