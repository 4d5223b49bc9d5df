/* SPDX-License-Identifier: Apache-2.0 */
/* tilec's output with the fake driver: the typed functions of the generated C pass their arguments
 * to the right specialisation with the right grid; the pack in a file selects the same as the
 * embedded one. usage: test-aot FAKE-DRIVER FILE.tpk */
#include "kernels.h"
#include "tests/unit/runtime/fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fake_cuda *fake;

#define REQUIRE(condition) require((condition), #condition, __LINE__)
static void require(int holds, const char *condition, int line) {
  if (holds)
    return;
  fprintf(stderr, "%d: %s does not hold\n%s\n", line, condition, tile_error_message());
  exit(1);
}

static void launches(tile_device *device) {
  struct kernels_module *m = NULL;
  float *x = (float *)(uintptr_t)0x1000, *y = (float *)(uintptr_t)0x2000,
        *out = (float *)(uintptr_t)0x3000;
  REQUIRE(kernels_open(device, &m) == TILE_OK);
  fake->param_count = 4;
  REQUIRE(add_run(m, NULL, x, y, out, 5000) == TILE_OK);
  REQUIRE(fake->grid[0] == 5 && fake->grid[1] == 1 && fake->grid[2] == 1);
  REQUIRE(fake->block == 128);
  REQUIRE(fake->params[0] == 0x1000 && fake->params[1] == 0x2000 && fake->params[2] == 0x3000);
  REQUIRE((int32_t)fake->params[3] == 5000);
  REQUIRE(fake->live_modules == 1);
  REQUIRE(add_run(m, NULL, x, y, out, 4096) == TILE_OK); /* a multiple of 16: another one */
  REQUIRE(fake->live_modules == 2);
  REQUIRE(add_run(m, NULL, x + 1, y, out, 4096) == TILE_OK); /* unaligned: the first one */
  REQUIRE(fake->live_modules == 2);
  REQUIRE(add_launch(m, NULL, (tile_grid){7, 8, 9}, x, y, out, 1) == TILE_OK);
  REQUIRE(fake->grid[0] == 7 && fake->grid[1] == 8 && fake->grid[2] == 9);

  float factor = 0.25f;
  uint32_t bits;
  memcpy(&bits, &factor, sizeof bits);
  fake->param_count = 3; /* step is 1, and compiled in */
  REQUIRE(scale_run(m, NULL, x, 1, 1000, factor) == TILE_OK);
  REQUIRE(fake->grid[0] == 2);
  REQUIRE((int32_t)fake->params[1] == 1000 && (uint32_t)fake->params[2] == bits);
  fake->param_count = 4;
  REQUIRE(scale_run(m, NULL, x, 3, 1000, factor) == TILE_OK);
  REQUIRE((int32_t)fake->params[1] == 3 && (uint32_t)fake->params[3] == bits);

  REQUIRE(add_run(m, NULL, x, y, out, 0) == TILE_INVALID_ARGUMENT);
  REQUIRE(strstr(tile_error_message(), "the grid's x is 0") != NULL);
  REQUIRE(add_run(NULL, NULL, x, y, out, 1) == TILE_INVALID_ARGUMENT);
  REQUIRE(kernels_prepare(m) == TILE_OK);
  REQUIRE(fake->live_modules == 4);
  kernels_close(m);
  kernels_close(NULL);
  REQUIRE(fake->live_modules == 0);
  REQUIRE(kernels_open(device, NULL) == TILE_INVALID_ARGUMENT);
  REQUIRE(kernels_open(NULL, &m) == TILE_INVALID_ARGUMENT);
}

static void pack_chooses(tile_device *device, const char *path) {
  tile_pack *pack = NULL;
  tile_function *f = NULL;
  tile_function_choice c;
  tile_arg args[4];
  REQUIRE(tile_pack_open(path, &pack) == TILE_OK);
  REQUIRE(tile_pack_verify(pack) == TILE_OK);
  REQUIRE(tile_pack_count(pack) == 2);
  REQUIRE(strcmp(tile_pack_name(pack, 0), "add") == 0);
  REQUIRE(strcmp(tile_pack_name(pack, 1), "scale") == 0);
  REQUIRE(tile_pack_get_function(pack, device, "add", &f) == TILE_OK);
  for (int i = 0; i < 3; i++)
    args[i] = tile_arg_pointer((void *)(uintptr_t)0x1000, TILE_F32);
  args[3] = tile_arg_i32(32);
  REQUIRE(tile_function_choose(f, args, 4, &c) == TILE_OK);
  REQUIRE(c.specialisation == 0 && c.specialisations == 2 && c.num_warps == 4);
  REQUIRE(!c.is_binary || c.registers > 8);
  args[3] = tile_arg_i32(33);
  REQUIRE(tile_function_choose(f, args, 4, &c) == TILE_OK);
  REQUIRE(c.specialisation == 1);
  tile_function_close(f);
  tile_pack_close(pack);
}

int main(int argc, char **argv) {
  static const struct { int major, minor; } gpus[] = {{8, 0}, {8, 6}, {9, 0}, {10, 0}, {12, 0}};
  if (argc != 3)
    return 2;
  void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  REQUIRE(lib != NULL);
  fake = dlsym(lib, FAKE_CUDA_STATE);
  REQUIRE(fake != NULL);
  for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++) {
    tile_device *device = NULL;
    fake->major = gpus[i].major;
    fake->minor = gpus[i].minor;
    REQUIRE(tile_device_open("cuda", &device) == TILE_OK);
    launches(device);
    pack_chooses(device, argv[2]);
    tile_device_close(device);
  }
  tile_device *host = NULL;
  struct kernels_module *m = NULL;
  REQUIRE(tile_device_open("cpu", &host) == TILE_OK);
  REQUIRE(kernels_open(host, &m) == TILE_NOT_FOUND && m == NULL);
  REQUIRE(strstr(tile_error_message(), "nothing that runs on this processor") != NULL);
  tile_device_close(host);
  printf("right\n");
  return 0;
}
