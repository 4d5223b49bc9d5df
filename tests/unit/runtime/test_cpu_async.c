// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies of the CPU device: when their data arrives, and violations by threads that do
// not wait.
#include "runtime/device.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

enum { WARPS = 2, THREADS = 32 * WARPS, WORDS = 256, POISON = -1 };

static tile_device *device;
static int32_t *source; // word i holds 1000 + i

static void open_cpu(void) {
  setenv("TILE_CPU_THREADS", "2", 1);
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, WORDS * 4, (void **)&source), TILE_OK);
  for (int i = 0; i < WORDS; i++)
    source[i] = 1000 + i;
}
static void close_cpu(void) {
  tile_free(device, source);
  tile_device_close(device);
}

static const struct cpu_location copying = {"ring.tile", 3, 5}, waiting = {"ring.tile", 4, 5},
                                 reading = {"ring.tile", 5, 9}, again = {"ring.tile", 6, 5};

static struct kernel_param params[] = {
    {.name = "x", .is_pointer = true, .dtype = DTYPE_I32, .divisible_by = 16}};
static struct kernel_info info = {.name = "ring",
                                  .num_warps = WARPS,
                                  .shared_bytes = WORDS * 4,
                                  .uses_collectives = true,
                                  .param_count = 1,
                                  .params = params};

static tile_status launch(cpu_kernel_fn fn, unsigned programs, bool check) {
  struct module *m = NULL;
  void *values[] = {&source};
  ck_assert_int_eq(module_from_cpu(device, fn, &info, NULL, NULL, &m), TILE_OK);
  tile_status s =
      module_launch(m, NULL, (tile_grid){programs, 1, 1}, values, check ? LAUNCH_CHECKED : 0);
  module_destroy(m);
  return s;
}

static int32_t *word(struct cpu_thread *t, int i) { return (int32_t *)t->shared + i; }

static void copy_from(struct cpu_thread *t, const struct cpu_location *at, int to, const void *from,
                      uint32_t bytes) {
  tile_cpu_async_copy(t, at, 0, word(t, to), from, bytes);
}

static void copy_word(struct cpu_thread *t, int to, int from) {
  copy_from(t, &copying, to, source + from, 4);
}

static int32_t read_word(struct cpu_thread *t, int i) {
  tile_cpu_shared_check(t, &reading, word(t, i), 4, CPU_LOAD);
  return *word(t, i);
}

// Counts failed assertions of kernels; a single failure could be lost to a race.
static int wrong[THREADS];
static void expect(const struct cpu_thread *t, bool holds) { wrong[t->thread_id] += !holds; }

static void expect_sound(cpu_kernel_fn fn) {
  for (int check = 0; check < 2; check++) {
    memset(wrong, 0, sizeof wrong);
    tile_status s = launch(fn, 1, check);
    ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
    for (int i = 0; i < THREADS; i++)
      ck_assert_int_eq(wrong[i], 0);
  }
}

// The only violation of a launch of three programs.
static struct cpu_violation only_violation(cpu_kernel_fn fn) {
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_int_eq(launch(fn, 3, true), TILE_CHECK_FAILED);
  ck_assert_uint_eq(device_violations(device, &v, &total), 1);
  ck_assert_int_eq(v->program_id[0], 0);
  return *v;
}

// ---- queues ----

// Groups arrive in order, at the wait for them and not earlier; uncommitted copies wait for their
// group. Every thread has its own words and its own queue.
static void groups(struct cpu_thread *t, void *const *args) {
  (void)args;
  int own = 4 * t->thread_id;
  for (int i = 0; i < 3; i++) {
    copy_word(t, own + i, i);
    if (t->thread_id % 2) // empty groups count
      tile_cpu_async_commit(t);
    tile_cpu_async_commit(t);
  }
  copy_word(t, own + 3, 3);
  int each = t->thread_id % 2 ? 2 : 1;
  tile_cpu_async_wait(t, (uint32_t)(2 * each));
  expect(t, *word(t, own) == 1000 && *word(t, own + 1) == POISON && *word(t, own + 2) == POISON);
  tile_cpu_async_wait(t, (uint32_t)(2 * each)); // nothing new
  expect(t, *word(t, own + 1) == POISON);
  tile_cpu_async_wait(t, 0);
  expect(t, *word(t, own + 1) == 1001 && *word(t, own + 2) == 1002);
  expect(t, *word(t, own + 3) == POISON);
  tile_cpu_async_commit(t);
  tile_cpu_async_wait(t, 1);
  expect(t, *word(t, own + 3) == POISON);
  tile_cpu_async_wait(t, 0);
  expect(t, *word(t, own + 3) == 1003);
}

