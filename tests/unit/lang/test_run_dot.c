// SPDX-License-Identifier: Apache-2.0
// What tl.dot and tl.dot_scaled compute, on the CPU device or the one that is named: precisions of
// f32, infinities and NaN in them, formats and scales, products of many dimensions. Against sums in
// double precision.
#include "base/dtype.h"

#include <tile/tile.h>

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tile_device *device;
static bool on_cpu;

static void need(tile_status status) {
  if (status != TILE_OK)
    ck_abort_msg("%s: %s", tile_status_name(status), tile_error_message());
}

struct array {
  void *at; // on the host; copied there and back
  enum dtype type;
  size_t bytes;
};
enum { ARRAYS = 5 };

// One program of `text` with `warps` warps.
static void launch(const char *text, unsigned warps, const struct array *arrays, size_t n) {
  tile_kernel *k;
  tile_arg args[ARRAYS];
  void *there[ARRAYS];
  need(tile_kernel_from_source(device, "dot.tile", text, strlen(text), "k", &k));
  need(tile_kernel_set_warps(k, warps));
  for (size_t i = 0; i < n; i++) {
    need(tile_malloc(device, arrays[i].bytes, &there[i]));
    need(tile_copy_to_device(device, NULL, there[i], arrays[i].at, arrays[i].bytes));
    args[i] = tile_arg_pointer(there[i], (tile_type)arrays[i].type);
  }
  need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, n));
  need(tile_stream_synchronize(device, NULL));
  for (size_t i = 0; i < n; i++) {
    need(tile_copy_to_host(device, NULL, arrays[i].at, there[i], arrays[i].bytes));
    need(tile_free(device, there[i]));
  }
  tile_kernel_close(k);
}

static double draw(uint64_t *state) { // [-1, 1)
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state >> 11) / 4503599627370496.0 - 1.0;
}

// ---- precision ----

enum { M = 32, N = 16, K = 64 };

static const char precise_text[] =
    "def k(x: ptr[f32], y: ptr[f32], z: ptr[f32], out: ptr[f32]):\n"
    "  m, n, k = arange(0, 32), arange(0, 16), arange(0, 64)\n"
    "  a = load(x + m[:, None] * 64 + k[None, :])\n"
    "  b = load(y + k[:, None] * 16 + n[None, :])\n"
    "  o = m[:, None] * 16 + n[None, :]\n"
    "  store(out + o, tl.dot(a, b, load(z + o), input_precision='%s'))\n";

static float a_f32[M * K], b_f32[K * N], c_f32[M * N], d_f32[M * N];

static void run_f32(const char *precision, unsigned warps) {
  char text[1024];
  snprintf(text, sizeof text, precise_text, precision);
  const struct array arrays[] = {{a_f32, DTYPE_F32, sizeof a_f32},
                                 {b_f32, DTYPE_F32, sizeof b_f32},
                                 {c_f32, DTYPE_F32, sizeof c_f32},
                                 {d_f32, DTYPE_F32, sizeof d_f32}};
  memset(d_f32, 0xa5, sizeof d_f32);
  launch(text, warps, arrays, 4);
}

// Element (m, n) in double precision, and the sum of the magnitudes it is made of.
static double wanted(int m, int n, double *ret_size) {
  double sum = (double)c_f32[m * N + n];
  *ret_size = fabs(sum);
  for (int k = 0; k < K; k++) {
    double p = (double)a_f32[m * K + k] * (double)b_f32[k * N + n];
    sum += p, *ret_size += fabs(p);
  }
  return sum;
}

static double worst(void) {
  double most = 0, size;
  for (int i = 0; i < M * N; i++) {
    double want = wanted(i / N, i % N, &size);
    most = fmax(most, fabs((double)d_f32[i] - want) / size);
  }
  return most;
}

static void draw_f32(uint64_t seed) {
  for (int i = 0; i < M * K; i++)
    a_f32[i] = (float)ldexp(draw(&seed), (int)(draw(&seed) * 4));
  for (int i = 0; i < K * N; i++)
    b_f32[i] = (float)ldexp(draw(&seed), (int)(draw(&seed) * 4));
  for (int i = 0; i < M * N; i++)
    c_f32[i] = (float)draw(&seed);
}

static const struct {
  const char *name;
  double least, most; // errors, in powers of two
} precisions[] = {{"tf32", -14, -9.5},
                  {"tf32x3", -40, -21},
                  {"bf16x3", -20, -15},
                  {"bf16x6", -40, -21},
                  {"ieee", -40, -20.5}};

// On the CPU all are sums of f32 products.
static double bound_of(size_t i) { return on_cpu ? -20.5 : precisions[i].most; }

