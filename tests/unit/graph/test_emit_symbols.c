// SPDX-License-Identifier: Apache-2.0
// Symbolic sizes: split reductions, extents that are expressions of symbols, symbols that no input
// determines, likely sizes.
#include "emit_check.h"
#include "graph/graph_compile.h"
#include "graph/ir/sizes.h"
#include "graph/read/fx.h"
#include "graph/run/run.h"
#include "graph/run/run_internal.h"
#include "graph_fixture.h"

#include <tile/program.h>

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const struct program_options on_cpu = {.target = "cpu"};
static const struct program_options on_gpu = {.target = "sm_90a"};

#define HEAD "class <lambda>(torch.nn.Module):\n    def forward(self, "
#define LINE "        "
#define A "torch.ops.aten."

// ---- reductions ----

struct reduction {
  const char *name, *x, *line;
  double tolerance;
};

static const struct reduction reductions[] = {
    {"a sum of all", "f32[s0, 40]", A "sum.default(x)", 1e-5},
    {"a mean of all", "f16[s0, 3, 50]", A "mean.default(x)", 1e-2},
    {"columns", "f32[s0, 48]", A "sum.dim_IntList(x, [0])", 1e-5},
    {"a variance of columns", "f32[s0, 48]", A "var.correction(x, [0], correction = 0)", 1e-5},
    {"the largest of planes", "f16[s0, 5, 70]", A "amax.default(x, [0, 2])", 0},
    {"long rows", "f32[3, s0*64]", A "_softmax.default(x, -1, False)", 1e-5},
    {"a variance of long rows", "f32[3, s0*64]", A "var.correction(x, [1], correction = 0)", 1e-5},
    {"indices", "f32[s0, 48]", A "argmax.default(x, 0)", 0},
};

static void reduction_text(char *text, size_t size, const struct reduction *r) {
  snprintf(text, size, HEAD "s0: \"Sym(s0)\", x: \"%s\"):\n" LINE "y = %s\n" LINE "return (y,)\n",
           r->x, r->line);
}

static const int64_t sizes[] = {1, 2, 7, 33, 700};

// Some shares are empty where there is less than was expected.
START_TEST(reductions_of_any_size) {
  const struct reduction *r = &reductions[_i];
  char text[500];
  reduction_text(text, sizeof text, r);
  for (size_t i = 0; i < COUNT_OF(sizes); i++)
    for (int gpu = 0; gpu < 2; gpu++) {
      struct arena *a = arena_create();
      struct program *p = check_program(a, text, gpu ? &on_gpu : &on_cpu, r->name);
      check_agrees(p, &sizes[i], r->tolerance, r->name);
      arena_destroy(a);
    }
}
END_TEST

// One program for all of a tensor would take a thousand times as long as a device can.
START_TEST(reductions_are_split) {
  for (size_t i = 0; i < 5; i++) {
    const struct reduction *r = &reductions[i];
    char text[500];
    reduction_text(text, sizeof text, r);
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &on_gpu, r->name);
    const struct launch *l = &p->launches.at[0];
    ck_assert_msg(l->grid[1] && expr_hint(l->grid[0]) * expr_hint(l->grid[1]) >= 8,
                  "%s: %lld programs", r->name, (long long)expr_hint(l->grid[0]));
    arena_destroy(a);
  }
}
END_TEST

// ---- extents ----

static void check_extents(const char *parameters, const char *line, const int64_t *symbols) {
  char text[500];
  snprintf(text, sizeof text, HEAD "%s):\n" LINE "%s\n" LINE "return (z,)\n", parameters, line);
  struct arena *a = arena_create();
  check_agrees(check_program(a, text, &on_cpu, parameters), symbols, 1e-5, parameters);
  arena_destroy(a);
}

START_TEST(extents_computed_of_symbols) {
  static const int64_t two[2] = {5, 3};
  check_extents("s0: \"Sym(s0)\", x: \"f32[8*s0, 4]\"", "z = " A "sin.default(x)", two);
  check_extents("s0: \"Sym(s0)\", s1: \"Sym(s1)\", x: \"f32[s0*s1, 4]\", y: \"f32[s1 + 1]\"",
                "z = " A "sin.default(x)", two);
  check_extents("s0: \"Sym(s0)\", s1: \"Sym(s1)\", x: \"f32[2*s0 + s1, s1]\"",
                "z = " A "mul.Tensor(x, s0)", two);
}
END_TEST

