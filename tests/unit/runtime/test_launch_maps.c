// SPDX-License-Identifier: Apache-2.0
// Tensor maps of launches: their numbers from the arguments, what is refused, and when the driver
// encodes them.
#include "base/memory.h"
#include "fake_cuda.h"
#include "runtime/device.h"
#include "suites.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct fake_cuda *fake;
static struct kernel_param params[] = {
    {.name = "x", .is_pointer = true, .dtype = DTYPE_F16, .divisible_by = 1},
    {.name = "rows", .dtype = DTYPE_I32, .divisible_by = 1},
    {.name = "columns", .dtype = DTYPE_U32, .divisible_by = 1},
    {.name = "first", .dtype = DTYPE_I64, .divisible_by = 1},
};
static struct launch_term rows[] = {{LAUNCH_PARAM, 1}}, columns[] = {{LAUNCH_PARAM, 2}},
                          first[] = {{LAUNCH_PARAM, 3}};
static struct kernel_map maps[] = {{.dtype = DTYPE_BF16,
                                    .rank = 2,
                                    .base = 0,
                                    .offset = {1, first},
                                    .sizes = {{1, rows}, {1, columns}},
                                    .strides = {{1, columns}},
                                    .box = {128, 32},
                                    .swizzle = 64,
                                    .pads_nan = true}};
static const struct kernel_info info = {.name = "product",
                                        .target = "sm_90a",
                                        .num_warps = 8,
                                        .producer_warps = 4,
                                        .param_count = 4,
                                        .params = params,
                                        .map_count = 1,
                                        .maps = maps};

struct arguments {
  uint64_t x;
  int32_t rows;
  uint32_t columns;
  int64_t first;
  void *values[4];
};

static struct arguments arguments_of(uint64_t x, int32_t m, uint32_t n, int64_t at) {
  return (struct arguments){.x = x, .rows = m, .columns = n, .first = at};
}

static void *const *values_of(struct arguments *a) {
  a->values[0] = &a->x, a->values[1] = &a->rows;
  a->values[2] = &a->columns, a->values[3] = &a->first;
  return a->values;
}

// ---- numbers ----

START_TEST(numbers) {
  struct arguments a = arguments_of(0x10000, 300, 3000000000u, 8);
  struct launch_map m;
  ck_assert_int_eq(launch_map_of(&info, 0, values_of(&a), &m), TILE_OK);
  ck_assert_uint_eq(m.address, 0x10010);
  ck_assert_uint_eq(m.rank, 2);
  ck_assert_uint_eq(m.sizes[0], 3000000000u); // the contiguous dimension first; not negative
  ck_assert_uint_eq(m.sizes[1], 300);
  ck_assert_uint_eq(m.strides[0], 6000000000u);
  ck_assert_uint_eq(m.box[0], 32);
  ck_assert_uint_eq(m.box[1], 128);
  ck_assert_int_eq(m.type, 9); // CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
  ck_assert_int_eq(m.swizzle, 2);
  ck_assert(m.pads_nan);
}
END_TEST

START_TEST(empty_tensors) {
  struct arguments a = arguments_of(0, 0, 0, 0);
  struct launch_map m;
  ck_assert_int_eq(launch_map_of(&info, 0, values_of(&a), &m), TILE_OK);
  ck_assert_uint_eq(m.sizes[0], 1);
  ck_assert_uint_eq(m.sizes[1], 1);
  ck_assert_uint_eq(m.strides[0], 16);
}
END_TEST

static const struct {
  struct arguments a;
  const char *words[3];
} refused[] = {
    {{.x = 0x10008, .rows = 4, .columns = 64}, {"`product`", "`x`", "multiple of 16"}},
    {{.x = 0x10000, .rows = 4, .columns = 64, .first = 1}, {"`x`", "0x10002", "multiple of 16"}},
    {{.x = 0x10000, .rows = 4, .columns = 60}, {"stride 0 is 60", "of 2 bytes", "multiple of 16"}},
    {{.x = 0x10000, .rows = 4, .columns = 64, .first = INT64_MAX}, {"`x`", "overflows", ""}},
};

START_TEST(refusals) {
  struct arguments a = refused[_i].a;
  struct launch_map m;
  ck_assert_int_eq(launch_map_of(&info, 0, values_of(&a), &m), TILE_INVALID_ARGUMENT);
  for (int i = 0; i < 3; i++)
    ck_assert_msg(strstr(tile_error_message(), refused[_i].words[i]), "%s", tile_error_message());
}
END_TEST

static struct launch_term wide[] = {{LAUNCH_PARAM, 3}}, zero[] = {{LAUNCH_CONST, 0}},
                          broken[] = {{LAUNCH_CONST, 1}, {LAUNCH_CONST, 0}, {LAUNCH_DIV, 0}};

