// SPDX-License-Identifier: Apache-2.0
// What the standard library computes (lang/std/standard.tile, random.tile), on the CPU device,
// against the same in C.
#include "base/dtype.h"

#include <tile/tile.h>

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tile_device *device;

enum { MOST = 4096 };

static void need(tile_status status) {
  if (status != TILE_OK)
    ck_abort_msg("%s: %s", tile_status_name(status), tile_error_message());
}

// ---- running a kernel of one tile in and one out ----

// `body` is what stands between `x`, a tile of R by C elements, and `y`, the result, which has rows
// of `columns` elements.
struct run {
  const char *body;
  enum dtype in, out;
  int rows, columns_in; // of x; rows 0: one dimension
  int count_out;
  unsigned warps;
};

static const char kernel_text[] =
    "def k(px: ptr[%s], py: ptr[%s]):\n"
    "  R: constexpr = %d\n"
    "  C: constexpr = %d\n"
    "  n = R * C if R else C\n"
    "  x = load(px + arange(0, n))\n"
    "  if R:\n"
    "    x = x.reshape(R, C)\n"
    "%s\n"
    "  y = tl.ravel(y) if len(y.shape) else tl.full([1], y, y.dtype)\n"
    "  store(py + arange(0, y.numel), y)\n";

static void run(const struct run *r, const double *x, double *y) {
  static char text[4096];
  static char in[MOST * 8], out[MOST * 8];
  size_t n = (size_t)(r->rows ? r->rows * r->columns_in : r->columns_in);
  snprintf(text, sizeof text, kernel_text, dtype_name(r->in), dtype_name(r->out), r->rows,
           r->columns_in, r->body);
  for (size_t i = 0; i < n; i++)
    dtype_store(r->in, in + i * dtype_bytes(r->in), x[i]);
  memset(out, 0xA5, sizeof out);
  tile_kernel *k;
  need(tile_kernel_from_source(device, "std.tile", text, strlen(text), "k", &k));
  need(tile_kernel_set_warps(k, r->warps));
  tile_arg args[] = {tile_arg_pointer(in, (tile_type)r->in),
                     tile_arg_pointer(out, (tile_type)r->out)};
  need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 2));
  need(tile_stream_synchronize(device, NULL));
  tile_kernel_close(k);
  for (size_t i = 0; i < (size_t)r->count_out; i++)
    y[i] = dtype_load(r->out, out + i * dtype_bytes(r->out));
}

static double draw(uint64_t *state) { // [-1, 1)
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state >> 11) / 4503599627370496.0 - 1.0;
}

