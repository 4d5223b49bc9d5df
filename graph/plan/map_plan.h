// SPDX-License-Identifier: Apache-2.0
// Shared by the files of maps: how elements are distributed over programs.
#ifndef TILE_GRAPH_PLAN_MAP_H
#define TILE_GRAPH_PLAN_MAP_H

#include "graph/plan/plan.h"

struct map_plan {
  struct region_parts parts;
  uint32_t rank;
  const struct expr *const *axes; // the region's, the last one possibly split
  bool is_split;
  unsigned block, y_block; // along the last axis; along the others (or along `across`)
  int across;              // the axis that is contiguous in other buffers; -1: none
  int repeats;             // the axis along which tables are reused; -1: none
  unsigned z_block;        // along `repeats`
  unsigned num_warps;
  // The axes covered by one index: all but the last, `across` and `repeats`, outermost first; and
  // the product of their extents.
  const struct expr **outer;
  uint32_t outer_count;
  const struct expr *rows;
  bool x_is_first;  // program_id(0) is along the last axis
  bool loads_first; // all loads precede the first store
  bool keeps_loads; // loads are evict_last, so that they stay in L2 longer than stores
};

// Splits the last axis in two if both parts have the same loads then, without conditions:
//
//   out[x] = a[x] * c[x] + s[x] * (x < 32 ? -a[x + 32] : a[x - 32])      for x < 64
//
// is, for x < 32, out[x] = a[x] * c[x] - s[x] * a[x + 32], and out[x + 32] with the same two loads.
void map_split(struct planner *pl, struct region_parts *parts, struct map_plan *m);
static inline const struct expr *map_last_axis(const struct map_plan *m) {
  return m->axes[m->rank - 1];
}

#endif
