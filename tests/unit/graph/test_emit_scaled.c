// SPDX-License-Identifier: Apache-2.0
// Kernels of products of 8-bit floats with scales: of tensors, rows, columns and blocks, by one
// operator and written out.
#include "emit_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const struct program_options on_cpu = {.target = "cpu"};
static const struct program_options on_hopper = {.target = "sm_90a"};

enum { TEXT = 3000 };
#define HEAD "class <lambda>(torch.nn.Module):\n    def forward(self, "
#define LINE "        "

static int blocks(int n) { return (n + 127) / 128; }

// One kernel whose source has `part`, on the CPU and for wgmma; its results are the interpreter's.
static void check_one_kernel(const char *text, const char *part, double allowed) {
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_cpu, text);
  ck_assert_msg(p->launches.len == 1, "%s", text);
  ck_assert_msg(strstr(p->kernels.at[0]->source, part) != NULL, "%s", p->kernels.at[0]->source);
  check_agrees(p, NULL, allowed, text);
  p = check_program(a, text, &on_hopper, text);
  ck_assert_msg(strstr(p->kernels.at[0]->source, part) != NULL, "%s", p->kernels.at[0]->source);
  arena_destroy(a);
}

static const int shapes[][3] = {
    {16, 5, 129}, {70, 129, 256}, {2, 128, 384}, {130, 257, 500}, {40, 66, 100}};

// Scales of 1 x 128 and 128 x 128 elements, in each of the orders that PyTorch takes.
START_TEST(blocks_of_one_operator) {
  const int *s = shapes[_i / 3], m = s[0], n = s[1], k = s[2];
  char text[TEXT];
  bool rows_of_a = _i % 3 < 2, rows_of_b = _i % 3 == 1 || _i % 3 == 2;
  snprintf(text, sizeof text,
           HEAD
           "x: \"f8e4m3fn[%d, %d]\", w: \"f8e4m3fn[%d, %d]\", a: \"f32[%d, %d]\", "
           "b: \"f32[%d, %d]\"):\n" LINE "t = torch.ops.aten.permute.default(w, [1, 0])\n" LINE
           "p = torch.ops.aten._scaled_mm.default(x, t, a, b, out_dtype = torch.bfloat16)\n" LINE
           "return (p,)\n",
           m, k, n, k, rows_of_a ? m : blocks(m), blocks(k), blocks(k), rows_of_b ? n : blocks(n));
  // A block for each row and column of few is a scale for all.
  check_one_kernel(text, k > 128 ? "+= tl.dot(a, b) * scale" : "tl.dot(a, b, acc", 1.6e-2);
}
END_TEST

// Version 2: scales of mat2 in rows along k; those of 128 x 128 also transposed and padded.
START_TEST(blocks_of_recipes) {
  const int *s = shapes[_i / 2], m = s[0], n = s[1], k = s[2], padded = (blocks(k) + 3) / 4 * 4;
  char text[TEXT], scales[80];
  if (_i % 2)
    snprintf(scales, sizeof scales, "%d, %d][1, %d", padded, blocks(n), padded);
  else
    snprintf(scales, sizeof scales, "%d, %d", n, blocks(k));
  snprintf(text, sizeof text,
           HEAD "x: \"f8e4m3fn[%d, %d]\", w: \"f8e4m3fn[%d, %d]\", a: \"f32[%d, %d]\", "
                "b: \"f32[%s]\", c: \"bf16[%d]\"):\n" LINE
                "t = torch.ops.aten.permute.default(w, [1, 0])\n" LINE
                "p = torch.ops.aten._scaled_mm_v2.default(x, t, [a], [4], [0], [b], [%d], [0], c, "
                "torch.bfloat16)\n" LINE "return (p,)\n",
           m, k, n, k, m, blocks(k), scales, n, _i % 2 ? 5 : 4);
  check_one_kernel(text, k > 128 ? "+= tl.dot(a, b) * scale" : "tl.dot(a, b, acc", 1.6e-2);
}
END_TEST

