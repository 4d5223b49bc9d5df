// SPDX-License-Identifier: Apache-2.0
// Operands and results of products as matrices in memory, which tensor descriptors describe: rows
// at a constant distance, elements of a row side by side, 16-byte alignment of rows (PTX ISA,
// "Tensor-memory access", restrictions of cuTensorMapEncodeTiled).
#ifndef TILE_GRAPH_PLAN_PRODUCT_TILES_H
#define TILE_GRAPH_PLAN_PRODUCT_TILES_H

#include "graph/plan/plan.h"

enum { TILE_ROW_BYTES = 16 }; // that addresses and distances of rows are multiples of

// A dimension in front of rows and columns: for each of `size` values of `index`, a function of the
// batch axis, a matrix `stride` elements further.
struct product_outer {
  const struct expr *index, *size, *stride;
};
enum { MOST_OUTER = 3 }; // a tensor map has five dimensions

struct product_tile {
  struct buffer *buffer;       // NULL: the elements are not such a matrix
  const struct expr *start;    // of element (0, 0), in elements
  const struct expr *row_axis; // the axis that a row's number stands for; the other one's elements
  const struct expr *column_axis; // are side by side
  const struct expr *stride;      // from row to row, in elements
  struct product_outer outer[MOST_OUTER];
  unsigned outer_count; // 0: all batches have the same matrix
};

// `v`, an operand of type `t`, over axes `x` and `y`, in either order, and `batch`.
struct product_tile product_tile_of_operand(struct planner *pl, const struct scalar *v,
                                            enum dtype t, const struct expr *batch,
                                            const struct expr *x, const struct expr *y);
// An element that a write's value loads, over axes `m` (rows), `n` and `batch`.
struct product_tile product_tile_of_load(struct planner *pl, const struct scalar *load,
                                         const struct expr *batch, const struct expr *m,
                                         const struct expr *n);
// A store over these axes.
struct product_tile product_tile_of_store(struct planner *pl, const struct write_part *w,
                                          const struct expr *batch, const struct expr *m,
                                          const struct expr *n);

// The load of an operand of type `t` that is stored as such, without a mask; NULL: it is computed.
const struct scalar *product_operand_load(const struct scalar *v, enum dtype t);
// A value that the launch knows: no axis, no loaded index.
bool product_is_of_sizes(const struct expr *e);

#endif
