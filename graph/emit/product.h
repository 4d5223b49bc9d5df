// SPDX-License-Identifier: Apache-2.0
// What the files of products share: how a product is cut into blocks, and its operands.
#ifndef TILE_GRAPH_EMIT_PRODUCT_H
#define TILE_GRAPH_EMIT_PRODUCT_H

#include "graph/emit/emit.h"

// A product as the choice sees it; sizes are likely ones.
struct product_shape {
  int64_t batch, m, n, k;
  enum dtype dtype;  // of the operands in tl.dot
  unsigned products; // that share a block of programs
  unsigned tiles;    // of the size of a block that the epilogue loads
  bool is_gathered;  // an operand is computed, or its places are: registers for each element
  bool may_split;    // k, among programs
};

struct product_plan {
  unsigned block_m, block_n, block_k; // powers of two
  unsigned group_m;
  unsigned split_k; // programs that share a k; their sums are added by a second kernel
  unsigned num_warps, num_stages;
};

// By a table of blocks and a model of how they fill a device like the target's.
struct product_plan product_choose(const struct product_shape *s, const struct program_options *o);
// The space of --max-autotune around a plan, for which the plan's source stays right: blocks that
// divide what the chosen ones divide. `extents` are m, n and k. NULL: nothing to choose.
const char *product_space(struct emitter *e, const struct expr *const extents[3],
                          const struct product_shape *s, const struct product_plan *p,
                          const struct program_options *o);

#endif