// Rows of products are counted by what two dimensions make together.
START_TEST(products_of_computed_extents) {
  static const int64_t rows[] = {1, 6, 50};
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    check_extents("s0: \"Sym(s0)\", x: \"f32[s0, 3, 40]\", w: \"f32[40, 24]\"",
                  "v = " A "view.default(x, [-1, 40])\n" LINE "z = " A "mm.default(v, w)",
                  &rows[i]);
}
END_TEST

// What Python computes of sizes in floats.
START_TEST(floats_of_sizes) {
  static const int64_t rows[] = {1, 4, 30};
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    check_extents(
        "s0: \"Sym(s0)\", x: \"f32[s0, 4]\"",
        "f: \"Sym(IntTrueDiv(s0, 16))\" = s0 / 16\n" LINE
        "g: \"Sym((IntTrueDiv(s0, 16)) - 2.5)\" = f - 2.5\n" LINE
        "h: \"Sym(FloatTrueDiv(-(IntTrueDiv(s0, 16)), (IntTrueDiv(s0, 16)) - 2.5))\" = -f "
        "/ g\n" LINE "r = torch.sym_sqrt(s0)\n" LINE "v = " A "mul.Tensor(x, h)\n" LINE "z = " A
        "add.Tensor(v, r)",
        &rows[i]);
}
END_TEST

// A symbol that nothing needs is no matter.
START_TEST(symbols_without_use) {
  static const int64_t sizes_of[2] = {4, 9};
  check_extents("s0: \"Sym(s0)\", s1: \"Sym(s1)\", x: \"f32[s0, 4]\"", "z = " A "sin.default(x)",
                sizes_of);
}
END_TEST

START_TEST(symbols_that_nothing_tells) {
  struct arena *a = arena_create();
  struct program *p =
      check_program(a,
                    HEAD "s0: \"Sym(s0)\", s1: \"Sym(s1)\", x: \"f32[s0*s1]\"):\n" LINE "y = " A
                         "view.default(x, [s0, s1])\n" LINE "z = " A
                         "sum.dim_IntList(y, [0])\n" LINE "return (z,)\n",
                    &on_cpu, "unknown");
  tile_device *device = NULL;
  struct loaded_program *loaded = NULL;
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(program_load(p, device, &loaded), TILE_OK);
  float x[6] = {0}, z[3] = {0};
  const int64_t in = 6, out = 3, one = 1;
  struct tensor_view input = {x, DTYPE_F32, 1, &in, &one}, output = {z, DTYPE_F32, 1, &out, &one};
  ck_assert_int_eq(program_run(loaded, NULL, 0, &input, &output), TILE_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tile_error_message(), "determines the size `s0`") != NULL, "%s",
                tile_error_message());
  ck_assert(graph_give_size(p->graph, "s0", 2) &&
            !graph_give_size(p->graph, "s1", 3)); // it follows
  ck_assert_int_eq(program_run(loaded, NULL, 0, &input, &output), TILE_OK);
  program_unload(loaded);
  tile_device_close(device);
  arena_destroy(a);
}
END_TEST

// ---- sizes that the text takes as equal ----

struct fact {
  const char *name, *text;
  int64_t good[2], bad[2]; // values of the symbols
  const char *error;       // with the bad ones; NULL: all are good
  double tolerance;
};

