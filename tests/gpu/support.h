/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the GPU tests. The tests use only the public headers and exit with 77 (skipped)
 * without a GPU. */
#ifndef TILE_TESTS_GPU_SUPPORT_H
#define TILE_TESTS_GPU_SUPPORT_H

#include <tile/tile.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77

/* Ends the test with the location and the library's message unless `call` returns TILE_OK. */
#define TRY(call) expect_status((call), TILE_OK, #call, __FILE__, __LINE__)
#define EXPECT(call, status) expect_status((call), (status), #call, __FILE__, __LINE__)
#define REQUIRE(condition) require((condition), #condition, __FILE__, __LINE__)

static inline void expect_status(tile_status got, tile_status wanted, const char *call,
                                 const char *file, int line) {
  if (got == wanted)
    return;
  fprintf(stderr, "%s:%d: %s: %s, wanted %s\n%s\n", file, line, call, tile_status_name(got),
          tile_status_name(wanted), tile_error_message());
  exit(1);
}

static inline void require(int holds, const char *condition, const char *file, int line) {
  if (holds)
    return;
  fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
  exit(1);
}

/* TILE_TEST_DEVICE=cpu runs the tests on the CPU executor, where possible. */
static inline tile_device *open_gpu(void) {
  const char *name = getenv("TILE_TEST_DEVICE");
  tile_device *device = NULL;
  tile_status status = tile_device_open(name ? name : "cuda", &device);
  if (status == TILE_NO_DEVICE || status == TILE_DRIVER_TOO_OLD) {
    printf("skipped: %s\n", tile_error_message());
    exit(SKIPPED);
  }
  TRY(status);
  return device;
}

/* out = x + y, types from the arguments. */
static const char add_source[] = "@jit\n"
                                 "def add(x, y, out, n, BLOCK: constexpr):\n"
                                 "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
                                 "    mask = i < n\n"
                                 "    a = load(x + i, mask=mask)\n"
                                 "    b = load(y + i, mask=mask)\n"
                                 "    store(out + i, a + b, mask=mask)\n";

static inline tile_kernel *open_add(tile_device *device, const char *block) {
  tile_kernel *kernel = NULL;
  TRY(tile_kernel_from_source(device, "add.tile", add_source, sizeof add_source - 1, "add",
                              &kernel));
  TRY(tile_kernel_set_constant(kernel, "BLOCK", block));
  return kernel;
}

static inline void *device_buffer(tile_device *device, const void *from, size_t bytes) {
  void *p = NULL;
  TRY(tile_malloc(device, bytes, &p));
  TRY(from ? tile_copy_to_device(device, NULL, p, from, bytes)
           : tile_memset(device, NULL, p, 0xff, bytes));
  return p;
}

/* A float in [-1, 1) that depends only on its index. */
static inline float sample(unsigned index) {
  unsigned h = index * 2654435761u;
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  return (float)(int)h / 2147483648.0f;
}

#endif