START_TEST(test_precision) {
  for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++)
    for (unsigned warps = 1; warps <= 4; warps *= 4) {
      draw_f32(i + warps);
      run_f32(precisions[i].name, warps);
      double e = log2(worst());
      double least = on_cpu ? -40 : precisions[i].least;
      ck_assert_msg(e > least && e < bound_of(i),
                    "%s, %u warps: error 2^%.2f, expected between 2^%g and 2^%g",
                    precisions[i].name, warps, e, least, bound_of(i));
    }
}
END_TEST

// Non-finite f32 values survive the split into pieces, next to zeros, numbers without a second
// piece, and small ones of the other sign; the largest numbers stay finite.
START_TEST(test_infinities) {
  for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++) {
    draw_f32(7);
    for (int m = 0; m < M * K; m++)
      a_f32[m] = (float)ldexp((double)a_f32[m], -20); // so that no sum overflows
    a_f32[0 * K + 3] = INFINITY;
    a_f32[1 * K + 5] = -INFINITY;
    a_f32[2 * K + 7] = NAN;
    a_f32[3 * K + 9] = FLT_MAX;
    a_f32[4 * K + 9] = -FLT_MAX;
    a_f32[5 * K + 1] = INFINITY, a_f32[5 * K + 2] = -INFINITY;
    for (int n = 0; n < N; n++) // a second piece of the other sign, and none
      b_f32[3 * N + n] = n % 2 ? 1 : (float)(1 - 0x1p-13), b_f32[9 * N + n] = 0.25f;
    b_f32[3 * N + 4] = 0;
    b_f32[5 * N + 6] = -INFINITY;
    b_f32[8 * N + 7] = NAN;
    c_f32[20 * N + 8] = INFINITY, c_f32[0 * N + 9] = -INFINITY;
    run_f32(precisions[i].name, 4);
    for (int j = 0; j < M * N; j++) {
      double size, want = wanted(j / N, j % N, &size), got = (double)d_f32[j];
      bool ok = isnan(want)   ? isnan(got)
                : isinf(want) ? got == want
                              : fabs(got - want) <= size * exp2(bound_of(i));
      ck_assert_msg(ok, "%s: (%d, %d) is %g, expected %g", precisions[i].name, j / N, j % N, got,
                    want);
    }
  }
}
END_TEST

// ---- dimensions and types ----

static void check_f32(const char *text, float *x, const float *want, int count) {
  static float out[1024];
  for (unsigned warps = 1; warps <= 4; warps *= 4) {
    const struct array arrays[] = {{x, DTYPE_F32, 1024 * sizeof *x}, {out, DTYPE_F32, sizeof out}};
    memset(out, 0xa5, sizeof out);
    launch(text, warps, arrays, 2);
    for (int i = 0; i < count; i++)
      ck_assert_msg(fabsf(out[i] - want[i]) <= 1e-3f * fabsf(want[i]) + 1e-6f,
                    "%s\n%u warps: [%d] is %g, expected %g", text, warps, i, (double)out[i],
                    (double)want[i]);
  }
}

// Small integers, exact in every type.
static void draw_integers(float *x, int n, uint64_t seed) {
  for (int i = 0; i < n; i++)
    x[i] = (float)(int)(draw(&seed) * 4);
}

START_TEST(test_dimensions) {
  static float x[1024], want[1024];
  draw_integers(x, 1024, 3);
  for (int b = 0; b < 4; b++)
    for (int i = 0; i < 256; i++) {
      double sum = 0;
      for (int k = 0; k < 16; k++)
        sum += (double)x[b * 256 + i / 16 * 16 + k] * (double)x[b * 256 + k * 16 + i % 16];
      want[b * 256 + i] = (float)sum;
    }
  check_f32("def k(x: ptr[f32], y: ptr[f32]):\n"
            "  a = load(x + arange(0, 1024)).reshape(2, 1, 2, 16, 16)\n"
            "  store(y + arange(0, 1024), tl.dot(a, a).ravel())\n",
            x, want, 1024);
  // An accumulator of as many dimensions; a type that is converted first.
  check_f32("def k(x: ptr[f32], y: ptr[f32]):\n"
            "  a = load(x + arange(0, 1024)).reshape(2, 2, 16, 16)\n"
            "  b = a.to(tl.float16)\n"
            "  c = tl.dot(b, b, acc=a, out_dtype=tl.float32)\n"
            "  store(y + arange(0, 1024), (c - a).ravel())\n",
            x, want, 1024);
  for (int i = 0; i < 1024; i++)
    x[i] /= 4; // below 1.75
  for (int i = 0; i < 1024; i++)
    want[i] /= 16;
  check_f32("def k(x: ptr[f32], y: ptr[f32]):\n"
            "  a = load(x + arange(0, 1024)).reshape(4, 16, 16)\n"
            "  p = tl.dot(a.to(tl.float8e4b15), a.to(tl.float8e4b15))\n"
            "  q = tl.dot(a.to(tl.float8e4b15), a.to(tl.float8e5))\n"
            "  store(y + arange(0, 1024), (p * 2 - q).ravel())\n",
            x, want, 1024);
  // The smallest product, and an outer one.
  want[0] = x[5] * x[5];
  check_f32("def k(x: ptr[f32], y: ptr[f32]):\n"
            "  a = load(x + 5 + arange(0, 1))[:, None]\n"
            "  store(y + arange(0, 1), tl.dot(a, a).reshape(1))\n",
            x, want, 1);
  for (int i = 0; i < 512; i++)
    want[i] = x[i / 32] * x[i % 32];
  check_f32("def k(x: ptr[f32], y: ptr[f32]):\n"
            "  c = tl.dot(load(x + arange(0, 16))[:, None], load(x + arange(0, 32))[None, :])\n"
            "  store(y + arange(0, 512), c.ravel())\n",
            x, want, 512);
}
END_TEST

