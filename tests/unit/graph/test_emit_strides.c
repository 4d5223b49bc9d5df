// SPDX-License-Identifier: Apache-2.0
// Outputs with free strides: which of them get their channels last, and that programs write them
// so.
#include "emit_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "class G(torch.nn.Module):\n    def forward(self, "
#define LINE "        "
#define CONVOLUTION(y, x, w)                                                                       \
  LINE y " = torch.ops.aten.convolution.default(" x ", " w                                         \
         ", None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)\n"

// A convolution, its statistics, and what follows; `free` names outputs.
static const char *block_of(struct arena *a, const char *free) {
  return arena_printf(
      a,
      HEAD "x: \"f16[3, 16, 20, 23]\", w: \"f16[24, 16, 3, 3]\", g: \"f16[24]\", b: \"f16[24]\", "
           "m: \"f16[24]\", v: \"f16[24]\"):\n" CONVOLUTION("c", "x", "w") LINE
      "n = torch.ops.aten._native_batch_norm_legit_functional.default(c, g, b, m, v, True, "
      "0.1, 1e-05)\n" LINE "y = n[0]\n" LINE "mean = n[1]\n" LINE
      "r = torch.ops.aten.relu.default(y)\n" LINE
      "p = torch.ops.aten.avg_pool2d.default(r, [2, 2], [2, 2])\n" LINE
      "s = torch.ops.aten.sum.dim_IntList(r, [2, 3])\n" LINE "return (s, c, r, p, mean)\n\n%s",
      free);
}

static bool is_channels_last(const struct value *v) {
  return expr_is(v->strides[1], 1) && v->strides[3] == v->shape[1];
}

static const struct value *output(const struct program *p, size_t i) {
  return p->graph->outputs.at[i];
}

START_TEST(only_free_images_change) {
  static const struct program_options hopper = {.target = "sm_90a"};
  struct arena *a = arena_create();
  struct program *p = check_program(a, block_of(a, "Free strides: {c, r, s}\n"), &hopper, "free");
  ck_assert(is_channels_last(output(p, 1)) && is_channels_last(output(p, 2)));
  ck_assert(!is_channels_last(output(p, 3))); // its strides are not free
  ck_assert(expr_is(output(p, 0)->strides[1], 1) && expr_is(output(p, 0)->strides[0], 24));
  p = check_program(a, block_of(a, ""), &hopper, "none is free");
  for (size_t i = 1; i < 4; i++)
    ck_assert(!is_channels_last(output(p, i)));
  static const struct program_options older = {.target = "sm_80"};
  p = check_program(a, block_of(a, "Free strides: {c, r}\n"), &older, "before Hopper");
  ck_assert(!is_channels_last(output(p, 1)));
  arena_destroy(a);
}
END_TEST

// Three channels gain nothing, and neither do single precision and graphs without convolutions.
START_TEST(images_that_do_not_gain) {
  static const char *const texts[] = {
      HEAD "x: \"f16[2, 3, 9, 9]\", w: \"f16[8, 3, 3, 3]\"):\n" CONVOLUTION("c", "x", "w") LINE
      "return (c,)\n\nFree strides: {c}\n",
      HEAD "x: \"f32[2, 32, 9, 9]\", w: \"f32[8, 32, 3, 3]\"):\n" CONVOLUTION("c", "x", "w") LINE
      "return (c,)\n\nFree strides: {c}\n",
      HEAD "x: \"f16[2, 32, 9, 9]\"):\n" LINE "c = torch.ops.aten.relu.default(x)\n" LINE
           "return (c,)\n\nFree strides: {c}\n"};
  static const struct program_options hopper = {.target = "sm_90a"};
  struct arena *a = arena_create();
  for (size_t i = 0; i < COUNT_OF(texts); i++)
    ck_assert(!is_channels_last(output(check_program(a, texts[i], &hopper, "no gain"), 0)));
  arena_destroy(a);
}
END_TEST

START_TEST(programs_write_them_so) {
  static const struct program_options on_cpu = {.target = "cpu"};
  setenv("TILE_DEBUG", "channels-last", 1);
  struct arena *a = arena_create();
  struct program *p =
      check_program(a, block_of(a, "Free strides: {r, c}\n"), &on_cpu, "on the CPU");
  ck_assert(is_channels_last(output(p, 1)) && is_channels_last(output(p, 2)));
  check_agrees(p, NULL, 1e-2, "channels last");
  arena_destroy(a);
}
END_TEST

START_TEST(text_has_their_names) {
  static const struct program_options on_cpu = {.target = "cpu"};
  struct arena *a = arena_create();
  struct program *p = check_program(a, block_of(a, "Free strides: {r, c}\n"), &on_cpu, "text");
  struct strbuf out = {0};
  graph_print(p->graph, &out);
  ck_assert_ptr_nonnull(strstr(strbuf_cstr(&out), "\nFree strides: {c, r}\n"));
  strbuf_finish(&out);
  arena_destroy(a);
}
END_TEST

int main(void) {
  Suite *s = suite_create("output strides");
  TCase *tc = tcase_create("strides");
  tcase_add_test(tc, only_free_images_change);
  tcase_add_test(tc, images_that_do_not_gain);
  tcase_add_test(tc, programs_write_them_so);
  tcase_add_test(tc, text_has_their_names);
  suite_add_tcase(s, tc);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed != 0;
}
