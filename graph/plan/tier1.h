// SPDX-License-Identifier: Apache-2.0
// Tier-1 code of a kernel: it compiles in a third to a half of the time and computes the same bits,
// somewhat slower. A program runs it until the kernel itself is compiled.
#ifndef TILE_GRAPH_PLAN_TIER1_H
#define TILE_GRAPH_PLAN_TIER1_H

#include "graph/program/program.h"

// The tier-1 code of a kernel as it is configured now: the same source, arguments and grids. False:
// it has none but its own.
bool kernel_tier1_form(struct arena *a, const struct graph_kernel *k, struct graph_kernel *ret);

#endif
