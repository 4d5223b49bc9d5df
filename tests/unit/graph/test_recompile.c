// SPDX-License-Identifier: Apache-2.0
// Tiered recompilation of products in a running program, with the fake CUDA driver.
#include "../runtime/fake_cuda.h"

#include <tile/program.h>

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "def forward(self, x: \"f16[64, 128]\", w: \"f16[128, 64]\", b: \"f16[32]\"):\n"
    "    mm = torch.ops.aten.mm.default(x, w)\n"
    "    sin = torch.ops.aten.sin.default(b)\n"
    "    return (mm, sin)\n";

// A product of blocks that have a tier-1 code: with 16 warps instead of 8. Its rows do not begin at
// multiples of 16 bytes, so that it loads by pointers.
static const char large[] =
    "def forward(self, x: \"f16[4096, 516]\", w: \"f16[516, 4096]\", b: \"f16[4096, 4096]\"):\n"
    "    mm = torch.ops.aten.mm.default(x, w)\n"
    "    add = torch.ops.aten.add.Tensor(mm, b)\n"
    "    return (add,)\n";

static struct fake_cuda *cuda;
static tile_device *device;
static tile_program *program;

static void open_text(const char *of) {
  tile_status s = tile_program_from_text(device, "g.py", of, strlen(of), &program);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
}

static void open_device(void) {
  cuda = dlsym(dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL), FAKE_CUDA_STATE);
  ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK);
}

static void open_program(void) {
  open_device();
  open_text(text);
}

static void close_program(void) {
  tile_program_close(program);
  ck_assert_int_eq(cuda->live_modules, 0);
  ck_assert_int_eq(cuda->live_links, 0);
  tile_device_close(device);
}

START_TEST(best_code_comes_by_itself) {
  ck_assert_int_eq(tile_program_wait_optimized(NULL), TILE_INVALID_ARGUMENT);
  for (int again = 0; again < 2; again++) {
    ck_assert_int_eq(tile_program_wait_optimized(program), TILE_OK);
    ck_assert_int_eq(cuda->calls[CUDA_CALL_link_create], 3); // two kernels, one of them twice
    ck_assert_int_eq(cuda->live_modules, 3);
  }
}
END_TEST

START_TEST(closing_does_not_need_it) { ck_assert_int_ge(cuda->live_modules, 2); }
END_TEST

START_TEST(recordings_have_the_best_code) {
  tile_stream *stream = NULL;
  tile_replay *replay = NULL;
  static const int64_t x_shape[] = {64, 128}, w_shape[] = {128, 64}, b_shape[] = {32},
                       mm_shape[] = {64, 64};
  char *p = NULL;
  cuda->param_count = 1;
  ck_assert_int_eq(tile_stream_create(device, &stream), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, 1 << 20, (void **)&p), TILE_OK);
  tile_tensor in[] = {{p, TILE_F16, 2, x_shape, NULL},
                      {p, TILE_F16, 2, w_shape, NULL},
                      {p, TILE_F16, 1, b_shape, NULL}};
  tile_tensor out[] = {{p, TILE_F16, 2, mm_shape, NULL}, {p, TILE_F16, 1, b_shape, NULL}};
  tile_status s = tile_program_record(program, stream, 0, in, 3, out, 2, &replay);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  ck_assert_int_eq(cuda->live_modules, 3);
  ck_assert_ptr_nonnull(strstr(cuda->launched, "ELF"));
  ck_assert_ptr_null(strstr(cuda->launched, "quick"));
  tile_replay_destroy(replay);
  tile_stream_destroy(stream);
  tile_free(device, p);
}
END_TEST

// ---- tier-1 code ----

static bool is_tier1(void) { return strncmp(cuda->launched, "\177ELFquick ", 10) == 0; }

// Runs a product of 4096 x k and k x 4096 with arrays at `at`; returns the warps of its launch.
static unsigned run_product(int64_t k, char *at) {
  const int64_t x_shape[] = {4096, k}, w_shape[] = {k, 4096}, shape[] = {4096, 4096};
  tile_tensor in[] = {{at, TILE_F16, 2, x_shape, NULL},
                      {at, TILE_F16, 2, w_shape, NULL},
                      {at, TILE_F16, 2, shape, NULL}};
  tile_tensor out = {at, TILE_F16, 2, shape, NULL};
  cuda->param_count = 1;
  tile_status s = tile_program_run(program, NULL, 0, in, 3, &out, 1);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  return cuda->block / 32;
}

