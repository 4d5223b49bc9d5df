// SPDX-License-Identifier: Apache-2.0
// Cheaper functions where only half precision sees the result.
//
// A half has 8 or 11 digits; an erf of 24 costs 25 operations for each element, one of 12 costs 11.
// Which expression trees flow into half precision alone is found by walking back from what a region
// stores: through sums, products and the like, which hand errors on without making them much
// larger, through reductions, and from stage to stage inside of the region. What an f32 that is
// stored, a comparison, an index or an exponential sees stays exact.
#ifndef TILE_GRAPH_FUSE_APPROXIMATE_H
#define TILE_GRAPH_FUSE_APPROXIMATE_H

#include "base/map.h"
#include "graph/fuse/region.h"

struct approximation {
  struct arena *arena;
  struct scalars *s;
  const struct region *region;
  struct map exact, coarse; // expression trees: seen by something exact, by a half
  struct map stored_exact;  // buffers of the region of which something exact loads
  struct map uses; // by expression tree: how many expression trees of the region it stands in
  struct map done; // by expression tree: what it became
};

// Gives the stages of all regions cheaper expression trees.
void regions_approximate(struct regions *r);

// ---- where values flow (graph/fuse/approximate_flow.c) ----
void approximation_flow(struct approximation *a);
// May v be off by what a half does not see?
bool approximation_allows(const struct approximation *a, const struct scalar *v);

#endif
