// SPDX-License-Identifier: Apache-2.0
// Fusion: groups stages into regions, each of which becomes a kernel (or two or three, where a
// reduction is split). The stages of a region share axes, so that a value produced and consumed at
// the same offset stays in registers.
//
// Two stages may share a region if, over the region's axes, every value that passes between them is
// read at the offset where it was written (rows: or reduced over its row), and no path between them
// leaves the region. Offsets are compared as canonical expressions. Pairs that save most bytes are
// merged first.
#ifndef TILE_GRAPH_FUSE_REGION_H
#define TILE_GRAPH_FUSE_REGION_H

#include "graph/loops/loops.h"

enum region_kind {
  REGION_MAP, // as few axes as possible (at least one), outermost first, in the order of the stores
  REGION_ROWS,       // axes x, r: any mix of reductions over r and of values per (x, r) and per x
  REGION_ROW_COLUMN, // the same, with reductions over x, per r or once (weight gradients of norms,
                     // mean losses)
  REGION_SCAN,       // axes x, r
  REGION_PRODUCT,   // axes batch, m, n and k: a product with prologues in its operands and a map as
                    // epilogue
  REGION_ATTENTION, // axes batch, m, n
  REGION_SCATTER,   // axes as in REGION_MAP
  REGION_CALL       // one call, alone; no axes
};

// Axes of stages in rows (x < axes[0], r < axes[1] of the region; compare pointers):
//   map, rank 2                       x, r   per element
//   map, rank 1, axes[0] is x         x      per row
//   reduce, rank 1, reduced 1         x, r   over r
//   reduce, rank 1, axes[0] is r      r, x   over x, per column; only maps of r or once read it
//   reduce, rank 0, reduced 1         x      over x, once; the same
//   map, rank 1, axes[0] is r         r      per column: an epilogue (a cast, a division)
//   map, rank 0                              once: an epilogue
struct region {
  enum region_kind kind;
  uint32_t id;
  const char *name; // of the kernel: its operators, an identifier; the same for equal regions
  uint32_t rank;
  const struct expr **axes;
  VEC(struct stage *) stages;  // copies over the region's axes, in order
  VEC(struct buffer *) reads;  // from memory
  VEC(struct buffer *) writes; // to memory; without buffers that only the region reads
  // Rows: is r the contiguous axis of most reads? Else x is.
  bool is_inner;
  const struct expr *bytes, *flops; // minimal traffic; operations of products and maps
};

struct regions {
  struct loops *loops;
  VEC(struct region *) list;        // in an execution order
  VEC(struct buffer *) temporaries; // buffers between regions
};

struct fuse_options {
  bool keeps_apart; // one region per stage, for comparison and tests
};

// NULL after an error. A pair of neighbours that is not merged is a remark of the topic "fusion",
// with the reason and the bytes that merging would have saved.
struct regions *regions_form(struct loops *l, const struct fuse_options *o);
// Moves constant starts of what regions read into slices, where several regions have the same name
// (graph/fuse/rebase.c).
void regions_rebase(struct regions *r);
const char *region_kind_name(enum region_kind k); // "rows and columns"
void regions_print(const struct regions *r, struct strbuf *out);

// The stage of the region that produces `b`; NULL: none.
const struct stage *region_maker(const struct region *r, const struct buffer *b);

#endif
