// SPDX-License-Identifier: Apache-2.0
// What holds of every region, and regions as loops again, for the interpreter.
#ifndef TESTS_UNIT_GRAPH_REGIONS_CHECK_H
#define TESTS_UNIT_GRAPH_REGIONS_CHECK_H

#include "graph/fuse/region.h"

// Fails the test if a value is read inside a region elsewhere than where it is written, or from
// memory before another region wrote it, or if a stage stands on other axes than its region.
void regions_hold(const struct regions *r, const char *name);
// The stages of all regions, in order.
struct loops *loops_of_regions(const struct regions *r);

#endif