static void fill(double *x, size_t n, enum dtype t, double scale, uint64_t seed) {
  char one[8];
  for (size_t i = 0; i < n; i++) {
    double v = draw(&seed) * scale;
    if (!dtype_is_float(t))
      v = trunc(dtype_is_signed(t) ? v : fabs(v));
    dtype_store(t, one, v);
    x[i] = dtype_load(t, one);
  }
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

// Runs with 1 and 4 warps; the results are `want` within `tolerance`.
static void check(struct run r, const double *x, const double *want, double tolerance) {
  static double y[MOST];
  for (r.warps = 1; r.warps <= 4; r.warps *= 4) {
    run(&r, x, y);
    for (int i = 0; i < r.count_out; i++)
      ck_assert_msg(same(y[i], want[i]) || fabs(y[i] - want[i]) <= tolerance,
                    "%s\n%s %dx%d, %u warps: [%d] = %.9g, expected %.9g", r.body, dtype_name(r.in),
                    r.rows, r.columns_in, r.warps, i, y[i], want[i]);
  }
}

// ---- reductions ----

START_TEST(test_sums) {
  enum { R = 8, C = 32 };
  static double x[R * C];
  double rows[R], columns[C], want[1];
  static const enum dtype types[][2] = {{DTYPE_F32, DTYPE_F32}, {DTYPE_F64, DTYPE_F64},
                                        {DTYPE_I8, DTYPE_I32},  {DTYPE_U8, DTYPE_U32},
                                        {DTYPE_I16, DTYPE_I32}, {DTYPE_I64, DTYPE_I64}};
  for (size_t t = 0; t < COUNT_OF(types); t++) {
    fill(x, R * C, types[t][0], 100, t + 1);
    memset(rows, 0, sizeof rows);
    memset(columns, 0, sizeof columns);
    want[0] = 0;
    for (int i = 0; i < R * C; i++)
      rows[i / C] += x[i], columns[i % C] += x[i], want[0] += x[i];
    double off = dtype_is_float(types[t][0]) ? 2e-3 : 0;
    check((struct run){"  y = tl.sum(x, 1)", types[t][0], types[t][1], R, C, R, 0}, x, rows, off);
    check((struct run){"  y = x.sum(axis=0, keep_dims=True)", types[t][0], types[t][1], R, C, C, 0},
          x, columns, off);
    check((struct run){"  y = tl.sum(x)", types[t][0], types[t][1], R, C, 1, 0}, x, want, off);
  }
}
END_TEST

// 2048 ones and then small parts: f16 would lose them one by one, and i8 would wrap.
START_TEST(test_sum_types) {
  static double x[1024];
  for (int i = 0; i < 1024; i++)
    x[i] = i < 512 ? 4 : 0.25;
  check((struct run){"  y = tl.sum(x, 0)", DTYPE_F16, DTYPE_F16, 0, 1024, 1, 0}, x,
        (double[]){512 * 4 + 128}, 0);
  check((struct run){"  y = tl.sum(x, 0)", DTYPE_BF16, DTYPE_BF16, 0, 1024, 1, 0}, x,
        (double[]){512 * 4 + 128}, 0);
  check((struct run){"  y = tl.sum(x, 0, dtype=tl.float32)", DTYPE_F16, DTYPE_F32, 0, 1024, 1, 0},
        x, (double[]){512 * 4 + 128}, 0);
  check((struct run){"  y = tl.sum(x > 1.0, 0)", DTYPE_F32, DTYPE_U32, 0, 1024, 1, 0}, x,
        (double[]){512}, 0);
  check((struct run){"  y = tl.sum(x, 0, dtype=tl.int64)", DTYPE_I8, DTYPE_I64, 0, 1024, 1, 0}, x,
        (double[]){2048}, 0);
}
END_TEST

START_TEST(test_bits) {
  enum { R = 4, C = 64 };
  static double x[R * C];
  double xors[R] = {0}, ors[R] = {0};
  fill(x, R * C, DTYPE_I32, 1 << 20, 5);
  for (int i = 0; i < R * C; i++) {
    xors[i / C] = (double)((int64_t)xors[i / C] ^ (int64_t)x[i]);
    ors[i / C] = (double)((int64_t)ors[i / C] | (int64_t)x[i]);
  }
  check((struct run){"  y = x.xor_sum(1)", DTYPE_I32, DTYPE_I32, R, C, R, 0}, x, xors, 0);
  check((struct run){"  y = tl.reduce_or(x, 1)", DTYPE_I32, DTYPE_I32, R, C, R, 0}, x, ors, 0);
}
END_TEST

// Numbers are preferred to NaN; of equal values the first is taken.
START_TEST(test_extrema) {
  enum { R = 4, C = 32 };
  static double x[R * C];
  double most[R], least[R], at_most[R], at_least[R];
  static const enum dtype types[] = {DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16,
                                     DTYPE_I8,  DTYPE_U8,  DTYPE_I32, DTYPE_I64};
  for (size_t t = 0; t < COUNT_OF(types); t++) {
    enum dtype type = types[t];
    bool is_float = dtype_is_float(type);
    enum dtype wide = dtype_bytes(type) >= 4 ? type : is_float ? DTYPE_F32 : DTYPE_I32;
    fill(x, R * C, type, 9, t + 3);
    if (is_float)
      x[0] = x[C + 5] = x[2 * C + 31] = NAN;
    for (int i = 0; is_float && i < C; i++)
      x[3 * C + i] = NAN;
    for (int i = 0; i < R; i++) {
      int hi = 0, lo = 0;
      for (int j = 1; j < C; j++) {
        const double *row = x + i * C;
        hi = row[j] > row[hi] || (isnan(row[hi]) && !isnan(row[j])) ? j : hi;
        lo = row[j] < row[lo] || (isnan(row[lo]) && !isnan(row[j])) ? j : lo;
      }
      most[i] = x[i * C + hi], least[i] = x[i * C + lo];
      at_most[i] = hi, at_least[i] = lo;
    }
    check((struct run){"  y = tl.max(x, 1)", type, wide, R, C, R, 0}, x, most, 0);
    check((struct run){"  y = x.min(axis=-1)", type, wide, R, C, R, 0}, x, least, 0);
    check((struct run){"  v, y = tl.max(x, 1, return_indices=True)", type, DTYPE_I32, R, C, R, 0},
          x, at_most, 0);
    check((struct run){"  y = tl.argmax(x, 1)", type, DTYPE_I32, R, C, R, 0}, x, at_most, 0);
    check((struct run){"  y = tl.argmin(x, 1, keep_dims=True)", type, DTYPE_I32, R, C, R, 0}, x,
          at_least, 0);
    check((struct run){"  y = tl.max(x, 1, return_indices=True, keep_dims=True)[0]", type,
                       dtype_bytes(type) == 2 && type == DTYPE_BF16 ? DTYPE_F32 : type, R, C, R, 0},
          x, most, 0);
    if (!is_float)
      continue;
    // Over all: position in row-major order.
    int hi = 1;
    for (int j = 1; j < R * C; j++)
      hi = x[j] > x[hi] ? j : hi;
    check((struct run){"  y = tl.argmax(x, None)", type, DTYPE_I32, R, C, 1, 0}, x, (double[]){hi},
          0);
  }
}
END_TEST

// Without left ties the result is some index of the largest value.
START_TEST(test_ties) {
  static double x[256], y[1];
  for (int i = 0; i < 256; i++)
    x[i] = i % 7;
  struct run r = {
      "  y = tl.argmax(x, 0, tie_break_left=False)", DTYPE_F32, DTYPE_I32, 0, 256, 1, 4};
  run(&r, x, y);
  ck_assert(y[0] >= 0 && y[0] < 256 && x[(int)y[0]] == 6);
  check((struct run){"  y = tl.argmax(x, 0)", DTYPE_F32, DTYPE_I32, 0, 256, 1, 0}, x, (double[]){6},
        0);
}
END_TEST

START_TEST(test_scans) {
  enum { R = 4, C = 64 };
  static double x[R * C], want[R * C];
  fill(x, R * C, DTYPE_I32, 100, 9);
  for (int i = 0; i < R * C; i++)
    want[i] = x[i] + (i % C ? want[i - 1] : 0);
  check((struct run){"  y = tl.cumsum(x, 1)", DTYPE_I32, DTYPE_I32, R, C, R * C, 0}, x, want, 0);
  check((struct run){"  y = x.cumsum(1)", DTYPE_I16, DTYPE_I32, R, C, R * C, 0}, x, want, 0);
  check(
      (struct run){"  y = tl.cumsum(x, 1, dtype=tl.float32)", DTYPE_I32, DTYPE_F32, R, C, R * C, 0},
      x, want, 0);
  for (int i = R * C; i-- > 0;)
    want[i] = x[i] + (i / C < R - 1 ? want[i + C] : 0);
  check((struct run){"  y = tl.cumsum(x, 0, reverse=True)", DTYPE_I32, DTYPE_I32, R, C, R * C, 0},
        x, want, 0);
  for (int i = 0; i < R * C; i++)
    x[i] = i % 3 ? -1 : 2;
  for (int i = 0; i < R * C; i++)
    want[i] = x[i] * (i / C ? want[i - C] : 1);
  check((struct run){"  y = x.cumprod(0)", DTYPE_F32, DTYPE_F32, R, C, R * C, 0}, x, want, 0);
}
END_TEST

START_TEST(test_softmax) {
  enum { R = 8, C = 128 };
  static double x[R * C], want[R * C];
  fill(x, R * C, DTYPE_F32, 20, 11);
  for (int i = 0; i < R; i++) {
    double most = -INFINITY, sum = 0;
    for (int j = 0; j < C; j++)
      most = fmax(most, x[i * C + j]);
    for (int j = 0; j < C; j++)
      sum += want[i * C + j] = exp(x[i * C + j] - most);
    for (int j = 0; j < C; j++)
      want[i * C + j] /= sum;
  }
  check((struct run){"  y = tl.softmax(x, 1)", DTYPE_F32, DTYPE_F32, R, C, R * C, 0}, x, want,
        1e-6);
  check((struct run){"  y = tl.trans(x).softmax(ieee_rounding=True).trans()", DTYPE_F32, DTYPE_F32,
                     R, C, R * C, 0},
        x, want, 1e-6);
}
END_TEST

// ---- sorting ----

// Ascending, NaN last.
static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : x < y ? -1 : x > y;
}

