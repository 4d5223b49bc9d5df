// SPDX-License-Identifier: Apache-2.0
// Traces of launches, copies and replays: on the CPU, by many threads, and of a GPU (the fake
// driver), whose kernels are timed by events.
#include "../trace_file.h"
#include "fake_cuda.h"
#include "suites.h"

#include <tile/trace.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];
static tile_device *device;
static struct fake_cuda *fake;

static void name_file(void) {
  unsetenv("TILE_TRACE");
  snprintf(path, sizeof path, "test-trace-device-%ld.json", (long)getpid());
}

static void open_cpu(void) {
  name_file();
  setenv("TILE_CPU_THREADS", "2", 1);
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
}

static void open_fake(void) {
  name_file();
  setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1);
  void *lib = dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull(lib);
  fake = dlsym(lib, FAKE_CUDA_STATE);
  ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK);
}

static void finish(void) {
  tile_device_close(device);
  unlink(path);
}

static struct kernel_param params[] = {{.name = "x", .is_pointer = true, .dtype = DTYPE_I32},
                                       {.name = "n", .dtype = DTYPE_I32}};
static const struct kernel_info cpu_info = {
    .name = "add", .target = "cpu", .num_warps = 1, .param_count = 2, .params = params};
static struct kernel_info gpu_info = {
    .name = "copy", .target = "sm_90a", .num_warps = 8, .param_count = 2, .params = params};

static void add(struct cpu_thread *t, void *const *args) {
  int32_t *x;
  memcpy(&x, args[0], sizeof x);
  if (t->thread_id == 0)
    x[t->program_id[0]] += *(const int32_t *)args[1];
}

// ---- the CPU ----

enum { THREADS = 4, LAUNCHES = 60 };

static void *launch_often(void *user) {
  struct module *m = user;
  int32_t x[8] = {0}, n = 3;
  void *p = x, *values[] = {&p, &n};
  for (int i = 0; i < LAUNCHES; i++)
    if (module_launch(m, NULL, (tile_grid){8, 1, 1}, values, 0) != TILE_OK)
      return m;
  return x[7] == 3 * LAUNCHES ? NULL : m;
}

START_TEST(threads_launch_at_once) {
  pthread_t threads[THREADS];
  struct module *m = NULL;
  ck_assert_int_eq(module_from_cpu(device, add, &cpu_info, NULL, NULL, &m), TILE_OK);
  module_set_source(m, "add.tile", 5);
  ck_assert_int_eq(tile_trace_begin(path), TILE_OK);
  for (int i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, launch_often, m), 0);
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    ck_assert_ptr_null(failed);
  }
  ck_assert_int_eq(tile_trace_end(), TILE_OK);
  module_destroy(m);
  struct trace_file f = trace_file_read(path);
  ck_assert_uint_eq(f.count, THREADS * LAUNCHES);
  ck_assert_uint_eq(trace_file_count(&f, "add", "kernel"), THREADS * LAUNCHES);
  const struct trace_event *e = &f.events[0];
  ck_assert(str_is(json_get(e->args, "file")->string, "add.tile"));
  ck_assert_int_eq(json_get(e->args, "line")->integer, 5);
  ck_assert_int_eq(json_get(e->args, "grid")->items[0]->integer, 8);
  trace_file_close(&f);
}
END_TEST

