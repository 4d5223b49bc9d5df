// SPDX-License-Identifier: Apache-2.0
// Which products of a pipelined loop are in flight while the next iteration begins. Their operands
// are still read then, so that a buffer is free one iteration later than the product's own.
#ifndef TILE_LOWERING_PLAN_LOOP_PRODUCTS_H
#define TILE_LOWERING_PLAN_LOOP_PRODUCTS_H

#include "lowering/plan/loop_loads.h"

// Loops with fewer stages have no buffer to spare for it.
enum { STAGES_OF_PRODUCTS_IN_FLIGHT = 3 };

// Sets read_in_flight of the loads whose buffers such products read. False: there are none.
bool loop_products_in_flight(struct ir_context *c, struct loop_loads *loads, MlirOperation loop);

#endif
