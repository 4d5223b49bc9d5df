/* SPDX-License-Identifier: Apache-2.0 */
/* Several streams of one thread, then several threads that launch one new kernel at once, each on
 * its own stream. */
#include "support.h"

#include <pthread.h>

enum { N = 1 << 16, BLOCK = 512, STREAMS = 4, STEPS = 50, THREADS = 4 };

static const tile_grid grid = {N / BLOCK, 1, 1};

/* sum += x, STEPS times, in one stream: right only if the launches keep their order. */
struct chain {
  tile_device *device;
  tile_kernel *add;
  tile_stream *stream;
  float *x, *sum;
};

static void chain_open(struct chain *c, tile_device *device, tile_kernel *add, float value) {
  float *host = malloc(N * sizeof(float));
  REQUIRE(host != NULL);
  for (int i = 0; i < N; i++)
    host[i] = value;
  c->device = device;
  c->add = add;
  c->x = device_buffer(device, host, N * sizeof(float));
  c->sum = device_buffer(device, NULL, N * sizeof(float));
  TRY(tile_stream_create(device, &c->stream));
  TRY(tile_memset(device, c->stream, c->sum, 0, N * sizeof(float)));
  free(host);
}

static void chain_step(struct chain *c) {
  tile_arg args[4];
  args[0] = tile_arg_pointer(c->sum, TILE_F32);
  args[1] = tile_arg_pointer(c->x, TILE_F32);
  args[2] = tile_arg_pointer(c->sum, TILE_F32);
  args[3] = tile_arg_i32(N);
  TRY(tile_launch(c->add, c->stream, grid, args, 4));
}

static void chain_close(struct chain *c, float value) {
  float *host = malloc(N * sizeof(float));
  REQUIRE(host != NULL);
  TRY(tile_copy_to_host(c->device, c->stream, host, c->sum, N * sizeof(float)));
  for (int i = 0; i < N; i++)
    REQUIRE(host[i] == value * STEPS); /* small integers: exact */
  TRY(tile_stream_synchronize(c->device, c->stream));
  tile_stream_destroy(c->stream);
  TRY(tile_free(c->device, c->x));
  TRY(tile_free(c->device, c->sum));
  free(host);
}

static void *run_chain(void *user) {
  for (int i = 0; i < STEPS; i++)
    chain_step(user);
  return NULL;
}

int main(void) {
  tile_device *device = open_gpu();
  tile_kernel *add = open_add(device, "512");
  struct chain chains[STREAMS];
  for (int s = 0; s < STREAMS; s++)
    chain_open(&chains[s], device, add, (float)(s + 1));
  for (int i = 0; i < STEPS; i++)
    for (int s = 0; s < STREAMS; s++)
      chain_step(&chains[s]);
  for (int s = 0; s < STREAMS; s++)
    chain_close(&chains[s], (float)(s + 1));
  tile_kernel_close(add);

  add = open_add(device, "512"); /* nothing compiled yet: the threads race for it */
  pthread_t threads[THREADS];
  struct chain own[THREADS];
  for (int t = 0; t < THREADS; t++)
    chain_open(&own[t], device, add, (float)(t + 1));
  for (int t = 0; t < THREADS; t++)
    REQUIRE(pthread_create(&threads[t], NULL, run_chain, &own[t]) == 0);
  for (int t = 0; t < THREADS; t++)
    REQUIRE(pthread_join(threads[t], NULL) == 0);
  for (int t = 0; t < THREADS; t++)
    chain_close(&own[t], (float)(t + 1));
  tile_kernel_close(add);
  tile_device_close(device);
  printf("right\n");
  return 0;
}
