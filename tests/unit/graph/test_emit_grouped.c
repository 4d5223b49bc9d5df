// SPDX-License-Identifier: Apache-2.0
// Kernels of grouped products: groups of rows, columns and inner indices, empty ones and those of a
// row among them; rows gathered and scattered, gates, gradients and scales.
#include "emit_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const struct program_options on_cpu = {.target = "cpu"};
static const struct program_options on_hopper = {.target = "sm_90a"};

enum { TEXT = 4000 };
#define HEAD "class <lambda>(torch.nn.Module):\n    def forward(self, "
#define LINE "        "

// At most `launches` kernels on the CPU and on sm_90a; results are the interpreter's.
static void check_kernels(const char *text, size_t launches, double allowed) {
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_cpu, text);
  ck_assert_msg(p->launches.len == launches, "%zu kernels: %s", p->launches.len, text);
  check_agrees(p, NULL, allowed, text);
  p = check_program(a, text, &on_hopper, text);
  ck_assert_msg(p->launches.len == launches, "%zu kernels: %s", p->launches.len, text);
  arena_destroy(a);
}

// Rows, columns, k, groups: more groups than rows, so that some are empty and some have one row.
static const int shapes[][4] = {{300, 130, 96, 8}, {65, 33, 20, 64}, {5, 40, 64, 9},
                                {128, 64, 48, 1},  {1, 100, 256, 3}, {517, 72, 17, 5}};

START_TEST(forms) {
  const int *s = shapes[_i / 3], m = s[0], n = s[1], k = s[2], g = s[3];
  char text[TEXT], x[40], y[40];
  const char *type = _i % 2 ? "bf16" : "f32";
  switch (_i % 3) {
  case 0: // rows
    snprintf(x, sizeof x, "%d, %d", m, k), snprintf(y, sizeof y, "%d, %d, %d", g, k, n);
    break;
  case 1: // columns
    snprintf(x, sizeof x, "%d, %d, %d", g, n, k), snprintf(y, sizeof y, "%d, %d", k, m);
    break;
  default: // inner indices
    snprintf(x, sizeof x, "%d, %d", k, m), snprintf(y, sizeof y, "%d, %d", m, n);
  }
  snprintf(text, sizeof text,
           HEAD "x: \"%s[%s]\", y: \"%s[%s]\", offs: \"i32[%d]\"):\n" LINE
                "z = torch.ops.aten._grouped_mm.default(x, y, offs)\n" LINE "return (z,)\n",
           type, x, type, y, g);
  check_kernels(text, 1, _i % 2 ? 1.6e-2 : 1e-5);
}
END_TEST

// An expert of a mixture: rows are gathered, both products of the gate share a loop, and results
// are scattered by the kernel that computes them.
START_TEST(experts) {
  static const int cases[][4] = {{40, 80, 64, 8}, {33, 99, 48, 16}};
  const int *c = cases[_i], tokens = c[0], rows = c[1], width = c[2], g = c[3];
  char text[TEXT];
  snprintf(text, sizeof text,
           HEAD "x: \"f32[%d, %d]\", idx: \"i64[%d]\", w1: \"f32[%d, %d, 72]\", w3: \"f32[%d, %d, "
                "72]\", w2: \"f32[%d, 72, %d]\", offs: \"i32[%d]\", p: \"f32[%d, 1]\", o: "
                "\"f32[%d, %d]\"):\n" LINE "a = torch.ops.aten.index.Tensor(x, [idx])\n" LINE
                "b = torch.ops.aten._grouped_mm.default(a, w1, offs)\n" LINE
                "c = torch.ops.aten._grouped_mm.default(a, w3, offs)\n" LINE
                "d = torch.ops.aten.silu.default(b)\n" LINE
                "e = torch.ops.aten.mul.Tensor(d, c)\n" LINE
                "f = torch.ops.aten._grouped_mm.default(e, w2, offs)\n" LINE
                "h = torch.ops.aten.mul.Tensor(f, p)\n" LINE
                "r = torch.ops.aten.index_add.default(o, 0, idx, h)\n" LINE "return (r,)\n",
           tokens, width, rows, g, width, g, width, g, width, g, rows, tokens, width);
  check_kernels(text, 2, 1e-5);
}
END_TEST

// The gradients of x[rows, k] y[groups, k, n]: those of rows and of matrices.
START_TEST(gradients) {
  static const char text[] = HEAD
      "x: \"f32[150, 40]\", y: \"f32[6, 40, 56]\", offs: \"i32[6]\", z: \"f32[150, 56]\"):\n" LINE
      "a = torch.ops.aten.permute.default(y, [0, 2, 1])\n" LINE
      "b = torch.ops.aten._grouped_mm.default(z, a, offs)\n" LINE
      "c = torch.ops.aten.permute.default(x, [1, 0])\n" LINE
      "d = torch.ops.aten._grouped_mm.default(c, z, offs)\n" LINE "return (b, d)\n";
  check_kernels(text, 2, 1e-5);
}
END_TEST

START_TEST(scales) {
  static const char *const operands[][4] = {
      // self, mat2, their scales
      {"150, 128", "5, 128, 48", "150", "5, 48"},
      {"5, 48, 128", "128, 150", "5, 48", "150"},
      {"48, 150", "150, 40", "240", "200"},
      {"5, 48, 128", "5, 128, 40", "5, 48", "5, 40"},
  };
  const char *const *o = operands[_i];
  char text[TEXT];
  snprintf(text, sizeof text,
           HEAD "x: \"f8e4m3fn[%s]\", y: \"f8e4m3fn[%s]\", a: \"f32[%s]\", b: \"f32[%s]\", offs: "
                "\"i32[5]\"):\n" LINE "z = torch.ops.aten._scaled_grouped_mm.default(x, y, a, b, "
                "offs, out_dtype = torch.bfloat16)\n" LINE "return (z,)\n",
           o[0], o[1], o[2], o[3]);
  check_kernels(text, 1, 1.6e-2);
}
END_TEST

// Numbers of rows and of groups that are known when the graph runs.
START_TEST(symbols) {
  static const char text[] =
      HEAD "s0: \"Sym(s0)\", s1: \"Sym(s1)\", x: \"f32[s0, 40]\", y: \"f32[s1, 40, 56]\", offs: "
           "\"i32[s1]\"):\n" LINE "z = torch.ops.aten._grouped_mm.default(x, y, offs)\n" LINE
           "return (z,)\n";
  static const int64_t sizes[][2] = {{100, 3}, {1, 1}, {7, 40}};
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_cpu, text);
  for (size_t i = 0; i < COUNT_OF(sizes); i++)
    check_agrees(p, sizes[i], 1e-5, text);
  arena_destroy(a);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("emit grouped");
  TCase *c = tcase_create("products");
  tcase_set_timeout(c, 300);
  tcase_add_loop_test(c, forms, 0, 3 * (int)COUNT_OF(shapes));
  tcase_add_loop_test(c, experts, 0, 2);
  tcase_add_test(c, gradients);
  tcase_add_loop_test(c, scales, 0, 4);
  tcase_add_test(c, symbols);
  suite_add_tcase(suite, c);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
