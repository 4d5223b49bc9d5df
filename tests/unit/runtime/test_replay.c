// SPDX-License-Identifier: Apache-2.0
// Recording and replaying on the CPU device: recorded work does not run, and a replay uses the
// recorded arguments.
#include "runtime/runtime_internal.h"
#include "suites.h"

#include <string.h>

static tile_device *device;
static tile_stream *stream;

static void open_cpu(void) {
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(tile_stream_create(device, &stream), TILE_OK);
}
static void close_cpu(void) {
  tile_stream_destroy(stream);
  tile_device_close(device);
}

// x[program] += n
static void add(struct cpu_thread *t, void *const *args) {
  int32_t *x;
  memcpy(&x, args[0], sizeof x);
  if (t->thread_id == 0)
    x[t->program_id[0]] += *(const int32_t *)args[1];
}

static struct kernel_param params[] = {{.name = "x", .is_pointer = true, .dtype = DTYPE_I32},
                                       {.name = "n", .dtype = DTYPE_I32}};
static const struct kernel_info info = {
    .name = "add", .target = "cpu", .num_warps = 1, .param_count = 2, .params = params};

enum { MANY = 1000 };

// x[program] += the sum of MANY arguments
static void add_many(struct cpu_thread *t, void *const *args) {
  int32_t *x;
  memcpy(&x, args[0], sizeof x);
  for (int i = 1; t->thread_id == 0 && i <= MANY; i++)
    x[t->program_id[0]] += *(const int32_t *)args[i];
}

START_TEST(many_arguments) {
  static struct kernel_param many[MANY + 1];
  static int32_t numbers[MANY];
  static void *values[MANY + 1];
  const struct kernel_info all = {
      .name = "add", .target = "cpu", .num_warps = 1, .param_count = MANY + 1, .params = many};
  struct module *m = NULL;
  tile_replay *r = NULL;
  int32_t x = 0;
  void *p = &x;
  many[0] = (struct kernel_param){.name = "x", .is_pointer = true, .dtype = DTYPE_I32};
  values[0] = &p;
  for (int i = 0; i < MANY; i++) {
    many[i + 1] = (struct kernel_param){.name = "n", .dtype = DTYPE_I32};
    values[i + 1] = &numbers[i];
    numbers[i] = i;
  }
  ck_assert_int_eq(module_from_cpu(device, add_many, &all, NULL, NULL, &m), TILE_OK);
  ck_assert_int_eq(tile_replay_begin(device, stream), TILE_OK);
  ck_assert_int_eq(module_launch(m, stream, (tile_grid){1, 1, 1}, values, 0), TILE_OK);
  ck_assert_int_eq(tile_replay_end(device, stream, &r), TILE_OK);
  ck_assert_int_eq(tile_replay_run(r, NULL), TILE_OK);
  ck_assert_int_eq(x, MANY * (MANY - 1) / 2);
  tile_replay_destroy(r);
  module_destroy(m);
}
END_TEST

START_TEST(runs_when_it_is_replayed) {
  struct module *m = NULL;
  tile_replay *r = NULL;
  int32_t x[4] = {9, 9, 9, 9}, y[4] = {0}, n = 5;
  void *p = x, *values[] = {&p, &n};
  ck_assert_int_eq(module_from_cpu(device, add, &info, NULL, NULL, &m), TILE_OK);
  ck_assert_int_eq(tile_replay_begin(device, stream), TILE_OK);
  ck_assert_int_eq(tile_memset(device, stream, x, 0, sizeof x), TILE_OK);
  ck_assert_int_eq(module_launch(m, stream, (tile_grid){4, 1, 1}, values, 0), TILE_OK);
  n = 2; // the recorded value is used
  ck_assert_int_eq(module_launch(m, stream, (tile_grid){2, 1, 1}, values, 0), TILE_OK);
  ck_assert_int_eq(tile_copy_on_device(device, stream, y, x, sizeof x), TILE_OK);
  ck_assert_int_eq(tile_replay_end(device, stream, &r), TILE_OK);
  n = 1000;
  ck_assert_int_eq(x[0], 9);
  for (int i = 0; i < 2; i++) {
    memset(y, 0, sizeof y);
    ck_assert_int_eq(tile_replay_run(r, NULL), TILE_OK);
    ck_assert(y[0] == 7 && y[1] == 7 && y[2] == 5 && y[3] == 5);
  }
  // The stream is as it was before.
  ck_assert_int_eq(module_launch(m, stream, (tile_grid){1, 1, 1}, values, 0), TILE_OK);
  ck_assert_int_eq(x[0], 1007);
  tile_replay_destroy(r);
  module_destroy(m);
}
END_TEST

START_TEST(what_cannot_be_recorded_is_refused) {
  tile_replay *r = NULL;
  char bytes[4];
  ck_assert_int_eq(tile_replay_begin(device, NULL), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_replay_begin(NULL, stream), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_replay_end(device, stream, &r), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_replay_begin(device, stream), TILE_OK);
  ck_assert_int_eq(tile_replay_begin(device, stream), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_copy_to_host(device, stream, bytes, bytes, 4), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_stream_synchronize(device, stream), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_replay_end(device, stream, NULL), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_replay_end(device, stream, &r), TILE_OK);
  ck_assert_int_eq(tile_replay_run(r, stream), TILE_OK); // of nothing
  tile_replay_destroy(r);
  tile_replay_destroy(NULL);
  ck_assert_int_eq(tile_replay_run(NULL, stream), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_replay_begin(device, stream), TILE_OK); // left to tile_stream_destroy
}
END_TEST

Suite *suite_replay(void) {
  Suite *s = suite_create("replay");
  TCase *t = tcase_create("cpu");
  tcase_add_checked_fixture(t, open_cpu, close_cpu);
  tcase_add_test(t, runs_when_it_is_replayed);
  tcase_add_test(t, many_arguments);
  tcase_add_test(t, what_cannot_be_recorded_is_refused);
  suite_add_tcase(s, t);
  return s;
}
