// SPDX-License-Identifier: Apache-2.0
// Guessing a GPU's target from the kernel driver's description.
#include "base/file.h"
#include "suites.h"
#include "tools/gpu_guess.h"

#include <stdlib.h>

static const char *folder;

static void put(const char *gpu, const char *text) {
  const char *dir = arena_printf(session.a, "%s/%s", folder, gpu);
  ck_assert_int_eq(dir_create(dir, 0700), 0);
  const char *path = arena_printf(session.a, "%s/information", dir);
  ck_assert_int_eq(file_write(path, text, strlen(text)), 0);
}

START_TEST(models) {
  char name[] = "/tmp/tile-gpus-XXXXXX";
  folder = mkdtemp(name);
  ck_assert_ptr_nonnull(folder);
  ck_assert_ptr_null(gpu_guess_target(session.a, "/nowhere/at/all"));
  ck_assert_ptr_null(gpu_guess_target(session.a, folder));
  put("0000:01:00.0", "Model: \t\t NVIDIA H200\nIRQ:   \t\t 1\n");
  ck_assert_str_eq(gpu_guess_target(session.a, folder), "sm_90a");
  put("0000:02:00.0", "IRQ: 1\nModel: NVIDIA H100 80GB HBM3\n"); // the same target
  ck_assert_str_eq(gpu_guess_target(session.a, folder), "sm_90a");
  put("0000:02:00.0", "Model: NVIDIA A100-SXM4-40GB\n");
  ck_assert_ptr_null(gpu_guess_target(session.a, folder));
  put("0000:01:00.0", "Model: NVIDIA A100-SXM4-40GB\n");
  ck_assert_str_eq(gpu_guess_target(session.a, folder), "sm_80");
  put("0000:01:00.0", "Model: NVIDIA Quadro Something\n");
  ck_assert_ptr_null(gpu_guess_target(session.a, folder));
  put("0000:01:00.0", "");
  ck_assert_ptr_null(gpu_guess_target(session.a, folder));
  ck_assert_int_eq(system(arena_printf(session.a, "rm -rf %s", folder)), 0);
}
END_TEST

TCase *gpu_guess_tests(void) {
  TCase *c = tcase_create("gpu_guess");
  tcase_add_checked_fixture(c, session_setup, session_teardown);
  tcase_add_test(c, models);
  return c;
}
