// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch in programs, over the fake CUDA driver: which launches of a run
// have the attribute.
#include "../runtime/fake_cuda.h"

#include <tile/program.h>

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static struct fake_cuda *cuda;
static tile_device *device;
static tile_program *program;
static tile_stream *stream;
static char *memory; // of all arrays: the fake's kernels compute nothing

static void open_fake(void) {
  cuda = dlsym(dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL), FAKE_CUDA_STATE);
  cuda->param_count = 1;
}

static void open_text(const char *text) {
  ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK);
  ck_assert_int_eq(tile_stream_create(device, &stream), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, 1 << 20, (void **)&memory), TILE_OK);
  tile_status s = tile_program_from_text(device, "g.py", text, strlen(text), &program);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
}

static void close_all(void) {
  tile_program_close(program);
  tile_free(device, memory);
  tile_stream_destroy(stream);
  tile_device_close(device);
}

enum { MOST = 4 };

// The program's inputs or outputs, in 64 KiB each from `at` on; dynamic sizes are `dynamic`.
static size_t tensors(bool are_inputs, int64_t dynamic, char *at,
                      int64_t shapes[MOST][TILE_PROGRAM_MAX_RANK], tile_tensor *ret) {
  size_t n = are_inputs ? tile_program_input_count(program) : tile_program_output_count(program);
  ck_assert_uint_le(n, MOST);
  for (size_t i = 0; i < n; i++) {
    tile_tensor_info info;
    ck_assert_int_eq(are_inputs ? tile_program_input(program, i, &info)
                                : tile_program_output(program, i, &info),
                     TILE_OK);
    for (int d = 0; d < info.rank; d++)
      shapes[i][d] = info.shape[d] < 0 ? dynamic : info.shape[d];
    ret[i] = (tile_tensor){at + (i << 16), info.type, info.rank, shapes[i], NULL};
  }
  return n;
}

// The work of a run or of a recording, in order. A dynamic size of inputs is `dynamic`, one of
// outputs is less by 1. The first run also clears counters.
static const char *work_of(bool records, int64_t dynamic) {
  int64_t in_shapes[MOST][TILE_PROGRAM_MAX_RANK], out_shapes[MOST][TILE_PROGRAM_MAX_RANK];
  tile_tensor in[MOST], out[MOST];
  size_t in_count = tensors(true, dynamic, memory, in_shapes, in);
  size_t out_count = tensors(false, dynamic - 1, memory + (1 << 19), out_shapes, out);
  tile_replay *replay = NULL;
  ck_assert_int_eq(tile_program_wait_optimized(program), TILE_OK);
  tile_status s = tile_program_run(program, stream, 0, in, in_count, out, out_count);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  memset(cuda->work, 0, sizeof cuda->work);
  s = records ? tile_program_record(program, stream, 0, in, in_count, out, out_count, &replay)
              : tile_program_run(program, stream, 0, in, in_count, out, out_count);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  tile_replay_destroy(replay);
  return cuda->work;
}

static const char chain[] = "def forward(self, x: \"f32[64, 128]\", w: \"f32[128, 64]\"):\n"
                            "    mm = torch.ops.aten.mm.default(x, w)\n"
                            "    sum_1 = torch.ops.aten.sum.dim_IntList(mm, [0])\n"
                            "    mm_1 = torch.ops.aten.mm.default(mm, x)\n"
                            "    return (sum_1, mm_1)\n";

// The first launch follows work of others. Runs and recordings are alike.
START_TEST(all_but_the_first) {
  open_text(chain);
  for (int run = 0; run < 2; run++)
    for (int records = 0; records < 2; records++)
      ck_assert_str_eq(work_of(records, 0), "kpp");
  ck_assert_int_eq(tile_program_set_pdl(program, 0), TILE_OK);
  for (int records = 0; records < 2; records++)
    ck_assert_str_eq(work_of(records, 0), "kkk");
  ck_assert_int_eq(tile_program_set_pdl(program, 1), TILE_OK);
  ck_assert_str_eq(work_of(false, 0), "kpp");
  ck_assert_int_eq(tile_program_set_pdl(NULL, 1), TILE_INVALID_ARGUMENT);
}
END_TEST

