// SPDX-License-Identifier: Apache-2.0
// Invariants of regions, and regions as loops for the interpreter.
#ifndef TESTS_UNIT_GRAPH_REGIONS_CHECK_H
#define TESTS_UNIT_GRAPH_REGIONS_CHECK_H

#include "graph/fuse/region.h"

// Fails the test if a value is read inside a region at another offset than it is written, or from
// memory before another region writes it, or if a stage has other axes than its region.
void regions_hold(const struct regions *r, const char *name);
// The stages of all regions, in order.
struct loops *loops_of_regions(const struct regions *r);

#endif
