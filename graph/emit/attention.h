// SPDX-License-Identifier: Apache-2.0
// What the files of attention share: what its scores are, and into which blocks it is cut.
#ifndef TILE_GRAPH_EMIT_ATTENTION_H
#define TILE_GRAPH_EMIT_ATTENTION_H

#include "graph/emit/emit.h"

// softmax(score(q k)) of a row of keys, as a kernel computes it. Where `formula` is NULL, scores
// are `scale` times the product, and `added`, where `seen` holds, and else nothing is left of them.
struct score {
  const struct scalar *q, *k;   // without the factors that went into `scale`
  double scale;                 // of the product of q and k
  const struct scalar *formula; // of the scaled product; NULL: it is that
  const struct scalar *added;   // NULL: nothing
  const struct scalar *seen;    // NULL: all keys are
  // Keys that are seen lie between these, expressions of batch and query; NULL: not known.
  const struct expr *first, *last;
  bool is_bound;     // `seen` is key <= last
  bool has_no_empty; // every row sees a key
};

struct score score_analyse(struct scalars *s, struct exprs *x, const struct attention *t,
                           const struct expr *query, bool rounds);

// Attention as the choice of blocks sees it; sizes are likely ones.
struct attention_shape {
  int64_t batch, queries, keys, depth, columns;
  bool has_halves;     // both products are of 16 bits or less
  int64_t loaded_bits; // of what scores load for each pair of a query and a key
};

struct attention_plan {
  unsigned block_m, block_n; // queries, keys
  unsigned depth, columns;   // powers of two
  unsigned num_warps, num_stages;
};

struct attention_plan attention_choose(const struct attention_shape *s,
                                       const struct program_options *o);
// The space of --max-autotune; NULL: nothing to choose.
const char *attention_space(struct emitter *e, const struct expr *queries, const struct expr *keys,
                            const struct attention_shape *s, const struct attention_plan *p,
                            const struct program_options *o);

#endif
