// SPDX-License-Identifier: Apache-2.0
// Captured functions that ask for values: all paths of three branches, loops and sizes that depend
// on data, what a path keeps for later steps, limits, reports, errors; times with TILE_TEST_PRINT.
#include <tile/graph.h>

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 6 };

static void ok(tile_status s) {
  ck_assert_msg(s == TILE_OK, "%s: %s", tile_status_name(s), tile_error_message());
}

struct fixture {
  tile_device *device;
  tile_captured *f;
  int runs; // of the C function
};

static struct fixture *fixture(tile_graph_function function) {
  struct fixture *x = calloc(1, sizeof *x);
  ok(tile_device_open("cpu", &x->device));
  ok(tile_captured_create(x->device, function, &x->runs, &x->f));
  return x;
}

static void finish(struct fixture *x) {
  tile_captured_destroy(x->f);
  tile_device_close(x->device);
  free(x);
}

static tile_status call(struct fixture *x, float *in, int64_t n, float *out, int64_t m) {
  tile_tensor a = {in, TILE_F32, 1, &n, NULL}, b = {out, TILE_F32, 1, &m, NULL};
  return tile_captured_call(x->f, NULL, &a, 1, &b, 1);
}

static const char *report(struct fixture *x) {
  const char *text = "";
  ok(tile_captured_report(x->f, &text));
  return text;
}

// ---- three branches ----

// y = exp(x / 4), which all steps use. Three questions; each answer changes how it goes on.
static tile_status three_branches(tile_graph *g, tile_value *const *in, size_t n, tile_value **out,
                                  size_t m, void *user) {
  (void)g, (void)n, (void)m;
  ++*(int *)user;
  int is_large = 0, is_positive = 0, has_three = 0;
  tile_value *y = tile_exp(tile_mul_number(in[0], 0.25)), *sum = tile_sum(in[0], NULL, 0, 0);
  tile_value_truth(tile_gt_number(sum, 10), &is_large);
  y = is_large ? tile_mul(y, tile_sin(in[0])) : tile_add(y, in[0]);
  tile_value *first = tile_select(in[0], 0, 0);
  tile_value_truth(tile_gt_number(tile_mul(first, sum), 0), &is_positive);
  if (is_positive)
    y = tile_sub(y, tile_mean(y, NULL, 0, 0));
  tile_value_truth(tile_gt_number(tile_amax(in[0], NULL, 0, 0), 3), &has_three);
  out[0] = has_three ? tile_neg(y) : tile_add_number(y, 1);
  return TILE_OK;
}

static void expect_three(const float *x, float *want) {
  double sum = 0, most = -INFINITY, mean = 0, y[COUNT];
  for (int i = 0; i < COUNT; i++) {
    sum += (double)x[i];
    most = fmax(most, (double)x[i]);
  }
  for (int i = 0; i < COUNT; i++) {
    y[i] = exp((double)x[i] / 4);
    y[i] = sum > 10 ? y[i] * sin((double)x[i]) : y[i] + (double)x[i];
    mean += y[i] / COUNT;
  }
  for (int i = 0; i < COUNT; i++) {
    y[i] -= (double)x[0] * sum > 0 ? mean : 0;
    want[i] = (float)(most > 3 ? -y[i] : y[i] + 1);
  }
}

// Bits: the sum is large, the first number has its sign, there is a number above 3.
static void input_of(int bits, float *x) {
  float first = (bits & 1 ? 1.0f : -1.0f) * (bits & 2 ? 0.5f : -0.5f);
  float most = bits & 4 ? 3.5f : 2.9f, rest;
  x[0] = first;
  x[1] = most;
  rest = (bits & 1 ? 11.0f : -11.0f) - first - most;
  for (int i = 2; i < COUNT; i++)
    x[i] = rest / (COUNT - 2);
}

