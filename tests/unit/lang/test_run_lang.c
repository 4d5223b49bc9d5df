// SPDX-License-Identifier: Apache-2.0
// What kernels compute, on the CPU device: the math library against long double, with the errors
// that its text states; control flow against the same algorithm in C.
#include <tile/tile.h>

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tile_device *device;

static void need(tile_status status) {
  if (status != TILE_OK)
    ck_abort_msg("%s: %s", tile_status_name(status), tile_error_message());
}

static tile_kernel *kernel_of(const char *text, const char *name) {
  tile_kernel *k;
  need(tile_kernel_from_source(device, "test.tile", text, strlen(text), name, &k));
  return k;
}

// ---- the math library ----

enum { COUNT = 4096 };

static long double sigmoid(long double x) { return 1 / (1 + expl(-x)); }
static long double rsqrt(long double x) { return 1 / sqrtl(x); }

struct range {
  const char *name;
  long double (*reference)(long double);
  double lo, hi; // arguments; logarithmic where `log`
  int log;
  double f32_ulp, f32_abs, f64_ulp; // what either bound allows passes
};

// The bounds are those of lang/std, with a third to spare.
static const struct range ranges[] = {
    {"exp", expl, -87, 88.5, 0, 2.4, 0, 1.2},     {"exp", expl, 1e-9, 1, 1, 2.4, 0, 1.2},
    {"exp2", exp2l, -125, 127, 0, 2.4, 0, 1.5},   {"log", logl, 1e-37, 1e38, 1, 1.6, 0, 1.5},
    {"log", logl, 0.5, 2, 0, 1.6, 0, 1.5},        {"log2", log2l, 1e-37, 1e38, 1, 2.4, 2.5e-7, 1.9},
    {"log2", log2l, 0.5, 2, 0, 2.4, 2.5e-7, 1.9}, {"sin", sinl, -4, 4, 0, 2, 1.4e-7, 1.9},
    {"sin", sinl, -1e5, 1e5, 0, 2, 1.4e-7, 1.9},  {"sin", sinl, -6e6, 6e6, 0, 0, 1e-5, 1.9},
    {"cos", cosl, -4, 4, 0, 2, 1.4e-7, 1.9},      {"cos", cosl, -1e5, 1e5, 0, 2, 1.4e-7, 1.9},
    {"cos", cosl, -6e6, 6e6, 0, 0, 1e-5, 1.9},    {"tanh", tanhl, -10, 10, 0, 2, 0, 2.4},
    {"tanh", tanhl, 1e-9, 2, 1, 2, 0, 2.4},       {"erf", erfl, -4.5, 4.5, 0, 3.4, 0, 1.9},
    {"erf", erfl, 1e-9, 1.5, 1, 3.4, 0, 1.9},     {"sigmoid", sigmoid, -80, 80, 0, 3.5, 0, 2.4},
    {"rsqrt", rsqrt, 1e-37, 1e37, 1, 2.4, 0, 2},  {"sqrt", sqrtl, 1e-37, 1e37, 1, 2.4, 0, 0.51},
};

static double argument(const struct range *r, int i) {
  double t = ((double)i + 0.37) / COUNT;
  return r->log ? exp(log(r->lo) + (log(r->hi) - log(r->lo)) * t) : r->lo + (r->hi - r->lo) * t;
}

static long double ulp_of(long double v, int bits, int smallest) {
  int e = v == 0 ? smallest : ilogbl(v);
  return ldexpl(1, (e < smallest ? smallest : e) - bits);
}

static tile_kernel *math_kernel(const char *name, int is_f64) {
  char text[512];
  snprintf(text, sizeof text,
           "def k(x: ptr[%s], y: ptr[%s]):\n  o = program_id(0) * 256 + arange(0, 256)\n"
           "  store(y + o, tl.%s(load(x + o)))\n",
           is_f64 ? "f64" : "f32", is_f64 ? "f64" : "f32", name);
  return kernel_of(text, "k");
}

static void *run_math(tile_kernel *k, void *x, size_t element, tile_type type) {
  void *y = calloc(COUNT, element);
  ck_assert_ptr_nonnull(y);
  tile_arg args[] = {tile_arg_pointer(x, type), tile_arg_pointer(y, type)};
  need(tile_launch(k, NULL, (tile_grid){COUNT / 256, 1, 1}, args, 2));
  need(tile_stream_synchronize(device, NULL));
  return y;
}

START_TEST(math_f32) {
  const struct range *r = &ranges[_i];
  float *x = malloc(COUNT * sizeof *x);
  for (int i = 0; i < COUNT; i++)
    x[i] = (float)argument(r, i);
  tile_kernel *k = math_kernel(r->name, 0);
  float *y = run_math(k, x, sizeof *x, TILE_F32);
  for (int i = 0; i < COUNT; i++) {
    long double want = r->reference((long double)x[i]), off = fabsl((long double)y[i] - want);
    ck_assert_msg(off <= (long double)r->f32_abs ||
                      off <= (long double)r->f32_ulp * ulp_of(want, 23, -126),
                  "%s(%.9g) = %.9g, expected %.12Lg: %.2Lf ulp", r->name, (double)x[i],
                  (double)y[i], want, off / ulp_of(want, 23, -126));
  }
  tile_kernel_close(k);
  free(x), free(y);
}
END_TEST

