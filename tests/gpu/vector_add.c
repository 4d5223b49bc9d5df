/* SPDX-License-Identifier: Apache-2.0 */
/* Vector add at sizes that test masks, aligned and not, compared with double precision;
 * elements past the end must not change. */
#include "support.h"

enum { BLOCK = 256, GUARD = 64 };

static void add_and_compare(tile_device *device, tile_kernel *add, size_t n, size_t offset) {
  size_t count = n + offset + GUARD, bytes = count * sizeof(float);
  float *x = malloc(bytes), *y = malloc(bytes), *out = malloc(bytes);
  REQUIRE(x && y && out);
  for (size_t i = 0; i < count; i++) {
    x[i] = sample((unsigned)i);
    y[i] = sample((unsigned)i + 77);
  }
  float *dx = device_buffer(device, x, bytes), *dy = device_buffer(device, y, bytes);
  float *dout = device_buffer(device, NULL, bytes);
  tile_arg args[4];
  args[0] = tile_arg_pointer(dx + offset, TILE_F32);
  args[1] = tile_arg_pointer(dy + offset, TILE_F32);
  args[2] = tile_arg_pointer(dout + offset, TILE_F32);
  args[3] = tile_arg_i32((int32_t)n);
  tile_grid grid = {(unsigned)((n + BLOCK - 1) / BLOCK), 1, 1};
  TRY(tile_launch(add, NULL, grid, args, 4));
  TRY(tile_copy_to_host(device, NULL, out, dout, bytes));
  size_t wrong = 0;
  for (size_t i = 0; i < count; i++) {
    if (i >= offset && i < offset + n) {
      wrong += out[i] != (float)((double)x[i] + (double)y[i]); /* one rounding: equal */
    } else {
      unsigned bits;
      memcpy(&bits, &out[i], sizeof bits);
      wrong += bits != 0xffffffffu;
    }
  }
  if (wrong)
    fprintf(stderr, "n = %zu, offset %zu: %zu wrong\n", n, offset, wrong);
  REQUIRE(wrong == 0);
  TRY(tile_free(device, dx));
  TRY(tile_free(device, dy));
  TRY(tile_free(device, dout));
  free(x);
  free(y);
  free(out);
}

int main(void) {
  static const size_t sizes[] = {1,    2,    15,    16,    17,      31,       32,      33,  127,
                                 128,  129,  255,   256,   257,     511,      512,     513, 1000,
                                 9973, 4096, 65536, 65537, 1000003, 16777216, 16777259};
  tile_device *device = open_gpu();
  tile_kernel *add = open_add(device, "256");
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    add_and_compare(device, add, sizes[i], 0);
    if (sizes[i] < 100000) /* pointers with an element's alignment only, and with 16 bytes */
      for (size_t offset = 1; offset <= 4; offset++)
        add_and_compare(device, add, sizes[i], offset);
  }
  for (unsigned warps = 1; warps <= 8; warps *= 2) {
    TRY(tile_kernel_set_warps(add, warps));
    add_and_compare(device, add, 1000003, 0);
  }
  tile_kernel_close(add);
  tile_device_close(device);
  printf("right\n");
  return 0;
}
