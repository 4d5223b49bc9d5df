// SPDX-License-Identifier: Apache-2.0
// Shared by the files of products: block sizes and operands.
#ifndef TILE_GRAPH_PLAN_PRODUCT_H
#define TILE_GRAPH_PLAN_PRODUCT_H

#include "graph/plan/product_tiles.h"

// The input of the choice of blocks, for likely sizes.
struct product_shape {
  int64_t batch, m, n, k;
  enum dtype dtype;         // of the operands in tl.dot
  unsigned products;        // products with a common loop over k
  unsigned tiles;           // block-sized tiles that the epilogue loads
  bool is_gathered;         // an operand or its offsets are computed: registers per element
  bool is_quantised;        // b is computed from bytes of its own
  bool b_runs_along_k;      // neighbours in memory follow each other along k, or it is not known
  unsigned most_k;          // of a block: so many bytes share a scale; 0: any number
  bool is_promoted;         // sums of 8-bit floats are promoted
  bool is_scaled_in_blocks; // a sum of its own for each block of k
  bool may_split;           // k, over programs
  bool has_groups;          // sizes are those of a group
  bool may_split_blocks;    // k of some blocks of a persistent kernel
  bool has_rows_of_k;       // k is the contiguous dimension of all operands with descriptors
  bool has_tiles;           // all operands are matrices that tensor descriptors describe
  // Rows of an operand in memory begin within lines of 128 bytes: TMA reads two for each row of a
  // box.
  bool a_straddles, b_straddles;
};

struct product_plan {
  unsigned block_m, block_n, block_k; // powers of two
  unsigned group_m;
  // Programs per block along k; of a persistent kernel, for the blocks that are left over when each
  // program has computed as many as the others.
  unsigned split_k;
  unsigned num_warps, num_stages;
  unsigned num_ctas; // programs of a cluster, which share blocks of b; 1: no cluster
  // A persistent kernel, whose operands are loaded through tensor descriptors: so many programs per
  // multiprocessor compute all blocks. 0: a program for each block, and loads by pointers.
  unsigned resident;
  // Loads beyond the end of rows and columns have masks, instead of reading existing ones again: on
  // a processor remainders of indices would make gathers of vectors.
  bool masks_edges;
  double microseconds; // that the model expects
};

enum { MOST_PRODUCTS = 4, MOST_PACKED = 2 };

// A product and its epilogue.
struct product {
  const struct region *r;
  const struct stage *stages[MOST_PRODUCTS];
  unsigned count;
  const struct expr *batch, *m, *n, *k; // axes
  // The stages' inner axis, whole_k = pack * (group * high + low) + digit, where high and low are
  // the digits of k (graph/plan/product_digits.c). group 0: k has none; pack 1: whole_k is k.
  const struct expr *whole_k, *high, *low;
  bool groups_left; // the left operand is read by groups, too, as the image of a convolution
  unsigned pack, group;
  const struct groups *groups;  // NULL: none
  bool is_batched, folds_batch; // folded: one grid index covers batches and blocks
  bool rounds;                  // rounds results to their dtype before the epilogue
  enum dtype dtype, sum;        // of the operands, of the sums
  // The operands without the scales of 8-bit floats, which multiply the sums (over batch, m, n and
  // k; NULL: 1): each sum of `every` elements of k, or those of all of k
  // (graph/plan/product_scales.c).
  const struct scalar *left[MOST_PRODUCTS], *right[MOST_PRODUCTS], *scales[MOST_PRODUCTS];
  bool is_scaled_in_blocks[MOST_PRODUCTS];
  unsigned every;
  struct product_shape shape;
  struct product_plan plan;
  const struct expr *part; // the axis of parts of a split k
  // Partial sums: [part, batch, m, n]; of a persistent kernel [part, block, row, column], for the
  // blocks that are split. NULL: none.
  struct buffer *parts;
  const struct expr *part_offset;
  struct region_parts epilogue;
  struct product_tile a[MOST_PRODUCTS], b[MOST_PRODUCTS]; // the stages' operands
  struct product_tile *stores;                            // the epilogue's writes
  // A block-sized tile that the epilogue loads unconditionally, if it has a descriptor.
  const struct scalar *residual;
  struct product_tile residual_tile;
};

// Does the kernel load that tile through its descriptor, while it computes the product?
bool product_loads_residual(const struct product *g);

// A kernel of a product: the whole product, partial sums over parts of k, or their sum.
enum product_step { PRODUCT_WHOLE, PRODUCT_PARTS, PRODUCT_SUM };
struct product_kernel {
  const struct product *product;
  enum product_step step;
  unsigned block_m, block_n, group_m;
};

// Blocks of rows. Where rows have groups, blocks begin with each group: so many that group g has
// those from its begin // block_m + g on, and rows behind the last group one more.
const struct expr *product_row_blocks(struct exprs *x, const struct product *g,
                                      const struct expr *block_m);
void product_take_scales(struct planner *pl, struct product *g);
// Is v equal for each `every` elements of the axis?
bool product_is_equal_in_blocks(struct exprs *x, struct scalars *s, const struct scalar *v,
                                const struct expr *axis, int64_t every);
void product_find_digits(struct planner *pl, struct product *g);
// whole_k at `inner`, an element of k (with a group: of `low`).
const struct expr *product_inner(struct exprs *x, const struct product *g, const struct expr *inner,
                                 unsigned digit);

bool product_has_stage(const struct product *g, const struct stage *s);

// Uses a table of blocks and a model of how they fill a device like the target's.
struct product_plan product_choose(const struct product_shape *s, const struct program_options *o);
// The space of --max-autotune, for which the planned source stays valid: blocks that divide what
// the planned ones divide. `extents` are m, n and k. NULL: nothing to tune.
const char *product_space(struct arena *a, const struct expr *const extents[3],
                          const struct product_shape *s, const struct product_plan *p,
                          const struct program_options *o);

#endif