START_TEST(math_f64) {
  const struct range *r = &ranges[_i];
  double *x = malloc(COUNT * sizeof *x);
  for (int i = 0; i < COUNT; i++)
    x[i] = argument(r, i);
  tile_kernel *k = math_kernel(r->name, 1);
  double *y = run_math(k, x, sizeof *x, TILE_F64);
  for (int i = 0; i < COUNT; i++) {
    long double want = r->reference((long double)x[i]), off = fabsl((long double)y[i] - want);
    ck_assert_msg(off <= (long double)r->f64_ulp * ulp_of(want, 52, -1022),
                  "%s(%.17g) = %.17g, expected %.20Lg: %.2Lf ulp", r->name, x[i], y[i], want,
                  off / ulp_of(want, 52, -1022));
  }
  tile_kernel_close(k);
  free(x), free(y);
}
END_TEST

// Infinities, zeros and NaN.
START_TEST(math_of_special_values) {
  static const struct {
    const char *name;
    double of_zero, of_inf, of_minus_inf;
  } cases[] = {{"exp", 1, INFINITY, 0},
               {"exp2", 1, INFINITY, 0},
               {"log", -INFINITY, INFINITY, NAN},
               {"log2", -INFINITY, INFINITY, NAN},
               {"sin", 0, NAN, NAN},
               {"cos", 1, NAN, NAN},
               {"tanh", 0, 1, -1},
               {"erf", 0, 1, -1},
               {"sigmoid", 0.5, 1, 0},
               {"rsqrt", INFINITY, 0, NAN},
               {"sqrt", 0, INFINITY, NAN}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int is_f64 = 0; is_f64 < 2; is_f64++) {
      double x[COUNT] = {0, INFINITY, -INFINITY, NAN}, got[4];
      float xf[COUNT] = {0, INFINITY, -INFINITY, NAN};
      tile_kernel *k = math_kernel(cases[c].name, is_f64);
      void *y =
          is_f64 ? run_math(k, x, sizeof *x, TILE_F64) : run_math(k, xf, sizeof *xf, TILE_F32);
      for (int i = 0; i < 4; i++)
        got[i] = is_f64 ? ((double *)y)[i] : (double)((float *)y)[i];
      const double want[4] = {cases[c].of_zero, cases[c].of_inf, cases[c].of_minus_inf, NAN};
      for (int i = 0; i < 4; i++)
        ck_assert_msg(got[i] == want[i] || (isnan(got[i]) && isnan(want[i])),
                      "%s of %g is %g, not %g", cases[c].name, x[i], got[i], want[i]);
      tile_kernel_close(k);
      free(y);
    }
}
END_TEST

// ---- control flow ----

static const char flow_text[] =
    "@jit\n"
    "def collatz(n):\n"
    "    steps = 0\n"
    "    while n != 1:\n"
    "        if n % 2 == 0:\n"
    "            n //= 2\n"
    "            steps += 1\n"
    "            continue\n"
    "        n = 3 * n + 1\n"
    "        steps += 1\n"
    "        if steps > 100:\n"
    "            break\n"
    "    return steps\n"
    "@jit\n"
    "def sign(v):\n"
    "    if v > 0:\n"
    "        return 1\n"
    "    if v < 0:\n"
    "        return -1\n"
    "    return 0\n"
    "@jit\n"
    "def nested(a, b):\n"
    "    if a > 3:\n"
    "        if b > 3:\n"
    "            return a\n"
    "        b += 10\n"
    "    elif b > 5:\n"
    "        return b * 2\n"
    "    return a * 100 + b\n"
    "@jit\n"
    "def first_over(x, n, limit):\n"
    "    found = -1\n"
    "    for i in range(n):\n"
    "        if load(x + i) > limit:\n"
    "            found = i\n"
    "            break\n"
    "    return found\n"
    "@jit\n"
    "def k(x: ptr[i32], out: ptr[i32], n: i32, step: i32):\n"
    "    store(out + 0, collatz(n))\n"
    "    store(out + 1, sign(n) * 10 + sign(-n) * 100 + sign(n - n))\n"
    "    store(out + 2, first_over(x, n, 5))\n"
    "    s = 0\n"
    "    for i in range(n, 0, step):\n"
    "        s += i\n"
    "    store(out + 3, s)\n"
    "    s = 0\n"
    "    for i in range(10, -1, -3):\n"
    "        s = s * 100 + i\n"
    "    store(out + 4, s)\n"
    "    s = 0\n"
    "    for i in range(n):\n"
    "        if i == 3:\n"
    "            continue\n"
    "        for j in range(i):\n"
    "            if j > 2:\n"
    "                break\n"
    "            s += j\n"
    "        if s > 12:\n"
    "            break\n"
    "        s += 1\n"
    "    store(out + 5, s)\n"
    "    a, b = 0, 1\n"
    "    for i in range(n):\n"
    "        a, b = b, (a + b) & 0xFFFF\n"
    "    store(out + 6, a)\n"
    "    store(out + 7, (0 - n) // 2 * 10 + (0 - n) % 4)\n"
    "    c = n > 3 and n < 100 or n == 1\n"
    "    store(out + 8, n if c and not n == 5 else -1)\n"
    "    t = (n, 2.5)\n"
    "    i = 0\n"
    "    while (m := load(x + i)) < 4:\n"
    "        t = (t[0] + m, t[1] * 2)\n"
    "        i += 1\n"
    "    store(out + 9, t[0] * 100 + t[1].to(i32))\n"
    "    u = n.to(u8) - 20\n"
    "    store(out + 10, u.to(i32) * 2 + (n.to(i8) < 0))\n"
    "    z = 0\n"
    "    for i in static_range(4):\n"
    "        if load(x + i) == 2:\n"
    "            break\n"
    "        z += 1\n"
    "    store(out + 11, z)\n"
    "    store(out + 12, nested(n, n - 3) * 1000 + nested(n - 4, 7) + nested(2, n))\n"
    "    if n > 100:\n"
    "        return\n"
    "    store(out + 13, 77)\n";

