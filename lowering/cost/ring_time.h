// SPDX-License-Identifier: Apache-2.0
// When the iterations of a pipelined loop copy and compute, as a model for pictures. A ring of
// buffers has a slot for each iteration in flight. The copy of iteration i begins when iteration i
// - slots has ended, its first byte takes the latency of memory, and copies share one path:
//
//   slot 0   |copy 0|compute 0|copy 2 ....|compute 2|
//   slot 1   |copy 1 ....|    |compute 1|copy 3 ....|compute 3|
#ifndef TILE_LOWERING_COST_RING_TIME_H
#define TILE_LOWERING_COST_RING_TIME_H

#include "lowering/cost/cost_machine.h"
#include "lowering/cost/kernel_cost.h"
#include "lowering/cost/performance.h"

enum { RING_MAX_STEPS = 16 };

// In cycles of a multiprocessor that one program has for itself.
struct ring_model {
  uint32_t slots;     // 0: the kernel has no ring
  double bytes;       // that an iteration copies
  double latency;     // of memory
  double copy;        // of an iteration's bytes from the L2 cache
  double from_memory; // the same from memory, at an equal share of the device
  double compute;     // an iteration: what the program computes, spread over its iterations
  double iterations;  // of the loop
};

struct ring_step {
  uint32_t slot;
  double issued, arrived; // the copy: from the first request to the last byte
  double begin, end;      // of computing
};

// Of the largest ring of buffers that copies fill.
struct ring_model ring_model_of(const struct performance *p, const struct kernel_cost *c,
                                const struct machine *m);
// The first `count` iterations.
void ring_schedule(const struct ring_model *m, uint32_t count, struct ring_step *ret);
// How many a picture needs to show the steady state: at most RING_MAX_STEPS; 0: there is no ring.
uint32_t ring_steps(const struct ring_model *m);

#endif
