// SPDX-License-Identifier: Apache-2.0
// The loads and stores of a planned kernel in program order: they decide which buffers may share
// memory, and what a last-block reduction may write.
#ifndef TILE_GRAPH_PLAN_ACCESSES_H
#define TILE_GRAPH_PLAN_ACCESSES_H

#include "base/map.h"
#include "graph/plan/plan.h"

// A condition under which an expression is loaded.
struct load_guard {
  const struct load_guard *outer;
  const struct scalar *condition;
  struct load_guard *next; // in the list of all
};
// The guard of `condition` nested in `outer`: an entry of the list `all`, or a new one.
const struct load_guard *load_guard_for(struct arena *a, struct load_guard **all,
                                        const struct load_guard *outer,
                                        const struct scalar *condition);

// A loaded value stays in registers: it is loaded again only under another condition, or if it
// depends on the axis of a loop that has ended.
struct access_walk {
  struct arena *arena;
  struct kernel_plan *k;
  struct map known; // to struct access_known
  struct load_guard *guards;
  const struct load_guard *guard;
  const struct expr *loop_axes[2]; // NULL: none
  unsigned loops;                  // ended so far
  bool is_pipelined; // loads are hoisted above stores: their offsets do not order them
};

void access_loop_end(struct access_walk *w);
// The value needs no load.
void access_given(struct access_walk *w, const struct scalar *v);
void access_value(struct access_walk *w, const struct scalar *v);
// Loads of v at unknown offsets.
void access_any(struct access_walk *w, const struct scalar *v);
void access_buffer(struct access_walk *w, struct buffer *b, bool is_store);
void access_store(struct access_walk *w, struct buffer *b, const struct expr *offset);
// The value, a scatter's predicate, and the store.
void access_write(struct access_walk *w, const struct write_part *write);

#endif
