// SPDX-License-Identifier: Apache-2.0
// What the files of attention share: what its scores are, and into which blocks it is cut.
#ifndef TILE_GRAPH_PLAN_ATTENTION_H
#define TILE_GRAPH_PLAN_ATTENTION_H

#include "graph/plan/plan.h"

// softmax(score(q k)) of a row of keys, as a kernel computes it. Where `expression tree` is NULL,
// scores are `scale` times the product, and `added`, where `seen` holds, and else nothing is left
// of them.
struct score {
  const struct scalar *q, *k; // without the factors that went into `scale`
  double scale;               // of the product of q and k
  const struct scalar *expr;  // of the scaled product; NULL: it is that
  const struct scalar *added; // NULL: nothing
  const struct scalar *seen;  // NULL: all keys are
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
  bool has_half_precision; // both products are of 16 bits or less
  int64_t loaded_bits;     // of what scores load for each pair of a query and a key
};

struct attention_blocks {
  unsigned block_m, block_n; // queries, keys
  unsigned depth, columns;   // powers of two
  unsigned num_warps, num_stages;
};

struct attention_blocks attention_choose(const struct attention_shape *s,
                                         const struct program_options *o);
// The space of --max-autotune; NULL: nothing to choose.
const char *attention_space(struct arena *a, const struct expr *queries, const struct expr *keys,
                            const struct attention_shape *s, const struct attention_blocks *p,
                            const struct program_options *o);

// The constant that says how many loops walk over keys that lie at or before a bound of each query:
// 2, the first of them over blocks that need no mask, or 1.
#define KERNEL_LOOPS "LOOPS"

struct attention_plan {
  const struct region *r;
  const struct stage *stage;
  const struct attention *t;
  const struct expr *batch, *m, *n; // axes
  bool is_batched, folds_batch;     // folded: one index runs over batches and blocks
  bool rounds;                      // results, before what follows
  struct score score;
  enum dtype dtype, weights, sum; // of q and k, of p and v, of the sums
  struct attention_shape shape;
  struct attention_blocks blocks;
  // A power of two goes into the queries exactly, once: then products are scores.
  bool scales_queries;
  // Weights are added up by a product with ones, of what the other product sees of them: where
  // scores take many operations beside tensor cores, that is cheaper than additions (0.243 against
  // 0.251 ms with a mask of 4 x 1 x 2048 x 2048; without one it is dearer).
  bool sums_by_product;
  bool has_remainder; // keys beyond the end may be met
  bool has_whole; // whole blocks that every query sees come without a mask, in a loop of their own
  struct region_parts epilogue;
  const struct expr *lse_offset; // of the logarithms of the sums, where they are wanted
};

#endif