static void sort_rows(const double *x, int rows, int columns, bool descending, double *ret) {
  memcpy(ret, x, (size_t)(rows * columns) * sizeof *x);
  for (int i = 0; i < rows; i++) {
    double *row = ret + i * columns;
    qsort(row, (size_t)columns, sizeof *row, compare);
    for (int j = 0; descending && j < columns / 2; j++) {
      double t = row[j];
      row[j] = row[columns - 1 - j], row[columns - 1 - j] = t;
    }
  }
}

START_TEST(test_sort) {
  static double x[MOST], want[MOST];
  static const enum dtype types[] = {DTYPE_F32, DTYPE_I32, DTYPE_F16, DTYPE_U8, DTYPE_I64};
  enum dtype type = types[_i];
  const int shapes[][2] = {{0, 2}, {0, 64}, {0, 512}, {4, 16}, {8, 1}, {1, 128}};
  for (size_t s = 0; s < COUNT_OF(shapes); s++) {
    int rows = shapes[s][0] ? shapes[s][0] : 1, columns = shapes[s][1], n = rows * columns;
    fill(x, (size_t)n, type, 60, s);
    if (dtype_is_float(type) && n > 2)
      x[1] = NAN, x[n / 2] = INFINITY;
    struct run r = {"  y = tl.sort(x)", type, type, shapes[s][0], columns, n, 0};
    sort_rows(x, rows, columns, false, want);
    check(r, x, want, 0);
    sort_rows(x, rows, columns, true, want);
    r.body = "  y = x.sort(-1, descending=True)";
    check(r, x, want, 0);
  }
}
END_TEST

