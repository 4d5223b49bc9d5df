// SPDX-License-Identifier: Apache-2.0
// From the extents of a graph's inputs to its symbols.
#ifndef TILE_GRAPH_IR_SIZES_H
#define TILE_GRAPH_IR_SIZES_H

#include "graph/ir/graph.h"

// Fills g->size_sources and g->unknown_size, for a graph that has all its inputs and operators.
void graph_find_sizes(struct graph *g);

#endif
