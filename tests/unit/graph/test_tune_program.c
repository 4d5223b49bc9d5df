// SPDX-License-Identifier: Apache-2.0
// Tuning of programs: grids follow configurations, files of tunings are reused, tuned kernels on
// the CPU compute the same, and captured graphs have valid spaces.
#include "emit_check.h"
#include "graph/graph_compile.h"
#include "graph/plan/kernel_config.h"
#include "graph/read/fx.h"
#include "graph/run/run_internal.h"
#include "graph/run/run_tune.h"
#include "graph_fixture.h"

#include <tile/program.h>

#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HEAD "class G(torch.nn.Module):\n    def forward(self, "
#define LINE "        "
#define A "torch.ops.aten."

// Maps of an odd and an even size, rows, columns, a product, and a write to an input.
static const char mixed[] = HEAD "x: \"f32[64, 96]\", w: \"f32[96, 40]\", state: \"f32[40]\"):\n" //
    LINE "softmax = " A "_softmax.default(x, -1, False)\n"                                        //
    LINE "mm = " A "mm.default(softmax, w)\n"                                                     //
    LINE "sum_1 = " A "sum.dim_IntList(mm, [0])\n"                                                //
    LINE "add = " A "add.Tensor(state, sum_1)\n"                                                  //
    LINE "copy_ = " A "copy_.default(state, add)\n"                                               //
    LINE "t = " A "t.default(x)\n"                                                                //
    LINE "c = " A "clone.default(t, memory_format = torch.contiguous_format)\n"                   //
    LINE "return (mm, c)\n";

static const char dynamic[] = HEAD "s0: \"Sym(s0)\", x: \"f32[s0, 70]\"):\n" //
    LINE "exp = " A "exp.default(x)\n"                                       //
    LINE "sum_1 = " A "sum.dim_IntList(exp, [1])\n"                          //
    LINE "return (exp, sum_1)\n";

// ---- configurations ----

START_TEST(configurations_compute_the_same) {
  struct arena *a = arena_create();
  for (unsigned round = 1; round < 7; round++) {
    struct program *p =
        check_program(a, mixed, &(struct program_options){.target = "cpu"}, "mixed");
    unsigned changed = check_configure(p, round, "mixed");
    ck_assert_uint_gt(changed, 0);
    check_agrees(p, NULL, 1e-5, "mixed");
  }
  const int64_t size = 33;
  for (unsigned round = 0; round < 4; round++) {
    struct program *p =
        check_program(a, dynamic, &(struct program_options){.target = "cpu"}, "dynamic");
    check_configure(p, round, "dynamic");
    check_agrees(p, &size, 1e-5, "dynamic");
  }
  arena_destroy(a);
}
END_TEST

// A product whose sum is split, and rows of a program that are few and long: another kernel, or the
// last program, reads what each of a fixed number of parts has left.
START_TEST(parts_stay) {
  static const char *const texts[] = {
      HEAD "a: \"bf16[32, 4096]\", b: \"bf16[4096, 48]\"):\n" LINE "mm = " A
           "mm.default(a, b)\n" LINE "relu = " A "relu.default(mm)\n" LINE "return (relu,)\n",
      HEAD "x: \"f32[3, 60000]\"):\n" LINE "sum_1 = " A "sum.dim_IntList(x, [1])\n" LINE "amax = " A
           "amax.default(x, [1])\n" LINE "return (sum_1, amax)\n",
      HEAD "x: \"f32[5000, 40]\"):\n" LINE "sum_1 = " A "sum.dim_IntList(x, [0])\n" LINE
           "return (sum_1,)\n"};
  struct arena *a = arena_create();
  for (unsigned round = 0; round < 4; round++) {
    struct program *p =
        check_program(a, texts[_i], &(struct program_options){.target = "sm_90a"}, "parts");
    check_configure(p, round, "parts");
    check_agrees(p, NULL, _i ? 1e-4 : 2e-2, "parts");
  }
  arena_destroy(a);
}
END_TEST

