// SPDX-License-Identifier: Apache-2.0
// Traces: nesting, threads, what is left out, errors, the environment. Each test runs in its own
// process, so that the environment is read again.
#include "../trace_file.h"
#include "base/trace.h"
#include "suites.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64];

static void setup(void) {
  unsetenv("TILE_TRACE");
  unsetenv("TILE_NVTX");
  snprintf(path, sizeof path, "test-trace-%ld.json", (long)getpid());
}
static void teardown(void) { unlink(path); }

static void wait_a_while(void) {
  for (uint64_t until = trace_clock() + 20000; trace_clock() < until;)
    continue;
}

// A slice with two slices of the next depth in it.
static void nest(unsigned depth, const char *const *names) {
  struct trace_slice s = trace_begin(TRACE_PASS, names[0]);
  wait_a_while();
  for (int i = 0; depth > 1 && i < 2; i++)
    nest(depth - 1, names + 1);
  trace_end(&s, NULL);
}

static const char *const names[] = {"outer", "middle", "in\"ner\n"};

START_TEST(slices_nest) {
  ck_assert_int_eq(trace_start(path), 0);
  nest(3, names);
  struct trace_slice s = trace_begin(TRACE_KERNEL, "add");
  trace_end(&s,
            &(struct trace_detail){
                .file = "add.tile", .line = 7, .bytes = 64, .grid = {3, 2, 1}, .target = "cpu"});
  ck_assert_int_eq(trace_stop(), 0);
  struct trace_file f = trace_file_read(path);
  ck_assert_uint_eq(f.count, 8);
  ck_assert(str_is(f.events[0].name, "outer"));
  ck_assert_uint_eq(trace_file_count(&f, "middle", "pass"), 2);
  ck_assert_uint_eq(trace_file_count(&f, "in\"ner\n", NULL), 4);
  ck_assert(f.events[0].length >= 7 * 20.0);
  const struct json *args = trace_file_find(&f, "add", "kernel")->args;
  ck_assert(str_is(json_get(args, "file")->string, "add.tile"));
  ck_assert_int_eq(json_get(args, "line")->integer, 7);
  ck_assert_int_eq(json_get(args, "bytes")->integer, 64);
  ck_assert_int_eq(json_get(args, "grid")->items[1]->integer, 2);
  trace_file_close(&f);
}
END_TEST

enum { THREADS = 4, ROUNDS = 200 };

static void *nest_often(void *user) {
  for (int i = 0; i < ROUNDS; i++)
    nest(3, names);
  return user;
}

START_TEST(threads_have_tracks) {
  pthread_t threads[THREADS];
  ck_assert_int_eq(trace_start(path), 0);
  for (int i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, nest_often, NULL), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  ck_assert_int_eq(trace_stop(), 0);
  struct trace_file f = trace_file_read(path);
  ck_assert_uint_eq(f.count, THREADS * ROUNDS * 7);
  int64_t seen[THREADS] = {0};
  for (size_t i = 0; i < f.count; i++) {
    int k = 0;
    while (k < THREADS && seen[k] && seen[k] != f.events[i].thread)
      k++;
    ck_assert_int_lt(k, THREADS);
    seen[k] = f.events[i].thread;
  }
  ck_assert(seen[THREADS - 1] != 0);
  trace_file_close(&f);
}
END_TEST

// While other threads work, traces begin and end: each file has whole slices of its own time.
START_TEST(traces_begin_and_end_meanwhile) {
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, nest_often, NULL), 0);
  for (int i = 0; i < 5; i++) {
    ck_assert_int_eq(trace_start(path), 0);
    wait_a_while();
    nest(2, names);
    ck_assert_int_eq(trace_stop(), 0);
    struct trace_file f = trace_file_read(path);
    ck_assert_uint_ge(f.count, 3);
    trace_file_close(&f);
  }
  pthread_join(thread, NULL);
}
END_TEST

START_TEST(only_whole_slices_count) {
  struct trace_slice before = trace_begin(TRACE_PASS, "before");
  ck_assert_uint_eq(before.begin, 0);
  ck_assert(!trace_on());
  ck_assert_int_eq(trace_start(path), 0);
  ck_assert(trace_on());
  trace_end(&before, NULL);
  struct trace_slice open = trace_begin(TRACE_PASS, "open");
  ck_assert_int_eq(trace_stop(), 0);
  trace_end(&open, NULL);
  struct trace_file f = trace_file_read(path);
  ck_assert_uint_eq(f.count, 0);
  trace_file_close(&f);
  // A slice that began in an earlier trace belongs to none.
  ck_assert_int_eq(trace_start(path), 0);
  trace_end(&open, NULL);
  ck_assert_int_eq(trace_stop(), 0);
  f = trace_file_read(path);
  ck_assert_uint_eq(f.count, 0);
  trace_file_close(&f);
}
END_TEST

