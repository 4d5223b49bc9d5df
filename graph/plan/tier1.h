// SPDX-License-Identifier: Apache-2.0
// Tier-1 code of a kernel: it compiles in a third to a half of the time and computes the same bits,
// but is somewhat slower. A program runs it until the kernel itself is compiled.
#ifndef TILE_GRAPH_PLAN_TIER1_H
#define TILE_GRAPH_PLAN_TIER1_H

#include "graph/program/program.h"

// The tier-1 code of a kernel in its current configuration: the same source, arguments and grids.
// False: the kernel itself is used.
bool kernel_tier1_form(struct arena *a, const struct graph_kernel *k, struct graph_kernel *ret);

#endif
