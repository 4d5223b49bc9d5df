// SPDX-License-Identifier: Apache-2.0
// Gradients of graphs on the command line: --grad, --loss, --wrt, --grad-seeds.
#ifndef TILE_TOOLS_GRAPH_GRADIENT_H
#define TILE_TOOLS_GRAPH_GRADIENT_H

#include "graph/ir/graph.h"
#include "tools/tool.h"

// Without --grad does nothing. The exit status; errors are recorded.
int graph_take_gradients(struct tool *t, struct graph *g);
// Prints the partition of a graph whose first `outputs` outputs are not gradients and whose last
// `seeds` inputs are seeds.
int explain_partition(struct tool *t, struct graph *g, size_t outputs, size_t seeds);

#endif
