// SPDX-License-Identifier: Apache-2.0
// A graph's symbols: which extents of its inputs say them, and what they will likely be.
#ifndef TILE_GRAPH_IR_SIZES_H
#define TILE_GRAPH_IR_SIZES_H

#include "graph/ir/graph.h"

// Fills g->size_sources and g->unknown_size, for a graph that has all its inputs and operators.
void graph_find_sizes(struct graph *g);

// A new size of the graph, or the one of that name. Where nothing is known of it choices are made
// for 1024, or what comes nearest.
const struct expr *graph_size(struct graph *g, const char *name, int64_t lo, int64_t hi);
// What a size will mostly be, for the choices that are made from here on. False where the graph has
// no such size or it is never that large or small.
bool graph_set_likely_size(struct graph *g, const char *name, int64_t size);

#endif
