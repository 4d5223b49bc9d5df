/* SPDX-License-Identifier: Apache-2.0 */
/* Failures return the right status and message, and the device still works afterwards. */
#include "support.h"

static void expect_words(const char *words) {
  if (!strstr(tile_error_message(), words))
    fprintf(stderr, "message: %s\n", tile_error_message());
  REQUIRE(strstr(tile_error_message(), words) != NULL);
}

static void memory(tile_device *device, const tile_device_properties *p) {
  void *too_much = NULL, *most = NULL, *some = NULL;
  EXPECT(tile_malloc(device, p->memory * 2, &too_much), TILE_OUT_OF_DEVICE_MEMORY);
  REQUIRE(too_much == NULL);
  TRY(tile_malloc(device, p->memory / 2, &most));
  EXPECT(tile_malloc(device, p->memory / 4 * 3, &too_much), TILE_OUT_OF_DEVICE_MEMORY);
  expect_words("no room for");
  TRY(tile_free(device, most));
  TRY(tile_malloc(device, 1, &some));
  TRY(tile_free(device, some));
}

static void grids_and_arguments(tile_device *device) {
  tile_kernel *add = open_add(device, "128");
  float *buffer = device_buffer(device, NULL, 1024);
  tile_arg args[4];
  for (int i = 0; i < 3; i++)
    args[i] = tile_arg_pointer(buffer, TILE_F32);
  args[3] = tile_arg_i32(0);
  tile_grid tall = {1, 65536, 1}, deep = {1, 1, 65536}, wide = {0xffffffffu, 1, 1};
  tile_grid one = {0, 0, 0}; /* counts as 1, 1, 1 */
  EXPECT(tile_launch(add, NULL, tall, args, 4), TILE_INVALID_ARGUMENT);
  expect_words("65535");
  EXPECT(tile_launch(add, NULL, deep, args, 4), TILE_INVALID_ARGUMENT);
  EXPECT(tile_launch(add, NULL, wide, args, 4), TILE_INVALID_ARGUMENT);
  EXPECT(tile_launch(add, NULL, one, args, 3), TILE_INVALID_ARGUMENT);
  expect_words("takes 4 arguments, got 3");
  args[0] = tile_arg_i32(5); /* `load(x + i)` of a number */
  EXPECT(tile_launch(add, NULL, one, args, 4), TILE_COMPILE_ERROR);
  expect_words("add.tile:5");
  args[0] = args[1];
  TRY(tile_launch(add, NULL, one, args, 4));
  TRY(tile_free(device, buffer));
  tile_kernel_close(add);
}

int main(void) {
  tile_device *device = open_gpu();
  tile_device *none = NULL;
  tile_device_properties p;
  TRY(tile_device_get_properties(device, &p));
  if (p.is_cpu) {
    printf("skipped: the limits tried are a GPU's\n");
    return SKIPPED;
  }
  EXPECT(tile_device_open("cuda:999", &none), TILE_NO_DEVICE);
  memory(device, &p);
  grids_and_arguments(device);
  TRY(tile_stream_synchronize(device, NULL));
  tile_device_close(device);
  printf("right\n");
  return 0;
}
