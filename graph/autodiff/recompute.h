// SPDX-License-Identifier: Apache-2.0
// Recomputation within one graph that has forward and backward operators.
#ifndef TILE_GRAPH_AUTODIFF_RECOMPUTE_H
#define TILE_GRAPH_AUTODIFF_RECOMPUTE_H

#include "graph/ir/graph.h"

struct recomputation {
  int64_t saved_bytes; // of forward values that wait for the backward operators, for likely sizes
  size_t again;        // operators that are computed again
  bool fits;           // g->saved_limit
};

// `g` is decomposed and simplified, and g->recomputes. What the minimum cut does not save
// (graph/autodiff/cut.h) is computed again in front of the first operator that needs it and depends
// on a seed, so that its memory is free until then. Operators of the result have their `part`,
// which fusion respects. NULL after an error.
struct graph *graph_recompute(struct graph *g, struct recomputation *ret);

#endif