START_TEST(test_argsort) {
  enum { R = 4, C = 64 };
  static double x[R * C], want[R * C];
  for (int descending = 0; descending < 2; descending++) {
    fill(x, R * C, DTYPE_F32, 9, 3);
    for (int i = 0; i < R * C; i++)
      x[i] = floor(x[i]); // many are equal
    x[7] = NAN;
    for (int i = 0; i < R; i++)
      for (int j = 0; j < C; j++) {
        const double *row = x + i * C;
        int place = 0;
        for (int k = 0; k < C; k++) {
          int order = compare(&row[k], &row[j]);
          place += (descending ? -order : order) < 0 || (order == 0 && k < j);
        }
        want[i * C + place] = j;
      }
    check((struct run){descending ? "  y = tl.argsort(x, 1, True)" : "  y = x.argsort()", DTYPE_F32,
                       DTYPE_I32, R, C, R * C, 0},
          x, want, 0);
  }
}
END_TEST

START_TEST(test_topk) {
  static double x[MOST], sorted[MOST], want[MOST];
  const int cases[][3] = {{0, 128, 8}, {4, 32, 4}, {4, 32, 32}, {2, 64, 1}, {0, 256, 128}};
  for (size_t s = 0; s < COUNT_OF(cases); s++) {
    int rows = cases[s][0] ? cases[s][0] : 1, columns = cases[s][1], k = cases[s][2];
    for (int descending = 0; descending < 2; descending++) {
      char body[64];
      snprintf(body, sizeof body, "  y = tl.topk(x, %d, descending=%s)", k,
               descending ? "True" : "False");
      fill(x, (size_t)(rows * columns), DTYPE_F32, 60, s);
      sort_rows(x, rows, columns, descending, sorted);
      for (int i = 0; i < rows * k; i++)
        want[i] = sorted[i / k * columns + i % k];
      check((struct run){body, DTYPE_F32, DTYPE_F32, cases[s][0], columns, rows * k, 0}, x, want,
            0);
    }
  }
}
END_TEST

START_TEST(test_bitonic_merge) {
  static double x[128], want[128];
  for (int i = 0; i < 128; i++) {
    x[i] = i < 80 ? i * 2 : 400 - i * 3; // bitonic
    want[i] = x[i];
  }
  qsort(want, 128, sizeof *want, compare);
  check((struct run){"  y = tl.bitonic_merge(x)", DTYPE_I32, DTYPE_I32, 0, 128, 128, 0}, x, want,
        0);
}
END_TEST

// ---- rearrangements ----

START_TEST(test_flip) {
  enum { R = 4, C = 32 };
  static double x[R * C], want[R * C];
  static const enum dtype types[] = {DTYPE_F32, DTYPE_I8, DTYPE_BF16, DTYPE_F64};
  for (size_t t = 0; t < COUNT_OF(types); t++) {
    fill(x, R * C, types[t], 100, t);
    for (int i = 0; i < R * C; i++)
      want[i] = x[i / C * C + (C - 1 - i % C)];
    check((struct run){"  y = tl.flip(x)", types[t], types[t], R, C, R * C, 0}, x, want, 0);
    for (int i = 0; i < R * C; i++)
      want[i] = x[(R - 1 - i / C) * C + i % C];
    check((struct run){"  y = x.flip(0)", types[t], types[t], R, C, R * C, 0}, x, want, 0);
  }
}
END_TEST

