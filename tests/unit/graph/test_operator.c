// SPDX-License-Identifier: Apache-2.0
// Custom operators by the public header: from other operators and from a kernel, in text and in C;
// wrong registrations and uses.
#include <tile/operator.h>

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- mytest::blend(Tensor x, Tensor y, float by=0.25, *, bool twice=False) ----

static tile_status build_blend(tile_graph *g, const tile_operand *args, size_t count,
                               tile_value **out, size_t out_count, void *user) {
  tile_value *x = args[0].as.tensor, *y = args[1].as.tensor;
  (void)g;
  ck_assert_uint_eq(count, 4);
  ck_assert_uint_eq(out_count, 1);
  ++*(int *)user;
  y = tile_mul_number(tile_sub(y, x), args[2].as.real);
  out[0] = tile_add(x, args[3].as.truth ? tile_mul_number(y, 2) : y);
  return TILE_OK;
}

// ---- mytest::halves: even and odd elements, by a kernel ----

static tile_status infer_halves(tile_graph *g, const tile_operand *args, size_t count,
                                tile_result *results, size_t result_count, void *user) {
  (void)count;
  (void)user;
  for (size_t i = 0; i < result_count; i++) {
    results[i].dtype = tile_value_dtype(args[0].as.tensor);
    results[i].rank = 1;
    results[i].shape[0] = tile_size_div(g, tile_value_size(args[0].as.tensor, 0), 2);
  }
  return TILE_OK;
}

static tile_status reference_halves(const tile_operand *args, size_t count,
                                    const tile_reference_tensor *in, size_t in_count,
                                    const tile_reference_tensor *out, size_t out_count,
                                    void *user) {
  (void)count;
  (void)in_count;
  (void)user;
  for (size_t k = 0; k < out_count; k++)
    for (int64_t i = 0; i < out[k].count; i++)
      out[k].reals[i] = in[0].reals[2 * i + (int64_t)k] * args[1].as.real;
  return TILE_OK;
}

static const char halves_source[] =
    "@jit\n"
    "def halves(x: const_ptr[f32], out0: ptr[f32], out1: ptr[f32], out0_numel: i32,\n"
    "           by: constexpr = 1.0, BLOCK: constexpr = 64):\n"
    "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "    mask = i < out0_numel\n"
    "    store(out0 + i, load(x + 2 * i, mask=mask) * by, mask=mask)\n"
    "    store(out1 + i, load(x + 2 * i + 1, mask=mask) * by, mask=mask)\n";

static int builds;

static void register_all(void) {
  tile_operator blend = {"mytest::blend(Tensor x, Tensor y, float by=0.25, *, bool twice=False) "
                         "-> Tensor"};
  blend.build = build_blend;
  blend.user = &builds;
  ck_assert_msg(tile_operator_register(&blend) == TILE_OK, "%s", tile_error_message());
  tile_operator halves = {"mytest::halves(Tensor x, float by=1.0) -> (Tensor, Tensor)"};
  halves.infer = infer_halves;
  halves.reference = reference_halves;
  halves.kernel_source = halves_source;
  halves.kernel = "halves";
  halves.arguments = "x out0 out1 out0_numel";
  halves.constants = "by BLOCK=32";
  halves.grid = "cdiv(out0_numel, BLOCK)";
  ck_assert_msg(tile_operator_register(&halves) == TILE_OK, "%s", tile_error_message());
}

// ---- running ----

enum { N = 100 };

static void run(tile_program *p, const float *x, const float *y, float *out0, float *out1) {
  int64_t whole = N, half = N / 2;
  tile_tensor in[2] = {{(void *)(uintptr_t)x, TILE_F32, 1, &whole, NULL},
                       {(void *)(uintptr_t)y, TILE_F32, 1, &whole, NULL}};
  tile_tensor out[2] = {{out0, TILE_F32, 1, &half, NULL}, {out1, TILE_F32, 1, &half, NULL}};
  tile_status s = tile_program_run(p, NULL, 0, in, 2, out, 2);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
}

static void fill_and_check(tile_device *device, tile_program *p, float by, float scale) {
  void *memory[4];
  for (int i = 0; i < 4; i++)
    ck_assert_int_eq(tile_malloc(device, N * sizeof(float), &memory[i]), TILE_OK);
  float *x = memory[0], *y = memory[1], *out0 = memory[2], *out1 = memory[3];
  for (int i = 0; i < N; i++) {
    x[i] = (float)i;
    y[i] = (float)(3 * i + 1);
  }
  run(p, x, y, out0, out1);
  for (int i = 0; i < N; i++) {
    float want = scale * (x[i] + by * (y[i] - x[i])), got = i % 2 ? out1[i / 2] : out0[i / 2];
    ck_assert_msg(fabsf(got - want) <= 1e-3f, "element %d: %g, not %g", i, (double)got,
                  (double)want);
  }
  for (int i = 0; i < 4; i++)
    tile_free(device, memory[i]);
}

static tile_device *cpu(void) {
  tile_device *device = NULL;
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  return device;
}

