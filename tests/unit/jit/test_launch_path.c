// SPDX-License-Identifier: Apache-2.0
// Many threads launching the same new kernels, and the cost of a launch without the driver.
#include "../runtime/fake_cuda.h"
#include "fake_compiler.h"
#include "suites.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static tile_device *device;
static tile_kernel *kernel;
static struct fake_cuda *cuda;

static void set_up(void) {
  memset(&fake_compiler, 0, sizeof fake_compiler);
  for (int i = 0; i < 8; i++) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    fake_compiler.params[i] = (struct lang_param){.name = names[i], .divisible_by = 1};
  }
  fake_compiler.param_count = 8;
  cuda = dlsym(dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL), FAKE_CUDA_STATE);
  ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK);
  ck_assert_int_eq(tile_kernel_from_source(device, "k.tile", "s", 1, NULL, &kernel), TILE_OK);
}

static void tear_down(void) {
  tile_kernel_close(kernel);
  tile_device_close(device);
}

static void fill(tile_arg args[8], int variant) {
  for (int i = 0; i < 8; i++)
    args[i] = tile_arg_i32(16);
  args[0] = tile_arg_pointer((void *)(uintptr_t)(0x1000 + 4 * (variant & 1)), TILE_F32);
  args[1] = tile_arg_int(variant & 2 ? TILE_I64 : TILE_I32, 2);
  args[2] = tile_arg_i32(variant & 4 ? 1 : 5);
}

#define VARIANTS 8

static void *launch_all(void *failed) {
  tile_arg args[8];
  for (int round = 0; round < 20; round++)
    for (int v = 0; v < VARIANTS; v++) {
      fill(args, v);
      if (tile_launch(kernel, NULL, (tile_grid){1, 1, 1}, args, 8) != TILE_OK)
        atomic_fetch_add((atomic_int *)failed, 1);
    }
  return NULL;
}

static int run_threads(int count) {
  pthread_t t[16];
  atomic_int failed = 0;
  for (int i = 0; i < count; i++)
    pthread_create(&t[i], NULL, launch_all, &failed);
  for (int i = 0; i < count; i++)
    pthread_join(t[i], NULL);
  return atomic_load(&failed);
}

START_TEST(threads_share_one_compilation) {
  fake_compiler.delay_us = 3000;
  ck_assert_int_eq(run_threads(8), 0);
  ck_assert_int_eq(fake_compiler.compilations, VARIANTS);
  ck_assert_int_eq(cuda->live_modules, VARIANTS);
}
END_TEST

START_TEST(failures_among_threads_leave_nobody_waiting) {
  fake_compiler.delay_us = 1000;
  fake_compiler.fail = 20;
  // Each failed compilation fails the launch of one thread; the others try again.
  ck_assert_int_eq(run_threads(8), 20);
  ck_assert_int_eq(fake_compiler.compilations, VARIANTS + 20);
}
END_TEST

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

// A healthy build takes about 0.1 us; the bound only detects a lock, an allocation or a compilation
// on the path.
START_TEST(a_launch_costs_little) {
  enum { LAUNCHES = 20000 };
  tile_arg args[8];
  fill(args, 0);
  ck_assert_int_eq(tile_kernel_prepare(kernel, args, 8), TILE_OK);
  double best = 1e9;
  for (int round = 0; round < 5; round++) {
    double start = now_us();
    for (int i = 0; i < LAUNCHES; i++)
      tile_launch(kernel, NULL, (tile_grid){1, 1, 1}, args, 8);
    double each = (now_us() - start) / LAUNCHES;
    best = each < best ? each : best;
  }
  if (getenv("TILE_TEST_PRINT"))
    fprintf(stderr, "# launch: %.3f us\n", best);
  ck_assert(best < 5.0);
  ck_assert_int_eq(cuda->calls[CUDA_CALL_launch], 5 * LAUNCHES);
}
END_TEST

// Assembled once; another kernel of the same text gets the machine code from the disk cache, and
// code that the driver now rejects is assembled again.
START_TEST(machine_code_is_kept_on_disk) {
  char folder[] = "/tmp/tile-assemble-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("TILE_CACHE_DIR", folder, 1);
  int before = cuda->calls[CUDA_CALL_link_complete];
  for (int attempt = 0; attempt < 3; attempt++) {
    tile_kernel *k = NULL;
    tile_arg args[8];
    fill(args, 0);
    ck_assert_int_eq(tile_kernel_from_source(device, "k.tile", "s", 1, NULL, &k), TILE_OK);
    jit_kernel_set_assembled_apart(k, true);
    cuda->refuse_cubins = attempt == 2;
    tile_status s = tile_kernel_prepare(k, args, 8);
    ck_assert_int_eq(s == TILE_OK, attempt < 2); // the new code is rejected too
    ck_assert_int_eq(cuda->calls[CUDA_CALL_link_complete], before + 1 + (attempt == 2));
    cuda->refuse_cubins = false;
    tile_kernel_close(k);
  }
  setenv("TILE_CACHE_DIR", "", 1);
  char remove[64];
  snprintf(remove, sizeof remove, "rm -r %s", folder);
  ck_assert_int_eq(system(remove), 0);
}
END_TEST

Suite *suite_launch_path(void) {
  Suite *s = suite_create("launch path");
  TCase *t = tcase_create("threads and time");
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_set_timeout(t, 120);
  tcase_add_test(t, threads_share_one_compilation);
  tcase_add_test(t, machine_code_is_kept_on_disk);
  tcase_add_test(t, failures_among_threads_leave_nobody_waiting);
  tcase_add_test(t, a_launch_costs_little);
  suite_add_tcase(s, t);
  return s;
}