static void check_three(struct fixture *f, int bits) {
  float x[COUNT], out[COUNT], want[COUNT];
  input_of(bits, x);
  expect_three(x, want);
  ok(call(f, x, COUNT, out, COUNT));
  for (int i = 0; i < COUNT; i++)
    ck_assert_msg(fabs((double)out[i] - (double)want[i]) < 1e-4, "path %d, element %d: %g, not %g",
                  bits, i, (double)out[i], (double)want[i]);
}

START_TEST(all_paths) {
  struct fixture *f = fixture(three_branches);
  for (int round = 0; round < 3; round++)
    for (int bits = 0; bits < 8; bits++)
      check_three(f, bits);
  ck_assert_int_eq(f->runs, 8); // each path once
  ck_assert_uint_eq(tile_captured_variants(f->f), 1);
  const char *text = report(f);
  ck_assert_msg(strstr(text, "variant 1: 8 paths\n") != NULL, "%s", text);
  ck_assert_msg(strstr(text, "24 calls, then it asks for") != NULL, "%s", text);
  finish(f);
}
END_TEST

// ---- a loop, and a size ----

// Halves x until its largest number is below 1.
static tile_status halve(tile_graph *g, tile_value *const *in, size_t n, tile_value **out, size_t m,
                         void *user) {
  (void)g, (void)n, (void)m;
  ++*(int *)user;
  tile_value *x = in[0];
  for (int goes_on = 1; goes_on; x = goes_on ? tile_mul_number(x, 0.5) : x)
    if (tile_value_truth(tile_ge_number(tile_amax(x, NULL, 0, 0), 1), &goes_on) != TILE_OK)
      return TILE_INVALID_ARGUMENT;
  out[0] = tile_add_number(x, 1);
  return TILE_OK;
}

START_TEST(loops) {
  struct fixture *f = fixture(halve);
  float x[COUNT] = {0}, out[COUNT];
  const float most[] = {0.5f, 5, 40, 5, 0.9f, 1, 33};
  for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
    x[3] = most[i];
    float want = most[i];
    while (want >= 1)
      want /= 2;
    ok(call(f, x, COUNT, out, COUNT));
    ck_assert(fabsf(out[3] - want - 1) < 1e-6f && fabsf(out[0] - 1) < 1e-6f);
  }
  ck_assert_int_eq(f->runs, 4); // 0, 1, 3 and 6 times
  finish(f);
}
END_TEST

// The sum of the first k numbers, k the number of positive ones.
static tile_status first_sum(tile_graph *g, tile_value *const *in, size_t n, tile_value **out,
                             size_t m, void *user) {
  (void)g, (void)n, (void)m;
  ++*(int *)user;
  int64_t count = 0, one = 1;
  tile_value *positive = tile_convert(tile_gt_number(in[0], 0), TILE_I64);
  tile_status s = tile_value_integer(tile_sum(positive, NULL, 0, 0), &count);
  if (s != TILE_OK)
    return s;
  tile_value *part = tile_slice(in[0], 0, 0, count, 1);
  out[0] = tile_view(tile_sum(part, NULL, 0, 0), &one, 1);
  return TILE_OK;
}

START_TEST(sizes) {
  struct fixture *f = fixture(first_sum);
  for (int round = 0; round < 2; round++)
    for (int k = 0; k <= COUNT; k++) {
      float x[COUNT], out = -1, want = 0;
      for (int i = 0; i < COUNT; i++)
        x[i] = (i * 5 + 1) % COUNT < k ? (float)(i + 1) : -(float)(i + 1);
      for (int i = 0; i < k; i++)
        want += x[i];
      ok(call(f, x, COUNT, &out, 1));
      ck_assert_msg(fabsf(out - want) < 1e-4f, "%d: %g, not %g", k, (double)out, (double)want);
    }
  ck_assert_int_eq(f->runs, COUNT + 1);
  finish(f);
}
END_TEST