// Programs of the product fill a multiprocessor: it begins in order.
START_TEST(persistent_products_do_not) {
  open_text("def forward(self, x: \"f16[2048, 512]\", w: \"f16[512, 3072]\"):\n"
            "    exp = torch.ops.aten.exp.default(x)\n"
            "    mm = torch.ops.aten.mm.default(exp, w)\n"
            "    sum_1 = torch.ops.aten.sum.dim_IntList(mm, [0])\n"
            "    return (sum_1,)\n");
  ck_assert_str_eq(work_of(_i, 0), "kkp");
}
END_TEST

START_TEST(none_on_older_gpus) {
  cuda->minor = 0;
  cuda->major = 8;
  open_text(chain);
  ck_assert_str_eq(work_of(_i, 0), "kkk");
}
END_TEST

START_TEST(none_with_older_drivers) {
  cuda->driver_version = 12020;
  open_text(chain);
  ck_assert_str_eq(work_of(_i, 0), "kkk");
}
END_TEST

// Only kernels have programmatic edges: the launch behind a copy or a memset has no attribute.
START_TEST(not_behind_copies_and_fills) {
  open_text("def forward(self, x: \"f32[1000]\", at: \"i64[1000]\", base: \"f32[64]\"):\n"
            "    exp = torch.ops.aten.exp.default(x)\n"
            "    cumsum = torch.ops.aten.cumsum.default(base, 0)\n"
            "    full = torch.ops.aten.full.default([64], 0, dtype=torch.float32)\n"
            "    scatter_add = torch.ops.aten.scatter_add.default(full, 0, at, exp)\n"
            "    cumsum_1 = torch.ops.aten.cumsum.default(scatter_add, 0)\n"
            "    mul = torch.ops.aten.mul.Tensor(cumsum, cumsum_1)\n"
            "    sum_1 = torch.ops.aten.sum.default(mul)\n"
            "    return (mul, sum_1, base)\n");
  const char *work = work_of(_i, 0);
  ck_assert_msg(work[0] == 'c', "%s", work);
  ck_assert_ptr_nonnull(strstr(work, "mk"));
  ck_assert_ptr_nonnull(strchr(work, 'p'));
  for (const char *p = work; *p; p++)
    ck_assert_msg(*p != 'p' || (p > work && strchr("kp", p[-1])), "%s", work);
  for (const char *p = work; *p; p++)
    ck_assert_msg(*p != 'k' || p == work || strchr("cm", p[-1]), "%s", work);
}
END_TEST

// An empty grid launches nothing, so that the next launch is the first.
START_TEST(behind_an_empty_grid) {
  open_text("def forward(self, s0: \"Sym(s0)\", x: \"f32[s0, 128]\", w: \"f32[128, 32]\", "
            "y: \"f32[16, 128]\"):\n"
            "    rest = torch.ops.aten.slice.Tensor(x, 0, 1, 9223372036854775807)\n"
            "    mm = torch.ops.aten.mm.default(rest, w)\n"
            "    mm_1 = torch.ops.aten.mm.default(y, w)\n"
            "    softmax = torch.ops.aten._softmax.default(mm_1, 0, False)\n"
            "    return (mm, softmax)\n");
  ck_assert_str_eq(work_of(_i, 5), "kpp");
  ck_assert_str_eq(work_of(_i, 1), "kp");
}
END_TEST

int main(void) {
  setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1);
  setenv("TILE_CACHE_DIR", "", 1);
  Suite *suite = suite_create("programmatic dependent launch");
  TCase *c = tcase_create("programs");
  tcase_add_checked_fixture(c, open_fake, close_all);
  tcase_set_timeout(c, 60);
  tcase_add_test(c, all_but_the_first);
  tcase_add_loop_test(c, persistent_products_do_not, 0, 2);
  tcase_add_loop_test(c, none_on_older_gpus, 0, 2);
  tcase_add_loop_test(c, none_with_older_drivers, 0, 2);
  tcase_add_loop_test(c, not_behind_copies_and_fills, 0, 2);
  tcase_add_loop_test(c, behind_an_empty_grid, 0, 2);
  suite_add_tcase(suite, c);
  SRunner *r = srunner_create(suite);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
