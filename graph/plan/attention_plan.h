// SPDX-License-Identifier: Apache-2.0
// Shared by the files of attention: the form of its scores and its blocks.
#ifndef TILE_GRAPH_PLAN_ATTENTION_H
#define TILE_GRAPH_PLAN_ATTENTION_H

#include "graph/plan/attention_tiles.h"
#include "graph/plan/plan.h"

// softmax(score(q k)) of a row of keys, as computed by a kernel. If `expr` is NULL, the score is
// `scale` times the product plus `added` where `seen` holds, and -inf elsewhere.
struct score {
  const struct scalar *q, *k; // without the factors moved to `scale`
  double scale;               // of the product of q and k
  const struct scalar *expr;  // of the scaled product; NULL: the linear form above
  const struct scalar *added; // NULL: nothing
  const struct scalar *seen;  // NULL: always true
  // Bounds of the keys that are seen, expressions of batch and query; NULL: unknown.
  const struct expr *first, *last;
  bool is_bound;     // `seen` is key <= last
  bool has_no_empty; // every row has a key that is seen
};

struct score score_analyse(struct scalars *s, struct exprs *x, const struct attention *t,
                           const struct expr *query, bool rounds);

// The keys that a score leaves visible: elsewhere it is -inf, or has an addend -inf.
struct key_bounds score_bounds(struct scalars *s, struct exprs *x, const struct scalar *score,
                               const struct expr *query, const struct expr *key);

// The input of the choice of blocks, for likely sizes.
struct attention_shape {
  int64_t batch, queries, keys, depth, columns;
  bool has_half_precision; // both products have operands of 16 bits or less
  int64_t loaded_bits;     // loaded per score
  bool has_tiles;          // tensor descriptors describe keys and values, in whole blocks
  bool is_constant;        // batch and queries
  bool rises;              // later queries see more keys
};

// Which blocks of queries a program computes. A persistent kernel has as many programs as
// multiprocessors; its producer loads what the next block begins with while the last one is stored.
// Where later queries see more keys, a block from the end follows one from the beginning: all such
// pairs are the same work.
enum attention_order { ORDER_ONE, ORDER_PERSISTENT, ORDER_PAIRS };

struct attention_blocks {
  unsigned block_m, block_n; // queries, keys
  unsigned depth, columns;   // powers of two
  unsigned num_warps, num_stages;
  unsigned splits; // programs that share the keys of a block of queries
  bool by_tiles;   // keys and values are loaded by tensor descriptors
  enum attention_order order;
};

enum { ATTENTION_TILE_KEYS = 128 }; // of a block that descriptors load

struct attention_blocks attention_choose(const struct attention_shape *s,
                                         const struct program_options *o);
// The space of --max-autotune; NULL: nothing to tune.
const char *attention_space(struct arena *a, const struct expr *queries, const struct expr *keys,
                            const struct attention_shape *s, const struct attention_blocks *p,
                            const struct program_options *o);

// The constant for the number of loops over keys, if keys are bounded by an expression of the
// query: 2, the first of them over blocks without masks, or 1.
#define KERNEL_LOOPS "LOOPS"

// With split keys (Flash-Decoding), a kernel stores for each part of the keys the sums of its rows,
// not yet divided, with their maxima; another one, often the last block of the first, merges them.
enum attention_step { ATTENTION_WHOLE, ATTENTION_PARTS, ATTENTION_MERGE };

// Of split keys: [part, batch, row, column] and [part, batch, row].
struct attention_parts {
  const struct expr *part; // the axis
  struct buffer *sums, *tops, *totals;
  const struct expr *sum_offset, *row_offset;
};

struct attention_plan {
  enum attention_step step;
  const struct region *r;
  const struct stage *stage;
  const struct attention *t;
  const struct expr *batch, *m, *n; // axes
  bool is_batched, folds_batch;     // folded: one grid index covers batches and blocks
  bool rounds;                      // rounds results to their dtype before the epilogue
  struct score score;
  enum dtype dtype, weights, sum; // of q and k, of p and v, of the sums
  struct attention_shape shape;
  struct attention_blocks blocks;
  // A power of two scales the queries once, exactly: then products are scores.
  bool scales_queries;
  // Sums the weights by a product with ones, as the other product sees them: if scores take many
  // operations beside tensor cores, that is cheaper than additions (0.243 against 0.251 ms with a
  // mask of 4 x 1 x 2048 x 2048; without one it is slower).
  bool sums_by_product;
  // For blocks.by_tiles. Queries come by a descriptor if q_tile has a buffer.
  struct attention_tile q_tile, k_tile, v_tile;
  struct attention_tile out_tile; // stored by a descriptor if it has a buffer
  bool has_remainder;             // the last block may extend beyond the keys
  bool has_whole; // blocks that every query sees completely have a loop of their own, without masks
  struct region_parts epilogue;
  const struct expr *lse_offset; // of logsumexp, if it is an output
  struct attention_parts parts;
};

// Heads of queries that share a head of keys become rows of one block, if there are few queries
// (graph/plan/attention_heads.c). After the score is analysed.
void attention_pack_heads(struct planner *pl, struct attention_plan *t);
// Plans the kernels of split keys (graph/plan/attention_parts.c).
void attention_create_parts(struct planner *pl, struct attention_plan *t);
void attention_plan_merge(struct planner *pl, const struct attention_plan *t,
                          struct kernel_plan *parts);
// What a kernel of the plan loads and stores, and its grid (graph/plan/attention_kernel.c).
void attention_note_accesses(struct planner *pl, const struct attention_plan *t,
                             struct kernel_plan *k);
void attention_set_grid(struct planner *pl, const struct attention_plan *t, struct kernel_plan *k);

#endif
