// SPDX-License-Identifier: Apache-2.0
// Fibers: cooperative threads, each on its own small stack with a guard page. The CPU executor runs
// the CUDA threads of a CTA on them if the kernel has collectives. A pool and its fibers belong to
// one operating-system thread at a time.
#ifndef TILE_RUNTIME_FIBER_H
#define TILE_RUNTIME_FIBER_H

#include "base/attrs.h"

#define FIBER_STACK_BYTES (256u << 10) // reserved address space; only touched pages take memory

struct fiber_pool;

// `count` fibers, none started. NULL when memory or mappings are out.
struct fiber_pool *fiber_pool_create(unsigned count);
void fiber_pool_destroy(struct fiber_pool *p); // accepts NULL
unsigned fiber_pool_count(const struct fiber_pool *p);

// Fiber `i` begins with entry(user) at its next resume. Frames left on its stack are dropped.
void fiber_start(struct fiber_pool *p, unsigned i, void (*entry)(void *user), void *user);

// Runs fiber `i` until it yields (true) or its entry returns (false). It must be started and must
// not have ended.
bool fiber_resume(struct fiber_pool *p, unsigned i);

// Called inside fiber `i`: returns to its resume.
void fiber_yield(struct fiber_pool *p, unsigned i);

#endif
