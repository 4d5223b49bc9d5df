/* SPDX-License-Identifier: Apache-2.0 */
/* A pack from a file on a real GPU: every specialisation gives the same sums, with machine code and
 * with PTX. usage: gpu-pack FILE.tpk */
#include "tests/gpu/support.h"

#include <tile/pack.h>

enum { N = 100000 };

/* out = x + y for the first n elements, from `skip` elements on, which makes them unaligned. */
static void add(tile_device *device, tile_function *f, unsigned skip, int32_t n) {
  static float x[N], y[N], out[N];
  for (unsigned i = 0; i < N; i++) {
    x[i] = sample(i);
    y[i] = sample(i + N);
  }
  float *dx = device_buffer(device, x, sizeof x), *dy = device_buffer(device, y, sizeof y);
  float *dout = device_buffer(device, NULL, sizeof out);
  tile_arg args[4];
  args[0] = tile_arg_pointer(dx + skip, TILE_F32);
  args[1] = tile_arg_pointer(dy + skip, TILE_F32);
  args[2] = tile_arg_pointer(dout + skip, TILE_F32);
  args[3] = tile_arg_i32(n);
  tile_function_choice choice;
  TRY(tile_function_choose(f, args, 4, &choice));
  TRY(tile_function_launch(f, NULL, (tile_grid){((unsigned)n + 1023) / 1024, 1, 1}, args, 4));
  TRY(tile_copy_to_host(device, NULL, out, dout, sizeof out));
  for (unsigned i = 0; i < (unsigned)n; i++)
    REQUIRE(out[skip + i] == x[skip + i] + y[skip + i]);
  if (skip + (unsigned)n < N)
    REQUIRE(out[skip + (unsigned)n] != out[skip + (unsigned)n]); /* untouched: NaN */
  printf("n = %d, %u elements off: specialisation %zu of %zu, %s for %s, %d registers\n", n, skip,
         choice.specialisation, choice.specialisations, choice.is_binary ? "machine code" : "PTX",
         choice.target, choice.registers);
  REQUIRE(choice.specialisation == (skip == 0 && n % 16 == 0 ? 0u : 1u));
  TRY(tile_free(device, dx));
  TRY(tile_free(device, dy));
  TRY(tile_free(device, dout));
}

int main(int argc, char **argv) {
  tile_device *device = open_gpu();
  tile_pack *pack = NULL;
  tile_function *f = NULL;
  REQUIRE(argc == 2);
  TRY(tile_pack_open(argv[1], &pack));
  TRY(tile_pack_verify(pack));
  TRY(tile_pack_get_function(pack, device, "add", &f));
  add(device, f, 0, N);
  add(device, f, 0, N - 3);
  add(device, f, 1, N - 16);
  add(device, f, 0, 1);
  /* In a context that the program made current. */
  tile_device *same = NULL;
  tile_function *again = NULL;
  TRY(tile_device_from_context(NULL, &same));
  TRY(tile_pack_get_function(pack, same, "add", &again));
  add(same, again, 0, 4096);
  tile_function_close(again);
  tile_device_close(same);
  tile_function_close(f);
  tile_pack_close(pack);
  tile_device_close(device);
  printf("right\n");
  return 0;
}