// Beyond the limit calls are right, and nothing is kept of them.
START_TEST(limit) {
  struct fixture *f = fixture(first_sum);
  ok(tile_captured_set_path_limit(f->f, 2));
  for (int round = 0; round < 3; round++)
    for (int k = 0; k < 4; k++) {
      float x[COUNT], out = -1, want = 0;
      for (int i = 0; i < COUNT; i++)
        x[i] = i < k ? 2.0f : -1.0f;
      for (int i = 0; i < k; i++)
        want += x[i];
      ok(call(f, x, COUNT, &out, 1));
      ck_assert(fabsf(out - want) < 1e-5f);
    }
  ck_assert_int_eq(f->runs, 2 + 3 * 2);
  ck_assert_msg(strstr(report(f), "variant 1: 2 paths; 6 calls took other paths") != NULL, "%s",
                report(f));
  finish(f);
}
END_TEST

// ---- dynamic sizes, writes ----

// With a dynamic extent; doubles its input in place if its mean is positive.
static tile_status doubled(tile_graph *g, tile_value *const *in, size_t n, tile_value **out,
                           size_t m, void *user) {
  (void)n, (void)m;
  ++*(int *)user;
  tile_value *y = tile_cumsum(in[0], 0);
  int is_positive = 0;
  tile_value_truth(tile_gt_number(tile_mean(y, NULL, 0, 0), 0), &is_positive);
  if (is_positive)
    tile_graph_write(g, in[0], tile_mul_number(in[0], 2));
  out[0] = tile_add(y, in[0]);
  return TILE_OK;
}

START_TEST(dynamic_sizes) {
  struct fixture *f = fixture(doubled);
  ok(tile_captured_mark_dynamic(f->f, 0, 0, 1, 100));
  for (int64_t n = 1; n < 80; n += 13)
    for (int sign = -1; sign <= 1; sign += 2) {
      float x[100], out[100], sum = 0;
      for (int64_t i = 0; i < n; i++)
        x[i] = (float)sign * (float)(i % 3 + 1);
      tile_tensor a = {x, TILE_F32, 1, &n, NULL}, b = {out, TILE_F32, 1, &n, NULL};
      ok(tile_captured_call(f->f, NULL, &a, 1, &b, 1));
      for (int64_t i = 0; i < n; i++) {
        float old = (float)sign * (float)(i % 3 + 1);
        sum += old;
        ck_assert(fabsf(out[i] - sum - old) < 1e-4f);
        ck_assert(fabsf(x[i] - (sign > 0 ? 2 * old : old)) < 1e-6f);
      }
    }
  ck_assert_int_eq(f->runs, 2);
  finish(f);
}
END_TEST

// ---- numbers ----

static tile_status numbers(tile_graph *g, tile_value *const *in, size_t n, tile_value **out,
                           size_t m, void *user) {
  (void)g, (void)n, (void)m, (void)user;
  double item = 0;
  int64_t last = 0;
  int truth = 0;
  tile_status s = tile_value_item(tile_select(in[0], 0, 1), &item);
  if (s != TILE_OK)
    return s;
  tile_value_integer(tile_argmax(in[0], 0, 0), &last);
  tile_value_truth(tile_select(in[0], 0, 2), &truth); // NaN is not 0
  out[0] = tile_add_number(in[0], item * 100 + (double)last * 10 + truth);
  return TILE_OK;
}

START_TEST(items) {
  struct fixture *f = fixture(numbers);
  float x[COUNT] = {0, -1.5f, NAN, 0, 0, 0}, out[COUNT];
  ok(call(f, x, COUNT, out, COUNT)); // NaN wins the argmax
  ck_assert(fabsf(out[0] - (-150 + 20 + 1)) < 1e-3f);
  x[2] = 0, x[4] = 7;
  ok(call(f, x, COUNT, out, COUNT));
  ck_assert(fabsf(out[0] - (-150 + 40 + 0)) < 1e-3f);
  finish(f);
}
END_TEST

// ---- random numbers ----

