// SPDX-License-Identifier: Apache-2.0
// Running sums along r for each x.
#ifndef TILE_GRAPH_PLAN_SCAN_PLAN_H
#define TILE_GRAPH_PLAN_SCAN_PLAN_H

#include "graph/plan/plan.h"

struct scan_plan {
  struct region_parts parts;
  const struct expr *x, *r; // axes
  bool is_row;              // one x per program
  unsigned x_block, r_block;
};

#endif
