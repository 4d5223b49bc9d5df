// SPDX-License-Identifier: Apache-2.0
// Another form of a kernel that is compiled in a third to a half of the time and computes the same
// bits, somewhat slower: what a program runs until its kernels are there.
#ifndef TILE_GRAPH_PLAN_QUICK_H
#define TILE_GRAPH_PLAN_QUICK_H

#include "graph/program/program.h"

// The quick form of a kernel as it is configured now: the same source, arguments and grids. False:
// it has none but its own.
bool kernel_quick_form(struct arena *a, const struct graph_kernel *k, struct graph_kernel *ret);

#endif
