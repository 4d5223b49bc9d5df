// SPDX-License-Identifier: Apache-2.0
// Registers per thread, estimated from tilegpu IR.
#ifndef TILE_LOWERING_COST_REGISTERS_H
#define TILE_LOWERING_COST_REGISTERS_H

#include "lowering/analysis/axis_info.h"
#include "mlir-dialects/ir.h"

// Words of 32 bits per thread of a tile of that type.
unsigned tile_words(struct ir_context *c, MlirType tile);

// Words of 32 bits of a tile; 0 for scalars, for renamed registers of other tiles and for tiles
// that are cheap to recompute (ranges).
unsigned register_words(struct ir_context *c, MlirValue v);

// Elements of a tile of numbers or pointers that a thread must compute: those that neighbour
// another one of its registers, or equal it, follow from that one at no cost.
unsigned registers_apart(struct ir_context *c, struct axis_analysis *axis, MlirValue v);

// The words that a thread holds at every point of a function. On `a`, valid until the IR changes.
struct register_census;
struct liveness;
struct trip_counts;
struct register_census *register_census_of(struct ir_context *c, struct axis_analysis *axis,
                                           const struct liveness *live, MlirOperation func,
                                           struct arena *a);

// The maximum over the function, an estimate: live tiles plus the reserve.
struct register_need {
  unsigned wanted; // to prefetch operands of products
  unsigned least;  // below it the hottest code spills
};
struct register_need registers_needed(const struct register_census *r,
                                      const struct trip_counts *trips);
// The maximum of live words over a loop, without the reserve and without operands of products that
// are loaded by slices from buffers.
unsigned registers_in_loop(const struct register_census *r, MlirOperation loop);
// For scalars, addresses and temporaries.
unsigned registers_reserved(const struct register_census *r);

#endif
