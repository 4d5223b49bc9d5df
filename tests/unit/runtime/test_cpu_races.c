// SPDX-License-Identifier: Apache-2.0
// Races between programs of a checked launch on the CPU.
#include "runtime/device.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

static tile_device *device;
static _Alignas(16) unsigned char *bytes; // a buffer of the device
enum { SIZE = 3 << 12 };

static void open_cpu(void) {
  setenv("TILE_CPU_THREADS", "3", 1);
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, SIZE, (void **)&bytes), TILE_OK);
  memset(bytes, 0, SIZE);
}
static void close_cpu(void) {
  tile_free(device, bytes);
  tile_device_close(device);
}

static struct kernel_param params[] = {
    {.name = "x", .is_pointer = true, .dtype = DTYPE_U8, .divisible_by = 1}};
static struct kernel_info info = {
    .name = "racing", .target = "cpu", .num_warps = 1, .param_count = 1, .params = params};

static const struct cpu_location here = {"racing.tile", 3, 5}, there = {"racing.tile", 9, 1};

// The violations of a launch of `programs` programs; the first in *ret.
static uint64_t races(cpu_kernel_fn fn, unsigned programs, struct cpu_violation *ret) {
  struct module *m = NULL;
  void *values[] = {&bytes};
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_int_eq(module_from_cpu(device, fn, &info, NULL, NULL, &m), TILE_OK);
  tile_status s = module_launch(m, NULL, (tile_grid){programs, 1, 1}, values, LAUNCH_CHECKED);
  module_destroy(m);
  size_t kept = device_violations(device, &v, &total);
  ck_assert_int_eq(s, total ? TILE_CHECK_FAILED : TILE_OK);
  if (kept && ret)
    *ret = v[0];
  for (size_t i = 0; i < kept; i++)
    ck_assert_int_eq(v[i].kind, CPU_GLOBAL_RACE);
  return total;
}

static void store(struct cpu_thread *t, uint32_t at, uint32_t size, uint64_t value) {
  if (tile_cpu_check_store(t, &here, 0, bytes + at, size, &value))
    memcpy(bytes + at, &value, size);
}
static uint32_t load(struct cpu_thread *t, uint32_t at, int access) {
  uint32_t v = 0;
  if (tile_cpu_check(t, &there, 0, bytes + at, 4, access))
    v = *(volatile uint32_t *)(bytes + at);
  return v;
}
static uint32_t add(struct cpu_thread *t, uint32_t at) {
  tile_cpu_check(t, &there, 0, bytes + at, 4, CPU_ATOMIC);
  return __atomic_fetch_add((uint32_t *)(void *)(bytes + at), 1, __ATOMIC_SEQ_CST);
}
static uint32_t program(const struct cpu_thread *t) { return (uint32_t)t->program_id[0]; }

static void store_one(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id == 0)
    store(t, 4096, 4, program(t) + 5);
}
static void store_equal(struct cpu_thread *t, void *const *args) {
  (void)args;
  store(t, 4096, 8, 0x12345678);
}

START_TEST(stores_of_different_values) {
  struct cpu_violation v;
  for (int round = 0; round < 20; round++) { // whichever worker is first
    memset(bytes, 0, SIZE);
    ck_assert_uint_gt(races(store_one, 9, &v), 0);
    ck_assert_int_eq(v.program_id[0], 1);
    ck_assert_int_eq(v.other_program[0], 0);
    ck_assert_int_eq(v.element, 4096);
    ck_assert_int_eq(v.access, CPU_STORE);
    ck_assert_int_eq(v.other_access, CPU_STORE);
    ck_assert_uint_eq(v.location.line, 3);
    ck_assert_uint_eq(v.other_location.line, 3);
    ck_assert_uint_eq(races(store_equal, 9, NULL), 0);
  }
  ck_assert_uint_eq(races(store_one, 1, NULL), 0);
  ck_assert(!device_races_were_partial(device));
}
END_TEST

// Neighbouring bytes of one word, then bytes that overlap by one, across a page.
static void store_bytes(struct cpu_thread *t, void *const *args) {
  (void)args;
  store(t, 8190 + program(t), 1, program(t) + 1);
}
static void store_halves(struct cpu_thread *t, void *const *args) {
  (void)args;
  store(t, 8190 + program(t), 2, 0x0101 * (program(t) + 1));
}
static void narrow_then_wide(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id == 0 && program(t) == 0)
    store(t, 17, 1, 9);
  else if (t->thread_id == 0)
    store(t, 16, 8, 0x0707070707070707);
}

