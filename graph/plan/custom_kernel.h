// SPDX-License-Identifier: Apache-2.0
// The kernel of a custom operator (include/tile/operator.h) and its launch, from the texts that it
// was registered with.
#ifndef TILE_GRAPH_PLAN_CUSTOM_KERNEL_H
#define TILE_GRAPH_PLAN_CUSTOM_KERNEL_H

#include "graph/plan/plan.h"

// Sets the launch's kernel, arguments and grid. False with E1011.
bool custom_kernel_launch(struct program *p, const struct call *c, struct launch *l);

#endif
