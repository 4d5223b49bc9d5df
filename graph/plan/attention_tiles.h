// SPDX-License-Identifier: Apache-2.0
// Queries, keys and values of attention as matrices in memory, which tensor descriptors describe
// (graph/plan/product_tiles.h says what such a matrix is). A batch is a part of the matrix: its
// keys are rows that follow each other, its columns lie side by side.
#ifndef TILE_GRAPH_PLAN_ATTENTION_TILES_H
#define TILE_GRAPH_PLAN_ATTENTION_TILES_H

#include "graph/plan/plan.h"

struct attention_tile {
  struct buffer *buffer;           // NULL: the elements are not such a matrix
  const struct expr *rows;         // of the matrix
  const struct expr *stride;       // from row to row, in elements; the matrix has so many columns
  const struct expr *row, *column; // of the batch's first element, functions of `batch`
};

// `v`, an operand of type `t`: for each batch a row of `columns` elements for each key (or query).
// Blocks of all these columns, which have to be a power of two, lie within the matrix if they do
// not extend beyond the keys; rows behind those of a batch are the next one's, or are read as zero.
struct attention_tile attention_tile_of(struct planner *pl, const struct scalar *v, enum dtype t,
                                        const struct expr *batch, const struct expr *key,
                                        const struct expr *columns);

#endif
