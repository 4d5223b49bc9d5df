// SPDX-License-Identifier: Apache-2.0
// How to turn one distributed layout into another: the cheapest of nothing, register moves, warp
// shuffles, shared memory. One routine serves both the cost model and the emission.
#ifndef TILE_LAYOUTS_CONVERT_PLAN_H
#define TILE_LAYOUTS_CONVERT_PLAN_H

#include "layouts/linear.h"

// REGISTERS: one renaming, the same in every thread. SHUFFLES: data stays in its warp, and the
// schedule of shuffle_plan.h is cheaper than shared memory. SHARED: exchange_plan.h chooses
// the offsets.
enum convert_kind { CONVERT_NOTHING, CONVERT_REGISTERS, CONVERT_SHUFFLES, CONVERT_SHARED };

struct convert_plan {
  enum convert_kind kind;
  // dst inputs (register, lane, warp) -> where in src to find the element: outputs 0 register, 1
  // lane, 2 warp of src, preferring the reader's own lane and warp among replicas.
  struct linear_layout source_of;
};

// Both layouts must be surjective on the same tensor shape.
bool convert_plan_make(const struct linear_layout *src, const struct linear_layout *dst,
                       struct convert_plan *ret);
// Estimated instructions per thread, for choosing between recomputing and converting.
unsigned convert_plan_cost(const struct convert_plan *p, unsigned element_bits);

#endif
