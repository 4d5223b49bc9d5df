// SPDX-License-Identifier: Apache-2.0
// Messages about arguments that do not fit a graph's inputs.
#ifndef TILE_TOOLS_GRAPH_MISMATCH_H
#define TILE_TOOLS_GRAPH_MISMATCH_H

#include "graph/ir/graph.h"
#include "tools/launch/arg_spec.h"
#include "tools/tool.h"

// Reports that the value of `a` is not the input v, whose extents are `wanted`.
void graph_report_mismatch(struct tool *t, const struct graph *g, const struct value *v,
                           const struct assignment *a, const struct arg_value *value,
                           const int64_t *wanted);

#endif