static tile_value *draw(tile_graph *g, const char *name, tile_value *x, double p) {
  tile_operand args[] = {tile_g_tensor(x), tile_g_real(p), tile_g_bool(1)};
  return tile_graph_apply(g, name, args, strstr(name, "dropout") ? 3 : 2);
}

// Draws before a question, for it, and behind it; `late` is drawn first and needed last. The sign
// of the second number decides, but `user`, unless negative, is the answer of one that does not
// ask.
static tile_status random_numbers(tile_graph *g, tile_value *const *in, size_t n, tile_value **out,
                                  size_t m, void *user) {
  (void)n, (void)m;
  int truth = *(int *)user;
  tile_value *late = draw(g, "aten.native_dropout.default", in[0], 0.3);
  tile_value *early = draw(g, "aten.native_dropout.default", in[0], 0.5);
  if (truth < 0 &&
      tile_value_truth(tile_gt_number(tile_sum(early, NULL, 0, 0), 6), &truth) != TILE_OK)
    return TILE_INVALID_ARGUMENT;
  tile_value *y =
      truth ? tile_mul(early, draw(g, "aten.native_dropout.default", in[0], 0.4)) : early;
  tile_value *behind = draw(g, "aten.bernoulli.p", in[0], 0.5);
  out[0] = tile_add(tile_mul_number(y, 100), tile_add(late, tile_mul_number(behind, 1000)));
  return TILE_OK;
}

START_TEST(random_operators) {
  enum { MANY = 33, SEEDS = 24 };
  float x[MANY], asked[MANY], again[MANY], plain[2][MANY];
  int user[3] = {-1, 0, 1}, found[2] = {0, 0};
  tile_captured *f[3];
  tile_device *device;
  ok(tile_device_open("cpu", &device));
  for (int i = 0; i < MANY; i++)
    x[i] = (float)(i % 7 - 3) + 0.25f;
  for (int i = 0; i < 3; i++)
    ok(tile_captured_create(device, random_numbers, &user[i], &f[i]));
  int64_t n = MANY;
  tile_tensor in = {x, TILE_F32, 1, &n, NULL};
  for (int round = 0; round < 2 * SEEDS; round++) {
    for (int i = 0; i < 3; i++)
      ok(tile_captured_set_seed(f[i], 1000003u * (uint64_t)(round % SEEDS)));
    tile_tensor to = {asked, TILE_F32, 1, &n, NULL}, same = {again, TILE_F32, 1, &n, NULL};
    ok(tile_captured_call(f[0], NULL, &in, 1, &to, 1));
    ok(tile_captured_call(f[0], NULL, &in, 1, &same, 1));
    ck_assert_mem_eq(asked, again, sizeof asked);
    for (int i = 0; i < 2; i++) {
      tile_tensor one = {plain[i], TILE_F32, 1, &n, NULL};
      ok(tile_captured_call(f[i + 1], NULL, &in, 1, &one, 1));
    }
    bool is_truth = memcmp(asked, plain[1], sizeof asked) == 0;
    ck_assert(is_truth || memcmp(asked, plain[0], sizeof asked) == 0);
    found[is_truth]++;
  }
  ck_assert(found[0] > 0 && found[1] > 0);
  for (int i = 0; i < 3; i++)
    tile_captured_destroy(f[i]);
  tile_device_close(device);
}
END_TEST

// ---- errors ----

static tile_status two_elements(tile_graph *g, tile_value *const *in, size_t n, tile_value **out,
                                size_t m, void *user) {
  (void)g, (void)n, (void)m, (void)user;
  double item;
  tile_value_item(in[0], &item);
  out[0] = in[0];
  return TILE_OK;
}

static tile_status integer_of_float(tile_graph *g, tile_value *const *in, size_t n,
                                    tile_value **out, size_t m, void *user) {
  (void)g, (void)n, (void)m, (void)user;
  int64_t number;
  tile_value_integer(tile_sum(in[0], NULL, 0, 0), &number);
  out[0] = in[0];
  return TILE_OK;
}