static const struct fact facts[] = {
    {"a slice of enough elements",
     HEAD "x: \"f32[s0, s1]\"):\n" LINE "y: \"f32[s0, 512][s1, 1]\" = " A
          "slice.Tensor(x, 1, 0, 512)\n" LINE "z: \"f32[512]\" = " A
          "sum.dim_IntList(y, [0])\n" LINE "return (z,)\n",
     {3, 600},
     {3, 60},
     "`min(s1, 512)` and `512` differ, which the graph takes as equal",
     1e-5},
    {"halves",
     HEAD "s0: \"Sym(s0)\", x: \"f32[s0, s1]\"):\n" LINE "h: \"Sym((s0//2))\" = s0 // 2\n" LINE
          "y: \"f32[(s0//2), (s0//((s0//2))), s1]\" = " A "view.default(x, [h, 2, -1])\n" LINE
          "z: \"f32[(s0//2), s1]\" = " A "amax.default(y, [1])\n" LINE "return (z,)\n",
     {8, 5},
     {7, 5},
     "(s0 // 2)))` differ, which the graph takes as equal",
     0},
    {"windows of an image",
     HEAD "s0: \"Sym(s0)\", s1: \"Sym(s1)\", x: \"f32[2, s0, s1, 3]\"):\n" LINE "h = s0 // 4\n" LINE
          "w = s1 // 4\n" LINE "v = " A "view.default(x, [2, h, 4, w, 4, 3])\n" LINE "p = " A
          "permute.default(v, [0, 1, 3, 2, 4, 5])\n" LINE "c = " A
          "clone.default(p, memory_format = torch.contiguous_format)\n" LINE "y = " A
          "view.default(c, [-1, 16, 3])\n" LINE "z = " A "sum.dim_IntList(y, [1])\n" LINE
          "return (z,)\n",
     {8, 12},
     {9, 12},
     "differ, which the graph takes as equal",
     1e-5},
    {"pools of pools",
     HEAD "x: \"f32[2, 3, s0, s1]\"):\n" LINE "a = " A
          "max_pool2d_with_indices.default(x, [2, 2])\n" LINE "b = a[0]\n" LINE "c = " A
          "max_pool2d_with_indices.default(b, [2, 2])\n" LINE "d = c[0]\n" LINE "e = c[1]\n" LINE
          "f = " A "avg_pool2d.default(d, [2, 2], [2, 2])\n" LINE "return (d, e, f)\n",
     {17, 22},
     {8, 9},
     NULL,
     1e-5},
    {"a pool with padding",
     HEAD "x: \"f32[2, s0, s0]\"):\n" LINE "a = " A
          "max_pool2d_with_indices.default(x, [3, 3], [2, 2], [1, 1])\n" LINE "b = a[0]\n" LINE
          "c = a[1]\n" LINE "return (b, c)\n",
     {6},
     {9},
     NULL,
     0},
    {"operands of a sum",
     HEAD "x: \"f32[s0, s1]\"):\n" LINE "t: \"f32[s1, s0]\" = " A
          "permute.default(x, [1, 0])\n" LINE "y: \"f32[s0, s1]\" = " A "add.Tensor(x, t)\n" LINE
          "return (y,)\n",
     {5, 5},
     {5, 6},
     "differ, which the graph takes as equal",
     1e-6},
    {"positions of computed number",
     HEAD "s0: \"Sym(s0)\", x: \"f32[s0]\"):\n" LINE "h = s0 // 2\n" LINE "n = h * 3\n" LINE
          "i: \"i64[3*((s0//2))]\" = " A "arange.default(n)\n" LINE "m = (s0 // 2) // 3\n" LINE
          "j: \"i64[(s0//6)]\" = " A "arange.default(m)\n" LINE "return (i, j)\n",
     {9},
     {14},
     NULL,
     0},
};

static tile_status run_with(struct program *p, const int64_t *symbols) {
  static float memory[2 * 16 * 16 * 64];
  int64_t shape[8];
  struct tensor_view input = {memory, DTYPE_F32, p->graph->inputs.at[0]->rank, shape, NULL};
  struct tensor_view outputs[3] = {{.data = memory}, {.data = memory}, {.data = memory}};
  tile_device *device = NULL;
  struct loaded_program *loaded = NULL;
  const struct graph *g = p->graph;
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(program_load(p, device, &loaded), TILE_OK);
  for (uint32_t d = 0; d < g->inputs.at[0]->rank; d++) {
    const struct expr *size = g->inputs.at[0]->shape[d];
    ck_assert(expr_eval(size, g->symbols.len, g->symbols.at, symbols, &shape[d]));
  }
  tile_status s = program_run(loaded, NULL, 0, &input, outputs);
  program_unload(loaded);
  tile_device_close(device);
  return s;
}

START_TEST(sizes_taken_as_equal) {
  const struct fact *f = &facts[_i];
  struct arena *a = arena_create();
  struct program *p = check_program(a, f->text, &on_cpu, f->name);
  check_agrees(p, f->good, f->tolerance, f->name);
  if (!f->error) {
    check_agrees(p, f->bad, f->tolerance, f->name);
  } else {
    ck_assert_int_eq(run_with(p, f->bad), TILE_INVALID_ARGUMENT);
    ck_assert_msg(strstr(tile_error_message(), f->error) != NULL, "%s", tile_error_message());
  }
  arena_destroy(a);
}
END_TEST

// ---- likely sizes ----

static const char softmax[] = HEAD "x: \"f32[s0, s1]\"):\n" LINE "y = " A
                                   "_softmax.default(x, -1, False)\n" LINE "return (y,)\n";

// `length` of s1, if it has one.
static struct program *compile_for(struct arena *a, const char *text, const char *target,
                                   int64_t rows, int64_t length) {
  struct graph *g = graph_fixture_in(a, "likely", str_from(text));
  struct program_options o = {.target = target};
  ck_assert(graph_set_likely_size(g, "s0", rows));
  ck_assert(!length || graph_set_likely_size(g, "s1", length));
  return program_compile(g, &o);
}

