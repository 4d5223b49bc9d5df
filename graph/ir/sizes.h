// SPDX-License-Identifier: Apache-2.0
// A graph's symbols: which extents of its inputs determine them, and their likely values.
#ifndef TILE_GRAPH_IR_SIZES_H
#define TILE_GRAPH_IR_SIZES_H

#include "graph/ir/graph.h"

// Fills g->size_sources and g->unknown_size of a graph with all its inputs and operators.
void graph_find_sizes(struct graph *g);

// A new size of the graph, or the one of that name. Without a hint, heuristics assume 1024 or the
// closest possible value.
const struct expr *graph_size(struct graph *g, const char *name, int64_t lo, int64_t hi);
// Sets the likely value of a size for later heuristics. False if the graph has no such size or the
// value is out of its range.
bool graph_set_likely_size(struct graph *g, const char *name, int64_t size);

#endif