START_TEST(test_join) {
  enum { R = 4, C = 16 };
  static double x[R * C], want[2 * R * C];
  fill(x, R * C, DTYPE_I32, 1000, 1);
  for (int i = 0; i < R * C; i++)
    want[2 * i] = x[i], want[2 * i + 1] = -x[i];
  check((struct run){"  y = tl.interleave(x, -x)", DTYPE_I32, DTYPE_I32, R, C, 2 * R * C, 0}, x,
        want, 0);
  for (int i = 0; i < R * C; i++)
    want[i] = x[i], want[R * C + i] = -x[i];
  check((struct run){"  y = tl.cat(x, -x)", DTYPE_I32, DTYPE_I32, R, C, 2 * R * C, 0}, x, want, 0);
  for (int i = 0; i < R * C; i++)
    want[i / C * 2 * C + i % C] = x[i], want[i / C * 2 * C + C + i % C] = -x[i];
  check((struct run){"  y = tl.cat(x, -x, dim=-1)", DTYPE_I32, DTYPE_I32, R, C, 2 * R * C, 0}, x,
        want, 0);
}
END_TEST

// 6 by 4 programs in groups of 4 rows: every program once, columns before groups.
START_TEST(test_swizzle2d) {
  static double x[32], want[64];
  for (int i = 0; i < 32; i++) {
    x[i] = i;
    int k = i % 24, group = k / 16, rows = group ? 2 : 4, in = k % 16;
    want[2 * i] = group * 4 + in % rows, want[2 * i + 1] = in / rows;
  }
  check((struct run){"  i, j = tl.swizzle2d(x % 24 // 4, x % 24 % 4, 6, 4, 4)\n"
                     "  y = tl.interleave(i, j)",
                     DTYPE_I32, DTYPE_I32, 0, 32, 64, 0},
        x, want, 0);
}
END_TEST

// ---- random numbers ----

