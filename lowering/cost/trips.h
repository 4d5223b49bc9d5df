// SPDX-License-Identifier: Apache-2.0
// How often the ops of a kernel run in one program of a launch, on average: loop bounds and
// conditions are evaluated from the launch's arguments for some programs of the grid.
#ifndef TILE_LOWERING_COST_TRIPS_H
#define TILE_LOWERING_COST_TRIPS_H

#include "lowering/cost/kernel_cost.h"

struct trip_counts {
  struct ir_context *c;
  struct arena *arena;
  struct map blocks; // MlirBlock.ptr -> double *: how often it runs
  bool is_exact;     // nothing was guessed: no bound read from memory, no condition unknown
};

// Of the kernel and of the functions that it calls, on `a`.
struct trip_counts *trips_of(struct ir_context *c, MlirModule module,
                             const struct cost_argument *args, size_t arg_count,
                             const uint32_t grid[3], struct arena *a);
// How often the op runs; 0 where it never does.
double trips_of_op(const struct trip_counts *t, MlirOperation op);
// Iterations of a loop each time it is reached.
double trips_of_loop(const struct trip_counts *t, MlirOperation loop);

#endif
