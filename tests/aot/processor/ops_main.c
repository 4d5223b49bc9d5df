/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a pack on a processor, by libtile-rt alone: compares them with computations in double
 * precision, and prints a hash of each result's bits, which is the same for every instruction set.
 * Ends with status 77 if the processor has none of the pack's. */
#include "ops.h"
#include "tutorials/half.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static tile_device *device;
static struct ops_module *ops;

static void fail(const char *what, int at, double got, double want) {
  if (failures++ < 20)
    fprintf(stderr, "%s: element %d is %.9g, not %.9g\n", what, at, got, want);
}

static void near(const char *what, int at, double got, double want, double tolerance) {
  double slack = tolerance * (1 + fabs(want));
  if (isnan(want) ? !isnan(got) : !(got == want || fabs(got - want) <= slack))
    fail(what, at, got, want);
}

static void require(tile_status s) {
  if (s == TILE_OK)
    return;
  fprintf(stderr, "%s\n", tile_error_message());
  exit(s == TILE_NOT_FOUND ? 77 : 1);
}

/* A buffer of the device, which is memory of the process. */
static void *buffer(size_t bytes) {
  void *p = NULL;
  require(tile_malloc(device, bytes, &p));
  memset(p, 0, bytes);
  return p;
}

static uint32_t state = 12345;
static float next(void) { /* from -2 to 2 */
  state = state * 1664525u + 1013904223u;
  return (float)((double)(state >> 8) / (1 << 22) - 2);
}

static uint16_t bfloat_of(float f) { /* rounds toward zero */
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return (uint16_t)(bits >> 16);
}

