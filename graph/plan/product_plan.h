// SPDX-License-Identifier: Apache-2.0
// What the files of products share: how a product is cut into blocks, and its operands.
#ifndef TILE_GRAPH_PLAN_PRODUCT_H
#define TILE_GRAPH_PLAN_PRODUCT_H

#include "graph/plan/plan.h"

// A product as the choice sees it; sizes are likely ones.
struct product_shape {
  int64_t batch, m, n, k;
  enum dtype dtype;  // of the operands in tl.dot
  unsigned products; // that share a block of programs
  unsigned tiles;    // of the size of a block that the epilogue loads
  bool is_gathered;  // an operand is computed, or its offsets are: registers for each element
  bool may_split;    // k, among programs
};

struct product_plan {
  unsigned block_m, block_n, block_k; // powers of two
  unsigned group_m;
  unsigned split_k; // programs that share a k; their sums are added by a second kernel
  unsigned num_warps, num_stages;
};

enum { MOST_PRODUCTS = 4 };

// A product and what follows it.
struct product {
  const struct region *r;
  const struct stage *stages[MOST_PRODUCTS];
  unsigned count;
  const struct expr *batch, *m, *n, *k; // axes
  bool is_batched, folds_batch;         // folded: one index runs over batches and blocks
  bool rounds;                          // results, before what follows
  enum dtype dtype, sum;                // of the operands, of the sums
  struct product_shape shape;
  struct product_plan plan;
  const struct expr *part; // of a split k: an axis
  struct buffer *parts;    // sums of each: [part, batch, m, n]
  const struct expr *part_offset;
  struct region_parts epilogue;
};

// A kernel of a product: all of it, sums of parts of k, or what adds these up.
enum product_step { PRODUCT_WHOLE, PRODUCT_PARTS, PRODUCT_SUM };
struct product_kernel {
  const struct product *product;
  enum product_step step;
  unsigned block_m, block_n, group_m;
};

bool product_has_stage(const struct product *g, const struct stage *s);

// By a table of blocks and a model of how they fill a device like the target's.
struct product_plan product_choose(const struct product_shape *s, const struct program_options *o);
// The space of --max-autotune around a plan, for which the plan's source stays right: blocks that
// divide what the chosen ones divide. `extents` are m, n and k. NULL: nothing to choose.
const char *product_space(struct arena *a, const struct expr *const extents[3],
                          const struct product_shape *s, const struct product_plan *p,
                          const struct program_options *o);

#endif
