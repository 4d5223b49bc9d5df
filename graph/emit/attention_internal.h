// SPDX-License-Identifier: Apache-2.0
// What the two files that write attention share: the walk of a program over the keys.
#ifndef TILE_GRAPH_EMIT_ATTENTION_INTERNAL_H
#define TILE_GRAPH_EMIT_ATTENTION_INTERNAL_H

#include "graph/emit/attention.h"

enum { SUM_COLUMNS = 8 }; // of the narrowest product

struct walk {
  struct program *p;
  const struct region *r;
  const struct program_options *o;
  struct exprs *x;
  struct scalars *s;
  struct emitter *e;
  const struct stage *stage;
  const struct attention *t;
  const struct expr *batch, *m, *n; // axes
  struct score score;
  enum dtype dtype, weights, sum; // of q and k, of p and v, of the sums
  struct attention_shape shape;
  struct attention_plan plan;
};

static inline const struct expr *attention_extent(const struct expr *axis) {
  return axis->symbol->limit;
}
// A batch of one is at 0.
const struct expr *attention_place(struct walk *w, const struct expr *e);
// v with up to two of its axes called otherwise.
const struct scalar *attention_with_axes(struct walk *w, const struct scalar *v,
                                         const struct expr *a, const struct expr *a_now,
                                         const struct expr *b, const struct expr *b_now);
const struct expr *attention_twin(struct walk *w, const struct expr *axis, const char *name);

// ---- graph/emit/attention_loop.c ----
// A power of two goes into the queries exactly, once: then products are scores.
bool attention_scales_queries(const struct walk *w);
// Weights are added up by a product with ones, of what the other product sees of them: where scores
// take many operations beside tensor cores, that is cheaper than additions (0.243 against 0.251 ms
// with a mask of 4 x 1 x 2048 x 2048; without one it is dearer).
bool attention_sums_by_product(const struct walk *w);
void attention_emit_loops(struct walk *w, const struct expr *inner, const struct expr *columns);

#endif
