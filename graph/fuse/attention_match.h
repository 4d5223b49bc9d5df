// SPDX-License-Identifier: Apache-2.0
// Shared by the files that match attention.
#ifndef TILE_GRAPH_FUSE_ATTENTION_MATCH_H
#define TILE_GRAPH_FUSE_ATTENTION_MATCH_H

#include "graph/fuse/fuse.h"

struct match {
  struct fuser *f;
  struct stage **writer;        // by buffer: the only map, reduction or product that writes it
  bool *has_anchor;             // by buffer: its expression tree contains a product or reduction
  struct stage *outer, *inner;  // the products
  const struct expr *m, *j;     // axes of the outer one: query, key
  const struct scalar *score;   // f, over these axes
  const struct scalar *kept;    // a factor of the weights, over these axes; NULL: 1
  const struct scalar *product; // the load of the inner product's result in f
  const struct expr *batch;     // batch index of the inner product there
  bool zero_empty_rows, found_anchor;
};

// The axes' values for which `offset` equals `target`; false if unknown.
bool offset_solve(struct fuser *f, const struct expr *offset, uint32_t rank,
                  const struct expr *const *axes, const struct expr *target,
                  const struct expr **ret);
// v with materialised maps inlined, without intermediate roundings.
const struct scalar *scalar_expr_write_in(struct match *m, const struct scalar *v);

#endif
