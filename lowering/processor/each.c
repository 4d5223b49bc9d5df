// SPDX-License-Identifier: Apache-2.0
// Plain nests for ops that are not fused with others.
#include "lowering/processor/strips.h"

struct each {
  unsigned rank;
  const int64_t *shape;
  struct position at;
  void (*body)(struct strip_emitter *e, const struct position *p, void *user);
  void *user;
};

static void each_dim(struct strip_emitter *e, struct each *n, unsigned dim) {
  if (dim == n->rank) {
    n->body(e, &n->at, n->user);
    return;
  }
  int64_t step = n->at.lane == (int)dim ? (int64_t)n->at.lanes : 1;
  struct loop l = loop_begin(e, 0, n->shape[dim], step);
  n->at.at[dim] = l.index;
  each_dim(e, n, dim + 1);
  loop_end(e, &l);
}

void each_strip(struct strip_emitter *e, unsigned rank, const int64_t *shape, int lane,
                void (*body)(struct strip_emitter *e, const struct position *p, void *user),
                void *user) {
  struct each n = {.rank = rank, .shape = shape, .body = body, .user = user};
  bool has_lanes = lane >= 0 && shape[lane] > 1;
  n.at = (struct position){.rank = rank, .lane = has_lanes ? lane : -1, .lanes = 1};
  if (has_lanes)
    n.at.lanes = shape[lane] < STRIP ? (unsigned)shape[lane] : STRIP;
  levels_begin(e);
  each_dim(e, &n, 0);
  levels_end(e);
}
