// SPDX-License-Identifier: Apache-2.0
// From the text of a graph to a program: the steps of graph/ up to emit/, in order.
#ifndef TILE_GRAPH_COMPILE_H
#define TILE_GRAPH_COMPILE_H

#include "graph/program/program.h"

// Compiles a graph as read: decompose, simplify, loops, regions, sources, memory. NULL after an
// error.
struct program *program_compile(struct graph *g, const struct program_options *o);

#endif
