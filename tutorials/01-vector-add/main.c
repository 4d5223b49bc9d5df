/* SPDX-License-Identifier: Apache-2.0 */
/* Vector add from C: opens the best device, compiles add.tile at run time, launches it, checks the
 * result against double precision and prints a timing. usage: vector-add [FILE.tile] [N] */
#include <tile/tile.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                                                  \
  do {                                                                                             \
    tile_status status = (call);                                                                   \
    if (status != TILE_OK) {                                                                       \
      fprintf(stderr, "%s: %s\n", tile_status_name(status), tile_error_message());                 \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

enum { BLOCK = 1024, REPEATS = 20 };

/* Median of the launch times, in milliseconds. */
static int compare_floats(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "add.tile";
  int n = argc > 2 ? atoi(argv[2]) : 1000003;
  if (n < 1) {
    fprintf(stderr, "the length must be at least 1\n");
    return 2;
  }
  size_t bytes = (size_t)n * sizeof(float);
  float *x = malloc(bytes), *y = malloc(bytes), *out = malloc(bytes);
  if (!x || !y || !out) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  for (int i = 0; i < n; i++) {
    x[i] = (float)rand() / (float)RAND_MAX;
    y[i] = (float)rand() / (float)RAND_MAX;
  }

  /* A device: the first GPU, else the CPU. */
  tile_device *device;
  tile_device_properties properties;
  TRY(tile_device_open("auto", &device));
  TRY(tile_device_get_properties(device, &properties));

  void *dx, *dy, *dout;
  TRY(tile_malloc(device, bytes, &dx));
  TRY(tile_malloc(device, bytes, &dy));
  TRY(tile_malloc(device, bytes, &dout));
  TRY(tile_copy_to_device(device, NULL, dx, x, bytes));
  TRY(tile_copy_to_device(device, NULL, dy, y, bytes));
  TRY(tile_memset(device, NULL, dout, 0xff, bytes)); /* NaN, to detect unwritten elements */

  /* The three calls: open, launch, (wait). */
  tile_kernel *add;
  TRY(tile_kernel_open(device, path, "add", &add));
  tile_grid grid = {(unsigned)((n + BLOCK - 1) / BLOCK), 1, 1};
  tile_arg args[4];
  args[0] = tile_arg_pointer(dx, TILE_F32);
  args[1] = tile_arg_pointer(dy, TILE_F32);
  args[2] = tile_arg_pointer(dout, TILE_F32);
  args[3] = tile_arg_i32(n);
  TRY(tile_launch(add, NULL, grid, args, 4));
  TRY(tile_copy_to_host(device, NULL, out, dout, bytes));

  double worst = 0;
  for (int i = 0; i < n; i++) {
    double error = fabs((double)out[i] - (double)(float)((double)x[i] + (double)y[i]));
    if (!(error <= worst)) /* NaN counts */
      worst = error;
  }

  float ms[REPEATS];
  tile_event *start, *stop;
  TRY(tile_event_create(device, &start));
  TRY(tile_event_create(device, &stop));
  for (int r = 0; r < REPEATS; r++) {
    TRY(tile_event_record(device, start, NULL));
    TRY(tile_launch(add, NULL, grid, args, 4));
    TRY(tile_event_record(device, stop, NULL));
    TRY(tile_event_elapsed(start, stop, &ms[r]));
  }
  qsort(ms, REPEATS, sizeof(ms[0]), compare_floats);

  int right = worst == 0.0;
  printf("device   %s (%s)\n", properties.name, properties.target);
  printf("checked  %d elements, largest error %g: %s\n", n, worst, right ? "right" : "WRONG");
  printf("timing   %.3f ms, %.2f GB/s (median of %d launches)\n", (double)ms[REPEATS / 2],
         3.0 * (double)bytes / 1e6 / (double)ms[REPEATS / 2], REPEATS);

  tile_event_destroy(start);
  tile_event_destroy(stop);
  tile_kernel_close(add);
  tile_free(device, dx);
  tile_free(device, dy);
  tile_free(device, dout);
  tile_device_close(device);
  free(x);
  free(y);
  free(out);
  return right ? 0 : 1;
}