START_TEST(copies_and_replays) {
  struct module *m = NULL;
  tile_stream *stream;
  tile_replay *r = NULL;
  void *x, *values[2];
  int32_t n = 1, back[4];
  ck_assert_int_eq(tile_malloc(device, sizeof back, &x), TILE_OK);
  ck_assert_int_eq(tile_stream_create(device, &stream), TILE_OK);
  ck_assert_int_eq(module_from_cpu(device, add, &cpu_info, NULL, NULL, &m), TILE_OK);
  values[0] = &x, values[1] = &n;
  ck_assert_int_eq(tile_trace_begin(path), TILE_OK);
  ck_assert_int_eq(tile_memset(device, NULL, x, 0, sizeof back), TILE_OK);
  ck_assert_int_eq(tile_replay_begin(device, stream), TILE_OK);
  for (int i = 0; i < 3; i++) // recorded, not run
    ck_assert_int_eq(module_launch(m, stream, (tile_grid){4, 1, 1}, values, 0), TILE_OK);
  ck_assert_int_eq(tile_replay_end(device, stream, &r), TILE_OK);
  ck_assert_int_eq(tile_replay_run(r, NULL), TILE_OK);
  ck_assert_int_eq(tile_copy_to_host(device, NULL, back, x, sizeof back), TILE_OK);
  ck_assert_int_eq(tile_trace_end(), TILE_OK);
  ck_assert_int_eq(back[3], 3);
  struct trace_file f = trace_file_read(path);
  ck_assert_uint_eq(f.count, 6);
  ck_assert(str_is(f.events[0].name, "fill"));
  ck_assert_uint_eq(trace_file_count(&f, "add", "kernel"), 3);
  const struct trace_event *replay = trace_file_find(&f, "replay", "graph");
  const struct trace_event *kernel = trace_file_find(&f, "add", "kernel");
  ck_assert(replay->begin <= kernel->begin && kernel->length <= replay->length);
  const struct trace_event *copy = trace_file_find(&f, "copy to host", "copy");
  ck_assert_int_eq(json_get(copy->args, "bytes")->integer, sizeof back);
  trace_file_close(&f);
  tile_replay_destroy(r);
  module_destroy(m);
  tile_stream_destroy(stream);
  tile_free(device, x);
}
END_TEST

START_TEST(public_errors) {
  ck_assert_int_eq(tile_trace_end(), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_trace_begin(NULL), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_trace_begin("no-such-folder/t.json"), TILE_IO_ERROR);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "no-such-folder/t.json"));
  ck_assert_int_eq(tile_trace_begin(path), TILE_OK);
  ck_assert_int_eq(tile_trace_begin(path), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_trace_end(), TILE_OK);
}
END_TEST

// ---- a GPU ----

static struct module *load_gpu(void) {
  struct module *m = NULL;
  static const char code[] = "ms=2.5";
  ck_assert_int_eq(module_load(device, code, sizeof code - 1, &gpu_info, &m), TILE_OK);
  module_set_source(m, "copy.py", 12);
  return m;
}

START_TEST(kernels_are_timed_by_events) {
  struct module *m = load_gpu();
  int32_t n = 1;
  void *x = NULL, *values[] = {&x, &n};
  ck_assert_int_eq(tile_trace_begin(path), TILE_OK);
  for (int i = 0; i < 3; i++)
    ck_assert_int_eq(module_launch(m, NULL, (tile_grid){7, 1, 1}, values, 0), TILE_OK);
  ck_assert_int_eq(tile_trace_end(), TILE_OK);
  ck_assert_int_eq(fake->live_events, 0);
  struct trace_file f = trace_file_read(path);
  ck_assert_uint_eq(trace_file_count(&f, "copy", "launch"), 3);
  ck_assert_uint_eq(trace_file_count(&f, "copy", "kernel"), 3);
  const struct trace_event *launch = trace_file_find(&f, "copy", "launch");
  const struct trace_event *kernel = trace_file_find(&f, "copy", "kernel");
  ck_assert_int_ne(launch->process, kernel->process);
  ck_assert(kernel->length > 2499.9 && kernel->length < 2500.1); // as the driver says
  ck_assert(str_is(json_get(kernel->args, "file")->string, "copy.py"));
  ck_assert(str_is(json_get(kernel->args, "target")->string, "sm_90a"));
  trace_file_close(&f);
  // Without a trace no events are made.
  int made = fake->calls[CUDA_CALL_event_create];
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){7, 1, 1}, values, 0), TILE_OK);
  ck_assert_int_eq(fake->calls[CUDA_CALL_event_create], made);
  module_destroy(m);
}
END_TEST

// Many kernels, and a device that is closed before the trace ends.
START_TEST(closed_devices_keep_their_slices) {
  enum { MANY = 1500 };
  tile_device *second = NULL;
  struct module *m;
  int32_t n = 1;
  void *x = NULL, *values[] = {&x, &n};
  static const char code[] = "ms=0.5";
  ck_assert_int_eq(tile_device_open("cuda", &second), TILE_OK);
  ck_assert_int_eq(module_load(second, code, sizeof code - 1, &gpu_info, &m), TILE_OK);
  ck_assert_int_eq(tile_trace_begin(path), TILE_OK);
  for (int i = 0; i < MANY; i++)
    ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 1, 1}, values, 0), TILE_OK);
  module_destroy(m);
  tile_device_close(second);
  ck_assert_int_eq(fake->live_events, 0);
  ck_assert_int_eq(tile_trace_end(), TILE_OK);
  struct trace_file f = trace_file_read(path);
  ck_assert_uint_eq(trace_file_count(&f, "copy", "kernel"), MANY);
  trace_file_close(&f);
}
END_TEST

