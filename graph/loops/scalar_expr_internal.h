// SPDX-License-Identifier: Apache-2.0
// Shared by the files of expression trees.
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
  bool rounds_half_precision; // also constants converted to half precision
  uint32_t count;
  uint32_t *seen; // by id: the last walk that visited it
  size_t seen_cap;
  struct scalar_expr_memo *memo; // by id: its replacement, and in which walk
  size_t memo_cap;
  uint32_t walk;
};

// The node without folding; hash-consed.
const struct scalar *scalar_expr_make(struct scalars *s, const struct scalar *as);
// The simplification of `op` on `in`; NULL: none.
const struct scalar *scalar_expr_fold(struct scalars *s, enum scalar_op op, enum dtype t,
                                      const struct scalar *const *in);
// v as an expression of axes; NULL: it is not one.
const struct expr *scalar_expr_expr(struct scalars *s, const struct scalar *v);
// Calls f for each occurrence of a symbol in e.
void scalar_expr_symbols(const struct expr *e, void (*f)(void *user, const struct expr *symbol),
                         void *user);
// Can `to` represent every value of `from`?
bool dtype_holds(enum dtype to, enum dtype from);

// A walk over the nodes of expression trees: begin once, then enter each node once.
uint32_t scalar_expr_walk(struct scalars *s);
bool scalar_expr_enter(struct scalars *s, uint32_t walk,
                       const struct scalar *v); // false: already visited
// The replacement of v in this walk, NULL if not visited; a nested walk may overwrite it.
const struct scalar *scalar_expr_made(const struct scalars *s, uint32_t walk,
                                      const struct scalar *v);
void scalar_expr_note(struct scalars *s, uint32_t walk, const struct scalar *v,
                      const struct scalar *now);

#endif