static double double_of_bfloat(uint16_t b) {
  uint32_t bits = (uint32_t)b << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

static float *floats(int n) {
  float *p = buffer((size_t)n * sizeof *p);
  for (int i = 0; i < n; i++)
    p[i] = next();
  return p;
}

static void show(const char *name, const void *data, size_t bytes) {
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (size_t i = 0; i < bytes; i++)
    h = (h ^ ((const unsigned char *)data)[i]) * 1099511628211u;
  printf("%s %016llx\n", name, (unsigned long long)h);
}

static tile_grid grid(int x, int y) { return (tile_grid){(unsigned)x, (unsigned)y, 1}; }

static void curves(int n) {
  float *x = floats(n), *out = buffer((size_t)n * sizeof *out);
  x[0] = n > 1 ? INFINITY : 0.25f;
  if (n > 3)
    x[1] = NAN, x[2] = -INFINITY, x[3] = 1e-40f;
  require(curves_launch(ops, NULL, grid((n + 127) / 128, 1), x, out, n));
  for (int i = 0; i < n; i++) {
    double v = (double)x[i];
    near("curves", i, (double)out[i], exp(v) + tanh(v) * log(fabs(v) + 0.5) + sqrt(fabs(v)), 2e-6);
    if (isnan(out[i])) /* the bits of a NaN are the processor's */
      out[i] = 0;
  }
  show("curves", out, (size_t)n * sizeof *out);
}

static void softmax(int rows, int columns) {
  int n = rows * columns;
  float *x = floats(n), *out = buffer((size_t)n * sizeof *out);
  require(softmax_launch(ops, NULL, grid(rows, 1), x, out, columns));
  for (int r = 0; r < rows; r++) {
    double sum = 0;
    for (int j = 0; j < columns; j++)
      sum += exp((double)x[r * columns + j]);
    for (int j = r * columns; j < (r + 1) * columns; j++)
      near("softmax", j, (double)out[j], exp((double)x[j]) / sum, 1e-6);
  }
  show("softmax", out, (size_t)n * sizeof *out);
}

static void product(int M, int N, int K) {
  float *a = floats(M * K), *b = floats(K * N), *c = buffer((size_t)M * (size_t)N * sizeof *c);
  require(product_launch(ops, NULL, grid((M + 31) / 32, (N + 31) / 32), a, b, c, M, N, K));
  for (int i = 0; i < M * N; i++) {
    double sum = 0;
    for (int k = 0; k < K; k++)
      sum += (double)a[i / N * K + k] * (double)b[k * N + i % N];
    near("product", i, (double)c[i], sum, 1e-5);
  }
  show("product", c, (size_t)(M * N) * sizeof *c);
}

static void product_of_halves(int N, int K) {
  enum { M = 16 };
  uint16_t *a = buffer((size_t)(M * K) * 2), *b = buffer((size_t)(K * N) * 2);
  float *c = buffer((size_t)(M * N) * sizeof *c);
  for (int i = 0; i < M * K; i++)
    a[i] = half_of(next());
  for (int i = 0; i < K * N; i++)
    b[i] = bfloat_of(next());
  require(product_of_halves_launch(ops, NULL, grid((N + 15) / 16, 1), a, b, c, N, K));
  for (int i = 0; i < M * N; i++) {
    double sum = 0;
    for (int k = 0; k < K; k++)
      sum += double_of(a[i / N * K + k]) * double_of_bfloat(b[k * N + i % N]);
    near("product_of_halves", i, (double)c[i], sum, 1e-5);
  }
  show("product_of_halves", c, (size_t)(M * N) * sizeof *c);
}

static void prefixes(int n) {
  int32_t *x = buffer((size_t)n * 4), *sums = buffer((size_t)n * 4);
  float *y = floats(n), *out = buffer((size_t)n * 4);
  for (int i = 0; i < n; i++)
    x[i] = (int32_t)(next() * 100);
  require(prefixes_launch(ops, NULL, grid((n + 63) / 64, 1), x, sums, y, out, n));
  for (int i = 0; i < n; i++) {
    int end = i / 64 * 64 + 64 < n ? i / 64 * 64 + 64 : n;
    double before = 0, behind = 0;
    for (int k = i / 64 * 64; k <= i; k++)
      before += (double)y[k];
    for (int k = i; k < end; k++)
      behind += x[k];
    near("prefixes", i, (double)out[i], before, 1e-5);
    near("prefixes", i, sums[i], behind, 0);
  }
  show("prefixes", sums, (size_t)n * 4);
  show("prefixes of floats", out, (size_t)n * 4);
}

static void halves(int n) {
  uint16_t *x = buffer((size_t)n * 2), *y = buffer((size_t)n * 2);
  uint16_t *out = buffer((size_t)n * 2), *rounded = buffer((size_t)n * 2);
  for (int i = 0; i < n; i++)
    x[i] = half_of(next()), y[i] = bfloat_of(next());
  require(halves_launch(ops, NULL, grid((n + 63) / 64, 1), x, y, out, rounded, n));
  for (int i = 0; i < n; i++) {
    double p = double_of(x[i]), q = double_of_bfloat(y[i]);
    near("halves", i, double_of(out[i]), p * p + q, 2e-3);
    near("halves", i, double_of_bfloat(rounded[i]), q * q - p, 2e-2);
  }
  show("halves", out, (size_t)n * 2);
  show("halves of bf16", rounded, (size_t)n * 2);
}

static void extremes(int rows, int columns) {
  float *x = floats(rows * columns), *best = buffer((size_t)rows * 4);
  int32_t *at = buffer((size_t)rows * 4), *bits = buffer((size_t)rows * 4);
  require(extremes_launch(ops, NULL, grid(rows, 1), x, best, at, bits, columns));
  for (int r = 0; r < rows; r++) {
    const float *row = x + r * columns;
    int most = 0, all = 0;
    for (int j = 0; j < 128; j++)
      all ^= j < columns && row[j] > 0 ? j * 77 : j;
    for (int j = 1; j < columns; j++)
      most = row[j] > row[most] ? j : most;
    near("extremes", r, (double)best[r], (double)row[most], 0);
    near("extremes", r, at[r], most, 0);
    near("extremes", r, bits[r], all, 0);
  }
  show("extremes", best, (size_t)rows * 4);
  show("extremes' places", at, (size_t)rows * 4);
}

static void counts(int n) {
  int32_t *x = buffer((size_t)n * 4), *bins = buffer(16 * 4);
  int32_t want[16] = {0};
  for (int i = 0; i < n; i++)
    x[i] = (int32_t)(next() * 1000), want[x[i] & 15]++;
  require(counts_launch(ops, NULL, grid((n + 63) / 64, 1), x, bins, n));
  for (int i = 0; i < 16; i++)
    near("counts", i, bins[i], want[i], 0);
  show("counts", bins, 16 * 4);
}

static void half_sums(int n) {
  float *x = buffer((size_t)n * 4);
  uint16_t *out = buffer(2);
  int want = 0;
  for (int i = 0; i < n; i++)
    want += (int)(x[i] = (float)(i % 5 - 1));
  require(half_sums_launch(ops, NULL, grid((n + 255) / 256, 1), x, out, n));
  near("half_sums", 0, double_of(*out), want, 0);
  show("half_sums", out, 2);
}

int main(int argc, char **argv) {
  require(tile_device_open(argc > 1 ? argv[1] : "cpu", &device));
  require(ops_open(device, &ops));
  require(ops_prepare(ops));
  curves(1);
  curves(1001);
  softmax(37, 199);
  softmax(3, 1);
  product(45, 70, 33);
  product(1, 1, 1);
  product_of_halves(40, 65);
  prefixes(333);
  halves(77);
  extremes(19, 101);
  counts(1234);
  half_sums(700);
  ops_close(ops);
  tile_device_close(device);
  return failures != 0;
}