START_TEST(groups_arrive_in_order) { expect_sound(groups); }
END_TEST

// The data is read at the wait, as late as possible; zeros without a source.
static void late(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id)
    return;
  source[8] = 1;
  copy_word(t, 0, 8);
  copy_from(t, &copying, 4, NULL, 16);
  tile_cpu_async_commit(t);
  source[8] = 2;
  tile_cpu_async_wait(t, 0);
  expect(t, *word(t, 0) == 2);
  for (int i = 4; i < 8; i++)
    expect(t, *word(t, i) == 0);
}

START_TEST(data_arrive_late) { expect_sound(late); }
END_TEST

// Many more copies than a queue's initial size, with some always pending.
static void many(struct cpu_thread *t, void *const *args) {
  (void)args;
  int own = 4 * t->thread_id;
  for (int i = 0; i < 1000; i++) {
    copy_word(t, own + i % 4, i % WORDS);
    tile_cpu_async_commit(t);
    tile_cpu_async_wait(t, 2);
    if (i >= 2)
      expect(t, read_word(t, own + (i - 2) % 4) == 1000 + (i - 2) % WORDS);
  }
}

START_TEST(queues_grow_and_are_used_again) {
  expect_sound(many);
  expect_sound(groups);
}
END_TEST

// A program that ends with pending copies does not affect the next one on the same worker.
static void forgetful(struct cpu_thread *t, void *const *args) {
  (void)args;
  tile_cpu_async_wait(t, 0);
  for (int i = 0; i < 3; i++)
    copy_word(t, 4 * t->thread_id + i, i);
  tile_cpu_async_commit(t);
  copy_word(t, 4 * t->thread_id + 3, 3);
}

START_TEST(copies_may_be_left_behind) {
  for (int check = 0; check < 2; check++) {
    tile_status s = launch(forgetful, 40, check);
    ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  }
  expect_sound(groups);
}
END_TEST

START_TEST(threads_in_turn_copy_too) {
  info.uses_collectives = false;
  expect_sound(groups);
  expect_sound(many);
  info.uses_collectives = true;
}
END_TEST

// ---- violations ----

static void wait_and_meet(struct cpu_thread *t) {
  tile_cpu_async_commit(t);
  tile_cpu_async_wait(t, 0);
  tile_cpu_barrier(t, &waiting);
}

// The steps of a pipeline: wait, barrier, read others' words, barrier, copy again.
static void in_order(struct cpu_thread *t, void *const *args) {
  (void)args;
  for (int i = 0; i < 4; i++) {
    copy_word(t, t->thread_id, i);
    wait_and_meet(t);
    expect(t, read_word(t, (t->thread_id + 1) % THREADS) == 1000 + i);
    tile_cpu_barrier(t, &waiting);
  }
}

START_TEST(waits_and_barriers_keep_copies_apart) { expect_sound(in_order); }
END_TEST

static void read_early(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id == 9)
    copy_word(t, 5, 5);
  tile_cpu_async_commit(t);
  tile_cpu_barrier(t, &waiting);
  if (t->thread_id == 40)
    read_word(t, 5);
}

START_TEST(read_before_the_wait) {
  struct cpu_violation v = only_violation(read_early);
  ck_assert_int_eq(v.kind, CPU_SHARED_COPYING);
  ck_assert_int_eq(v.access, CPU_LOAD);
  ck_assert_int_eq(v.thread_id, 40);
  ck_assert_int_eq(v.element, 20);
  ck_assert_uint_eq(v.location.line, reading.line);
  ck_assert_int_eq(v.other_thread, 9);
  ck_assert_int_eq(v.other_access, CPU_COPY);
  ck_assert_uint_eq(v.other_location.line, copying.line);
  launch(read_early, 1, true);
  ck_assert_msg(
      strstr(tile_error_message(),
             "ring.tile:5:9: copy under way: load from byte 20, and ring.tile:3:5 "
             "asynchronous copy to it by thread 9 has not been waited for (kernel `ring`, "
             "program (0, 0, 0), thread 40)"),
      "%s", tile_error_message());
}
END_TEST