// The map with one change.
static const struct {
  struct launch_expr size, stride; // of dimension 0; no terms: as above
  uint32_t row, swizzle;           // of the box
  enum dtype dtype;
  int64_t first;
  const char *words[2]; // NULL: accepted
} changed[] = {
    {{1, wide}, {0}, 32, 64, DTYPE_BF16, (int64_t)1 << 32, {NULL, NULL}},
    {{1, wide},
     {0},
     32,
     64,
     DTYPE_BF16,
     ((int64_t)1 << 32) + 8,
     {"size 0 is 4294967304", "at most"}},
    {{0}, {1, wide}, 32, 64, DTYPE_BF16, ((int64_t)1 << 39) - 8, {NULL, NULL}},
    {{0}, {1, wide}, 32, 64, DTYPE_BF16, (int64_t)1 << 39, {"stride 0 is 549755813888", "2^40"}},
    {{0}, {1, wide}, 32, 64, DTYPE_BF16, -64, {"stride 0 is -64", "from 0"}},
    {{0}, {1, wide}, 32, 64, DTYPE_BF16, INT64_MAX / 2 + 1, {"stride 0", "2^40"}},
    {{0}, {1, zero}, 32, 64, DTYPE_BF16, 0, {NULL, NULL}}, // all rows are the same
    {{3, broken}, {0}, 32, 64, DTYPE_BF16, 0, {"`x`", "divides by zero"}},
    {{0}, {3, broken}, 32, 64, DTYPE_BF16, 0, {"`x`", "divides by zero"}},
    {{0}, {0}, 36, 0, DTYPE_BF16, 0, {"72 bytes", "at most 512"}},
    {{0}, {0}, 36, 0, DTYPE_F32, 0, {NULL, NULL}},
    {{0}, {0}, 40, 64, DTYPE_BF16, 0, {"80 bytes", "at most 64"}},
    {{0}, {0}, 32, 64, DTYPE_I16, 0, {"type i16 are NaN", "floats"}},
    {{0}, {0}, 64, 64, DTYPE_F8E4NV, 0, {"type f8e4nv are NaN", "floats"}},
};

START_TEST(changed_maps) {
  bool is_offset = !changed[_i].size.count && !changed[_i].stride.count;
  struct kernel_map one = maps[0];
  struct kernel_info with = info;
  struct arguments a = arguments_of(0x10000, 4, 64, changed[_i].first);
  struct launch_map m;
  if (changed[_i].size.count)
    one.sizes[0] = changed[_i].size;
  if (changed[_i].stride.count)
    one.strides[0] = changed[_i].stride;
  if (!is_offset)
    one.offset = (struct launch_expr){1, zero};
  one.box[1] = changed[_i].row, one.swizzle = changed[_i].swizzle, one.dtype = changed[_i].dtype;
  with.maps = &one;
  tile_status s = launch_map_of(&with, 0, values_of(&a), &m);
  ck_assert_int_eq(s, changed[_i].words[0] ? TILE_INVALID_ARGUMENT : TILE_OK);
  for (int i = 0; i < 2 && changed[_i].words[0]; i++) {
    ck_assert_ptr_nonnull(strstr(tile_error_message(), "launch of `product`"));
    ck_assert_msg(strstr(tile_error_message(), changed[_i].words[i]), "%s", tile_error_message());
  }
}
END_TEST

// A row of one element has no stride.
START_TEST(single_rows) {
  struct arguments a = arguments_of(0x10000, 1, 5, 0);
  struct launch_map m;
  ck_assert_int_eq(launch_map_of(&info, 0, values_of(&a), &m), TILE_OK);
  ck_assert_uint_eq(m.strides[0], 16);
}
END_TEST

// ---- launches ----

static struct module *loaded(tile_device **ret_device) {
  struct module *m = NULL;
  void *lib = dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull(lib);
  fake = dlsym(lib, FAKE_CUDA_STATE);
  ck_assert_int_eq(tile_device_open("cuda", ret_device), TILE_OK);
  ck_assert_int_eq(module_load(*ret_device, "kernel", sizeof "kernel", &info, &m), TILE_OK);
  return m;
}

static int encoded(void) { return fake->calls[CUDA_CALL_tensor_map_encode]; }

