// SPDX-License-Identifier: Apache-2.0
// Outputs without a kernel: aliases of inputs or other outputs, and zeros.
#include "emit_check.h"
#include "graph/run/run.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "class G(torch.nn.Module):\n    def forward(self, "
#define LINE "        "
static const struct program_options on_cpu = {.target = "cpu"};

static void check(const char *text, size_t launches, size_t copies, const char *name) {
  static const int64_t symbols[] = {5};
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_cpu, name);
  ck_assert_msg(p->launches.len == launches && p->copies.len == copies,
                "%s: %zu launches, %zu copies", name, p->launches.len, p->copies.len);
  check_agrees(p, symbols, 1e-6, name);
  arena_destroy(a);
}

START_TEST(outputs_that_are_inputs) {
  check(HEAD "x: \"f32[8, 16]\", h: \"bf16[6, 10]\"):\n" LINE
             "s = torch.ops.aten.slice.Tensor(x, 0, 2, 6)\n" LINE
             "v = torch.ops.aten.view.default(h, [60])\n" LINE
             "t = torch.ops.aten.permute.default(x, [1, 0])\n" LINE "return (x, s, v, t, h)\n",
        0, 5, "inputs and what shows all of them");
  check(HEAD "s0: \"Sym(s0)\", y: \"f32[s0, 3]\"):\n" LINE
             "v = torch.ops.aten.view.default(y, [-1])\n" LINE "return (y, v)\n",
        0, 2, "sizes that are symbols");
}
END_TEST

START_TEST(outputs_that_are_outputs) {
  check(HEAD "x: \"f32[8, 16]\"):\n" LINE "e = torch.ops.aten.exp.default(x)\n" LINE
             "v = torch.ops.aten.view.default(e, [128])\n" LINE "return (e, v)\n",
        1, 0, "a view of an output that is computed: written at once");
  check(HEAD "q: \"f32[1, 2, 16, 16]\", k: \"f32[1, 2, 16, 16]\"):\n" LINE
             "o = torch.ops.aten.scaled_dot_product_attention.default(q, k, k)\n" LINE
             "v = torch.ops.aten.view.default(o, [2, 256])\n" LINE "return (o, v)\n",
        1, 1, "a view of attention");
}
END_TEST

START_TEST(what_moves_elements_is_a_kernel) {
  check(HEAD "x: \"f32[8, 16]\"):\n" LINE "s = torch.ops.aten.slice.Tensor(x, 1, 2, 6)\n" LINE
             "c = torch.ops.aten.clone.default(s, memory_format = torch.contiguous_format)\n" LINE
             "return (c,)\n",
        1, 0, "columns");
  check(HEAD "x: \"f16[8, 16]\"):\n" LINE
             "h = torch.ops.prims.convert_element_type.default(x, torch.float32)\n" LINE
             "return (h,)\n",
        1, 0, "another type");
}
END_TEST

// The input holds something else after the run: its output what it held before.
START_TEST(inputs_that_are_written) {
  check(HEAD "x: \"f32[1024, 600]\", y: \"f32[1024, 600]\"):\n" LINE
             "c = torch.ops.aten.clone.default(x)\n" LINE
             "copy_ = torch.ops.aten.copy_.default(x, y)\n" LINE "return (c,)\n",
        1, 0, "written after it was copied, by one kernel");
  static const struct program_options apart = {.target = "cpu", .keeps_apart = true};
  struct arena *a = arena_create();
  struct program *p =
      check_program(a,
                    HEAD "x: \"f32[60]\", y: \"f32[60, 50]\"):\n" LINE
                         "c = torch.ops.aten.clone.default(x)\n" LINE
                         "s = torch.ops.aten.sum.dim_IntList(y, [1])\n" LINE
                         "copy_ = torch.ops.aten.copy_.default(x, s)\n" LINE "return (c,)\n",
                    &apart, "copied before it is written");
  ck_assert_uint_eq(p->copies.len, 1);
  check_agrees(p, NULL, 1e-6, "copied before it is written");
  arena_destroy(a);
}
END_TEST

START_TEST(zeros_are_cleared) {
  struct arena *a = arena_create();
  struct program *p = check_program(
      a,
      HEAD "i: \"i64[5]\", g: \"f32[5, 7]\"):\n" LINE
           "z = torch.ops.aten.full.default([9, 7], 0.0)\n" LINE
           "r = torch.ops.aten.index_put.default(z, [i], g, True)\n" LINE "return (r,)\n",
      &on_cpu, "zeros");
  ck_assert_uint_eq(p->launches.len, 1);
  ck_assert_ptr_nonnull(p->launches.at[0].clears);
  check_agrees(p, NULL, 1e-6, "zeros");
  arena_destroy(a);
  check(HEAD "x: \"f32[4]\"):\n" LINE "z = torch.ops.aten.full.default([9, 7], 0.0)\n" LINE
             "n = torch.ops.aten.full.default([3], -0.0)\n" LINE "return (z, n)\n",
        2, 0, "zeros that nobody reads");
}
END_TEST

// Nothing is copied to itself.
START_TEST(the_same_memory) {
  struct arena *a = arena_create();
  struct program *p =
      check_program(a, HEAD "x: \"f32[4]\"):\n" LINE "return (x,)\n", &on_cpu, "the same memory");
  tile_device *device = NULL;
  struct loaded_program *loaded = NULL;
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(program_load(p, device, &loaded), TILE_OK);
  float *data = NULL;
  ck_assert_int_eq(tile_malloc(device, 4 * sizeof *data, (void **)&data), TILE_OK);
  for (int i = 0; i < 4; i++)
    data[i] = (float)i;
  const int64_t shape[] = {4};
  struct tensor_view view = {.data = data, .dtype = DTYPE_F32, .rank = 1, .shape = shape};
  ck_assert_int_eq(program_run(loaded, NULL, 0, &view, &view), TILE_OK);
  ck_assert_int_eq(tile_stream_synchronize(device, NULL), TILE_OK);
  for (int i = 0; i < 4; i++)
    ck_assert(data[i] == (float)i);
  program_unload(loaded);
  tile_free(device, data);
  tile_device_close(device);
  arena_destroy(a);
}
END_TEST

// A plan that misjudges shared memory costs stages, not the program.
START_TEST(too_many_stages) {
  static const struct program_options hopper = {.target = "sm_90a"};
  struct arena *a = arena_create();
  struct program *p =
      check_program(a,
                    HEAD "x: \"f16[512, 4096]\", w: \"f16[4096, 512]\"):\n" LINE
                         "y = torch.ops.aten.mm.default(x, w)\n" LINE "return (y,)\n",
                    &hopper, "too many stages");
  tile_device *device = NULL;
  struct loaded_program *loaded = NULL;
  ck_assert_int_eq(tile_device_open("simulate:sm_90a", &device), TILE_OK);
  for (size_t i = 0; i < p->kernels.len; i++)
    p->kernels.at[i]->num_stages = 16;
  ck_assert_msg(program_load(p, device, &loaded) == TILE_OK, "%s", tile_error_message());
  program_unload(loaded);
  tile_device_close(device);
  arena_destroy(a);
}
END_TEST

int main(void) {
  Suite *s = suite_create("emit copies");
  TCase *t = tcase_create("emit copies");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, outputs_that_are_inputs);
  tcase_add_test(t, outputs_that_are_outputs);
  tcase_add_test(t, what_moves_elements_is_a_kernel);
  tcase_add_test(t, inputs_that_are_written);
  tcase_add_test(t, zeros_are_cleared);
  tcase_add_test(t, the_same_memory);
  tcase_add_test(t, too_many_stages);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
