// SPDX-License-Identifier: Apache-2.0
// Convolutions of few taps on processors: maps whose vectors run along the image's rows. Their
// results, and that GPUs, reductions and products keep their forms.
#include "emit_check.h"
#include "graph/plan/plan.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct program_options on_cpu = {.target = "cpu"}, on_gpu = {.target = "sm_90a"};

// A convolution after an operator that each tap would compute, with a factor and a maximum after
// it, and the mean of each image.
struct layer {
  const char *name, *image, *weights, *result;
  const char *lists, *groups; // stride, padding, dilation
  const char *dims;           // of an image
  double tolerance;
};

static const char *text_of(struct arena *a, const struct layer *l) {
  static const char text[] =
      "class G(torch.nn.Module):\n"
      "    def forward(self, x: \"%s\", w: \"%s\"):\n"
      "        h = torch.ops.aten.hardswish.default(x)\n"
      "        c: \"%s\" = torch.ops.aten.convolution.default(h, w, None, %s, False, [0], %s)\n"
      "        f = torch.ops.aten.mul.Tensor(c, 0.75)\n"
      "        r = torch.ops.aten.relu.default(f)\n"
      "        m = torch.ops.aten.mean.dim(r, %s)\n"
      "        return (r, m)\n";
  return arena_printf(a, text, l->image, l->weights, l->result, l->lists, l->groups, l->dims);
}

static const struct layer layers[] = {
    {"odd sides", "f32[2, 6, 13, 19]", "f32[6, 1, 3, 3]", "f32[2, 6, 13, 19]",
     "[1, 1], [1, 1], [1, 1]", "6", "[2, 3]", 1e-6},
    {"a stride of 2", "f32[2, 5, 13, 75]", "f32[5, 1, 3, 3]", "f32[2, 5, 7, 38]",
     "[2, 2], [1, 1], [1, 1]", "5", "[2, 3]", 1e-6},
    {"a stride of 2, without padding", "f32[1, 3, 5, 99]", "f32[3, 1, 3, 3]", "f32[1, 3, 2, 49]",
     "[2, 2], [0, 0], [1, 1]", "3", "[2, 3]", 1e-6},
    {"a stride of 3", "f32[1, 4, 40, 41]", "f32[4, 1, 3, 3]", "f32[1, 4, 14, 14]",
     "[3, 3], [1, 1], [1, 1]", "4", "[2, 3]", 1e-6},
    {"different strides and paddings", "f32[1, 5, 19, 33]", "f32[5, 1, 5, 3]", "f32[1, 5, 19, 16]",
     "[1, 2], [2, 0], [1, 1]", "5", "[2, 3]", 1e-6},
    {"holes", "f32[1, 7, 31, 29]", "f32[7, 1, 3, 5]", "f32[1, 7, 31, 29]", "[1, 1], [4, 6], [4, 3]",
     "7", "[2, 3]", 1e-6},
    {"three results of a channel", "f32[2, 4, 11, 40]", "f32[12, 1, 3, 3]", "f32[2, 12, 11, 40]",
     "[1, 1], [1, 1], [1, 1]", "4", "[2, 3]", 1e-6},
    {"groups of three", "f32[2, 12, 9, 21]", "f32[8, 3, 3, 3]", "f32[2, 8, 9, 21]",
     "[1, 1], [1, 1], [1, 1]", "4", "[2, 3]", 1e-6},
    {"two pixels", "f32[1, 9, 1, 2]", "f32[9, 1, 3, 3]", "f32[1, 9, 1, 2]",
     "[1, 1], [1, 1], [1, 1]", "9", "[2, 3]", 1e-6},
    {"lines", "f32[3, 10, 75]", "f32[10, 1, 31]", "f32[3, 10, 75]", "[1], [15], [1]", "10", "[2]",
     1e-6},
    {"volumes", "f32[1, 4, 6, 7, 19]", "f32[4, 1, 3, 3, 3]", "f32[1, 4, 6, 7, 10]",
     "[1, 1, 2], [1, 1, 1], [1, 1, 1]", "4", "[2, 3, 4]", 1e-6},
    {"half precision", "f16[2, 6, 13, 35]", "f16[6, 1, 3, 3]", "f16[2, 6, 7, 18]",
     "[2, 2], [1, 1], [1, 1]", "6", "[2, 3]", 2e-3},
    {"double precision", "f64[2, 6, 13, 35]", "f64[6, 1, 3, 3]", "f64[2, 6, 7, 18]",
     "[2, 2], [1, 1], [1, 1]", "6", "[2, 3]", 1e-14},
    {"channels last", "f32[2, 24, 13, 17][5304, 1, 408, 24]", "f32[24, 1, 3, 3]",
     "f32[2, 24, 13, 17][5304, 1, 408, 24]", "[1, 1], [1, 1], [1, 1]", "24", "[2, 3]", 1e-6},
    {"channels last, a stride", "f32[2, 7, 14, 15][1470, 1, 105, 7]", "f32[7, 1, 5, 5]",
     "f32[2, 7, 7, 8][392, 1, 56, 7]", "[2, 2], [2, 2], [1, 1]", "7", "[2, 3]", 1e-6},
};