// ---- scales ----

enum { SM = 16, SN = 32, SK = 64, BLOCK = 32 };

struct format {
  const char *name;
  enum dtype type;  // of the elements; e2m1: DTYPE_NONE
  enum dtype given; // in memory
};
static const struct format formats[] = {
    {"e2m1", DTYPE_NONE, DTYPE_U8},   {"e4m3", DTYPE_F8E4NV, DTYPE_F8E4NV},
    {"e4m3", DTYPE_F8E4NV, DTYPE_U8}, {"e5m2", DTYPE_F8E5, DTYPE_F8E5},
    {"bf16", DTYPE_BF16, DTYPE_BF16}, {"bf16", DTYPE_BF16, DTYPE_U16},
    {"fp16", DTYPE_F16, DTYPE_F16}};
enum { FORMATS = sizeof formats / sizeof *formats };

static double e2m1(unsigned bits) {
  static const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return bits & 8 ? -values[bits & 7] : values[bits & 7];
}

// Random elements of a rows x columns tile, in memory and as numbers. Two of e2m1 in a byte are
// neighbours along the rows, or along the columns where `down`.
static void draw_elements(const struct format *f, int rows, int columns, bool down, uint64_t seed,
                          void *ret_bytes, double *ret) {
  for (int i = 0; i < rows * columns; i++) {
    int r = i / columns, c = i % columns;
    if (f->type != DTYPE_NONE) {
      char *at = (char *)ret_bytes + (size_t)i * dtype_bytes(f->type);
      dtype_store(f->type, at, draw(&seed) * 4);
      ret[i] = dtype_load(f->type, at);
      continue;
    }
    unsigned char *byte =
        (unsigned char *)ret_bytes + (down ? r / 2 * columns + c : r * (columns / 2) + c / 2);
    unsigned bits = (unsigned)(draw(&seed) * 8 + 8) & 15, high = (down ? r : c) % 2;
    *byte = (unsigned char)(high ? (*byte & 15) | bits << 4 : (*byte & 0xf0) | bits);
    ret[i] = e2m1(bits);
  }
}

static double scale_value(unsigned char s) { return s == 255 ? (double)NAN : ldexp(1, s - 127); }

struct scaled {
  const struct format *a, *b;
  bool a_scale, b_scale, a_pack, b_pack, fast;
};

static void scaled_text(const struct scaled *s, char *text, size_t size) {
  bool a_half = s->a->type == DTYPE_NONE, b_half = s->b->type == DTYPE_NONE;
  snprintf(text, size,
           "def k(x: ptr[%s], xs: ptr[u8], y: ptr[%s], ys: ptr[u8], out: ptr[f32]):\n"
           "  AM: constexpr = %d\n"
           "  AK: constexpr = %d\n"
           "  BK: constexpr = %d\n"
           "  BN: constexpr = %d\n"
           "  a = load(x + arange(0, AM)[:, None] * AK + arange(0, AK)[None, :])\n"
           "  b = load(y + arange(0, BK)[:, None] * BN + arange(0, BN)[None, :])\n"
           "  m, n, s = arange(0, 16), arange(0, 32), arange(0, 2)\n"
           "  p = load(xs + m[:, None] * 2 + s[None, :])\n"
           "  q = load(ys + n[:, None] * 2 + s[None, :])\n"
           "  c = tl.dot_scaled(a, %s, '%s', b, %s, '%s', fast_math=%s, lhs_k_pack=%s,\n"
           "                    rhs_k_pack=%s, acc=tl.full((16, 32), 1.0, tl.float32))\n"
           "  store(out + m[:, None] * 32 + n[None, :], c)\n",
           dtype_name(s->a->given), dtype_name(s->b->given), a_half && !s->a_pack ? SM / 2 : SM,
           a_half && s->a_pack ? SK / 2 : SK, b_half && s->b_pack ? SK / 2 : SK,
           b_half && !s->b_pack ? SN / 2 : SN, s->a_scale ? "p" : "None", s->a->name,
           s->b_scale ? "q" : "None", s->b->name, s->fast ? "True" : "False",
           s->a_pack ? "True" : "False", s->b_pack ? "True" : "False");
}