static unsigned run_large(char *at) { return run_product(516, at); }

// Rows of whole 16 bytes come through tensor maps, by 4 more warps; but not where the launch's
// arrays are not aligned.
START_TEST(maps_need_aligned_arrays) {
  char *p = (char *)(uintptr_t)0x10000;
  open_text(
      "def forward(self, x: \"f16[4096, 512]\", w: \"f16[512, 4096]\", b: \"f16[4096, 4096]\"):\n"
      "    mm = torch.ops.aten.mm.default(x, w)\n"
      "    add = torch.ops.aten.add.Tensor(mm, b)\n"
      "    return (add,)\n");
  ck_assert_int_eq(tile_program_wait_optimized(program), TILE_OK);
  ck_assert_uint_eq(run_product(512, p), 8 + 4);
  ck_assert_uint_eq(run_product(512, p + 2), 8);
  ck_assert_uint_eq(run_product(512, p), 8 + 4);
}
END_TEST

START_TEST(tier1_code_runs_first) {
  char *p = (char *)(uintptr_t)0x10000;
  cuda->holds_best = true;
  open_text(large);
  ck_assert_uint_eq(run_large(p), 16);
  ck_assert(is_tier1());
  ck_assert_uint_eq(run_large(p + 2), 16); // another alignment, compiled now
  cuda->holds_best = false;
  ck_assert_int_eq(tile_program_wait_optimized(program), TILE_OK);
  int links = cuda->calls[CUDA_CALL_link_create];
  ck_assert_uint_eq(run_large(p), 8);
  ck_assert(!is_tier1());
  ck_assert_int_eq(cuda->calls[CUDA_CALL_link_create], links);
}
END_TEST

START_TEST(tier1_code_stays_where_there_is_no_better) {
  cuda->holds_best = true;
  open_text(large);
  cuda->fail[CUDA_CALL_link_complete] = 999;
  cuda->holds_best = false;
  ck_assert_int_eq(tile_program_wait_optimized(program), TILE_OK);
  cuda->fail[CUDA_CALL_link_complete] = 0;
  ck_assert_uint_eq(run_large((char *)(uintptr_t)0x10000), 16);
  ck_assert(is_tier1());
}
END_TEST

START_TEST(what_is_on_disk_is_the_best) {
  char folder[] = "/tmp/tile-recompile-XXXXXX", command[100];
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("TILE_CACHE_DIR", folder, 1);
  open_text(large);
  ck_assert_int_eq(tile_program_wait_optimized(program), TILE_OK);
  int links = cuda->calls[CUDA_CALL_link_create];
  tile_program_close(program);
  open_text(large);
  ck_assert_uint_eq(run_large((char *)(uintptr_t)0x10000), 8);
  ck_assert(!is_tier1());
  ck_assert_int_eq(cuda->calls[CUDA_CALL_link_create], links);
  ck_assert_int_eq(cuda->live_modules, 1);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void) {
  setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1);
  setenv("TILE_CACHE_DIR", "", 1);
  Suite *suite = suite_create("recompile");
  TCase *c = tcase_create("programs");
  tcase_add_checked_fixture(c, open_program, close_program);
  tcase_set_timeout(c, 60);
  tcase_add_test(c, best_code_comes_by_itself);
  tcase_add_test(c, closing_does_not_need_it);
  tcase_add_test(c, recordings_have_the_best_code);
  suite_add_tcase(suite, c);
  TCase *tier1 = tcase_create("tier-1 code");
  tcase_add_checked_fixture(tier1, open_device, close_program);
  tcase_set_timeout(tier1, 60);
  tcase_add_test(tier1, tier1_code_runs_first);
  tcase_add_test(tier1, maps_need_aligned_arrays);
  tcase_add_test(tier1, tier1_code_stays_where_there_is_no_better);
  tcase_add_test(tier1, what_is_on_disk_is_the_best);
  suite_add_tcase(suite, tier1);
  SRunner *r = srunner_create(suite);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
