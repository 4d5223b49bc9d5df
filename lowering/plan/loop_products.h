// SPDX-License-Identifier: Apache-2.0
// Which products of a pipelined loop are in flight while the next iteration begins. Their operands
// are still read then: a buffer is free when the next iteration's product was issued.
#ifndef TILE_LOWERING_PLAN_LOOP_PRODUCTS_H
#define TILE_LOWERING_PLAN_LOOP_PRODUCTS_H

#include "lowering/plan/loop_loads.h"

// Sets read_in_flight of the loads whose buffers such products read.
void loop_products_in_flight(struct ir_context *c, struct loop_loads *loads, MlirOperation loop);

#endif