static const char *source_of(const struct program *p, const char *operator) {
  for (size_t i = 0; i < p->kernels.len; i++)
    if (strstr(p->kernels.at[i]->source, operator))
      return p->kernels.at[i]->source;
  ck_abort_msg("no kernel of %s", operator);
}

// No loop over taps, no reduction, and the image is computed once, elsewhere.
START_TEST(results_are_right) {
  const struct layer *l = &layers[_i];
  struct arena *a = arena_create();
  struct program *p = check_program(a, text_of(a, l), &on_cpu, l->name);
  const char *source = source_of(p, "convolution");
  ck_assert_msg(!strstr(source, "tl.sum(") && !strstr(source, "hardswish"), "%s:\n%s", l->name,
                source);
  check_agrees(p, NULL, l->tolerance, l->name);
  arena_destroy(a);
}
END_TEST

START_TEST(sizes_of_run_time) {
  static const int64_t symbols[][2] = {{1, 1}, {9, 40}, {16, 17}};
  static const char text[] =
      "class G(torch.nn.Module):\n"
      "    def forward(self, s0: \"Sym(s0)\", s1: \"Sym(s1)\", x: \"f32[2, 5, s0, s1]\", "
      "w: \"f32[5, 1, 3, 3]\"):\n"
      "        c = torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, "
      "[0, 0], 5)\n"
      "        return (c,)\n";
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_cpu, "symbols");
  for (size_t i = 0; i < 3; i++)
    check_agrees(p, symbols[i], 1e-6, "symbols");
  arena_destroy(a);
}
END_TEST

// On GPUs, with many taps, and with channels enough for a product.
START_TEST(others_keep_their_forms) {
  static const struct layer many = {"many taps",
                                    "f32[1, 4, 20, 20]",
                                    "f32[4, 1, 9, 9]",
                                    "f32[1, 4, 20, 20]",
                                    "[1, 1], [4, 4], [1, 1]",
                                    "4",
                                    "[2, 3]",
                                    1e-6};
  static const struct layer wide = {"wide groups",
                                    "f32[1, 32, 9, 20]",
                                    "f32[16, 16, 1, 1]",
                                    "f32[1, 16, 9, 20]",
                                    "[1, 1], [0, 0], [1, 1]",
                                    "2",
                                    "[2, 3]",
                                    1e-6};
  struct arena *a = arena_create();
  struct program *p = check_program(a, text_of(a, &layers[0]), &on_gpu, "on a GPU");
  ck_assert_ptr_nonnull(strstr(source_of(p, "convolution"), "tl.sum("));
  p = check_program(a, text_of(a, &many), &on_cpu, many.name);
  ck_assert_ptr_nonnull(strstr(source_of(p, "convolution"), "tl.sum("));
  check_agrees(p, NULL, many.tolerance, many.name);
  p = check_program(a, text_of(a, &wide), &on_cpu, wide.name);
  ck_assert_ptr_nonnull(strstr(source_of(p, "convolution"), "tl.dot("));
  check_agrees(p, NULL, wide.tolerance, wide.name);
  arena_destroy(a);
}
END_TEST

int main(void) {
  Suite *s = suite_create("taps");
  TCase *tc = tcase_create("taps");
  tcase_add_loop_test(tc, results_are_right, 0, COUNT_OF(layers));
  tcase_add_test(tc, sizes_of_run_time);
  tcase_add_test(tc, others_keep_their_forms);
  suite_add_tcase(s, tc);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed != 0;
}
