// SPDX-License-Identifier: Apache-2.0
// The fast functions for every f16 and bf16 argument, rounded to that type. Errors in ulp of the
// exact result; 0.5 is a correctly rounded one.
#include "functions.h"

#include <tile/tile.h>

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 65536, BLOCK = 256 };

static const char *device_name; // from the command line

struct half {
  tile_type type;
  const char *name;
  int mantissa, bias;
};
static const struct half formats[] = {{TILE_F16, "f16", 10, 15}, {TILE_BF16, "bf16", 7, 127}};

struct bound {
  const char *name;
  double f16, bf16; // the largest errors
  double from;      // of bf16, for arguments from here on
};
static const struct bound bounds[] = {
    {"fast_geluf", 0.92, 0.56, -4.4},    {"fast_geluf", 0.92, 0.75, -6},
    {"fast_normcdff", 0.93, 0.56, -4.4}, {"fast_erff", 0.92, 0.56, -90},
    {"fast_sigmoidf", 0.52, 0.51, -86},  {"fast_tanhf", 0.6, 0.52, -90}};

static void need(tile_status status) {
  ck_assert_msg(status == TILE_OK, "%s: %s", tile_status_name(status), tile_error_message());
}

static double decoded(const struct half *h, uint16_t bits) {
  int exponent = (bits & 0x7fff) >> h->mantissa, all = (1 << (15 - h->mantissa)) - 1;
  int fraction = bits & ((1 << h->mantissa) - 1);
  double v = exponent == all ? (fraction ? (double)NAN : (double)INFINITY)
                             : ldexp(fraction + (exponent ? 1 << h->mantissa : 0),
                                     (exponent ? exponent : 1) - h->bias - h->mantissa);
  return bits >> 15 ? -v : v;
}

static real reference(const char *name, double x) {
  for (size_t i = 0; i < function_count; i++)
    if (strcmp(functions[i].name, name) == 0)
      return functions[i].one((real)x);
  ck_abort_msg("%s is not in the table", name);
}

static double error_of(const struct half *h, double got, real want) {
  if (isnan(want) || isinf(want))
    return isnan(want) ? (isnan(got) ? 0 : HUGE_VAL) : got == (double)want ? 0 : HUGE_VAL;
  int e = want == 0 ? 1 - h->bias : ilogbl(want);
  real ulp = ldexpl(1, (e < 1 - h->bias ? 1 - h->bias : e) - h->mantissa);
  double error = (double)(fabsl((real)got - want) / ulp);
  return isnan(error) ? HUGE_VAL : error;
}

static void run(const char *name, const struct half *h, uint16_t *bits) {
  char text[400];
  snprintf(text, sizeof text,
           "def k(x: ptr[%s], y: ptr[%s]):\n"
           "  o = program_id(0) * %d + arange(0, %d)\n"
           "  store(y + o, libdevice.%s(load(x + o)))\n",
           h->name, h->name, BLOCK, BLOCK, name);
  tile_device *device;
  tile_kernel *kernel;
  void *memory[2];
  need(tile_device_open(device_name, &device));
  need(tile_kernel_from_source(device, name, text, strlen(text), "k", &kernel));
  for (int i = 0; i < 2; i++)
    need(tile_malloc(device, COUNT * sizeof *bits, &memory[i]));
  for (uint32_t i = 0; i < COUNT; i++)
    bits[i] = (uint16_t)i;
  need(tile_copy_to_device(device, NULL, memory[0], bits, COUNT * sizeof *bits));
  tile_arg args[2] = {tile_arg_pointer(memory[0], h->type), tile_arg_pointer(memory[1], h->type)};
  need(tile_launch(kernel, NULL, (tile_grid){COUNT / BLOCK, 1, 1}, args, 2));
  need(tile_copy_to_host(device, NULL, bits, memory[1], COUNT * sizeof *bits));
  need(tile_stream_synchronize(device, NULL));
  tile_kernel_close(kernel);
  for (int i = 0; i < 2; i++)
    tile_free(device, memory[i]);
  tile_device_close(device);
}

START_TEST(every_half) {
  const struct bound *b = &bounds[_i / 2];
  const struct half *h = &formats[_i % 2];
  static uint16_t got[COUNT];
  run(b->name, h, got);
  double worst = 0, at = 0;
  for (uint32_t i = 0; i < COUNT; i++) {
    double x = decoded(h, (uint16_t)i);
    // On a GPU, subnormal f32 arguments and results are 0.
    if ((h->type == TILE_BF16 && (x < b->from || fabs(x) < 0x1p-124)) || (isinf(x) && x < 0))
      continue;
    double error = error_of(h, decoded(h, got[i]), reference(b->name, x));
    if (error > worst) {
      worst = error;
      at = x;
    }
  }
  double most = h->type == TILE_F16 ? b->f16 : b->bf16;
  ck_assert_msg(worst <= most, "%s of %s: %.3f ulp at %.9g, %.3f at most", b->name, h->name, worst,
                at, most);
}
END_TEST

int main(int argc, char **argv) {
  if (argc < 2) {
    fputs("usage: test-half-precision DEVICE\n", stderr);
    return 2;
  }
  device_name = argv[1];
  Suite *suite = suite_create("half precision");
  TCase *c = tcase_create("fast functions");
  tcase_set_timeout(c, 120);
  tcase_add_loop_test(c, every_half, 0, 2 * (int)(sizeof bounds / sizeof *bounds));
  suite_add_tcase(suite, c);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
