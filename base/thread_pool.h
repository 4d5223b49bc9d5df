// SPDX-License-Identifier: Apache-2.0
// A fixed pool of worker threads for loops without dependencies between iterations.
#ifndef TILE_BASE_THREAD_POOL_H
#define TILE_BASE_THREAD_POOL_H

#include "base/attrs.h"

struct thread_pool;

// Processors that this process may run on (sched_getaffinity).
unsigned thread_pool_cores(void);
// `threads` 0: one per core of thread_pool_cores. NULL if threads cannot be created.
struct thread_pool *thread_pool_create(unsigned threads);
void thread_pool_destroy(struct thread_pool *p); // accepts NULL
unsigned thread_pool_size(const struct thread_pool *p);

// Calls body(user, i, worker) for i in [0, n) on the caller and, if that takes longer than waking
// them, on all workers: neighbouring indices on one worker, as far as all are equally fast. Returns
// when all are done. Calls from several threads run one after another; a call from `body` runs on
// its thread alone. n is below 2^40.
void thread_pool_for(struct thread_pool *p, uint64_t n,
                     void (*body)(void *user, uint64_t i, unsigned worker), void *user);

#endif