static void expect_error(tile_graph_function function, const char *why) {
  struct fixture *f = fixture(function);
  float x[COUNT] = {1, 2}, out[COUNT];
  ck_assert_int_eq(call(f, x, COUNT, out, COUNT), TILE_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tile_error_message(), why) != NULL, "%s", tile_error_message());
  finish(f);
}

START_TEST(errors) {
  expect_error(two_elements, "has one can be asked for");
  expect_error(integer_of_float, "of a float tensor");
  struct fixture *f = fixture(three_branches);
  const int64_t n = COUNT;
  tile_tensor a = {NULL, TILE_F32, 1, &n, NULL};
  ck_assert_int_eq(tile_captured_prepare(f->f, &a, 1, &a, 1), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "not prepared"));
  check_three(f, 5);
  float x[COUNT] = {0}, out[COUNT];
  ck_assert_int_eq(call(f, x, COUNT, out, COUNT - 1), TILE_INVALID_ARGUMENT);
  finish(f);
  tile_graph *g = NULL;
  double item;
  ok(tile_graph_create("plain", &g));
  tile_value *v = tile_graph_input(g, "x", TILE_F32, 0, NULL, NULL);
  ck_assert_int_eq(tile_value_item(v, &item), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "while a captured function is called"));
  ck_assert_int_eq(tile_value_item(NULL, &item), TILE_INVALID_ARGUMENT);
  tile_graph_destroy(g);
}
END_TEST

// ---- the time of a known path ----

// The operators of one path of three_branches, without questions; what they would ask for is used.
static tile_status one_path(tile_graph *g, tile_value *const *in, size_t n, tile_value **out,
                            size_t m, void *user) {
  (void)g, (void)n, (void)m, (void)user;
  tile_value *y = tile_exp(tile_mul_number(in[0], 0.25)), *sum = tile_sum(in[0], NULL, 0, 0);
  tile_value *asked = tile_convert(tile_gt_number(sum, 10), TILE_F32);
  y = tile_add(tile_add(y, in[0]), asked);
  asked = tile_convert(tile_gt_number(tile_mul(tile_select(in[0], 0, 0), sum), 0), TILE_F32);
  y = tile_add(tile_sub(y, tile_mean(y, NULL, 0, 0)), asked);
  asked = tile_convert(tile_gt_number(tile_amax(in[0], NULL, 0, 0), 3), TILE_F32);
  out[0] = tile_add(tile_add_number(y, 1), asked);
  return TILE_OK;
}

static double microseconds(struct fixture *f, int calls) {
  float x[COUNT] = {1, 2, 3}, out[COUNT];
  struct timespec a, b;
  ok(call(f, x, COUNT, out, COUNT));
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (int i = 0; i < calls; i++)
    ok(call(f, x, COUNT, out, COUNT));
  clock_gettime(CLOCK_MONOTONIC, &b);
  return ((double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) * 1e-3) / calls;
}

START_TEST(times) {
  struct fixture *branches = fixture(three_branches), *plain = fixture(one_path);
  double slow = microseconds(branches, 200), fast = microseconds(plain, 200);
  if (getenv("TILE_TEST_PRINT"))
    printf("a call with three questions: %.1f us; the same operators without: %.1f us\n", slow,
           fast);
  ck_assert_int_eq(branches->runs, 1);
  finish(branches);
  finish(plain);
}
END_TEST

int main(void) {
  Suite *s = suite_create("paths");
  TCase *t = tcase_create("paths");
  tcase_set_timeout(t, 200);
  tcase_add_test(t, all_paths);
  tcase_add_test(t, loops);
  tcase_add_test(t, sizes);
  tcase_add_test(t, limit);
  tcase_add_test(t, dynamic_sizes);
  tcase_add_test(t, items);
  tcase_add_test(t, random_operators);
  tcase_add_test(t, errors);
  tcase_add_test(t, times);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
