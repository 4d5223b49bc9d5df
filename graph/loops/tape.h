// SPDX-License-Identifier: Apache-2.0
// Expression trees compiled to lists of instructions, for the interpreter of loops: loop-invariant
// parts are computed in the outer loops.
#ifndef TILE_GRAPH_LOOPS_TAPE_H
#define TILE_GRAPH_LOOPS_TAPE_H

#include "graph/loops/loops.h"

struct memory { // of a buffer
  union element *at;
  int64_t numel;
};

struct tape;
// `sizes` are the values of the graph's symbols; `memory` is indexed by buffer id. `arena` owns the
// tape.
struct tape_context {
  struct arena *arena;
  const struct graph *graph;
  const int64_t *sizes;
  struct memory *memory;
  uint64_t seed;
};

// Loops over the axes, outermost first.
struct tape *tape_create(const struct tape_context *c, uint32_t rank,
                         const struct expr *const *axes);
// The registers of the value, in the innermost loop it depends on.
uint32_t tape_scalar(struct tape *t, const struct scalar *v);
uint32_t tape_expr(struct tape *t, const struct expr *e);
union element tape_get(const struct tape *t, uint32_t reg);
// The value of SCALAR_LOADs without a buffer.
void tape_set_product(struct tape *t, double value);
int64_t tape_extent(const struct tape *t, uint32_t axis);
// Calls f at each point of axes [from, to); outer axes have their values already.
void tape_loop(struct tape *t, uint32_t from, uint32_t to, void (*f)(void *user), void *user);

#endif
