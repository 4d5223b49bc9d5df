// SPDX-License-Identifier: Apache-2.0
// The loop that decides how long a program waits for memory.
#ifndef TILE_LOWERING_COST_KERNEL_COST_LOOP_H
#define TILE_LOWERING_COST_KERNEL_COST_LOOP_H

#include "lowering/cost/trips.h"

// Takes the loop, which is executed `times` times, as the main loop of `k`, if it pipelines or
// loads and has more iterations than the one so far.
void main_loop_see(struct ir_context *c, const struct trip_counts *trips, MlirOperation loop,
                   double times, struct kernel_cost *k);

#endif