static void check_scaled(const struct scaled *s, unsigned warps) {
  static double a[SM * SK], b[SK * SN];
  static char a_bytes[SM * SK * 2], b_bytes[SK * SN * 2];
  static unsigned char a_scales[SM * 2], b_scales[SN * 2];
  static float out[SM * SN];
  char text[2048];
  uint64_t seed = (uint64_t)(s->a - formats) * 16 + (uint64_t)(s->b - formats);
  draw_elements(s->a, SM, SK, !s->a_pack, seed + 1, a_bytes, a);
  draw_elements(s->b, SK, SN, s->b_pack, seed + 2, b_bytes, b);
  for (int i = 0; i < SM * 2; i++)
    a_scales[i] = (unsigned char)(127 + (int)(draw(&seed) * 5));
  for (int i = 0; i < SN * 2; i++)
    b_scales[i] = (unsigned char)(127 + (int)(draw(&seed) * 5));
  a_scales[7] = 0, b_scales[9] = s->fast ? 127 : 255;
  const struct array arrays[] = {{a_bytes, s->a->given, sizeof a_bytes},
                                 {a_scales, DTYPE_U8, sizeof a_scales},
                                 {b_bytes, s->b->given, sizeof b_bytes},
                                 {b_scales, DTYPE_U8, sizeof b_scales},
                                 {out, DTYPE_F32, sizeof out}};
  scaled_text(s, text, sizeof text);
  memset(out, 0xa5, sizeof out);
  launch(text, warps, arrays, 5);
  bool half = s->a->type == DTYPE_F16 || s->b->type == DTYPE_F16;
  for (int i = 0; i < SM * SN; i++) {
    double sum = 1, size = 1;
    for (int k = 0; k < SK; k++) {
      double x = a[i / SN * SK + k], y = b[k * SN + i % SN];
      x *= s->a_scale ? scale_value(a_scales[i / SN * 2 + k / BLOCK]) : 1;
      y *= s->b_scale ? scale_value(b_scales[i % SN * 2 + k / BLOCK]) : 1;
      sum += x * y, size += fabs(x * y);
    }
    bool ok = isnan(sum) ? isnan(out[i])
                         : fabs((double)out[i] - sum) <= size * (half ? 0x1p-10 : 0x1p-20);
    ck_assert_msg(ok, "%s\n(%d, %d) is %g, expected %g", text, i / SN, i % SN, (double)out[i], sum);
  }
}

START_TEST(test_scales) {
  const struct format *a = &formats[_i / FORMATS], *b = &formats[_i % FORMATS];
  check_scaled(&(struct scaled){a, b, true, true, true, true, false}, 4);
  bool a_half = a->type == DTYPE_NONE, b_half = b->type == DTYPE_NONE;
  if (a_half || b_half)
    check_scaled(&(struct scaled){a, b, true, true, !a_half, !b_half, true}, 1);
  if (_i % 3 == 0)
    check_scaled(&(struct scaled){a, b, _i % 2, false, true, true, false}, 1);
}
END_TEST

int main(int argc, char **argv) {
  tile_status status = tile_device_open(argc > 1 ? argv[1] : "cpu", &device);
  on_cpu = argc < 2 || strcmp(argv[1], "cpu") == 0;
  if (status == TILE_NO_DEVICE || status == TILE_DRIVER_TOO_OLD)
    return printf("1..0 # SKIP %s\n", tile_error_message()), EXIT_SUCCESS;
  need(status);
  Suite *s = suite_create("lang-run-dot");
  TCase *t = tcase_create("dot");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, test_precision);
  tcase_add_test(t, test_infinities);
  tcase_add_test(t, test_dimensions);
  tcase_add_loop_test(t, test_scales, 0, FORMATS * FORMATS);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_set_fork_status(r, CK_NOFORK);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  tile_device_close(device);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