// Few long rows are split, many short ones are not; either way any size is right.
START_TEST(choices_are_for_likely_sizes) {
  static const int64_t sizes_of[][2] = {{3, 5}, {2, 3000}};
  struct arena *a = arena_create();
  ck_assert_uint_gt(compile_for(a, softmax, "sm_90a", 4, 1 << 20)->launches.len, 1);
  ck_assert_uint_eq(compile_for(a, softmax, "sm_90a", 1 << 20, 64)->launches.len, 1);
  for (size_t i = 0; i < COUNT_OF(sizes_of); i++) {
    check_agrees(compile_for(a, softmax, "sm_90a", 4, 1 << 20), sizes_of[i], 1e-5, "few long rows");
    check_agrees(compile_for(a, softmax, "cpu", 1 << 20, 64), sizes_of[i], 1e-5, "many short rows");
  }
  arena_destroy(a);
}
END_TEST

// Whole blocks are read without masks, what is left in a loop of its own.
START_TEST(whole_blocks_have_no_masks) {
  static const int64_t length = 5000;
  static const char text[] =
      HEAD "x: \"f32[s0, 48]\"):\n" LINE "y = " A "sum.dim_IntList(x, [0])\n" LINE "return (y,)\n";
  struct arena *a = arena_create();
  struct program *p = compile_for(a, text, "sm_90a", 1 << 16, 0);
  const char *source = p->kernels.at[0]->source;
  const char *whole = strstr(source, ", whole, "), *mask = strstr(source, "r_mask = ");
  ck_assert_msg(whole && mask && whole < mask, "%s", source);
  const char *rest = strstr(whole, "for r0 in range(tl.where(split == whole // RBLOCK % ");
  ck_assert_msg(rest && rest < mask, "%s", source);
  check_agrees(p, &length, 1e-5, "whole blocks");
  arena_destroy(a);
}
END_TEST

// A map of a size that may be large has blocks for that.
START_TEST(blocks_of_maps_do_not_shrink) {
  struct arena *a = arena_create();
  struct program *p = check_program(
      a, HEAD "x: \"f32[s0]\"):\n" LINE "y = " A "sin.default(x)\n" LINE "return (y,)\n", &on_gpu,
      "one size");
  const struct expr *n = p->graph->symbols.at[0], *programs = p->launches.at[0].grid[0];
  const int64_t large = 1 << 20;
  int64_t count = 0;
  ck_assert(expr_eval(programs, 1, &n, &large, &count));
  ck_assert_int_eq(count, 2048);
  arena_destroy(a);
}
END_TEST

static tile_status open_for(tile_device *device, const tile_likely_size *likely) {
  tile_program *p = NULL;
  tile_status s =
      tile_program_from_text_likely(device, "likely", softmax, strlen(softmax), likely, 1, &p);
  ck_assert_int_eq(p != NULL, s == TILE_OK);
  tile_program_close(p);
  return s;
}