START_TEST(failing_events_lose_slices_only) {
  struct module *m = load_gpu();
  int32_t n = 1;
  void *x = NULL, *values[] = {&x, &n};
  static const int calls[] = {CUDA_CALL_event_create, CUDA_CALL_event_record,
                              CUDA_CALL_event_elapsed, CUDA_CALL_event_wait};
  for (size_t i = 0; i < COUNT_OF(calls); i++) {
    ck_assert_int_eq(tile_trace_begin(path), TILE_OK);
    fake->fail[calls[i]] = 999;
    ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 1, 1}, values, 0), TILE_OK);
    ck_assert_int_eq(tile_trace_end(), TILE_OK);
    fake->fail[calls[i]] = 0;
    struct trace_file f = trace_file_read(path);
    ck_assert_uint_eq(trace_file_count(&f, "copy", "launch"), 1);
    ck_assert_uint_eq(trace_file_count(&f, "copy", "kernel"), 0);
    trace_file_close(&f);
    ck_assert_int_eq(fake->live_events, 0);
  }
  module_destroy(m);
}
END_TEST

// Another library captures the stream: events would become part of its graph.
START_TEST(captured_streams_are_left_alone) {
  struct module *m = load_gpu();
  int32_t n = 1;
  void *x = NULL, *values[] = {&x, &n};
  ck_assert_int_eq(tile_trace_begin(path), TILE_OK);
  fake->is_captured = 1;
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 1, 1}, values, 0), TILE_OK);
  ck_assert_int_eq(fake->calls[CUDA_CALL_event_create], 0);
  fake->is_captured = 0;
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 1, 1}, values, 0), TILE_OK);
  ck_assert_int_eq(tile_trace_end(), TILE_OK);
  struct trace_file f = trace_file_read(path);
  ck_assert_uint_eq(trace_file_count(&f, "copy", "kernel"), 1);
  trace_file_close(&f);
  module_destroy(m);
}
END_TEST

START_TEST(recordings_are_timed_when_they_run) {
  struct module *m = load_gpu();
  tile_stream *stream;
  tile_replay *r = NULL;
  int32_t n = 1;
  void *x = NULL, *values[] = {&x, &n};
  ck_assert_int_eq(tile_stream_create(device, &stream), TILE_OK);
  ck_assert_int_eq(tile_trace_begin(path), TILE_OK);
  ck_assert_int_eq(tile_replay_begin(device, stream), TILE_OK);
  ck_assert_int_eq(module_launch(m, stream, (tile_grid){1, 1, 1}, values, 0), TILE_OK);
  ck_assert_int_eq(fake->calls[CUDA_CALL_event_record], 0);
  ck_assert_int_eq(tile_replay_end(device, stream, &r), TILE_OK);
  ck_assert_int_eq(tile_replay_run(r, stream), TILE_OK);
  ck_assert_int_eq(tile_trace_end(), TILE_OK);
  struct trace_file f = trace_file_read(path);
  ck_assert_uint_eq(trace_file_count(&f, "replay", "graph"), 2); // the call, and on the device
  ck_assert_uint_eq(trace_file_count(&f, "copy", "kernel"), 0);
  trace_file_close(&f);
  tile_replay_destroy(r);
  tile_stream_destroy(stream);
  module_destroy(m);
}
END_TEST

Suite *suite_trace_device(void) {
  Suite *s = suite_create("trace_device");
  TCase *cpu = tcase_create("cpu"), *gpu = tcase_create("gpu");
  tcase_add_checked_fixture(cpu, open_cpu, finish);
  tcase_add_test(cpu, threads_launch_at_once);
  tcase_add_test(cpu, copies_and_replays);
  tcase_add_test(cpu, public_errors);
  suite_add_tcase(s, cpu);
  tcase_add_checked_fixture(gpu, open_fake, finish);
  tcase_add_test(gpu, kernels_are_timed_by_events);
  tcase_add_test(gpu, closed_devices_keep_their_slices);
  tcase_add_test(gpu, failing_events_lose_slices_only);
  tcase_add_test(gpu, captured_streams_are_left_alone);
  tcase_add_test(gpu, recordings_are_timed_when_they_run);
  suite_add_tcase(s, gpu);
  return s;
}
