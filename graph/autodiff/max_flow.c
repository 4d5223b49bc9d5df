// SPDX-License-Identifier: Apache-2.0
// Dinic's algorithm: levels by breadth-first search, then paths along them without recursion.
#include "graph/autodiff/max_flow.h"

#include <string.h>

struct flow flow_create(struct arena *a, uint32_t nodes) {
  return (struct flow){.arena = a, .count = nodes, .first = arena_array(a, uint32_t, nodes)};
}

static void half(struct flow *f, uint32_t from, uint32_t to, int64_t room) {
  vec_push(f->arena, &f->edges, (struct flow_edge){to, f->first[from], room});
  f->first[from] = (uint32_t)f->edges.len;
}

void flow_add(struct flow *f, uint32_t from, uint32_t to, int64_t capacity) {
  half(f, from, to, capacity);
  half(f, to, from, 0);
}

// Distances from the source in edges with room; 0: not reached, the source has 1.
static bool find_levels(const struct flow *f, uint32_t source, uint32_t sink, uint32_t *level,
                        uint32_t *queue) {
  memset(level, 0, f->count * sizeof *level);
  uint32_t begin = 0, end = 0;
  level[source] = 1;
  queue[end++] = source;
  while (begin < end) {
    uint32_t at = queue[begin++];
    for (uint32_t e = f->first[at]; e; e = f->edges.at[e - 1].next) {
      const struct flow_edge *edge = &f->edges.at[e - 1];
      if (edge->room > 0 && !level[edge->to]) {
        level[edge->to] = level[at] + 1;
        queue[end++] = edge->to;
      }
    }
  }
  return level[sink] != 0;
}

// One path from the source to the sink along increasing levels; next[i] is the first edge of node i
// that may still be on one. False: there is none.
static bool push_path(struct flow *f, uint32_t source, uint32_t sink, const uint32_t *level,
                      uint32_t *next, uint32_t *path) {
  uint32_t depth = 0, at = source;
  while (at != sink) {
    uint32_t e = next[at];
    while (e && !(f->edges.at[e - 1].room > 0 && level[f->edges.at[e - 1].to] == level[at] + 1))
      e = f->edges.at[e - 1].next;
    next[at] = e;
    if (e) {
      path[depth++] = e - 1;
      at = f->edges.at[e - 1].to;
      continue;
    }
    if (depth == 0)
      return false;
    at = f->edges.at[path[--depth] ^ 1].to; // back, past the edge that leads nowhere
    next[at] = f->edges.at[next[at] - 1].next;
  }
  int64_t least = INT64_MAX;
  for (uint32_t i = 0; i < depth; i++)
    least = f->edges.at[path[i]].room < least ? f->edges.at[path[i]].room : least;
  for (uint32_t i = 0; i < depth; i++) {
    f->edges.at[path[i]].room -= least;
    f->edges.at[path[i] ^ 1].room += least;
  }
  return true;
}

void flow_cut(struct flow *f, uint32_t source, uint32_t sink, bool *ret_is_source) {
  uint32_t *level = arena_array(f->arena, uint32_t, f->count),
           *next = arena_array(f->arena, uint32_t, f->count),
           *work = arena_array(f->arena, uint32_t, f->count);
  while (find_levels(f, source, sink, level, work)) {
    memcpy(next, f->first, f->count * sizeof *next);
    while (push_path(f, source, sink, level, next, work))
      ;
  }
  for (uint32_t i = 0; i < f->count; i++)
    ret_is_source[i] = level[i] != 0;
}
