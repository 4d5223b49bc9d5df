// SPDX-License-Identifier: Apache-2.0
// Writes chosen by a mask of bools.
#ifndef TILE_GRAPH_IR_COMPOSE_MASK_WRITE_H
#define TILE_GRAPH_IR_COMPOSE_MASK_WRITE_H

#include "graph/ir/graph_build.h"

// The only index of an index_put, and its dimension; NULL: there are several.
// (graph/ir/graph_args.c)
struct value *mask_write_index(const struct node *n, uint32_t *dim);
// Is it an index_put by one mask whose values are one for all chosen elements, except along
// dimensions that the mask does not have? (graph/ir/graph_args.c)
bool mask_write_is_where(const struct node *n);
// Appends a `where` for it; its result is that of `n`.
void compose_mask_write(struct build *b, struct node *n);

#endif
