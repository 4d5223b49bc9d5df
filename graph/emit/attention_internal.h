// SPDX-License-Identifier: Apache-2.0
// Shared by the files that print attention.
#ifndef TILE_GRAPH_EMIT_ATTENTION_INTERNAL_H
#define TILE_GRAPH_EMIT_ATTENTION_INTERNAL_H

#include "graph/emit/graph_emit.h"
#include "graph/plan/attention_plan.h"

enum { SUM_COLUMNS = 8 }; // of the narrowest product

struct attention_writer {
  struct exprs *x;
  struct scalars *s;
  struct emitter *e;
  const struct attention_plan *p;
  unsigned level; // of the block: 1 in a loop over blocks, else 0
};

// ---- graph/emit/attention_loop.c ----
// v with one or two of its axes replaced; b NULL: one.
const struct scalar *attention_with_axes(struct attention_writer *w, const struct scalar *v,
                                         const struct expr *a, const struct expr *a_now,
                                         const struct expr *b, const struct expr *b_now);
// A descriptor with blocks of rows x columns, and where the batch begins in it.
void attention_put_tile(struct attention_writer *w, const struct attention_tile *t,
                        const char *name, const char *rows, unsigned columns);
// The loops over the keys; `inner` is the depth of k, `columns` those of v.
void attention_put_loops(struct attention_writer *w, const struct expr *inner,
                         const struct expr *columns);

// ---- graph/emit/attention_merge.c ----
// The range of keys of this program's part of `begin` to `end`: first, last.
void attention_put_part(struct attention_writer *w, const char *begin, const char *end);
// Stores the sums of a part, with their maxima.
void attention_store_part(struct attention_writer *w);
// Merges the parts: top and total, columns, and acc.
void attention_merge_parts(struct attention_writer *w);

#endif
