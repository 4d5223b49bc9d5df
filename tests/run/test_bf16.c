// SPDX-License-Identifier: Apache-2.0
// bf16 conversions and arithmetic, bit by bit: subnormals, halfway cases, overflow and NaN. Usage:
// test-bf16 FILE DEVICE.
#include "base/dtype.h"
#include "tests/run/tap_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 128, COUNT = 8192, TRIPS = 3 };

static tile_device *device;
static const char *file;

static void launch(const char *name, const tile_arg *args, unsigned count, unsigned elements) {
  tile_kernel *k;
  char block[16];
  snprintf(block, sizeof block, "%d", BLOCK);
  need(tile_kernel_open(device, file, name, &k));
  need(tile_kernel_set_constant(k, "BLOCK", block));
  need(tile_launch(k, NULL, (tile_grid){elements / BLOCK, 1, 1}, args, count));
  tile_kernel_close(k);
}

static uint16_t rounded(double v) {
  uint16_t bits;
  dtype_store(DTYPE_BF16, &bits, v);
  return bits;
}

static double value(uint16_t bits) { return dtype_load(DTYPE_BF16, &bits); }

// Accepts any NaN, and either zero from minimum and maximum.
static bool is_same(uint16_t got, uint16_t want) {
  return got == want || (isnan(value(got)) && isnan(value(want))) ||
         (value(got) == 0 && value(want) == 0);
}

static bool compare(const char *what, uint16_t got, double x, double y, uint16_t want) {
  if (is_same(got, want))
    return true;
  printf("# %s of %a and %a is %a, not %a\n", what, x, y, value(got), value(want));
  return false;
}

// Values around every rounding boundary, with small and large exponents.
static uint32_t f32_bits(size_t i) {
  static const uint32_t tails[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
  uint32_t n = (uint32_t)(i / COUNT_OF(tails)), half = n % 4 ? n / 2 : 0x7f80 - n / 8;
  return (n % 2) << 31 | half << 16 | tails[i % COUNT_OF(tails)];
}

static uint16_t toward_zero(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return isnan(x) ? 0x7fff : (uint16_t)(bits >> 16);
}

static bool conversions(void) {
  static float x[COUNT];
  static double d[COUNT];
  static uint16_t out[3 * COUNT];
  bool ok = true;
  for (size_t i = 0; i < COUNT; i++) {
    uint32_t bits = f32_bits(i);
    memcpy(&x[i], &bits, sizeof bits);
    d[i] = (double)x[i] * (1 + (double)(i % 3) * 0x1p-30);
  }
  void *at[] = {upload(device, x, sizeof x), upload(device, d, sizeof d),
                upload(device, out, sizeof out)};
  tile_arg args[] = {tile_arg_pointer(at[0], TILE_F32), tile_arg_pointer(at[1], TILE_F64),
                     tile_arg_pointer(at[2], TILE_BF16)};
  launch("convert", args, 3, COUNT);
  need(tile_copy_to_host(device, NULL, out, at[2], sizeof out));
  for (size_t i = 0; i < COUNT && ok; i++)
    ok = compare("bf16", out[3 * i], (double)x[i], 0, rounded((double)x[i])) &&
         compare("bf16", out[3 * i + 1], d[i], 0, rounded(d[i])) &&
         compare("bf16 toward zero", out[3 * i + 2], (double)x[i], 0, toward_zero(x[i]));
  for (size_t i = 0; i < COUNT_OF(at); i++)
    tile_free(device, at[i]);
  return ok;
}

// Operands whose sums, and then whose products, are around the smallest numbers.
static void operands(size_t i, uint16_t *ret_a, uint16_t *ret_b) {
  uint32_t n = (uint32_t)i * 2654435761u, exponent = i % 2 ? 0 : 60;
  *ret_a = (uint16_t)((n >> 31) << 15 | (exponent + (n >> 29 & 3)) << 7 | (n >> 16 & 0x7f));
  *ret_b = (uint16_t)((n >> 28 & 1) << 15 | (exponent + (n >> 26 & 3)) << 7 | (n >> 8 & 0x7f));
}

static bool results(const uint16_t *got, double x, double y) {
  double fused = (double)(float)(x * y + x), z = x;
  for (int k = 0; k < TRIPS; k++)
    z = value(rounded(k < 2 ? z + y : z - y));
  const struct {
    const char *what;
    double want;
  } cases[] = {{"x + y", x + y},        {"x - y", x - y},
               {"x * y", x * y},        {"maximum", fmax(x, y)},
               {"minimum", fmin(x, y)}, {"-x", -x},
               {"abs", fabs(x)},        {"where", x < y ? x : y},
               {"fma", fused},          {"atomic_add", x + y},
               {"a loop", z},           {"sum", x + y}};
  bool ok = true;
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    ok &= compare(cases[i].what, got[i], x, y, rounded(cases[i].want));
  return ok;
}

static bool arithmetic(void) {
  static uint16_t a[COUNT], b[COUNT], out[12 * COUNT];
  bool ok = true;
  for (size_t i = 0; i < COUNT; i++)
    operands(i, &a[i], &b[i]);
  void *at[] = {upload(device, a, sizeof a), upload(device, b, sizeof b),
                upload(device, out, sizeof out)};
  tile_arg args[] = {tile_arg_pointer(at[0], TILE_BF16), tile_arg_pointer(at[1], TILE_BF16),
                     tile_arg_pointer(at[2], TILE_BF16), tile_arg_i32(TRIPS)};
  launch("compute", args, 4, COUNT);
  need(tile_copy_to_host(device, NULL, out, at[2], sizeof out));
  for (size_t i = 0; i < COUNT && ok; i++)
    ok = results(out + 12 * i, value(a[i]), value(b[i]));
  for (size_t i = 0; i < COUNT_OF(at); i++)
    tile_free(device, at[i]);
  return ok;
}

// Adding to a signalling NaN gives NaN, and the loop that adds atomically ends.
static bool sum_with_nan(void) {
  static uint16_t out[BLOCK];
  for (size_t i = 0; i < BLOCK; i++)
    out[i] = (uint16_t)(0x7f81 + i % 64);
  void *at = upload(device, out, sizeof out);
  launch("add_one", (tile_arg[]){tile_arg_pointer(at, TILE_BF16)}, 1, BLOCK);
  need(tile_copy_to_host(device, NULL, out, at, sizeof out));
  tile_free(device, at);
  bool ok = true;
  for (size_t i = 0; i < BLOCK; i++)
    ok &= isnan(value(out[i]));
  return ok;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  file = argv[1];
  tile_status status = tile_device_open(argv[2], &device);
  if (status == TILE_NO_DEVICE || status == TILE_DRIVER_TOO_OLD) {
    printf("1..0 # SKIP no device `%s`\n", argv[2]);
    return 0;
  }
  need(status);
  bool converts = conversions(), computes = arithmetic(), ends = sum_with_nan();
  printf("1..3\n%s 1 - conversions to bf16 on %s\n%s 2 - arithmetic of bf16\n%s 3 - atomic sums "
         "with NaN\n",
         converts ? "ok" : "not ok", argv[2], computes ? "ok" : "not ok", ends ? "ok" : "not ok");
  tile_device_close(device);
  return !(converts && computes && ends);
}