static void read_own_early(struct cpu_thread *t, void *const *args) {
  (void)args;
  copy_word(t, t->thread_id, 5);
  tile_cpu_async_commit(t);
  copy_word(t, 64 + t->thread_id, 5);
  tile_cpu_async_commit(t);
  tile_cpu_async_wait(t, 1);
  read_word(t, t->thread_id);
  if (t->thread_id == 0)
    read_word(t, 64);
}

START_TEST(own_read_before_the_wait) {
  struct cpu_violation v = only_violation(read_own_early);
  ck_assert_int_eq(v.kind, CPU_SHARED_COPYING);
  ck_assert_int_eq(v.thread_id, 0);
  ck_assert_int_eq(v.other_thread, 0);
  ck_assert_int_eq(v.element, 256);
}
END_TEST

static void write_early(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id == 9)
    copy_word(t, 5, 5);
  tile_cpu_barrier(t, &waiting);
  if (t->thread_id == 40)
    tile_cpu_shared_check(t, &again, word(t, 5), 4, CPU_STORE);
}

START_TEST(write_before_the_wait) {
  struct cpu_violation v = only_violation(write_early);
  ck_assert_int_eq(v.kind, CPU_SHARED_COPYING);
  ck_assert_int_eq(v.access, CPU_STORE);
  ck_assert_int_eq(v.other_thread, 9);
  ck_assert_uint_eq(v.location.line, again.line);
}
END_TEST

static void copy_twice(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id == 40)
    copy_from(t, &copying, 4, source, 16);
  tile_cpu_barrier(t, &waiting);
  if (t->thread_id == 9) // before thread 40 reaches its wait
    copy_from(t, &again, 6, source, 8);
  wait_and_meet(t);
}

START_TEST(second_copy_before_the_wait) {
  struct cpu_violation v = only_violation(copy_twice);
  ck_assert_int_eq(v.kind, CPU_SHARED_COPYING);
  ck_assert_int_eq(v.access, CPU_COPY);
  ck_assert_int_eq(v.element, 24);
  ck_assert_int_eq(v.other_thread, 40);
  ck_assert_uint_eq(v.location.line, again.line);
}
END_TEST

static void copy_after_wait(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id == 9 || t->thread_id == 40) {
    copy_from(t, t->thread_id == 9 ? &copying : &again, 4, source, 16);
    tile_cpu_async_commit(t);
    tile_cpu_async_wait(t, 0);
  }
}

START_TEST(second_copy_without_a_barrier) {
  struct cpu_violation v = only_violation(copy_after_wait);
  ck_assert_int_eq(v.kind, CPU_SHARED_RACE);
  ck_assert_int_eq(v.access, CPU_COPY);
  ck_assert_int_eq(v.other_access, CPU_COPY);
  ck_assert_int_eq(v.thread_id, 40);
  ck_assert_int_eq(v.other_thread, 9);
}
END_TEST

static void read_without_barrier(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id == 9) {
    copy_word(t, 5, 5);
    tile_cpu_async_commit(t);
    tile_cpu_barrier(t, &waiting);
    tile_cpu_async_wait(t, 0); // after the barrier; only the next one would order it
  } else {
    tile_cpu_barrier(t, &waiting);
  }
  if (t->thread_id == 40)
    read_word(t, 5);
}

START_TEST(read_without_a_barrier) {
  struct cpu_violation v = only_violation(read_without_barrier);
  ck_assert_int_eq(v.kind, CPU_SHARED_RACE);
  ck_assert_int_eq(v.access, CPU_LOAD);
  ck_assert_int_eq(v.other_access, CPU_COPY);
  ck_assert_int_eq(v.other_thread, 9);
  ck_assert_uint_eq(v.location.line, reading.line);
  ck_assert_uint_eq(v.other_location.line, copying.line);
}
END_TEST

static void copy_over_reader(struct cpu_thread *t, void *const *args) {
  (void)args;
  copy_word(t, t->thread_id, 5);
  wait_and_meet(t);
  if (t->thread_id == 9)
    read_word(t, 8);
  tile_cpu_shuffle(t, 0, 0, NULL); // orders no memory
  if (t->thread_id == 8)
    copy_from(t, &again, 8, source, 4);
}

