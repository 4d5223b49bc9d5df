/* SPDX-License-Identifier: Apache-2.0 */
/* Generated C of kernels that take tensor descriptors, on simulated GPUs, and what it refuses. */
#include "descriptors.h"
#include "tests/gpu/support.h"

enum { M = 128, N = 70, K = 96, PITCH = 96, WIDTH = 64 };

/* f16 numbers that are small integers. */
static uint16_t half(int n) {
  static const uint16_t bits[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
  return n < 0 ? (uint16_t)(0x8000 | bits[-n]) : bits[n];
}

static int number(unsigned i) { return (int)(i * 2654435761u >> 16) % 9 - 4; }

static tile_descriptor matrix(void *base, tile_type type, int rows, int columns, unsigned block) {
  tile_descriptor d;
  memset(&d, 0, sizeof d);
  d.base = base, d.element = type, d.rank = 2;
  d.shape[0] = rows, d.shape[1] = columns;
  d.strides[0] = PITCH, d.strides[1] = 1;
  d.block[0] = block, d.block[1] = type == TILE_F32 ? block : 64;
  return d;
}

static uint16_t a[M * PITCH], b[N * PITCH];
static float c[M * PITCH];

static void products(tile_device *device, struct descriptors_module *module) {
  for (unsigned i = 0; i < M * PITCH; i++)
    a[i] = half(number(i));
  for (unsigned i = 0; i < N * PITCH; i++)
    b[i] = half(number(i + 7));
  tile_descriptor da = matrix(device_buffer(device, a, sizeof a), TILE_F16, M, K, 64);
  tile_descriptor db = matrix(device_buffer(device, b, sizeof b), TILE_F16, N, K, 64);
  tile_descriptor dc = matrix(device_buffer(device, NULL, sizeof c), TILE_F32, M, N, 64);
  for (int blocks = 1; blocks >= 0; blocks--) {
    if (!blocks) /* known to the function */
      da.block[0] = da.block[1] = 0;
    TRY(tile_memset(device, NULL, dc.base, 0, sizeof c));
    TRY(multiply_run(module, NULL, &da, &db, &dc, K));
    TRY(tile_copy_to_host(device, NULL, c, dc.base, sizeof c));
    for (unsigned i = 0; i < M; i++)
      for (unsigned j = 0; j < PITCH; j++) {
        int sum = 0;
        for (unsigned k = 0; k < K && j < N; k++)
          sum += number(i * PITCH + k) * number(j * PITCH + k + 7);
        REQUIRE(c[i * PITCH + j] == (float)sum); /* columns from N on stay 0 */
      }
  }
  TRY(tile_free(device, da.base));
  TRY(tile_free(device, db.base));
  TRY(tile_free(device, dc.base));
}

static void refuses(tile_status s, const char *message) {
  REQUIRE(s == TILE_INVALID_ARGUMENT);
  if (!strstr(tile_error_message(), message))
    fprintf(stderr, "%s\nwithout: %s\n", tile_error_message(), message);
  REQUIRE(strstr(tile_error_message(), message) != NULL);
}

/* y is declared to pad with NaN, which only its type shows. */
static void vectors(tile_device *device, struct descriptors_module *module) {
  static float x[WIDTH], y[WIDTH];
  for (unsigned i = 0; i < WIDTH; i++)
    x[i] = sample(i);
  tile_descriptor d;
  memset(&d, 0, sizeof d);
  d.base = device_buffer(device, x, sizeof x), d.element = TILE_F32, d.rank = 1;
  d.shape[0] = 50, d.strides[0] = 1;
  tile_descriptor to = d;
  to.base = device_buffer(device, NULL, sizeof y), to.shape[0] = WIDTH, to.pads_nan = 1;
  tile_grid one = {1, 1, 1};
  TRY(fill_launch(module, NULL, one, &d, &to));
  TRY(tile_copy_to_host(device, NULL, y, to.base, sizeof y));
  for (unsigned i = 0; i < WIDTH; i++)
    REQUIRE(y[i] == (i < 50 ? x[i] : 0.0f));

  tile_descriptor bad = to;
  refuses(fill_launch(module, NULL, one, NULL, &to),
          "function `fill`: argument 1 (`x`): the tensor descriptor is NULL");
  bad.pads_nan = 0;
  refuses(fill_launch(module, NULL, one, &d, &bad),
          "argument 2 (`y`): the function was compiled for tensor descriptors that pad with NaN");
  bad = to, bad.block[0] = 32;
  refuses(fill_launch(module, NULL, one, &d, &bad),
          "argument 2 (`y`): the function was compiled for blocks of 64 elements in dimension 0, "
          "not of 32");
  bad = to, bad.element = TILE_I32, bad.pads_nan = 0;
  refuses(fill_launch(module, NULL, one, &d, &bad),
          "argument 2 (`y`) must be a tensor descriptor of f32, got a tensor descriptor of i32");
  bad = matrix(to.base, TILE_F32, 2, 32, 32);
  refuses(fill_launch(module, NULL, one, &d, &bad),
          "argument 2 (`y`) must be a tensor descriptor with 1 dimensions, got 2");
  bad = to, bad.base = (char *)to.base + 4;
  refuses(fill_launch(module, NULL, one, &d, &bad), "4, which is not a multiple of 16 bytes");
  TRY(tile_free(device, d.base));
  TRY(tile_free(device, to.base));
}

/* Through the pack: descriptors and other arguments are not exchanged. */
static void arguments(tile_device *device, const char *path) {
  tile_pack *pack = NULL;
  tile_function *f = NULL;
  tile_function_choice choice;
  TRY(tile_pack_open(path, &pack));
  TRY(tile_pack_get_function(pack, device, "multiply", &f));
  tile_descriptor d = matrix(device_buffer(device, a, sizeof a), TILE_F16, M, K, 64);
  tile_descriptor to = matrix(device_buffer(device, NULL, sizeof c), TILE_F32, M, N, 64);
  tile_arg args[4] = {tile_arg_descriptor(&d), tile_arg_descriptor(&d), tile_arg_descriptor(&to),
                      tile_arg_i32(K)};
  TRY(tile_function_choose(f, args, 4, &choice));
  REQUIRE(choice.specialisation == 0 && choice.specialisations == 2);
  d.shape[1] = K - 1;
  TRY(tile_function_choose(f, args, 4, &choice));
  REQUIRE(choice.specialisation == 1);
  refuses(tile_function_choose(f, args, 3, &choice), "takes 4 arguments, got 3");
  args[3] = tile_arg_descriptor(&d);
  refuses(tile_function_choose(f, args, 4, &choice),
          "argument 4 (`K`) must be i32, got a tensor descriptor of f16");
  args[3] = tile_arg_i64(K);
  refuses(tile_function_choose(f, args, 4, &choice), "argument 4 (`K`) must be i32, got i64");
  args[0] = tile_arg_pointer(d.base, TILE_F16);
  refuses(tile_function_choose(f, args, 4, &choice),
          "argument 1 (`a`) must be a tensor descriptor of f16, got a pointer to f16");
  tile_function_close(f);
  tile_pack_close(pack);
  TRY(tile_free(device, d.base));
  TRY(tile_free(device, to.base));
}

int main(int argc, char **argv) {
  static const char *const devices[] = {"simulate:sm_80", "simulate:sm_90a"};
  REQUIRE(argc == 2);
  for (unsigned i = 0; i < 2; i++) {
    tile_device *device = NULL;
    struct descriptors_module *module = NULL;
    TRY(tile_device_open(devices[i], &device));
    TRY(descriptors_open(device, &module));
    TRY(descriptors_prepare(module));
    products(device, module);
    vectors(device, module);
    arguments(device, argv[1]);
    descriptors_close(module);
    tile_device_close(device);
  }
  return 0;
}
