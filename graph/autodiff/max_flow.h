// SPDX-License-Identifier: Apache-2.0
// Maximum flow, which is a minimum cut.
#ifndef TILE_GRAPH_AUTODIFF_MAX_FLOW_H
#define TILE_GRAPH_AUTODIFF_MAX_FLOW_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define FLOW_UNBOUNDED (INT64_MAX / 4)

struct flow_edge {
  uint32_t to, next; // next: 1 + the index of the next edge of the same node; 0: none
  int64_t room;      // the reverse of edge i is edge i ^ 1
};

struct flow {
  struct arena *arena;
  uint32_t count;
  uint32_t *first; // by node: 1 + an edge; 0: none
  VEC(struct flow_edge) edges;
};

struct flow flow_create(struct arena *a, uint32_t nodes);
void flow_add(struct flow *f, uint32_t from, uint32_t to, int64_t capacity);
// Dinic's algorithm. ret_is_source[i]: node i is on the source's side of a minimum cut, the one
// that is nearest to the source.
void flow_cut(struct flow *f, uint32_t source, uint32_t sink, bool *ret_is_source);

#endif