// The known answers of Random123 for Philox 4x32 and 4x64 of ten rounds.
START_TEST(test_philox) {
  static const struct {
    const char *type;
    uint64_t in[6], out[4];
  } answers[] = {
      {"u32", {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {"u32",
       {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {"u32",
       {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
      {"u64",
       {0},
       {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}},
      {"u64",
       {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
       {0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}},
      {"u64",
       {0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89,
        0x452821e638d01377, 0xbe5466cf34e90c6c},
       {0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}}};
  for (size_t i = 0; i < COUNT_OF(answers); i++) {
    char text[512];
    snprintf(text, sizeof text,
             "def k(x: ptr[u64], y: ptr[u64]):\n"
             "  w = [load(x + i).to(tl.%s) for i in range(6)]\n"
             "  r = tl.philox_impl(w[0], w[1], w[2], w[3], w[4], w[5])\n"
             "  for i in tl.static_range(4):\n"
             "    store(y + i, r[i].to(tl.uint64))\n",
             answers[i].type[1] == '3' ? "uint32" : "uint64");
    uint64_t in[6], out[4];
    memcpy(in, answers[i].in, sizeof in);
    tile_kernel *k;
    need(tile_kernel_from_source(device, "philox.tile", text, strlen(text), "k", &k));
    tile_arg args[] = {tile_arg_pointer(in, TILE_U64), tile_arg_pointer(out, TILE_U64)};
    need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 2));
    need(tile_stream_synchronize(device, NULL));
    for (int w = 0; w < 4; w++)
      ck_assert_msg(out[w] == answers[i].out[w], "answer %zu, word %d: %llx, expected %llx", i, w,
                    (unsigned long long)out[w], (unsigned long long)answers[i].out[w]);
    tile_kernel_close(k);
  }
}
END_TEST

// The seed's halves are the key, the offset the counter: the answer for ones and for zeros.
START_TEST(test_randint) {
  static double x[64], want[64];
  x[0] = 0;
  want[0] = 0x6627e8d5;
  struct run r = {"  y = tl.randint(0, x)", DTYPE_I32, DTYPE_U32, 0, 1, 1, 0};
  check(r, x, want, 0);
  r.body = "  y = tl.randint4x(0, x)[3]";
  want[0] = 0x9b00dbd8;
  check(r, x, want, 0);
  r.body = "  y = tl.philox(-1, x - 1, x - 1, x - 1, x - 1)[0]";
  want[0] = 0x408f276d;
  check(r, x, want, 0);
}
END_TEST

// Moments of what should be uniform on [0, 1), and of what should be normal.
START_TEST(test_distributions) {
  enum { N = 4096 };
  static double x[N], y[N];
  static const struct {
    const char *body;
    double mean, variance, lo, hi;
  } cases[] = {{"  y = tl.rand(123, x)", 0.5, 1.0 / 12, 0, 0.99999994},
               {"  y = tl.rand(123, x.to(tl.int64))", 0.5, 1.0 / 12, 0, 0.99999994},
               {"  y = tl.rand4x(9, x)[2]", 0.5, 1.0 / 12, 0, 0.99999994},
               {"  y = tl.randn(123, x)", 0, 1, -6, 6},
               {"  y = tl.randn4x(123, x)[3]", 0, 1, -6, 6}};
  for (int i = 0; i < N; i++)
    x[i] = i;
  for (size_t c = 0; c < COUNT_OF(cases); c++) {
    struct run r = {cases[c].body, DTYPE_I32, DTYPE_F32, 0, N, N, 4};
    run(&r, x, y);
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) {
      ck_assert_msg(y[i] >= cases[c].lo && y[i] <= cases[c].hi, "%s: %g", cases[c].body, y[i]);
      sum += y[i];
      squares += y[i] * y[i];
    }
    double mean = sum / N, variance = squares / N - mean * mean;
    ck_assert_msg(fabs(mean - cases[c].mean) < 5 * sqrt(cases[c].variance / N), "%s: mean %g",
                  cases[c].body, mean);
    ck_assert_msg(fabs(variance / cases[c].variance - 1) < 0.12, "%s: variance %g", cases[c].body,
                  variance);
  }
}
END_TEST

// Messages about the library point at the caller's text.
START_TEST(test_messages) {
  static const char *const bad[][2] = {
      {"  tl.sort(x, 0)\n", "only the last dimension can be sorted"},
      {"  tl.topk(x, 3)\n", "power of two"},
      {"  tl.sum(x, 1, 2, 3, 4)\n", "too many arguments for `sum`"},
      {"  tl.cumsum(x, axes=1)\n", "did you mean `axis`"},
      {"  tl.argmax(x)\n", "argument `axis` of `argmax` is missing"}};
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    char text[256];
    snprintf(text, sizeof text, "def k(p: ptr[f32]):\n  x = zeros((4, 4), float32)\n%s", bad[i][0]);
    tile_kernel *k;
    need(tile_kernel_from_source(device, "bad.tile", text, strlen(text), "k", &k));
    float f;
    tile_arg args[] = {tile_arg_pointer(&f, TILE_F32)};
    ck_assert(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 1) != TILE_OK);
    const char *said = tile_error_message();
    ck_assert_msg(strstr(said, bad[i][1]) && strstr(said, "bad.tile:3:") && !strstr(said, "std/"),
                  "%s", said);
    tile_kernel_close(k);
  }
}
END_TEST

static void open_device(void) { need(tile_device_open("cpu", &device)); }
static void close_device(void) { tile_device_close(device); }

int main(void) {
  Suite *suite = suite_create("std");
  TCase *c = tcase_create("host");
  tcase_set_timeout(c, 300);
  tcase_add_checked_fixture(c, open_device, close_device);
  tcase_add_test(c, test_sums);
  tcase_add_test(c, test_sum_types);
  tcase_add_test(c, test_bits);
  tcase_add_test(c, test_extrema);
  tcase_add_test(c, test_ties);
  tcase_add_test(c, test_scans);
  tcase_add_test(c, test_softmax);
  tcase_add_loop_test(c, test_sort, 0, 5);
  tcase_add_test(c, test_argsort);
  tcase_add_test(c, test_topk);
  tcase_add_test(c, test_bitonic_merge);
  tcase_add_test(c, test_flip);
  tcase_add_test(c, test_join);
  tcase_add_test(c, test_swizzle2d);
  tcase_add_test(c, test_philox);
  tcase_add_test(c, test_randint);
  tcase_add_test(c, test_distributions);
  tcase_add_test(c, test_messages);
  suite_add_tcase(suite, c);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
