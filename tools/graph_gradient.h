// SPDX-License-Identifier: Apache-2.0
// Gradients of graphs on the command line: --grad, --loss, --wrt, --grad-seeds.
#ifndef TILE_TOOLS_GRAPH_GRADIENT_H
#define TILE_TOOLS_GRAPH_GRADIENT_H

#include "graph/ir/graph.h"
#include "tools/tool.h"

// Without --grad does nothing. The exit status; errors are recorded.
int graph_take_gradients(struct tool *t, struct graph *g);

#endif