// Scales that are equal along k multiply the sum; of all of k only if that is allowed.
START_TEST(rows_and_columns) {
  char text[TEXT];
  bool is_fast = _i % 2;
  snprintf(
      text, sizeof text,
      HEAD
      "x: \"f8e4m3fn[70, 320]\", w: \"f8e5m2[129, 320]\", a: \"f32[%s]\", b: \"f32[%s]\"):\n" LINE
      "t = torch.ops.aten.permute.default(w, [1, 0])\n" LINE
      "p = torch.ops.aten._scaled_mm.default(x, t, a, b, out_dtype = torch.float16%s)\n" LINE
      "return (p,)\n",
      _i < 2 ? "" : "70, 1", _i < 2 ? "" : "1, 129", is_fast ? ", use_fast_accum = True" : "");
  check_one_kernel(text, "acc *= ", 2e-3);
  // One dtype for both, which the tensor core takes.
  snprintf(
      text, sizeof text,
      HEAD
      "x: \"f8e4m3fn[70, 320]\", w: \"f8e4m3fn[129, 320]\", a: \"f32[]\", b: \"f32[]\"):\n" LINE
      "t = torch.ops.aten.permute.default(w, [1, 0])\n" LINE
      "p = torch.ops.aten._scaled_mm.default(x, t, a, b, out_dtype = torch.float16%s)\n" LINE
      "return (p,)\n",
      is_fast ? ", use_fast_accum = True" : "");
  check_one_kernel(text, is_fast ? "tl.dot(a, b, acc)" : "max_num_imprecise_acc", 2e-3);
}
END_TEST

// As in checkpoints of DeepSeek: blocks of weights are converted by expanded scales.
START_TEST(written_out) {
  static const char *const dequantize[] = {
      "r = torch.ops.aten.repeat_interleave.self_int(b, 128, 0)\n" LINE
      "s = torch.ops.aten.repeat_interleave.self_int(r, 128, 1)\n" LINE
      "f = torch.ops.prims.convert_element_type.default(w, torch.float32)\n" LINE
      "d = torch.ops.aten.mul.Tensor(f, s)\n" LINE,
      "v = torch.ops.aten.view.default(w, [2, 128, 3, 128])\n" LINE
      "f = torch.ops.prims.convert_element_type.default(v, torch.float32)\n" LINE
      "s = torch.ops.aten.view.default(b, [2, 1, 3, 1])\n" LINE
      "e = torch.ops.aten.mul.Tensor(s, f)\n" LINE
      "d = torch.ops.aten.view.default(e, [256, 384])\n" LINE,
  };
  char text[TEXT];
  snprintf(text, sizeof text,
           HEAD "x: \"f8e4m3fn[%d, 384]\", w: \"f8e4m3fn[256, 384]\", a: \"f32[%d, 3]\", "
                "b: \"f32[2, 3]\"):\n" LINE "%s"
                "t = torch.ops.aten.permute.default(d, [1, 0])\n" LINE
                "g = torch.ops.aten.view.default(x, [%d, 3, 128])\n" LINE
                "h = torch.ops.prims.convert_element_type.default(g, torch.float32)\n" LINE
                "u = torch.ops.aten.unsqueeze.default(a, -1)\n" LINE
                "i = torch.ops.aten.mul.Tensor(h, u)\n" LINE
                "j = torch.ops.aten.view.default(i, [%d, 384])\n" LINE
                "p = torch.ops.aten.mm.default(j, t)\n" LINE "return (p,)\n",
           33 + 600 * (_i / 2), 33 + 600 * (_i / 2), dequantize[_i % 2], 33 + 600 * (_i / 2),
           33 + 600 * (_i / 2));
  check_one_kernel(text, "+= tl.dot(a, b) * scale", 1e-5);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("emit scaled");
  TCase *c = tcase_create("products");
  tcase_set_timeout(c, 300);
  tcase_add_loop_test(c, blocks_of_one_operator, 0, 3 * (int)COUNT_OF(shapes));
  tcase_add_loop_test(c, blocks_of_recipes, 0, 2 * (int)COUNT_OF(shapes));
  tcase_add_loop_test(c, rows_and_columns, 0, 4);
  tcase_add_loop_test(c, written_out, 0, 4);
  suite_add_tcase(suite, c);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