START_TEST(sources_and_grids_follow) {
  struct arena *a = arena_create();
  struct program *p = check_program(
      a, HEAD "x: \"f32[4096]\"):\n" LINE "sin = " A "sin.default(x)\n" LINE "return (sin,)\n",
      &(struct program_options){.target = "cpu"}, "sin");
  struct graph_kernel *k = p->kernels.at[0];
  const char *emitted = k->source;
  const struct tune_setting set[] = {{"BLOCK", "512"}, {"num_warps", "2"}};
  ck_assert(kernel_configure(p, k, set, 2));
  ck_assert_uint_eq(k->num_warps, 2);
  ck_assert_ptr_nonnull(strstr(k->source, "BLOCK: constexpr = 512)"));
  ck_assert(expr_is(p->launches.at[0].grid[0], 8));
  ck_assert_ptr_eq(k->emitted, emitted);
  const struct tune_setting unknown[] = {{"BLOCK", "256"}, {"YBLOCK", "2"}};
  ck_assert(!kernel_configure(p, k, unknown, 2));
  const struct tune_setting warps[] = {{"num_warps", "0"}};
  ck_assert(!kernel_configure(p, k, warps, 1));
  ck_assert(expr_is(p->launches.at[0].grid[0], 8)); // nothing has changed
  ck_assert_ptr_nonnull(strstr(k->source, "BLOCK: constexpr = 512)"));
  arena_destroy(a);
}
END_TEST

// ---- captured graphs ----

static void check_capture(const char *path, const char *target) {
  struct arena *a = arena_create();
  FILE *f = fopen(path, "rb");
  ck_assert_ptr_nonnull(f);
  char *text = arena_array(a, char, SOURCE_MAX_BYTES / 4);
  size_t size = fread(text, 1, SOURCE_MAX_BYTES / 4, f);
  fclose(f);
  struct graph *g = graph_fixture_in(a, path, (struct str){text, size});
  struct program *p = program_compile(g, &(struct program_options){.target = target});
  graph_fixture_require(g->diag, p != NULL, path);
  for (size_t i = 0; i < p->kernels.len; i++) {
    struct tune_space space;
    const char *why = p->kernels.at[i]->space ? kernel_space(a, p, p->kernels.at[i], &space) : NULL;
    ck_assert_msg(!why, "%s: %s: %s", path, p->kernels.at[i]->name, why);
  }
  arena_destroy(a);
}

START_TEST(captures_have_spaces) {
  DIR *folder = opendir(CAPTURES);
  unsigned count = 0;
  ck_assert_ptr_nonnull(folder);
  for (struct dirent *e; (e = readdir(folder));) {
    char path[512];
    if (!strstr(e->d_name, ".py"))
      continue;
    snprintf(path, sizeof path, "%s/%s", CAPTURES, e->d_name);
    check_capture(path, _i ? "sm_90a" : "cpu");
    count++;
  }
  closedir(folder);
  ck_assert_uint_gt(count, 3);
}
END_TEST

// ---- measuring ----

struct heard {
  unsigned measured, from_file, kept;
};

static void hear(void *user, const tile_program_choice *c) {
  struct heard *h = user;
  h->measured += c->is_measured != 0;
  h->from_file += c->is_from_file != 0;
  h->kept += c->why != NULL;
  ck_assert(c->why != NULL || c->config != NULL);
}

struct fixture {
  tile_device *device;
  tile_program *program;
  char file[128];
  float x[64 * 96], w[96 * 40], state[40], mm[64 * 40], t[96 * 64];
};

static void open_program(struct fixture *f) {
  ck_assert_int_eq(tile_program_from_text(f->device, "mixed.py", mixed, strlen(mixed), &f->program),
                   TILE_OK);
}

