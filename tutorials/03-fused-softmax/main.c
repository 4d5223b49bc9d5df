/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of the rows of a matrix from C, checked against double precision.
 * usage: fused-softmax [FILE.tile] [ROWS COLUMNS] */
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

/* The launch shape: a warp holds up to 2048 elements of a row; longer rows get more warps. */
struct shape {
  int block, rows, warps;
};

static struct shape shape_for(int columns) {
  struct shape s = {1, 1, 1};
  while (s.block < columns)
    s.block *= 2;
  while (s.warps < 32 && s.warps * 512 < s.block)
    s.warps *= 2;
  if (s.warps < 4) { /* several short rows per program, one per warp */
    s.rows = 4 / s.warps;
    s.warps = 4;
  }
  return s;
}

static double worst_error(const float *x, const float *y, int rows, int columns) {
  double worst = 0;
  for (int r = 0; r < rows; r++, x += columns, y += columns) {
    double top = (double)x[0], sum = 0;
    for (int i = 0; i < columns; i++)
      top = fmax(top, (double)x[i]);
    for (int i = 0; i < columns; i++)
      sum += exp((double)x[i] - top);
    for (int i = 0; i < columns; i++) {
      double want = exp((double)x[i] - top) / sum, error = fabs((double)y[i] - want) / want;
      if (!(error <= worst)) /* NaN counts */
        worst = error;
    }
  }
  return worst;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "softmax.tile";
  int rows = argc > 3 ? atoi(argv[2]) : 37, columns = argc > 3 ? atoi(argv[3]) : 1000;
  if (rows < 1 || columns < 1 || columns > 65536) {
    fprintf(stderr, "rows must be at least 1, columns 1 to 65536\n");
    return 2;
  }
  size_t count = (size_t)rows * (size_t)columns, bytes = count * sizeof(float);
  float *x = malloc(bytes), *y = malloc(bytes);
  if (!x || !y) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  for (size_t i = 0; i < count; i++)
    x[i] = (float)rand() / (float)RAND_MAX * 20.0f - 10.0f;

  tile_device *device;
  tile_device_properties properties;
  TRY(tile_device_open("auto", &device));
  TRY(tile_device_get_properties(device, &properties));
  void *dx, *dy;
  TRY(tile_malloc(device, bytes, &dx));
  TRY(tile_malloc(device, bytes, &dy));
  TRY(tile_copy_to_device(device, NULL, dx, x, bytes));
  TRY(tile_memset(device, NULL, dy, 0xff, bytes));

  /* Compile-time parameters are set by name; run-time types come from the arguments. */
  struct shape s = shape_for(columns);
  char number[16];
  tile_kernel *kernel;
  TRY(tile_kernel_open(device, path, "softmax", &kernel));
  snprintf(number, sizeof number, "%d", s.block);
  TRY(tile_kernel_set_constant(kernel, "BLOCK", number));
  snprintf(number, sizeof number, "%d", s.rows);
  TRY(tile_kernel_set_constant(kernel, "ROWS", number));
  TRY(tile_kernel_set_warps(kernel, (unsigned)s.warps));

  tile_grid grid = {(unsigned)((rows + s.rows - 1) / s.rows), 1, 1};
  tile_arg args[6];
  args[0] = tile_arg_pointer(dx, TILE_F32);
  args[1] = tile_arg_pointer(dy, TILE_F32);
  args[2] = tile_arg_i32(rows);
  args[3] = tile_arg_i32(columns);
  args[4] = tile_arg_i32(columns); /* row stride of x, in elements */
  args[5] = tile_arg_i32(columns); /* and of the result */
  TRY(tile_launch(kernel, NULL, grid, args, 6));
  TRY(tile_copy_to_host(device, NULL, y, dy, bytes));

  double worst = worst_error(x, y, rows, columns);
  int right = worst < 1e-5;
  printf("device   %s (%s)\n", properties.name, properties.target);
  printf("checked  %d x %d by %d warps, relative error at most %.2g: %s\n", rows, columns, s.warps,
         worst, right ? "right" : "WRONG");
  tile_kernel_close(kernel);
  tile_free(device, dx);
  tile_free(device, dy);
  tile_device_close(device);
  free(x);
  free(y);
  return right ? 0 : 1;
}
