// SPDX-License-Identifier: Apache-2.0
// Fusion: stages are grouped into regions, each of which becomes a kernel (or two or three, where a
// reduction is split). Inside a region stages are expressed over the same axes, so that a value
// made and used at the same offset stays in registers.
//
// Two stages may share a region if, once both are put on the region's axes, every value that passes
// between them is read at the offset where it was written (rows: or reduced over the row that holds
// it), and no path between them leaves the region. Offsets are compared as canonical expressions.
// Which pairs are joined first: those that save most bytes.
#ifndef TILE_GRAPH_FUSE_REGION_H
#define TILE_GRAPH_FUSE_REGION_H

#include "graph/loops/loops.h"

enum region_kind {
  REGION_MAP, // axes as few as merging leaves (at least one), outermost first; the order is that of
              // what is written
  REGION_ROWS, // axes x, r: any mix of reductions over r, of what is computed for each (x, r) and
               // each x
  REGION_ROW_COLUMN, // the same, and reductions over x for each r or once (gradients of weights of
                     // norms, mean losses)
  REGION_SCAN,       // axes x, r
  REGION_PRODUCT, // axes batch, m, n and k: one product, prologues in its operands, maps behind it
  REGION_ATTENTION, // axes batch, m, n
  REGION_SCATTER    // axes as in REGION_MAP
};

// Axes of stages in rows (x < axes[0], r < axes[1] of the region; compare pointers):
//   map, rank 2                          x, r   for each element
//   map, rank 1, axes[0] is x            x      for each row
//   reduce, rank 1, reduced 1            x, r   over r
//   reduce, rank 1, axes[0] is r         r, x   over x, for each column: nothing but the next kind
//   reads it inside reduce, rank 0, reduced 1            x      over x, once: the same map, rank 1,
//   axes[0] is r; rank 0    r      what is left to do with column results (a cast, a division),
//   behind them
struct region {
  enum region_kind kind;
  uint32_t id;
  const char *name; // of the kernel: from the operators, an identifier; the same for equal regions
  uint32_t rank;
  const struct expr **axes;
  VEC(struct stage *) stages;  // on the region's axes, in order; copies
  VEC(struct buffer *) reads;  // from memory
  VEC(struct buffer *) writes; // to memory; what only the region itself reads is not among them
  // Rows: is r the axis along which most of what is read lies contiguously? Else x is.
  bool is_inner;
  const struct expr *bytes, *flops; // least traffic, and operations of products and maps
};

struct regions {
  struct loops *loops;
  VEC(struct region *) list;        // in an order in which they can run
  VEC(struct buffer *) temporaries; // buffers that go through memory between regions
};

struct fuse_options {
  bool keeps_apart; // one region for each stage: for comparison and tests
};

// NULL after an error. Every pair of neighbours that stays apart is a remark of the topic "fusion"
// with its reason and the bytes that it would have saved.
struct regions *regions_form(struct loops *l, const struct fuse_options *o);
const char *region_kind_name(enum region_kind k); // "rows and columns"
void regions_print(const struct regions *r, struct strbuf *out);

// The region's own value for a load: is `b` made by one of its stages, and which?
const struct stage *region_maker(const struct region *r, const struct buffer *b);

#endif