static struct fixture *open_fixture(void) {
  struct fixture *f = calloc(1, sizeof *f);
  snprintf(f->file, sizeof f->file, "%s/tile-program-XXXXXX",
           getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
  int fd = mkstemp(f->file);
  ck_assert_int_ge(fd, 0);
  close(fd);
  unlink(f->file);
  ck_assert_int_eq(tile_device_open("cpu", &f->device), TILE_OK);
  open_program(f);
  for (int i = 0; i < 64 * 96; i++)
    f->x[i] = (float)(i * 37 % 101) / 50 - 1;
  for (int i = 0; i < 96 * 40; i++)
    f->w[i] = (float)(i * 53 % 97) / 48 - 1;
  return f;
}

static void close_fixture(struct fixture *f) {
  tile_program_close(f->program);
  tile_device_close(f->device);
  unlink(f->file);
  free(f);
}

// `tuning` NULL: a run.
static tile_status go(struct fixture *f, const tile_program_tuning *tuning) {
  static const int64_t x[] = {64, 96}, w[] = {96, 40}, state[] = {40}, mm[] = {64, 40},
                       t[] = {96, 64};
  const tile_tensor in[] = {{f->x, TILE_F32, 2, x, NULL},
                            {f->w, TILE_F32, 2, w, NULL},
                            {f->state, TILE_F32, 1, state, NULL}};
  const tile_tensor out[] = {{f->mm, TILE_F32, 2, mm, NULL}, {f->t, TILE_F32, 2, t, NULL}};
  return tuning ? tile_program_tune(f->program, NULL, 0, in, 3, out, 2, tuning)
                : tile_program_run(f->program, NULL, 0, in, 3, out, 2);
}

static void same(const float *got, const float *want, int count, double factor, double tolerance) {
  for (int i = 0; i < count; i++)
    ck_assert_double_le(fabs((double)got[i] - factor * (double)want[i]), tolerance);
}

START_TEST(measured_once) {
  struct fixture *f = open_fixture();
  struct heard first = {0}, second = {0}, third = {0};
  tile_program_properties properties;
  ck_assert_int_eq(tile_program_get_properties(f->program, &properties), TILE_OK);
  ck_assert_int_eq(go(f, NULL), TILE_OK);
  float want[64 * 40], sums[40];
  memcpy(want, f->mm, sizeof want);
  memcpy(sums, f->state, sizeof sums);
  tile_program_tuning tuning = {0};
  tuning.file = f->file;
  tuning.candidates = 6;
  tuning.told = hear;
  tuning.user = &first;
  memset(f->mm, 0, sizeof f->mm);
  ck_assert_msg(go(f, &tuning) == TILE_OK, "%s", tile_error_message());
  ck_assert_uint_gt(first.measured, 1);
  ck_assert_uint_eq(first.measured + first.kept, properties.kernels);
  // It was a run: outputs are there, and the input that is written to was written to once.
  same(f->mm, want, 64 * 40, 1, 1e-5);
  same(f->state, sums, 40, 2, 1e-3);
  ck_assert_int_eq(go(f, NULL), TILE_OK);
  same(f->mm, want, 64 * 40, 1, 1e-5);
  // The same program again, and another one: all of it is on file.
  tuning.user = &second;
  ck_assert_int_eq(go(f, &tuning), TILE_OK);
  ck_assert_uint_eq(second.from_file, first.measured);
  tile_program_close(f->program);
  open_program(f);
  tuning.measures_nothing = 1;
  tuning.user = &third;
  ck_assert_int_eq(go(f, &tuning), TILE_OK);
  ck_assert_uint_eq(third.from_file, first.measured);
  ck_assert_uint_eq(third.measured, 0);
  same(f->mm, want, 64 * 40, 1, 1e-5);
  close_fixture(f);
}
END_TEST

START_TEST(files_that_do_not_serve) {
  struct fixture *f = open_fixture();
  struct heard heard = {0};
  tile_program_tuning tuning = {0};
  tuning.file = f->file;
  tuning.measures_nothing = 1;
  tuning.told = hear;
  tuning.user = &heard;
  ck_assert_int_eq(go(f, &tuning), TILE_OK); // there is none
  ck_assert_uint_eq(heard.from_file + heard.measured, 0);
  FILE *file = fopen(f->file, "w");
  fputs("{\"tile_tune\": 1, \"entries\": [", file);
  fclose(file);
  ck_assert_int_eq(go(f, &tuning), TILE_IO_ERROR);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), f->file));
  ck_assert_int_eq(tile_program_tune(NULL, NULL, 0, NULL, 0, NULL, 0, &tuning),
                   TILE_INVALID_ARGUMENT);
  tuning.seconds = -1;
  ck_assert_int_eq(go(f, &tuning), TILE_INVALID_ARGUMENT);
  close_fixture(f);
}
END_TEST

START_TEST(no_time_left) {
  struct fixture *f = open_fixture();
  struct heard heard = {0};
  tile_program_tuning tuning = {0};
  tuning.seconds = 1e-6;
  tuning.told = hear;
  tuning.user = &heard;
  ck_assert_int_eq(go(f, &tuning), TILE_OK);
  ck_assert_uint_eq(heard.measured, 0);
  ck_assert_uint_gt(heard.kept, 1);
  close_fixture(f);
}
END_TEST

int main(void) {
  Suite *s = suite_create("tune-program");
  TCase *c = tcase_create("tune-program");
  tcase_add_test(c, configurations_compute_the_same);
  tcase_add_loop_test(c, parts_stay, 0, 3);
  tcase_add_test(c, sources_and_grids_follow);
  tcase_add_loop_test(c, captures_have_spaces, 0, 2);
  tcase_add_test(c, measured_once);
  tcase_add_test(c, files_that_do_not_serve);
  tcase_add_test(c, no_time_left);
  tcase_set_timeout(c, 120);
  suite_add_tcase(s, c);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
