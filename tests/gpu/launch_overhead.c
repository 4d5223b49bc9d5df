/* SPDX-License-Identifier: Apache-2.0 */
/* The host time of a launch in microseconds: the median over many launches of a compiled kernel,
 * in batches so that the queue never fills. Launches with pointers alternate with launches of a
 * kernel that takes as many tensor descriptors, whose maps are known from the first launch on. */
#include "support.h"

#include <time.h>

enum { LAUNCHES = 10000, BATCH = 100, SIZE = 128, BLOCK = 64 };

static const char product_source[] =
    "@jit\n"
    "def product(x: tensordesc[f16, [64, 64]], y: tensordesc[f16, [64, 64]],\n"
    "            out: tensordesc[f16, [64, 64]], K: i32):\n"
    "    sums = zeros((64, 64), dtype=float32)\n"
    "    for k in range(0, K, 64):\n"
    "        sums = dot(x.load([0, k]), y.load([0, k]).T, sums)\n"
    "    out.store([0, 0], sums.to(float16))\n";

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static tile_kernel *open_product(tile_device *device) {
  tile_kernel *kernel = NULL;
  TRY(tile_kernel_from_source(device, "product.tile", product_source, sizeof product_source - 1,
                              "product", &kernel));
  return kernel;
}

static tile_descriptor square(tile_device *device) {
  return (tile_descriptor){.base = device_buffer(device, NULL, SIZE * SIZE * 2),
                           .element = TILE_F16,
                           .rank = 2,
                           .shape = {SIZE, SIZE},
                           .strides = {SIZE, 1},
                           .block = {BLOCK, BLOCK}};
}

static double timed_launch(tile_kernel *kernel, const tile_arg *args) {
  double start = now_us();
  tile_status status = tile_launch(kernel, NULL, (tile_grid){1, 1, 1}, args, 4);
  double us = now_us() - start;
  TRY(status);
  return us;
}

static void print_times(const char *what, double *us) {
  qsort(us, LAUNCHES, sizeof us[0], compare);
  printf("%-12s median %.2f us, 10%% %.2f, 90%% %.2f, 99%% %.2f (%d launches)\n", what,
         us[LAUNCHES / 2], us[LAUNCHES / 10], us[LAUNCHES / 10 * 9], us[LAUNCHES / 100 * 99],
         LAUNCHES);
}

int main(void) {
  static double pointers[LAUNCHES], descriptors[LAUNCHES];
  tile_device *device = open_gpu();
  double start = now_us();
  tile_kernel *add = open_add(device, "128"), *product = open_product(device);
  float *buffer = device_buffer(device, NULL, 1024);
  tile_descriptor matrices[3];
  tile_arg add_args[4], product_args[4];
  for (int i = 0; i < 3; i++) {
    matrices[i] = square(device);
    add_args[i] = tile_arg_pointer(buffer, TILE_F32);
    product_args[i] = tile_arg_descriptor(&matrices[i]);
  }
  add_args[3] = product_args[3] = tile_arg_i32(SIZE);
  timed_launch(add, add_args);
  TRY(tile_stream_synchronize(device, NULL));
  double first = now_us() - start;
  timed_launch(product, product_args);
  for (int i = 0; i < LAUNCHES; i++) {
    pointers[i] = timed_launch(add, add_args);
    descriptors[i] = timed_launch(product, product_args);
    if (i % BATCH == BATCH - 1)
      TRY(tile_stream_synchronize(device, NULL));
  }
  printf("first call   %.1f ms (source to finished kernel)\n", first * 1e-3);
  print_times("pointers", pointers);
  print_times("descriptors", descriptors);
  for (int i = 0; i < 3; i++)
    TRY(tile_free(device, matrices[i].base));
  TRY(tile_free(device, buffer));
  tile_kernel_close(product);
  tile_kernel_close(add);
  tile_device_close(device);
  return 0;
}