START_TEST(likely_sizes_are_the_graphs) {
  tile_device *device = NULL;
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(open_for(device, &(tile_likely_size){"s1", 4096}), TILE_OK);
  ck_assert_int_eq(open_for(device, &(tile_likely_size){"s2", 4096}), TILE_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tile_error_message(), "no size `s2`") != NULL, "%s", tile_error_message());
  ck_assert_int_eq(open_for(device, &(tile_likely_size){"s1", 0}), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(open_for(device, &(tile_likely_size){NULL, 4}), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(open_for(device, NULL), TILE_INVALID_ARGUMENT);
  tile_device_close(device);
}
END_TEST

// x + n, where no input has the size n.
START_TEST(a_size_that_is_given) {
  static const char text[] = "class G(torch.nn.Module):\n"
                             "    def forward(self, n: \"Sym(s5)\", x: \"f32[s0][1]cpu\"):\n"
                             "        y = torch.ops.aten.add.Tensor(x, n)\n        return (y,)\n";
  tile_device *device = NULL;
  tile_program *p = NULL;
  float in[] = {1, 2, 3}, out[3] = {0};
  const int64_t shape[] = {3};
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(tile_program_from_text(device, "g.py", text, strlen(text), &p), TILE_OK);
  void *memory[2];
  for (int i = 0; i < 2; i++)
    ck_assert_int_eq(tile_malloc(device, sizeof in, &memory[i]), TILE_OK);
  ck_assert_int_eq(tile_copy_to_device(device, NULL, memory[0], in, sizeof in), TILE_OK);
  const tile_tensor x = {memory[0], TILE_F32, 1, shape, NULL},
                    y = {memory[1], TILE_F32, 1, shape, NULL};
  ck_assert_int_eq(tile_program_run(p, NULL, 0, &x, 1, &y, 1), TILE_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tile_error_message(), "determines the size `s5`") != NULL, "%s",
                tile_error_message());
  ck_assert_int_eq(tile_program_set_size(p, "s5", -1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_program_set_size(p, "s0", 3), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_program_set_size(p, NULL, 3), TILE_INVALID_ARGUMENT);
  for (int n = 0; n < 3; n += 2) {
    ck_assert_int_eq(tile_program_set_size(p, "s5", n), TILE_OK);
    ck_assert_int_eq(tile_program_run(p, NULL, 0, &x, 1, &y, 1), TILE_OK);
    ck_assert_int_eq(tile_copy_to_host(device, NULL, out, memory[1], sizeof out), TILE_OK);
    ck_assert_double_eq((double)out[2], 3 + n);
  }
  tile_free(device, memory[0]);
  tile_free(device, memory[1]);
  tile_program_close(p);
  tile_device_close(device);
}
END_TEST

// ---- calls of several threads ----

enum { CALLS = 60 };

struct caller {
  tile_program *program;
  tile_device *device;
  int64_t rows;
  unsigned wrong;
};

// Columns of ones less their sum: 1 - rows. The sum is stored between two kernels.
static void *call_often(void *user) {
  struct caller *c = user;
  size_t count = (size_t)c->rows * 8, bytes = count * sizeof(float);
  const int64_t shape[] = {c->rows, 8};
  float *host = malloc(bytes);
  void *memory[2] = {NULL, NULL};
  for (size_t i = 0; i < count; i++)
    host[i] = 1;
  for (int i = 0; i < 2; i++)
    c->wrong += tile_malloc(c->device, bytes, &memory[i]) != TILE_OK;
  c->wrong += tile_copy_to_device(c->device, NULL, memory[0], host, bytes) != TILE_OK;
  const tile_tensor x = {memory[0], TILE_F32, 2, shape, NULL},
                    y = {memory[1], TILE_F32, 2, shape, NULL};
  for (int i = 0; i < CALLS && !c->wrong; i++) {
    c->wrong += tile_program_run(c->program, NULL, 0, &x, 1, &y, 1) != TILE_OK;
    c->wrong += tile_copy_to_host(c->device, NULL, host, memory[1], bytes) != TILE_OK;
    for (size_t k = 0; k < count; k++)
      c->wrong += host[k] != 1 - (float)c->rows;
  }
  for (int i = 0; i < 2; i++)
    tile_free(c->device, memory[i]);
  free(host);
  return NULL;
}

START_TEST(threads_call_one_program) {
  static const char text[] = HEAD "s0: \"Sym(s0)\", x: \"f32[s0, 8]\"):\n" LINE "a = " A
                                  "sum.dim_IntList(x, [0], True)\n" LINE "y = " A
                                  "sub.Tensor(x, a)\n" LINE "return (y,)\n";
  static const int64_t rows[] = {3, 4096, 700, 65};
  struct caller callers[COUNT_OF(rows)];
  pthread_t threads[COUNT_OF(rows)];
  tile_device *device = NULL;
  tile_program *p = NULL;
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(tile_program_from_text(device, "g.py", text, strlen(text), &p), TILE_OK);
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    callers[i] = (struct caller){p, device, rows[i], 0};
    ck_assert_int_eq(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
  }
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    pthread_join(threads[i], NULL);
    ck_assert_uint_eq(callers[i].wrong, 0);
  }
  tile_program_close(p);
  tile_device_close(device);
}
END_TEST

int main(void) {
  Suite *s = suite_create("emit symbols");
  TCase *c = tcase_create("on the cpu");
  tcase_set_timeout(c, 600);
  tcase_add_loop_test(c, reductions_of_any_size, 0, COUNT_OF(reductions));
  tcase_add_test(c, reductions_are_split);
  tcase_add_test(c, whole_blocks_have_no_masks);
  tcase_add_test(c, extents_computed_of_symbols);
  tcase_add_test(c, products_of_computed_extents);
  tcase_add_test(c, floats_of_sizes);
  tcase_add_test(c, symbols_without_use);
  tcase_add_test(c, symbols_that_nothing_tells);
  tcase_add_loop_test(c, sizes_taken_as_equal, 0, COUNT_OF(facts));
  tcase_add_test(c, choices_are_for_likely_sizes);
  tcase_add_test(c, blocks_of_maps_do_not_shrink);
  tcase_add_test(c, likely_sizes_are_the_graphs);
  tcase_add_test(c, a_size_that_is_given);
  tcase_add_test(c, threads_call_one_program);
  suite_add_tcase(s, c);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed != 0;
}