START_TEST(bytes_of_words) {
  struct cpu_violation v;
  ck_assert_uint_eq(races(store_bytes, 4, NULL), 0);
  ck_assert_uint_gt(races(store_halves, 4, &v), 0);
  ck_assert_int_eq(v.element, 8191);
  memset(bytes, 0, SIZE);
  ck_assert_uint_gt(races(narrow_then_wide, 2, &v), 0);
  ck_assert_int_eq(v.element, 17);
}
END_TEST

// Each program reads its neighbour's word and writes its own.
static void shift(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id)
    return;
  uint32_t v = load(t, 4 * (program(t) + 1), CPU_LOAD);
  store(t, 4 * program(t), 4, v + 1);
}
static void read_shared(struct cpu_thread *t, void *const *args) {
  (void)args;
  uint32_t v = load(t, 400, CPU_LOAD);
  store(t, 4 * program(t), 4, v + 1);
}

START_TEST(loads_of_what_others_store) {
  struct cpu_violation v;
  ck_assert_uint_gt(races(shift, 5, &v), 0);
  ck_assert_int_eq(v.program_id[0], 1);
  ck_assert_int_eq(v.other_program[0], 0);
  ck_assert_int_eq(v.access, CPU_STORE);
  ck_assert_int_eq(v.other_access, CPU_LOAD);
  ck_assert_uint_eq(v.other_location.line, 9);
  ck_assert_uint_eq(races(read_shared, 50, NULL), 0);
}
END_TEST

static void count(struct cpu_thread *t, void *const *args) {
  (void)args;
  add(t, 800);
}
static void clear_and_count(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id)
    return;
  if (program(t) == 1)
    store(t, 800, 4, 77);
  add(t, 800);
}
// The last program reads what all stored: its atomic operation follows theirs.
static void last_program(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id)
    return;
  store(t, 4 * program(t), 4, program(t) + 1);
  if (add(t, 800) + 1 == (uint32_t)t->num_programs[0])
    for (int32_t i = 0; i < t->num_programs[0]; i++)
      store(t, 900, 4, load(t, 4 * (uint32_t)i, CPU_LOAD));
}
static void last_without_order(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id)
    return;
  uint32_t before = add(t, 800); // too early
  store(t, 4 * program(t), 4, program(t) + 1);
  if (before + 1 == (uint32_t)t->num_programs[0])
    for (int32_t i = 0; i < t->num_programs[0]; i++)
      load(t, 4 * (uint32_t)i, CPU_LOAD);
}
// A volatile load takes part in the order.
static void flag(struct cpu_thread *t, void *const *args) {
  (void)args;
  if (t->thread_id)
    return;
  if (program(t) == 0) {
    store(t, 4, 4, 55);
    add(t, 800);
  } else if (load(t, 800, CPU_LOAD | CPU_VOLATILE)) {
    load(t, 4, CPU_LOAD);
  }
}

START_TEST(atomic_operations_order) {
  struct cpu_violation v;
  ck_assert_uint_eq(races(count, 9, NULL), 0);
  memset(bytes, 0, SIZE);
  ck_assert_uint_gt(races(clear_and_count, 4, &v), 0);
  for (int round = 0; round < 20; round++) {
    memset(bytes, 0, SIZE);
    ck_assert_uint_eq(races(last_program, 7, NULL), 0);
    memset(bytes, 0, SIZE);
    ck_assert_uint_gt(races(last_without_order, 7, &v), 0);
    memset(bytes, 0, SIZE);
    ck_assert_uint_eq(races(flag, 2, NULL), 0);
  }
}
END_TEST

Suite *suite_cpu_races(void) {
  Suite *s = suite_create("cpu races");
  TCase *t = tcase_create("between programs");
  tcase_add_checked_fixture(t, open_cpu, close_cpu);
  tcase_add_test(t, stores_of_different_values);
  tcase_add_test(t, bytes_of_words);
  tcase_add_test(t, loads_of_what_others_store);
  tcase_add_test(t, atomic_operations_order);
  suite_add_tcase(s, t);
  return s;
}