// The times of devices may overlap by a rounding: slices of one track are cut.
START_TEST(tracks_of_devices) {
  ck_assert_int_eq(trace_start(path), 0);
  uint64_t at = trace_clock();
  trace_device_slice(0xabc, TRACE_KERNEL, "first", at, at + 5000, NULL);
  trace_device_slice(0xdef, TRACE_KERNEL, "beside", at, at + 5000, NULL);
  trace_device_slice(0xabc, TRACE_KERNEL, "second", at + 4000, at + 6000, NULL);
  trace_device_slice(0xabc, TRACE_KERNEL, "third", at + 3000, at + 3500, NULL);
  ck_assert_int_eq(trace_stop(), 0);
  struct trace_file f = trace_file_read(path);
  ck_assert_uint_eq(f.count, 4);
  const struct trace_event *first = trace_file_find(&f, "first", NULL);
  const struct trace_event *second = trace_file_find(&f, "second", NULL);
  ck_assert_int_eq(first->thread, second->thread);
  ck_assert_int_ne(first->thread, trace_file_find(&f, "beside", NULL)->thread);
  ck_assert(second->begin >= first->begin + first->length - 0.0005);
  ck_assert(trace_file_find(&f, "third", NULL)->length < 0.0005);
  trace_file_close(&f);
}
END_TEST

START_TEST(errors) {
  ck_assert_int_eq(trace_stop(), ESRCH);
  ck_assert_int_eq(trace_start("no-such-folder/trace.json"), ENOENT);
  ck_assert_int_eq(trace_stop(), ESRCH);
  ck_assert_int_eq(trace_start(path), 0);
  ck_assert_int_eq(trace_start(path), EBUSY);
  ck_assert_int_eq(trace_stop(), 0);
  ck_assert_int_eq(trace_start("/dev/full"), 0);
  nest(1, names);
  ck_assert_int_eq(trace_stop(), ENOSPC);
}
END_TEST

// TILE_TRACE: until the process exits; %p is its id.
START_TEST(environment) {
  char made[64];
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    setenv("TILE_TRACE", "test-trace-%p.json", 1);
    nest(2, names);
    exit(trace_start("other.json") == EBUSY ? 0 : 1);
  }
  int status = 1;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  snprintf(made, sizeof made, "test-trace-%ld.json", (long)child);
  struct trace_file f = trace_file_read(made);
  ck_assert_uint_eq(f.count, 3);
  trace_file_close(&f);
  unlink(made);
}
END_TEST

START_TEST(ranges_of_nvtx) {
  setenv("TILE_NVTX", FAKE_NVTX_PATH, 1);
  nest(2, names); // without a file
  ck_assert_int_eq(trace_start(path), 0);
  nest(1, names);
  ck_assert_int_eq(trace_stop(), 0);
  nest(1, names);
  int (*count)(int popped) = NULL;
  void *library = dlopen(FAKE_NVTX_PATH, RTLD_NOW | RTLD_NOLOAD), *symbol;
  ck_assert_ptr_nonnull(library);
  symbol = dlsym(library, "fake_nvtx_count");
  memcpy(&count, &symbol, sizeof symbol);
  ck_assert_int_eq(count(0), 5);
  ck_assert_int_eq(count(1), 5);
  struct trace_file f = trace_file_read(path);
  ck_assert_uint_eq(f.count, 1);
  trace_file_close(&f);
}
END_TEST

START_TEST(missing_nvtx_is_ignored) {
  setenv("TILE_NVTX", "/nonexistent/libnvToolsExt.so", 1);
  ck_assert(!trace_on());
  nest(2, names);
}
END_TEST

TCase *trace_tests(void) {
  TCase *t = tcase_create("trace");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, slices_nest);
  tcase_add_test(t, threads_have_tracks);
  tcase_add_test(t, traces_begin_and_end_meanwhile);
  tcase_add_test(t, only_whole_slices_count);
  tcase_add_test(t, tracks_of_devices);
  tcase_add_test(t, errors);
  tcase_add_test(t, environment);
  tcase_add_test(t, ranges_of_nvtx);
  tcase_add_test(t, missing_nvtx_is_ignored);
  return t;
}
