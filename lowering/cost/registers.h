// SPDX-License-Identifier: Apache-2.0
// Registers that values take of a thread, as far as tilegpu IR tells.
#ifndef TILE_LOWERING_COST_REGISTERS_H
#define TILE_LOWERING_COST_REGISTERS_H

#include "lowering/analysis/axis_info.h"
#include "mlir-dialects/ir.h"

// Words of 32 bits that a thread holds a tile of that type in.
unsigned tile_words(struct ir_context *c, MlirType tile);

// Words of 32 bits of a tile; 0 for scalars, for copies of other tiles' registers and for what the
// same few instructions make again from scalars (ranges).
unsigned register_words(struct ir_context *c, MlirValue v);

// Elements of a tile of numbers or pointers that a thread must compute: those that neighbour
// another one of its registers, or equal it, follow from that one at no cost.
unsigned registers_apart(struct ir_context *c, struct axis_analysis *axis, MlirValue v);

// What a thread of a function holds at every point of it. Lives on `a`, holds until the IR changes.
struct register_census;
struct liveness;
struct trip_counts;
struct register_census *register_census_of(struct ir_context *c, struct axis_analysis *axis,
                                           const struct liveness *live, MlirOperation func,
                                           struct arena *a);

// Of the whole function at its most crowded point, an estimate: the tiles that live there, and the
// reserve.
struct register_need {
  unsigned wanted; // to load operands of products ahead
  unsigned least;  // below that values wait in memory where it matters: in what runs most often
};
struct register_need registers_needed(const struct register_census *r,
                                      const struct trip_counts *trips);
// Words of the tiles that live at the most crowded point of a loop. Operands of products that come
// from buffers a slice at a time do not count, nor does the reserve.
unsigned registers_in_loop(const struct register_census *r, MlirOperation loop);
// For scalars, addresses and temporaries.
unsigned registers_reserved(const struct register_census *r);

#endif