START_TEST(from_text) {
  static const char text[] =
      "class G(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[s0]\", y: \"f32[s0]\"):\n"
      "        b: \"f32[s0]\" = torch.ops.mytest.blend.default(x, y, twice = True)\n"
      "        h = torch.ops.mytest.halves.default(b, 2)\n"
      "        h0: \"f32[(s0//2)]\" = h[0]\n"
      "        h1: \"f32[(s0//2)]\" = h[1]\n"
      "        return (h0, h1)\n";
  tile_device *device = cpu();
  tile_graph *g = NULL, *again = NULL;
  tile_program *p = NULL;
  const char *first = NULL, *second = NULL;
  register_all();
  ck_assert_msg(tile_graph_from_text("g.py", text, sizeof text - 1, &g) == TILE_OK, "%s",
                tile_error_message());
  ck_assert_int_eq(builds, 1);
  ck_assert_int_eq(tile_graph_text(g, &first), TILE_OK);
  ck_assert_ptr_nonnull(strstr(first, "torch.ops.mytest.halves.default("));
  ck_assert_msg(tile_graph_from_text("g.py", first, strlen(first), &again) == TILE_OK, "%s",
                tile_error_message());
  ck_assert_int_eq(tile_graph_text(again, &second), TILE_OK);
  ck_assert_str_eq(first, second);
  ck_assert_msg(tile_program_from_graph(device, g, &p) == TILE_OK, "%s", tile_error_message());
  fill_and_check(device, p, 0.5f, 2);
  tile_program_close(p);
  tile_graph_destroy(g);
  tile_graph_destroy(again);
  tile_device_close(device);
}
END_TEST

START_TEST(from_c) {
  tile_device *device = cpu();
  tile_graph *g = NULL;
  tile_program *p = NULL;
  const int64_t n = N;
  register_all();
  ck_assert_int_eq(tile_graph_create("g", &g), TILE_OK);
  tile_value *x = tile_graph_input(g, "x", TILE_F32, 1, &n, NULL);
  tile_value *y = tile_graph_input(g, "y", TILE_F32, 1, &n, NULL), *halves[2];
  const tile_operand blend[] = {tile_g_tensor(x), tile_g_tensor(y)};
  const tile_operand whole[] = {
      tile_g_tensor(tile_graph_apply(g, "mytest.blend.default", blend, 2))};
  ck_assert_msg(tile_graph_apply_many(g, "mytest.halves.default", whole, 1, halves, 2) == TILE_OK,
                "%s", tile_error_message());
  ck_assert_int_eq(tile_value_size(halves[1], 0), N / 2);
  ck_assert_int_eq(tile_graph_output(g, halves[0]), TILE_OK);
  ck_assert_int_eq(tile_graph_output(g, halves[1]), TILE_OK);
  ck_assert_msg(tile_program_from_graph(device, g, &p) == TILE_OK, "%s", tile_error_message());
  fill_and_check(device, p, 0.25f, 1);
  tile_program_close(p);
  tile_graph_destroy(g);
  tile_device_close(device);
}
END_TEST

// ---- errors ----

static void refuse(const tile_operator *op, const char *says) {
  ck_assert_int_eq(tile_operator_register(op), TILE_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tile_error_message(), says) != NULL, "%s: not %s", tile_error_message(),
                says);
}

START_TEST(wrong_registrations) {
  static const struct {
    const char *schema, *says;
  } wrong[] = {
      {"mytest::f(Tensor x)", "name(parameters) -> results"},
      {"f(Tensor x) -> Tensor", "library::operator"},
      {"mytest::f(Tensor) -> Tensor", "a type and a name"},
      {"mytest::f(Complex x) -> Tensor", "a type and a name"},
      {"mytest::f(Tensor x) -> int", "results are"},
      {"mytest::f(Tensor x) -> ()", "no result"},
      {"aten::neg(Tensor self) -> Tensor", "exists"},
      {"mytest::blend(Tensor x) -> Tensor", "exists"},
  };
  register_all();
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    tile_operator op = {wrong[i].schema};
    op.build = build_blend;
    refuse(&op, wrong[i].says);
  }
  tile_operator none = {"mytest::none(Tensor x) -> Tensor"};
  refuse(&none, "needs `build`, or a kernel");
  none.build = build_blend;
  none.kernel = "k";
  refuse(&none, "twice");
  ck_assert_int_eq(tile_operator_register(NULL), TILE_INVALID_ARGUMENT);
}
END_TEST

static tile_status fails(tile_graph *g, const tile_operand *args, size_t count, tile_value **out,
                         size_t out_count, void *user) {
  (void)g, (void)args, (void)count, (void)out, (void)out_count, (void)user;
  return TILE_INVALID_ARGUMENT;
}

static void refuse_text(const char *call, const char *says) {
  char text[1024];
  tile_graph *g = NULL;
  snprintf(text, sizeof text,
           "class G(torch.nn.Module):\n    def forward(self, x: \"f32[4]\"):\n"
           "        y: \"f32[4]\" = torch.ops.%s\n        return (y,)\n",
           call);
  ck_assert_int_ne(tile_graph_from_text("g.py", text, strlen(text), &g), TILE_OK);
  ck_assert_msg(strstr(tile_error_message(), says) != NULL, "%s: %s: not %s", call,
                tile_error_message(), says);
}

START_TEST(wrong_uses) {
  tile_operator bad = {"mytest::bad(Tensor x) -> Tensor"};
  register_all();
  bad.build = fails;
  ck_assert_int_eq(tile_operator_register(&bad), TILE_OK);
  refuse_text("mytest.blend.default(x)", "needs an argument `y`");
  refuse_text("mytest.blend.default(x, x, 0.5, other = 1)", "no parameter `other`");
  refuse_text("mytest.blend.default(x, 1.0)", "tensor");
  refuse_text("mytest.bad.default(x)", "`build` function failed");
  refuse_text("mytest.unknown.default(x)", "register them (tile/operator.h)");
}
END_TEST

int main(void) {
  Suite *s = suite_create("operator");
  TCase *t = tcase_create("operator");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, from_text);
  tcase_add_test(t, from_c);
  tcase_add_test(t, wrong_registrations);
  tcase_add_test(t, wrong_uses);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
