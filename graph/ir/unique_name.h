// SPDX-License-Identifier: Apache-2.0
// Names that are taken once: a number is appended to a name that is taken already.
#ifndef TILE_GRAPH_IR_UNIQUE_NAME_H
#define TILE_GRAPH_IR_UNIQUE_NAME_H

#include "base/map.h"

// Zero-initialise.
struct unique_names {
  struct map taken;
  struct map last; // the last number appended to a name, so that a frequent name does not try all
};

// `wanted`, or `wanted_1`, `wanted_2`, ... if it is taken; takes it. In the arena.
const char *unique_name(struct arena *a, struct unique_names *names, const char *wanted);
// Takes a name, which nothing else has asked for.
void unique_name_take(struct arena *a, struct unique_names *names, const char *name);

#endif
