/* SPDX-License-Identifier: Apache-2.0 */
/* The product of two f16 matrices from C, checked against double precision and, on a GPU,
 * timed. usage: matmul [FILE.tile] [M N K [ACTIVATION]] */
#include "../matrices.h"

static struct shape shape_for(int rows, int columns, size_t shared_limit) {
  struct shape large = {128, 256, 64, 8, 3}, middle = {128, 128, 32, 4, 4};
  struct shape small = {32, 32, 32, 4, 3};
  double elements = (double)rows * (double)columns;
  if (elements >= 2048.0 * 2048.0 && shared_bytes(large) <= shared_limit)
    return large;
  return elements >= 512.0 * 512.0 ? middle : small;
}

static int configure(tile_kernel *kernel, struct shape s, const char *activation) {
  char text[64];
  if (set(kernel, "BLOCK_M", s.m) || set(kernel, "BLOCK_N", s.n) || set(kernel, "BLOCK_K", s.k))
    return 1;
  if (activation) { /* a string, with its quotes */
    snprintf(text, sizeof text, "\"%s\"", activation);
    TRY(tile_kernel_set_constant(kernel, "ACTIVATION", text));
  }
  TRY(tile_kernel_set_warps(kernel, (unsigned)s.warps));
  TRY(tile_kernel_set_stages(kernel, (unsigned)s.stages));
  return 0;
}

/* The time of a launch: the mean of many launches between two events. */
static int time_launches(tile_device *device, tile_kernel *kernel, tile_grid grid,
                         const tile_arg *args, double operations) {
  enum { LAUNCHES = 20 };
  tile_event *start, *stop;
  float ms;
  TRY(tile_event_create(device, &start));
  TRY(tile_event_create(device, &stop));
  TRY(tile_event_record(device, start, NULL));
  for (int i = 0; i < LAUNCHES; i++)
    TRY(tile_launch(kernel, NULL, grid, args, 9));
  TRY(tile_event_record(device, stop, NULL));
  TRY(tile_event_elapsed(start, stop, &ms));
  printf("time     %.3f ms, %.1f TFLOP/s\n", (double)ms / LAUNCHES,
         operations * LAUNCHES / (double)ms * 1e-9);
  tile_event_destroy(start);
  tile_event_destroy(stop);
  return 0;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "matmul.tile", *activation = argc > 5 ? argv[5] : NULL;
  int m = argc > 4 ? atoi(argv[2]) : 200, n = argc > 4 ? atoi(argv[3]) : 100;
  int k = argc > 4 ? atoi(argv[4]) : 150;
  if (m < 1 || n < 1 || k < 1 || (activation && strcmp(activation, "leaky_relu") != 0)) {
    fprintf(stderr, "M, N and K must be at least 1, ACTIVATION leaky_relu\n");
    return 2;
  }
  tile_device *device;
  tile_device_properties properties;
  struct matrix a, b, c;
  TRY(tile_device_open("auto", &device));
  TRY(tile_device_get_properties(device, &properties));
  if (make(device, &a, m, k, 1) || make(device, &b, k, n, 1) || make(device, &c, m, n, 0))
    return 1;

  struct shape s = shape_for(m, n, properties.shared_limit);
  tile_kernel *kernel;
  TRY(tile_kernel_open(device, path, "matmul", &kernel));
  if (configure(kernel, s, activation))
    return 1;
  tile_grid grid = {(unsigned)((m + s.m - 1) / s.m) * (unsigned)((n + s.n - 1) / s.n), 1, 1};
  tile_arg args[9];
  args[0] = tile_arg_pointer(a.device, TILE_F16);
  args[1] = tile_arg_pointer(b.device, TILE_F16);
  args[2] = tile_arg_pointer(c.device, TILE_F16);
  args[3] = tile_arg_i32(m);
  args[4] = tile_arg_i32(n);
  args[5] = tile_arg_i32(k);
  args[6] = tile_arg_i32(a.stride);
  args[7] = tile_arg_i32(b.stride);
  args[8] = tile_arg_i32(c.stride);
  TRY(tile_launch(kernel, NULL, grid, args, 9));
  TRY(tile_copy_to_host(device, NULL, c.host, c.device, c.bytes));

  double worst = worst_error(&a, &b, &c, activation ? 0.01 : 1);
  int right = worst <= 1.5;
  printf("device   %s (%s)\n", properties.name, properties.target);
  printf("checked  %d x %d x %d in blocks of %d x %d x %d, %.2f of the error that rounding "
         "explains: %s\n",
         m, n, k, s.m, s.n, s.k, worst, right ? "right" : "WRONG");
  if (!properties.is_cpu &&
      time_launches(device, kernel, grid, args, 2.0 * (double)m * (double)n * (double)k))
    return 1;
  tile_kernel_close(kernel);
  struct matrix all[3] = {a, b, c};
  for (int i = 0; i < 3; i++) {
    tile_free(device, all[i].device);
    free(all[i].host);
  }
  tile_device_close(device);
  return right ? 0 : 1;
}