START_TEST(copy_over_what_is_read) {
  struct cpu_violation v = only_violation(copy_over_reader);
  ck_assert_int_eq(v.kind, CPU_SHARED_RACE);
  ck_assert_int_eq(v.access, CPU_COPY);
  ck_assert_int_eq(v.other_access, CPU_LOAD);
  ck_assert_int_eq(v.other_thread, 9);
}
END_TEST

static void copy_astray(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id == 3)
    copy_from(t, &copying, 0, source + WORDS - 1, 8);
  if (t->thread_id == 4)
    copy_from(t, &again, 4, source + 1, 8);
  if (t->thread_id == 3) {
    tile_cpu_async_commit(t);
    tile_cpu_async_wait(t, 0);
    expect(t, *word(t, 0) == 0 && *word(t, 1) == 0); // nothing was read
  }
}

START_TEST(wrong_sources) {
  const struct cpu_violation *v;
  uint64_t total;
  memset(wrong, 0, sizeof wrong);
  ck_assert_int_eq(launch(copy_astray, 1, true), TILE_CHECK_FAILED);
  ck_assert_uint_eq(device_violations(device, &v, &total), 2);
  ck_assert_int_eq(v[0].kind, CPU_MISALIGNED); // word 255 is not at a multiple of 8 either
  ck_assert_int_eq(v[0].thread_id, 3);
  ck_assert_int_eq(v[1].kind, CPU_MISALIGNED);
  ck_assert_uint_eq(v[1].location.line, again.line);
  ck_assert_uint_eq(v[1].elements, 8);
  ck_assert_int_eq(wrong[3], 0);
  ck_assert_ptr_nonnull(strstr(tile_error_message(),
                               "ring.tile:3:5: asynchronous copy from an address that is not a "
                               "multiple of 8 bytes"));
}
END_TEST

static void copy_beyond(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id == 3)
    copy_from(t, &copying, 0, source + WORDS - 2, 16);
}

static void copy_outside(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id == 3)
    copy_from(t, &copying, WORDS - 2, source, 16);
}

START_TEST(outside_of_the_source) {
  const struct cpu_violation *v;
  uint64_t total;
  source += 2; // two words less to read
  ck_assert_int_eq(launch(copy_beyond, 1, true), TILE_CHECK_FAILED);
  source -= 2;
  ck_assert_uint_eq(device_violations(device, &v, &total), 1);
  ck_assert_int_eq(v->kind, CPU_OUTSIDE);
  ck_assert_int_eq(v->param, 0);
  ck_assert_int_eq(v->access, CPU_LOAD);
  ck_assert_int_eq(v->element, WORDS - 2);
  ck_assert_uint_eq(v->location.line, copying.line);
}
END_TEST

START_TEST(outside_of_shared_memory) {
  struct cpu_violation v = only_violation(copy_outside);
  ck_assert_int_eq(v.kind, CPU_SHARED_OUTSIDE);
  ck_assert_int_eq(v.access, CPU_COPY);
  ck_assert_int_eq(v.element, (WORDS - 2) * 4);
}
END_TEST

Suite *suite_cpu_async(void) {
  Suite *s = suite_create("cpu async");
  TCase *t = tcase_create("copies");
  tcase_add_checked_fixture(t, open_cpu, close_cpu);
  tcase_add_test(t, groups_arrive_in_order);
  tcase_add_test(t, data_arrive_late);
  tcase_add_test(t, queues_grow_and_are_used_again);
  tcase_add_test(t, copies_may_be_left_behind);
  tcase_add_test(t, threads_in_turn_copy_too);
  tcase_add_test(t, waits_and_barriers_keep_copies_apart);
  tcase_add_test(t, read_before_the_wait);
  tcase_add_test(t, own_read_before_the_wait);
  tcase_add_test(t, write_before_the_wait);
  tcase_add_test(t, second_copy_before_the_wait);
  tcase_add_test(t, second_copy_without_a_barrier);
  tcase_add_test(t, read_without_a_barrier);
  tcase_add_test(t, copy_over_what_is_read);
  tcase_add_test(t, wrong_sources);
  tcase_add_test(t, outside_of_the_source);
  tcase_add_test(t, outside_of_shared_memory);
  suite_add_tcase(s, t);
  return s;
}