enum { OUTS = 14 };

static int sign_of(int v) { return (v > 0) - (v < 0); }

static int nested(int a, int b) {
  if (a > 3) {
    if (b > 3)
      return a;
    b += 10;
  } else if (b > 5) {
    return b * 2;
  }
  return a * 100 + b;
}

static int some_loops(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if (i == 3)
      continue;
    for (int j = 0; j < i && j <= 2; j++)
      s += j;
    if (s > 12)
      break;
    s += 1;
  }
  return s;
}

static void reference(const int *x, int n, int step, int *out) {
  int steps = 0;
  for (int v = n; v != 1 && steps <= 100; steps++)
    v = v % 2 ? 3 * v + 1 : v / 2;
  out[0] = steps;
  out[1] = sign_of(n) * 10 + sign_of(-n) * 100;
  out[2] = -1;
  for (int i = 0; i < n && out[2] < 0; i++)
    out[2] = x[i] > 5 ? i : -1;
  out[3] = 0;
  for (int i = n; step < 0 ? i > 0 : i < 0; i += step)
    out[3] += i;
  out[4] = 10070401;
  out[5] = some_loops(n);
  int a = 0, b = 1;
  for (int i = 0; i < n; i++) {
    int next = (a + b) & 0xFFFF;
    a = b, b = next;
  }
  out[6] = a;
  out[7] = -n / 2 * 10 + -n % 4;
  out[8] = ((n > 3 && n < 100) || n == 1) && n != 5 ? n : -1;
  int sum = n;
  float product = 2.5f;
  for (int i = 0; x[i] < 4; i++)
    sum += x[i], product *= 2;
  out[9] = sum * 100 + (int)product;
  out[10] = (unsigned char)(n - 20) * 2 + ((signed char)n < 0);
  out[11] = 2;
  out[12] = nested(n, n - 3) * 1000 + nested(n - 4, 7) + nested(2, n);
  out[13] = n <= 100 ? 77 : 0;
}

START_TEST(control_flow) {
  static const int cases[][2] = {{1, -1}, {2, -3}, {7, -2}, {27, -5}, {5, 1}, {101, -1}, {130, 3}};
  int x[256];
  for (int i = 0; i < 256; i++)
    x[i] = i;
  tile_kernel *k = kernel_of(flow_text, "k");
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    int got[OUTS] = {0}, want[OUTS];
    int n = cases[c][0], step = cases[c][1];
    tile_arg args[] = {tile_arg_pointer(x, TILE_I32), tile_arg_pointer(got, TILE_I32),
                       tile_arg_i32(n), tile_arg_i32(step)};
    need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 4));
    need(tile_stream_synchronize(device, NULL));
    reference(x, n, step, want);
    for (int i = 0; i < OUTS; i++)
      ck_assert_msg(got[i] == want[i], "n = %d, step = %d: out[%d] = %d, expected %d", n, step, i,
                    got[i], want[i]);
  }
  tile_kernel_close(k);
}
END_TEST

static void open_device(void) { need(tile_device_open("cpu", &device)); }
static void close_device(void) { tile_device_close(device); }

int main(void) {
  Suite *s = suite_create("lang-run");
  TCase *t = tcase_create("run");
  tcase_add_checked_fixture(t, open_device, close_device);
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, math_f32, 0, (int)(sizeof ranges / sizeof *ranges));
  tcase_add_loop_test(t, math_f64, 0, (int)(sizeof ranges / sizeof *ranges));
  tcase_add_test(t, math_of_special_values);
  tcase_add_test(t, control_flow);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_set_fork_status(runner, CK_NOFORK);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
