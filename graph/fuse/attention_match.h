// SPDX-License-Identifier: Apache-2.0
// What the files that find attention share.
#ifndef TILE_GRAPH_FUSE_ATTENTION_MATCH_H
#define TILE_GRAPH_FUSE_ATTENTION_MATCH_H

#include "graph/fuse/fuse.h"

struct match {
  struct fuser *f;
  struct stage **writer; // by buffer: the map, reduction or product that alone writes it
  bool *has_anchor;      // by buffer: a product or reduction is somewhere in its expression tree
  struct stage *outer, *inner;  // the products
  const struct expr *m, *j;     // axes of the outer one: query, key
  const struct scalar *score;   // f, over these
  const struct scalar *product; // the load of the inner product's result in it
  const struct expr *batch;     // of the inner product there
  bool zero_empty_rows, found_anchor;
};

// The axes' values at which `offset` becomes `target`; false where they cannot be told.
bool offset_solve(struct fuser *f, const struct expr *offset, uint32_t rank,
                  const struct expr *const *axes, const struct expr *target,
                  const struct expr **ret);
// v with the expression trees of maps that were stored instead of loads of their results, and
// without the roundings between.
const struct scalar *scalar_expr_write_in(struct match *m, const struct scalar *v);

#endif
