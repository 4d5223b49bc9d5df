// SPDX-License-Identifier: Apache-2.0
// Shared by the files that print products.
#ifndef TILE_GRAPH_EMIT_PRODUCT_WRITER_H
#define TILE_GRAPH_EMIT_PRODUCT_WRITER_H

#include "graph/emit/graph_emit.h"
#include "graph/plan/product_plan.h"

struct product_writer {
  const struct product *g;
  const struct product_kernel *k;
  struct exprs *x;
  struct scalars *s;
  struct emitter *e;
  unsigned level; // the scope of a block: 1 in a persistent kernel
  const struct expr *m_first, *n_first; // the block's, as axes; NULL: not needed
};

// Does the block divide the extent? Then it needs no mask.
bool product_divides(const struct expr *axis, unsigned block);
// ---- groups (graph/emit/product_groups.c) ----
bool product_has_groups_of_rows(const struct product_writer *w);
// row_blocks, before any block.
void product_write_row_blocks(struct product_writer *w);
// Of the block of rows with number `block`: m_first and m_end, k_end, and the group.
void product_write_group_of_rows(struct product_writer *w);
// k_begin and k_end of the batch's group of inner indices.
void product_write_group_of_inner(struct product_writer *w);

// m_first and n_first, of the block with number `pid`.
void product_write_block(struct product_writer *w, const char *pid);
// m and n, the rows and columns of the block.
void product_write_result_axes(struct product_writer *w);
// The accumulator of product i.
const char *product_sum_name(struct product_writer *w, unsigned i);
// The name, with the product's number if there are several.
const char *product_numbered(struct product_writer *w, const char *name, unsigned i);
void product_write_sums(struct product_writer *w); // zeros
void product_write_dot(struct product_writer *w, unsigned i, const char *a, const char *b);
// In the loop over k0, before its loads: the scales of the block of k.
void product_write_scales(struct product_writer *w);
// The epilogue refers to a product by a load of its buffer: from here on it is the accumulator.
void product_give_sum(struct product_writer *w, unsigned i);
void product_emit_sizes(struct product_writer *w); // parameters of the grid

// The whole of a persistent kernel (graph/emit/emit_persistent.c).
void emit_persistent_product(struct product_writer *w);

#endif