START_TEST(encoded_when_values_change) {
  tile_device *d = NULL;
  struct module *m = loaded(&d);
  tile_grid one = {1, 1, 1};
  struct arguments a = arguments_of(0x10000, 40, 64, 0), b = arguments_of(0x20000, 41, 64, 0);
  fake->param_count = 5;
  for (int i = 0; i < 3; i++)
    ck_assert_int_eq(module_launch(m, NULL, one, values_of(&a), 0), TILE_OK);
  ck_assert_int_eq(encoded(), 1);
  ck_assert_uint_eq(fake->block, 32 * 12); // producers too
  ck_assert_uint_eq(fake->params[0], 0x10000);
  ck_assert_uint_eq(fake->params[4], 0x10000 ^ 40); // the fake's encoding
  ck_assert_int_eq(module_launch(m, NULL, one, values_of(&b), 0), TILE_OK);
  ck_assert_int_eq(encoded(), 2);
  ck_assert_uint_eq(fake->params[4], 0x20000 ^ 41);
  ck_assert_int_eq(module_launch(m, NULL, one, values_of(&a), 0), TILE_OK);
  ck_assert_int_eq(encoded(), 2);
  ck_assert_uint_eq(fake->params[4], 0x10000 ^ 40);
  // More tensors than are kept: still right.
  for (int round = 0; round < 2; round++)
    for (int i = 1; i < 50; i++) {
      a.rows = i;
      ck_assert_int_eq(module_launch(m, NULL, one, values_of(&a), 0), TILE_OK);
      ck_assert_uint_eq(fake->params[4], 0x10000u ^ (unsigned)i);
    }
  module_destroy(m);
  tile_device_close(d);
}
END_TEST

START_TEST(other_arguments_change_nothing) {
  tile_device *d = NULL;
  struct module *m = loaded(&d), *other = NULL;
  struct kernel_param more[5];
  memcpy(more, params, sizeof params);
  more[4] = (struct kernel_param){.name = "alpha", .dtype = DTYPE_F32, .divisible_by = 1};
  struct kernel_info with = info;
  with.param_count = 5, with.params = more;
  ck_assert_int_eq(module_load(d, "kernel", sizeof "kernel", &with, &other), TILE_OK);
  struct arguments a = arguments_of(0x10000, 40, 64, 0);
  float alpha[2] = {0}; // recorded as 8 bytes
  void *values[5];
  memcpy(values, values_of(&a), 4 * sizeof *values);
  values[4] = alpha;
  fake->param_count = 6;
  for (int i = 0; i < 3; i++, alpha[0] += 1)
    ck_assert_int_eq(module_launch(other, NULL, (tile_grid){1, 1, 1}, values, 0), TILE_OK);
  ck_assert_int_eq(encoded(), 1);
  ck_assert_uint_eq(fake->params[4], 0x40000000); // 2.0f
  ck_assert_uint_eq(fake->params[5], 0x10000 ^ 40);
  module_destroy(other);
  module_destroy(m);
  tile_device_close(d);
}
END_TEST

START_TEST(arguments_of_the_driver) {
  tile_device *d = NULL;
  struct module *m = loaded(&d);
  struct arguments a = arguments_of(0x10000, 40, 64, 8);
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 1, 1}, values_of(&a), 0), TILE_OK);
  const struct fake_map *map = &fake->map;
  ck_assert(map->type == 9 && map->rank == 2 && map->address == 0x10010);
  ck_assert(map->sizes[0] == 64 && map->sizes[1] == 40 && map->strides[0] == 128);
  ck_assert(map->box[0] == 32 && map->box[1] == 128);
  ck_assert(map->element_strides[0] == 1 && map->element_strides[1] == 1);
  // CU_TENSOR_MAP_INTERLEAVE_NONE, SWIZZLE_64B, L2_PROMOTION_L2_256B, FLOAT_OOB_FILL_NAN_...
  ck_assert(map->interleave == 0 && map->swizzle == 2 && map->promotion == 3 && map->fill == 1);
  module_destroy(m);
  tile_device_close(d);
}
END_TEST

START_TEST(failures) {
  tile_device *d = NULL;
  struct module *m = loaded(&d);
  tile_grid one = {1, 1, 1};
  struct arguments a = arguments_of(0x10004, 40, 64, 0);
  ck_assert_int_eq(module_launch(m, NULL, one, values_of(&a), 0), TILE_INVALID_ARGUMENT);
  a.x = 0x10000;
  fake->fail[CUDA_CALL_tensor_map_encode] = 1;
  ck_assert_int_eq(module_launch(m, NULL, one, values_of(&a), 0), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "cuTensorMapEncodeTiled"));
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "launch of `product`"));
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "descriptor of `x`"));
  fake->fail[CUDA_CALL_tensor_map_encode] = 0;
  ck_assert_int_eq(fake->calls[CUDA_CALL_launch], 0);
  ck_assert_int_eq(module_launch(m, NULL, one, values_of(&a), 0), TILE_OK);
  module_destroy(m);
  tile_device_close(d);
}
END_TEST

