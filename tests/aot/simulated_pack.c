/* SPDX-License-Identifier: Apache-2.0 */
/* A pack from a file on a simulated GPU: results of each specialisation, and violations in checked
 * launches. usage: simulated-pack FILE.tpk */
#include "tests/gpu/support.h"

#include <tile/pack.h>

enum { N = 5000 };

static tile_grid grid_of(int32_t n) { return (tile_grid){((unsigned)n + 1023) / 1024, 1, 1}; }

static void add(tile_device *device, tile_function *f, unsigned skip, int32_t n) {
  static float x[N], y[N], out[N];
  for (unsigned i = 0; i < N; i++) {
    x[i] = sample(i);
    y[i] = sample(i + N);
  }
  float *dx = device_buffer(device, x, sizeof x), *dy = device_buffer(device, y, sizeof y);
  float *dout = device_buffer(device, NULL, sizeof out);
  tile_arg args[4] = {tile_arg_pointer(dx + skip, TILE_F32), tile_arg_pointer(dy + skip, TILE_F32),
                      tile_arg_pointer(dout + skip, TILE_F32), tile_arg_i32(n)};
  tile_function_choice choice;
  TRY(tile_function_choose(f, args, 4, &choice));
  REQUIRE(!choice.is_binary);
  REQUIRE(choice.specialisation == (skip == 0 && n % 16 == 0 ? 0u : 1u));
  TRY(tile_function_launch(f, NULL, grid_of(n), args, 4));
  TRY(tile_copy_to_host(device, NULL, out, dout, sizeof out));
  for (unsigned i = 0; i < (unsigned)n; i++)
    REQUIRE(out[skip + i] == x[skip + i] + y[skip + i]);
  TRY(tile_free(device, dx));
  TRY(tile_free(device, dy));
  TRY(tile_free(device, dout));
}

/* Past the end of x: always detected. */
static void add_outside(tile_device *device, tile_function *f) {
  float *x = device_buffer(device, NULL, 100 * sizeof *x);
  tile_arg args[4] = {tile_arg_pointer(x, TILE_F32), tile_arg_pointer(x, TILE_F32),
                      tile_arg_pointer(x, TILE_F32), tile_arg_i32(101)};
  EXPECT(tile_function_launch(f, NULL, grid_of(101), args, 4), TILE_CHECK_FAILED);
  REQUIRE(strstr(tile_error_message(), "element 100 of 100") != NULL);
  TRY(tile_free(device, x));
}

/* x is uninitialised: detected in checked launches. */
static void add_unwritten(tile_device *device, tile_function *f) {
  void *x = NULL, *out = NULL;
  TRY(tile_malloc(device, N * sizeof(float), &x));
  TRY(tile_malloc(device, N * sizeof(float), &out));
  tile_arg args[4] = {tile_arg_pointer(x, TILE_F32), tile_arg_pointer(x, TILE_F32),
                      tile_arg_pointer(out, TILE_F32), tile_arg_i32(N)};
  EXPECT(tile_function_launch(f, NULL, grid_of(N), args, 4), TILE_CHECK_FAILED);
  REQUIRE(strstr(tile_error_message(), "a value that nothing wrote") != NULL);
  TRY(tile_function_set_check(f, 0));
  TRY(tile_function_launch(f, NULL, grid_of(N), args, 4));
  TRY(tile_free(device, x));
  TRY(tile_free(device, out));
}

static void test_on(const char *name, const tile_pack *pack) {
  tile_device *device = NULL;
  tile_function *f = NULL;
  TRY(tile_device_open(name, &device));
  TRY(tile_pack_get_function(pack, device, "add", &f));
  TRY(tile_function_set_check(f, 1));
  add(device, f, 0, N - 8);
  add(device, f, 0, N - 3);
  add(device, f, 1, N - 8);
  add(device, f, 0, 1);
  add_outside(device, f);
  add_unwritten(device, f);
  tile_function_close(f);
  tile_device_close(device);
}

int main(int argc, char **argv) {
  tile_pack *pack = NULL;
  REQUIRE(argc == 2);
  TRY(tile_pack_open(argv[1], &pack));
  TRY(tile_pack_verify(pack));
  test_on("simulate:sm_80", pack);
  test_on("simulate:sm_89", pack);
  test_on("simulate:sm_90a", pack);
  tile_pack_close(pack);
  printf("right\n");
  return 0;
}
