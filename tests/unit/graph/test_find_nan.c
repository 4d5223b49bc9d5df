// SPDX-License-Identifier: Apache-2.0
// Which kernel and operator first make a NaN or an infinity: in the first kernel or a later one, by
// overflow, from inputs; nothing for finite runs.
#include <tile/graph.h>

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3, COLUMNS = 4, COUNT = ROWS * COLUMNS };

static void ok(tile_status s) {
  ck_assert_msg(s == TILE_OK, "%s: %s", tile_status_name(s), tile_error_message());
}

struct run {
  tile_device *device;
  tile_program *p;
  float x[COUNT], out[COUNT];
};

static struct run *opened(const char *body) {
  struct run *r = calloc(1, sizeof *r);
  static char text[2048];
  snprintf(text, sizeof text,
           "class model(torch.nn.Module):\n"
           "    def forward(self, x: \"f32[3, 4]\"):\n%s",
           body);
  ok(tile_device_open("cpu", &r->device));
  ok(tile_program_from_text(r->device, "model.py", text, strlen(text), &r->p));
  for (int i = 0; i < COUNT; i++)
    r->x[i] = (float)(i + 1);
  return r;
}

static const char *report_of(struct run *r) {
  const int64_t shape[] = {ROWS, COLUMNS};
  tile_tensor in = {r->x, TILE_F32, 2, shape, NULL}, out = {r->out, TILE_F32, 2, shape, NULL};
  const char *report = "";
  ok(tile_program_find_nan(r->p, NULL, 0, &in, 1, &out, 1, &report));
  return report;
}

static void expect(struct run *r, const char *text) {
  const char *report = report_of(r);
  ck_assert_msg(report && strstr(report, text), "no `%s` in: %s", text, report ? report : "NULL");
}

static void finish(struct run *r) {
  tile_program_close(r->p);
  tile_device_close(r->device);
  free(r);
}

// Two softmaxes are two kernels; the logarithm of a negative number is in the second.
static const char two[] = "        s = torch.ops.aten.softmax.int(x, 0)\n"
                          "        t = torch.ops.aten.sub.Tensor(s, 0.25)\n"
                          "        u: \"f32[3, 4]\" = torch.ops.aten.log.default(t)\n"
                          "        v = torch.ops.aten.softmax.int(u, 1)\n"
                          "        return (v,)\n";

START_TEST(in_the_second_kernel) {
  struct run *r = opened(two);
  for (int round = 0; round < 2; round++) { // what the first run left does not count
    expect(r, "first NaN: element");
    expect(r, "first operator: `aten.log.default`, which makes `u` NaN at element 0");
    expect(r, "at model.py:5:36: u: \"f32[3, 4]\" = torch.ops.aten.log.default(t)");
    expect(r, "t: f32[3, 4] from -0.249");
  }
  finish(r);
}
END_TEST

START_TEST(finite_runs) {
  struct run *r = opened("        y = torch.ops.aten.exp.default(x)\n        return (y,)\n");
  ck_assert_ptr_null(report_of(r));
  ck_assert(r->out[0] > 2.7f && r->out[0] < 2.8f);
  r->x[5] = 89; // e^89 is beyond f32
  expect(r, "first infinity: element 5 of 12 of `y` f32[3, 4], in launch 1 of 1");
  expect(r, "x: 12 elements from 1 to 89");
  expect(r, "first operator: `aten.exp.default`, which makes `y` infinite at element 5");
  r->x[5] = 88;
  ck_assert_ptr_null(report_of(r));
  finish(r);
}
END_TEST

// The product overflows, the sums behind it are infinite too.
START_TEST(overflow) {
  struct run *r = opened("        c = torch.ops.aten.cumsum.default(x, 1)\n"
                         "        d = torch.ops.aten.mul.Tensor(c, 1e37)\n"
                         "        e = torch.ops.aten.cumsum.default(d, 0)\n"
                         "        return (e,)\n");
  expect(r, "first infinity");
  expect(r, "first operator: `aten.mul.Tensor`, which makes `d` infinite at element 11");
  finish(r);
}
END_TEST

START_TEST(from_an_input) {
  struct run *r = opened("        y = torch.ops.aten.mul.Tensor(x, 2.0)\n        return (y,)\n");
  r->x[7] = NAN;
  expect(r, "an input that is not finite\n    x: 12 elements from 1 to 12");
  expect(r, "1 NaN, 0 infinite");
  r->x[7] = INFINITY;
  expect(r, "0 NaN, 1 infinite");
  finish(r);
}
END_TEST

// An infinity first, and the NaN that it becomes.
START_TEST(infinity_then_nan) {
  struct run *r = opened("        a = torch.ops.aten.reciprocal.default(x)\n"
                         "        b = torch.ops.aten.cumsum.default(a, 1)\n"
                         "        c = torch.ops.aten.sub.Tensor(b, b)\n"
                         "        d = torch.ops.aten.cumsum.default(c, 0)\n"
                         "        return (d,)\n");
  r->x[4] = 0;
  const char *report = report_of(r);
  ck_assert_ptr_nonnull(report);
  ck_assert_msg(strstr(report, "first operator: `aten.reciprocal.default`") != NULL, "%s", report);
  finish(r);
}
END_TEST

START_TEST(arguments) {
  struct run *r = opened(two);
  const char *report;
  ck_assert_int_eq(tile_program_find_nan(NULL, NULL, 0, NULL, 0, NULL, 0, &report),
                   TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_program_find_nan(r->p, NULL, 0, NULL, 0, NULL, 0, &report),
                   TILE_INVALID_ARGUMENT);
  ck_assert_ptr_null(report);
  finish(r);
}
END_TEST

int main(void) {
  Suite *s = suite_create("find-nan");
  TCase *t = tcase_create("find-nan");
  tcase_set_timeout(t, 100);
  tcase_add_test(t, in_the_second_kernel);
  tcase_add_test(t, finite_runs);
  tcase_add_test(t, overflow);
  tcase_add_test(t, from_an_input);
  tcase_add_test(t, infinity_then_nan);
  tcase_add_test(t, arguments);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
