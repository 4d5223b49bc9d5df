// SPDX-License-Identifier: Apache-2.0
// A graph's symbols: which extents of its inputs determine them, and their likely values.
#ifndef TILE_GRAPH_IR_SIZES_H
#define TILE_GRAPH_IR_SIZES_H

#include "graph/ir/graph.h"

// Fills g->size_sources and g->given_sizes of a graph with all its inputs and operators.
void graph_find_sizes(struct graph *g);
// Sets a size that no input determines, for later runs. False if the graph has no such size or the
// value is out of its range.
bool graph_give_size(struct graph *g, const char *name, int64_t value);
// Is it a sum of products of symbols, all with positive factors? Then it grows with the symbol.
bool size_grows(const struct expr *e, const struct expr *symbol);
// The value of symbols[which] for which such an expression is `want`, where the values of all other
// symbols are known; -1 if there is none.
int64_t size_solve(const struct expr *e, size_t count, const struct expr *const *symbols,
                   int64_t *values, size_t which, int64_t want);

// A new size of the graph, or the one of that name. Without a hint, heuristics assume 1024 or the
// closest possible value.
const struct expr *graph_size(struct graph *g, const char *name, int64_t lo, int64_t hi);
// size * factor as floats give it, rounded down or `up`; NULL if no fraction p / q gives the same
// sizes. Where the factor is no fraction of a power of 2 that is known for sizes up to 2^18, and
// each run checks that the size is not larger.
const struct expr *graph_scaled_size(struct graph *g, const struct expr *size, double factor,
                                     bool up, struct span at);
// Sets the likely value of a size for later heuristics. False if the graph has no such size or the
// value is out of its range.
bool graph_set_likely_size(struct graph *g, const char *name, int64_t size);

#endif
