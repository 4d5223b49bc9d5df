// SPDX-License-Identifier: Apache-2.0
// Processes all arrays in chunks, on all cores: arrays have tens of megabytes, and one thread
// neither compares them fast enough nor saturates the bus.
#include "autotune/worker/bench.h"

#include <pthread.h>
#include <stdio.h>

struct sweep {
  struct bench *b;
  bench_chunk_fn body;
  void *user;
  pthread_mutex_t lock; // guards what follows
  tile_status status;
  char message[256];
};

// Page-locked memory of each thread; the CPU's arrays are read directly.
tile_status bench_make_threads(struct bench *b) {
  b->pool = thread_pool_create(0);
  if (!b->pool)
    return status_set(TILE_OUT_OF_MEMORY, "no threads to compare results");
  return b->properties.is_cpu
             ? TILE_OK
             : device_staging_alloc(b->device, BENCH_CHUNK * thread_pool_size(b->pool),
                                    &b->staging);
}

void bench_end_threads(struct bench *b) {
  if (b->staging)
    device_staging_free(b->device, b->staging);
  thread_pool_destroy(b->pool);
}

static size_t chunks_of(const struct bench_buffer *n) {
  return (n->array.bytes + BENCH_CHUNK - 1) / BENCH_CHUNK;
}

static void failed(struct sweep *p, tile_status status) {
  pthread_mutex_lock(&p->lock);
  if (p->status == TILE_OK) {
    p->status = status;
    snprintf(p->message, sizeof p->message, "%s", tile_error_message());
  }
  pthread_mutex_unlock(&p->lock);
}

static void chunk(void *user, uint64_t i, unsigned worker) {
  struct sweep *p = user;
  struct bench *b = p->b;
  struct bench_chunk c = {.buffer = 0};
  for (; i >= chunks_of(&b->buffers[c.buffer]); c.buffer++)
    i -= chunks_of(&b->buffers[c.buffer]);
  c.offset = i * BENCH_CHUNK;
  size_t rest = b->buffers[c.buffer].array.bytes - c.offset;
  c.bytes = rest < BENCH_CHUNK ? rest : BENCH_CHUNK;
  c.staging = b->staging ? (char *)b->staging + worker * BENCH_CHUNK : NULL;
  tile_status s = p->body(b, p->user, &c);
  if (s != TILE_OK)
    failed(p, s);
}

tile_status bench_for_chunks(struct bench *b, bench_chunk_fn body, void *user) {
  struct sweep p = {.b = b, .body = body, .user = user};
  uint64_t chunks = 0;
  for (size_t i = 0; i < b->buffer_count; i++)
    chunks += chunks_of(&b->buffers[i]);
  pthread_mutex_init(&p.lock, NULL);
  thread_pool_for(b->pool, chunks, chunk, &p);
  pthread_mutex_destroy(&p.lock);
  return p.status == TILE_OK ? TILE_OK : status_set(p.status, "%s", p.message);
}
