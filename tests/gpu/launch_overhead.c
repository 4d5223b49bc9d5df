/* SPDX-License-Identifier: Apache-2.0 */
/* The host time of a launch in microseconds: the median over many launches of a compiled kernel,
 * in batches so that the queue never fills. */
#include "support.h"

#include <time.h>

enum { LAUNCHES = 10000, BATCH = 100 };

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(void) {
  static double us[LAUNCHES];
  tile_device *device = open_gpu();
  double start = now_us();
  tile_kernel *add = open_add(device, "128");
  float *buffer = device_buffer(device, NULL, 1024);
  tile_grid grid = {1, 1, 1};
  tile_arg args[4];
  for (int i = 0; i < 3; i++)
    args[i] = tile_arg_pointer(buffer, TILE_F32);
  args[3] = tile_arg_i32(128);
  TRY(tile_launch(add, NULL, grid, args, 4));
  TRY(tile_stream_synchronize(device, NULL));
  double first = now_us() - start;
  for (int i = 0; i < LAUNCHES; i++) {
    double before = now_us();
    tile_status status = tile_launch(add, NULL, grid, args, 4);
    us[i] = now_us() - before;
    TRY(status);
    if (i % BATCH == BATCH - 1)
      TRY(tile_stream_synchronize(device, NULL));
  }
  qsort(us, LAUNCHES, sizeof us[0], compare);
  printf("first call  %.1f ms (source to finished kernel)\n", first * 1e-3);
  printf("launch      median %.2f us, 10%% %.2f, 90%% %.2f, 99%% %.2f (%d launches)\n",
         us[LAUNCHES / 2], us[LAUNCHES / 10], us[LAUNCHES / 10 * 9], us[LAUNCHES / 100 * 99],
         LAUNCHES);
  TRY(tile_free(device, buffer));
  tile_kernel_close(add);
  tile_device_close(device);
  return 0;
}
