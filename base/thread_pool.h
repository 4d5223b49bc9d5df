// SPDX-License-Identifier: Apache-2.0
// A fixed pool of worker threads for loops without dependencies between iterations.
#ifndef TILE_BASE_THREAD_POOL_H
#define TILE_BASE_THREAD_POOL_H

#include "base/attrs.h"

struct thread_pool;

// `threads` 0: one per core. NULL if threads cannot be created.
struct thread_pool *thread_pool_create(unsigned threads);
void thread_pool_destroy(struct thread_pool *p); // accepts NULL
unsigned thread_pool_size(const struct thread_pool *p);

// Calls body(user, i, worker) for i in [0, n), in chunks, on all workers and the caller; returns
// when all are done. Calls from several threads run one after another. `body` must not call back
// into the pool.
void thread_pool_for(struct thread_pool *p, uint64_t n,
                     void (*body)(void *user, uint64_t i, unsigned worker), void *user);

#endif
