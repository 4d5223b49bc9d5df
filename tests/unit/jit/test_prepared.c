// SPDX-License-Identifier: Apache-2.0
// Prepared launches over the fake compiler and the fake driver; the parameters of a kernel.
#include "../runtime/fake_cuda.h"
#include "fake_compiler.h"
#include "suites.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT = 4 };

static tile_device *device;
static tile_kernel *kernel;
static struct fake_cuda *cuda;
static const tile_grid one = {1, 1, 1};

static void set_up(void) {
  static const char *const names[COUNT] = {"x", "y", "n", "scale"};
  memset(&fake_compiler, 0, sizeof fake_compiler);
  for (int i = 0; i < COUNT; i++)
    fake_compiler.params[i] = (struct lang_param){.name = names[i], .divisible_by = 1};
  fake_compiler.params[COUNT] = (struct lang_param){.name = "BLOCK",
                                                    .is_constexpr = true,
                                                    .has_default = true,
                                                    .default_text = "64",
                                                    .divisible_by = 1};
  fake_compiler.param_count = COUNT + 1;
  cuda = dlsym(dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL), FAKE_CUDA_STATE);
  ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK);
  ck_assert_int_eq(tile_kernel_from_source(device, "k.tile", "s", 1, NULL, &kernel), TILE_OK);
}

static void tear_down(void) {
  tile_kernel_close(kernel);
  tile_device_close(device);
}

static void fill(tile_arg args[COUNT]) {
  args[0] = tile_arg_pointer((void *)(uintptr_t)0x1000, TILE_F32);
  args[1] = tile_arg_pointer((void *)(uintptr_t)0x2000, TILE_F32);
  args[2] = tile_arg_i32(48);
  args[3] = tile_arg_f32(0.5f);
}

START_TEST(launches_look_nothing_up) {
  tile_arg args[COUNT];
  tile_prepared *p;
  fill(args);
  ck_assert_int_eq(tile_prepared_create(kernel, args, COUNT, &p), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 1);
  ck_assert_int_eq(cuda->calls[CUDA_CALL_launch], 0);
  memset(args, 0, sizeof args); // copied
  ck_assert_int_eq(tile_prepared_launch(p, NULL, one), TILE_OK);
  ck_assert_int_eq(tile_kernel_set_warps(kernel, 8), TILE_OK); // of later launches by the kernel
  ck_assert_int_eq(tile_prepared_launch(p, NULL, one), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 1);
  ck_assert_int_eq(cuda->calls[CUDA_CALL_launch], 2);
  tile_prepared_destroy(p);
}
END_TEST

START_TEST(a_new_value_keeps_or_changes_the_code) {
  tile_arg args[COUNT];
  tile_prepared *p;
  fill(args);
  ck_assert_int_eq(tile_prepared_create(kernel, args, COUNT, &p), TILE_OK);
  tile_arg aligned = tile_arg_pointer((void *)(uintptr_t)0x3000, TILE_F32);
  ck_assert_int_eq(tile_prepared_set(p, 0, aligned), TILE_OK);
  ck_assert_int_eq(tile_prepared_set(p, 3, tile_arg_f32(-3)), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 1);
  tile_arg other = tile_arg_pointer((void *)(uintptr_t)0x3004, TILE_F32);
  ck_assert_int_eq(tile_prepared_set(p, 0, other), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 2);
  ck_assert_int_eq(tile_prepared_set(p, 1, tile_arg_none()), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 3);
  ck_assert_int_eq(tile_prepared_launch(p, NULL, one), TILE_OK);
  // What cannot be leaves everything as it was.
  tile_arg wrong = {.type = (tile_type)99};
  ck_assert_int_eq(tile_prepared_set(p, 2, wrong), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_prepared_set(p, COUNT, aligned), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_prepared_launch(p, NULL, one), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 3);
  tile_prepared_destroy(p);
}
END_TEST

START_TEST(wrong_calls) {
  tile_arg args[COUNT];
  tile_prepared *p = NULL;
  fill(args);
  ck_assert_int_eq(tile_prepared_create(NULL, args, COUNT, &p), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_prepared_create(kernel, NULL, COUNT, &p), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_prepared_create(kernel, args, COUNT - 1, &p), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_prepared_create(kernel, args, COUNT, NULL), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_prepared_launch(NULL, NULL, one), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_prepared_set(NULL, 0, args[0]), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_null(p);
  fake_compiler.fail = 1;
  ck_assert_int_ne(tile_prepared_create(kernel, args, COUNT, &p), TILE_OK);
  tile_prepared_destroy(NULL);
}
END_TEST

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

// A healthy build takes some hundredths of a microsecond beside the driver; the bound only detects
// a lock, an allocation or a look-up.
START_TEST(a_prepared_launch_costs_little) {
  enum { LAUNCHES = 20000 };
  tile_arg args[COUNT];
  tile_prepared *p;
  fill(args);
  ck_assert_int_eq(tile_prepared_create(kernel, args, COUNT, &p), TILE_OK);
  double best = 1e9;
  for (int round = 0; round < 5; round++) {
    double start = now_us();
    for (int i = 0; i < LAUNCHES; i++)
      tile_prepared_launch(p, NULL, one);
    double each = (now_us() - start) / LAUNCHES;
    best = each < best ? each : best;
  }
  if (getenv("TILE_TEST_PRINT"))
    fprintf(stderr, "# prepared launch: %.3f us\n", best);
  ck_assert(best < 1.0);
  ck_assert_int_eq(cuda->calls[CUDA_CALL_launch], 5 * LAUNCHES);
  tile_prepared_destroy(p);
}
END_TEST

START_TEST(parameters_in_the_order_of_the_source) {
  tile_parameter p;
  ck_assert_uint_eq(tile_kernel_parameter_count(kernel), COUNT + 1);
  ck_assert_uint_eq(tile_kernel_parameter_count(NULL), 0);
  ck_assert_int_eq(tile_kernel_get_parameter(kernel, 2, &p), TILE_OK);
  ck_assert_str_eq(p.name, "n");
  ck_assert(!p.is_constexpr && !p.has_default && !p.is_typed && !p.default_text);
  ck_assert_int_eq(tile_kernel_get_parameter(kernel, COUNT, &p), TILE_OK);
  ck_assert(p.is_constexpr && p.has_default);
  ck_assert_str_eq(p.default_text, "64");
  ck_assert_int_eq(tile_kernel_get_parameter(kernel, COUNT + 1, &p), TILE_NOT_FOUND);
  ck_assert_int_eq(tile_kernel_get_parameter(NULL, 0, &p), TILE_INVALID_ARGUMENT);
}
END_TEST

Suite *suite_prepared(void) {
  Suite *s = suite_create("prepared");
  TCase *c = tcase_create("prepared");
  tcase_add_checked_fixture(c, set_up, tear_down);
  tcase_add_test(c, launches_look_nothing_up);
  tcase_add_test(c, a_new_value_keeps_or_changes_the_code);
  tcase_add_test(c, wrong_calls);
  tcase_add_test(c, a_prepared_launch_costs_little);
  tcase_add_test(c, parameters_in_the_order_of_the_source);
  suite_add_tcase(s, c);
  return s;
}
