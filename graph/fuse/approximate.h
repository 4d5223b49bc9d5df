// SPDX-License-Identifier: Apache-2.0
// Approximate functions for values of half precision.
//
// f16 has 11 significant bits and bf16 8; an erf with 24 bits takes 25 operations per element, one
// with 12 bits takes 11. A backward walk from the stores of a region finds the expression trees
// that only contribute to half-precision results: through sums, products and the like, which do not
// amplify errors much, through reductions, and between stages of the region. Operands of f32
// stores, comparisons, indices and exponentials stay exact.
#ifndef TILE_GRAPH_FUSE_APPROXIMATE_H
#define TILE_GRAPH_FUSE_APPROXIMATE_H

#include "base/map.h"
#include "graph/fuse/region.h"

struct approximation {
  struct arena *arena;
  struct scalars *s;
  const struct region *region;
  struct map exact, coarse; // expression trees: used exactly, used in half precision
  struct map stored_exact;  // buffers of the region with exact loads
  struct map uses;          // by expression tree: uses within the region
  struct map done;          // by expression tree: its replacement
};

// Replaces functions in the stages of all regions.
void regions_approximate(struct regions *r);

// ---- use analysis (graph/fuse/approximate_flow.c) ----
void approximation_flow(struct approximation *a);
// Is the accuracy of half precision enough for v?
bool approximation_allows(const struct approximation *a, const struct scalar *v);

#endif
