// SPDX-License-Identifier: Apache-2.0
// The loads and stores of a planned kernel, in the order in which its programs do them: what memory
// it needs, what may be in the same memory, and what the last program of a launch may write.
#ifndef TILE_GRAPH_PLAN_ACCESSES_H
#define TILE_GRAPH_PLAN_ACCESSES_H

#include "base/map.h"
#include "graph/plan/plan.h"

// A condition under which parts of an expression are loaded.
struct load_guard {
  const struct load_guard *outer;
  const struct scalar *condition;
  struct load_guard *next; // of all
};
// The guard of `condition` inside of `outer`: one of the list `all`, or a new one.
const struct load_guard *load_guard_for(struct arena *a, struct load_guard **all,
                                        const struct load_guard *outer,
                                        const struct scalar *condition);

// What has been loaded is in registers: it is loaded again only under another condition, or where
// it depends on the axis of a loop and the loop has ended.
struct access_walk {
  struct arena *arena;
  struct kernel_plan *k;
  struct map known; // to struct access_known
  struct load_guard *guards;
  const struct load_guard *guard;
  const struct expr *loop_axes[2]; // NULL: none
  unsigned loops;                  // that have ended
  bool is_pipelined;               // loads run ahead of stores: offsets say nothing
};

void access_loop_end(struct access_walk *w);
// The value is there without a load.
void access_given(struct access_walk *w, const struct scalar *v);
void access_value(struct access_walk *w, const struct scalar *v);
// Loads of v at unknown offsets.
void access_any(struct access_walk *w, const struct scalar *v);
void access_buffer(struct access_walk *w, struct buffer *b, bool is_store);
void access_store(struct access_walk *w, struct buffer *b, const struct expr *offset);
// The value, the predicate of a scatter, and the store.
void access_write(struct access_walk *w, const struct write_part *write);

#endif
