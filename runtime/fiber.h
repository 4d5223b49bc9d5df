// SPDX-License-Identifier: Apache-2.0
// Fibers: threads of control that switch by hand, each on its own small stack with a guard page.
// The CPU executor runs the CUDA threads of a CTA on them where they must meet. A pool and its
// fibers belong to one operating-system thread at a time.
#ifndef TILE_RUNTIME_FIBER_H
#define TILE_RUNTIME_FIBER_H

#include "base/attrs.h"

#define FIBER_STACK_BYTES (256u << 10) // reserved; only what is touched takes memory

struct fiber_pool;

// `count` fibers, none started. NULL when memory or mappings are out.
struct fiber_pool *fiber_pool_create(unsigned count);
void fiber_pool_destroy(struct fiber_pool *p); // accepts NULL
unsigned fiber_pool_count(const struct fiber_pool *p);

// Makes fiber `i` begin with entry(user) at its next resume, whatever it did before. Frames that
// were left on its stack are dropped.
void fiber_start(struct fiber_pool *p, unsigned i, void (*entry)(void *user), void *user);

// Runs fiber `i` until it yields (true) or its entry has returned (false). It must have been
// started and not have ended.
bool fiber_resume(struct fiber_pool *p, unsigned i);

// Inside fiber `i`: back to the resume that runs it.
void fiber_yield(struct fiber_pool *p, unsigned i);

#endif
