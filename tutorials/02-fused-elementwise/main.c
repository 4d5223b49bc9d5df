/* SPDX-License-Identifier: Apache-2.0 */
/* Fused bias + GELU + residual in half precision from C, checked against double precision.
 * usage: fused-elementwise [FILE.tile] [ROWS COLUMNS] */
#include "../half.h"

enum { BLOCK = 2048 };

/* Uniform in [-3, 3). */
static uint16_t draw(void) { return half_of((float)rand() / (float)RAND_MAX * 6.0f - 3.0f); }

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "fused.tile";
  int rows = argc > 3 ? atoi(argv[2]) : 64, columns = argc > 3 ? atoi(argv[3]) : 4096;
  if (rows < 1 || columns < 16 || columns % 16) {
    fprintf(stderr, "rows must be at least 1, columns a multiple of 16\n");
    return 2;
  }
  size_t count = (size_t)rows * (size_t)columns, bytes = count * sizeof(uint16_t);
  size_t bias_bytes = (size_t)columns * sizeof(uint16_t);
  uint16_t *x = malloc(bytes), *residual = malloc(bytes), *out = malloc(bytes);
  uint16_t *bias = malloc(bias_bytes);
  if (!x || !residual || !out || !bias) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  for (size_t i = 0; i < count; i++) {
    x[i] = draw();
    residual[i] = draw();
  }
  for (int i = 0; i < columns; i++)
    bias[i] = draw();

  tile_device *device;
  tile_device_properties properties;
  TRY(tile_device_open("auto", &device));
  TRY(tile_device_get_properties(device, &properties));
  void *dx, *dbias, *dresidual, *dout;
  TRY(tile_malloc(device, bytes, &dx));
  TRY(tile_malloc(device, bias_bytes, &dbias));
  TRY(tile_malloc(device, bytes, &dresidual));
  TRY(tile_malloc(device, bytes, &dout));
  TRY(tile_copy_to_device(device, NULL, dx, x, bytes));
  TRY(tile_copy_to_device(device, NULL, dbias, bias, bias_bytes));
  TRY(tile_copy_to_device(device, NULL, dresidual, residual, bytes));
  TRY(tile_memset(device, NULL, dout, 0xff, bytes));

  tile_kernel *kernel;
  TRY(tile_kernel_open(device, path, "bias_gelu_residual", &kernel));
  tile_grid grid = {(unsigned)((columns + BLOCK - 1) / BLOCK), (unsigned)rows, 1};
  tile_arg args[5];
  args[0] = tile_arg_pointer(dx, TILE_F16);
  args[1] = tile_arg_pointer(dbias, TILE_F16);
  args[2] = tile_arg_pointer(dresidual, TILE_F16);
  args[3] = tile_arg_pointer(dout, TILE_F16);
  args[4] = tile_arg_i32(columns);
  TRY(tile_launch(kernel, NULL, grid, args, 5));
  TRY(tile_copy_to_host(device, NULL, out, dout, bytes));

  /* Allowed: half a unit in the last place from rounding the result to half precision, and the
   * rounding of single-precision arithmetic on values below 8 (and of erf: 2e-7) before it. */
  double worst = 0;
  for (size_t i = 0; i < count; i++) {
    double v = double_of(x[i]) + double_of(bias[i % (size_t)columns]);
    double want = 0.5 * v * (1 + erf(v / sqrt(2.0))) + double_of(residual[i]);
    double unit = ldexp(1.0, (fabs(want) < ldexp(1.0, -14) ? -14 : ilogb(want)) - 10);
    double error = fabs(double_of(out[i]) - want) - 0.5 * unit;
    if (!(error <= worst)) /* NaN counts */
      worst = error;
  }
  int right = worst <= 4e-6;
  printf("device   %s (%s)\n", properties.name, properties.target);
  printf("checked  %d x %d, beyond half an ulp at most %.2g: %s\n", rows, columns, worst,
         right ? "right" : "WRONG");

  tile_kernel_close(kernel);
  tile_free(device, dx);
  tile_free(device, dbias);
  tile_free(device, dresidual);
  tile_free(device, dout);
  tile_device_close(device);
  free(x);
  free(bias);
  free(residual);
  free(out);
  return right ? 0 : 1;
}
