// SPDX-License-Identifier: Apache-2.0
// Products of 8-bit integers against sums of 64 bits: all numbers, -128 among them, every order of
// the operands' dimensions, lengths that are no multiples of blocks. Usage: test-integers FILE
// DEVICE.
#include "base/attrs.h"
#include "tests/run/tap_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 };

static tile_device *device;
static const char *file;
static unsigned failed, cases;
static uint32_t state = 1;

static void download(void *to, void *at, size_t bytes) {
  need(tile_copy_to_host(device, NULL, to, at, bytes));
  tile_free(device, at);
}

static uint32_t draw(void) {
  state = state * 1664525 + 1013904223;
  return state >> 8;
}

// A third of them the least or the largest number.
static void fill(int8_t *x, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint32_t kind = draw() % 6;
    x[i] = (int8_t)(kind == 0 ? -128 : kind == 1 ? 127 : (int)(draw() % 256) - 128);
  }
}

static void constant(tile_kernel *k, const char *name, int value) {
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  need(tile_kernel_set_constant(k, name, text));
}

static void report(bool ok, const char *what) {
  failed += !ok;
  printf("%s %u - %s\n", ok ? "ok" : "not ok", ++cases, what);
}

struct shape {
  int m, n, k, block_m, block_n, block_k;
};

static void product(const struct shape *s, bool a_by_columns, bool b_by_columns) {
  static int8_t a[MOST], b[MOST];
  static int32_t c[MOST], got[MOST];
  int m = s->m, n = s->n, k = s->k, count = m * n;
  int a_row = a_by_columns ? 1 : k, a_column = a_by_columns ? m : 1;
  int b_row = b_by_columns ? 1 : n, b_column = b_by_columns ? k : 1;
  fill(a, (size_t)(m * k));
  fill(b, (size_t)(k * n));
  for (int i = 0; i < count; i++)
    c[i] = (int32_t)(draw() << 8); // sums wrap around
  void *at[] = {upload(device, a, sizeof a), upload(device, b, sizeof b),
                upload(device, c, sizeof c)};
  tile_kernel *kernel;
  need(tile_kernel_open(device, file, "product", &kernel));
  constant(kernel, "M", s->block_m);
  constant(kernel, "N", s->block_n);
  constant(kernel, "K", s->block_k);
  tile_arg args[] = {tile_arg_pointer(at[0], TILE_I8),
                     tile_arg_pointer(at[1], TILE_I8),
                     tile_arg_pointer(at[2], TILE_I32),
                     tile_arg_i32(m),
                     tile_arg_i32(n),
                     tile_arg_i32(k),
                     tile_arg_i32(a_row),
                     tile_arg_i32(a_column),
                     tile_arg_i32(b_row),
                     tile_arg_i32(b_column)};
  tile_grid grid = {(unsigned)((m + s->block_m - 1) / s->block_m),
                    (unsigned)((n + s->block_n - 1) / s->block_n), 1};
  need(tile_launch(kernel, NULL, grid, args, COUNT_OF(args)));
  tile_kernel_close(kernel);
  download(got, at[2], sizeof got);
  tile_free(device, at[0]);
  tile_free(device, at[1]);
  bool ok = true;
  for (int i = 0; i < count; i++) {
    int64_t sum = c[i];
    for (int j = 0; j < k; j++)
      sum += a[i / n * a_row + j * a_column] * b[j * b_row + i % n * b_column];
    if (ok && got[i] != (int32_t)(uint32_t)sum) {
      printf("# element %d is %d, not %d\n", i, got[i], (int32_t)(uint32_t)sum);
      ok = false;
    }
  }
  char what[128];
  snprintf(what, sizeof what, "%dx%dx%d in blocks of %dx%dx%d, A by %s, B by %s", m, n, k,
           s->block_m, s->block_n, s->block_k, a_by_columns ? "columns" : "rows",
           b_by_columns ? "columns" : "rows");
  report(ok, what);
}

static void squares(int batches, int m, int k) {
  static int8_t a[MOST];
  static int32_t got[MOST];
  fill(a, (size_t)(batches * m * k));
  void *in = upload(device, a, sizeof a), *out = upload(device, got, sizeof got);
  tile_kernel *kernel;
  need(tile_kernel_open(device, file, "squares", &kernel));
  constant(kernel, "B", batches);
  constant(kernel, "M", m);
  constant(kernel, "K", k);
  tile_arg args[] = {tile_arg_pointer(in, TILE_I8), tile_arg_pointer(out, TILE_I32)};
  need(tile_launch(kernel, NULL, (tile_grid){1, 1, 1}, args, COUNT_OF(args)));
  tile_kernel_close(kernel);
  download(got, out, sizeof got);
  tile_free(device, in);
  bool ok = true;
  for (int i = 0; i < batches * m * m; i++) {
    const int8_t *x = a + i / m * k, *y = a + (i / (m * m) * m + i % m) * k;
    int32_t sum = 0;
    for (int j = 0; j < k; j++)
      sum += (x[j] ^ 21) * (y[j] ^ 21);
    ok &= got[i] == sum;
  }
  char what[64];
  snprintf(what, sizeof what, "%d squares of %dx%d", batches, m, k);
  report(ok, what);
}

int main(int argc, char **argv) {
  static const struct shape shapes[] = {
      {1, 1, 1, 16, 16, 16},      {17, 31, 77, 16, 16, 32},     {50, 70, 333, 32, 64, 64},
      {40, 33, 129, 64, 32, 128}, {3, 100, 65, 4, 128, 64},     {33, 5, 61, 32, 8, 32},
      {64, 64, 256, 64, 64, 256}, {20, 40, 6, 8, 16, 2},        {20, 40, 9, 2, 2, 8},
      {15, 47, 95, 1, 32, 16},    {100, 90, 200, 128, 128, 64}, {5, 37, 300, 8, 16, 128},
      {16, 20, 200, 16, 16, 64},  {1, 50, 500, 1, 64, 256}};
  if (argc != 3)
    return 2;
  file = argv[1];
  tile_status status = tile_device_open(argv[2], &device);
  if (status == TILE_NO_DEVICE || status == TILE_DRIVER_TOO_OLD) {
    printf("1..0 # SKIP no device `%s`\n", argv[2]);
    return 0;
  }
  need(status);
  for (size_t i = 0; i < COUNT_OF(shapes); i++)
    for (unsigned order = 0; order < 4; order++)
      product(&shapes[i], order & 1, order & 2);
  squares(1, 32, 64);
  squares(4, 16, 32);
  squares(2, 64, 128);
  printf("1..%u\n", cases);
  tile_device_close(device);
  return failed > 0;
}