START_TEST(older_drivers) {
  setenv("TILE_LIBCUDA", CUDA_WITHOUT_MAPS_PATH, 1);
  tile_device *d = NULL;
  struct module *m = NULL;
  struct arguments a = arguments_of(0x10000, 40, 64, 0);
  ck_assert_int_eq(tile_device_open("cuda", &d), TILE_OK);
  ck_assert_int_eq(module_load(d, "kernel", sizeof "kernel", &info, &m), TILE_OK);
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 1, 1}, values_of(&a), 0),
                   TILE_DRIVER_TOO_OLD);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "12.0"));
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "`product`"));
  module_destroy(m);
  tile_device_close(d);
}
END_TEST

// ---- threads ----

static tile_status mark(void *device, const struct launch_map *map, struct map_bytes *ret) {
  (void)device;
  memcpy(ret->at, &map->sizes[1], sizeof map->sizes[1]);
  return TILE_OK;
}

static void *encode_many(void *user) {
  struct map_cache *c = user;
  for (int i = 0; i < 20000; i++) {
    struct arguments a = arguments_of(0x10000, 1 + i % 37, 64, 0);
    struct map_bytes got;
    uint64_t size;
    if (launch_maps_encode(c, &info, values_of(&a), mark, NULL, &got) != TILE_OK)
      return c;
    memcpy(&size, got.at, sizeof size);
    if (size != (uint64_t)a.rows)
      return c;
  }
  return NULL;
}

START_TEST(threads_share_the_cache) {
  struct map_cache *c = map_cache_create(&info);
  pthread_t threads[4];
  for (size_t i = 0; i < COUNT_OF(threads); i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, encode_many, c), 0);
  for (size_t i = 0; i < COUNT_OF(threads); i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    ck_assert_ptr_null(wrong);
  }
  map_cache_destroy(c);
}
END_TEST

// ---- what a launch costs whose descriptors are known ----

static _Atomic int allocations;

static bool count_allocation(enum memory_use use) {
  (void)use;
  allocations++;
  return false;
}

START_TEST(known_maps_are_not_allocated) {
  tile_device *d = NULL;
  struct module *m = loaded(&d);
  struct arguments a = arguments_of(0x10000, 40, 64, 0), b = arguments_of(0x20000, 41, 64, 0);
  fake->param_count = 5;
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 1, 1}, values_of(&a), 0), TILE_OK);
  allocations = 0;
  memory_fails = count_allocation;
  for (int i = 0; i < 100; i++) {
    ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 1, 1}, values_of(&a), 0), TILE_OK);
    ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 1, 1}, values_of(&b), 0), TILE_OK);
  }
  memory_fails = NULL;
  ck_assert_int_eq(allocations, 0); // of new sizes neither
  ck_assert_int_eq(encoded(), 2);
  module_destroy(m);
  tile_device_close(d);
}
END_TEST

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// The host time that a launch spends on maps that it has: 0.2 us is the aim; the bound is that of a
// busy machine, of the best of several rounds.
START_TEST(time_of_known_maps) {
  enum { ROUNDS = 20, CALLS = 10000 };
  struct map_cache *c = map_cache_create(&info);
  struct map_bytes got;
  double best = 1;
  bool wrong = false;
  for (int round = 0; round < ROUNDS; round++) {
    double start = seconds();
    for (int i = 0; i < CALLS; i++) {
      struct arguments a = arguments_of(0x10000, 1 + i % 3, 64, 0);
      wrong |= launch_maps_encode(c, &info, values_of(&a), mark, NULL, &got) != TILE_OK;
    }
    double each = (seconds() - start) / CALLS;
    best = each < best ? each : best;
  }
  if (getenv("TILE_TEST_PRINT"))
    printf("# a known tensor map: %.3f us of a launch\n", best * 1e6);
  ck_assert(!wrong);
  ck_assert_double_lt(best, 2e-6);
  map_cache_destroy(c);
}
END_TEST

static void use_fake(void) { setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1); }

Suite *suite_launch_maps(void) {
  Suite *s = suite_create("launch_maps");
  TCase *t = tcase_create("launch_maps");
  tcase_add_checked_fixture(t, use_fake, NULL);
  tcase_add_test(t, numbers);
  tcase_add_test(t, empty_tensors);
  tcase_add_loop_test(t, refusals, 0, COUNT_OF(refused));
  tcase_add_loop_test(t, changed_maps, 0, COUNT_OF(changed));
  tcase_add_test(t, single_rows);
  tcase_add_test(t, encoded_when_values_change);
  tcase_add_test(t, other_arguments_change_nothing);
  tcase_add_test(t, arguments_of_the_driver);
  tcase_add_test(t, failures);
  tcase_add_test(t, older_drivers);
  tcase_add_test(t, threads_share_the_cache);
  tcase_add_test(t, known_maps_are_not_allocated);
  tcase_add_test(t, time_of_known_maps);
  suite_add_tcase(s, t);
  return s;
}
