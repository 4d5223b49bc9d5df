// SPDX-License-Identifier: Apache-2.0
// What the files of expression trees share.
#ifndef TILE_GRAPH_LOOPS_SCALAR_EXPR_INTERNAL_H
#define TILE_GRAPH_LOOPS_SCALAR_EXPR_INTERNAL_H

#include "base/map.h"
#include "graph/loops/loops.h"

struct scalar_expr_memo {
  uint32_t walk;
  const struct scalar *now;
};

struct scalars {
  struct arena *arena;
  struct exprs *exprs;
  struct map made;            // by content
  struct map indirects;       // symbols, by expression tree and limit
  bool rounds_half_precision; // constants that become halves too
  uint32_t count;
  uint32_t *seen; // by id: the last walk that met it
  size_t seen_cap;
  struct scalar_expr_memo *memo; // by id: what it became, in which walk
  size_t memo_cap;
  uint32_t walk;
};

// The expression tree as it stands, without folding; the same pointer for the same content.
const struct scalar *scalar_expr_make(struct scalars *s, const struct scalar *as);
// What `op` on `in` simplifies to; NULL: nothing.
const struct scalar *scalar_expr_fold(struct scalars *s, enum scalar_op op, enum dtype t,
                                      const struct scalar *const *in);
// The expression of axes that v is; NULL: it is none.
const struct expr *scalar_expr_expr(struct scalars *s, const struct scalar *v);
// Calls f for each symbol in e, more than once where it stands more than once.
void scalar_expr_symbols(const struct expr *e, void (*f)(void *user, const struct expr *symbol),
                         void *user);
// Is every value of `from` also one of `to`?
bool dtype_holds(enum dtype to, enum dtype from);

// A walk over what makes up expression trees: begin once, then enter each node once.
uint32_t scalar_expr_walk(struct scalars *s);
bool scalar_expr_enter(struct scalars *s, uint32_t walk,
                       const struct scalar *v); // false: was there
// What the walk made of v, NULL if it did not come there; a walk within a walk may make it forget.
const struct scalar *scalar_expr_made(const struct scalars *s, uint32_t walk,
                                      const struct scalar *v);
void scalar_expr_note(struct scalars *s, uint32_t walk, const struct scalar *v,
                      const struct scalar *now);

#endif
