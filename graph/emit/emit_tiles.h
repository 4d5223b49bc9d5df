// SPDX-License-Identifier: Apache-2.0
// Prints matrices of products as tensor descriptors, and the loads and stores of their blocks.
#ifndef TILE_GRAPH_EMIT_EMIT_TILES_H
#define TILE_GRAPH_EMIT_EMIT_TILES_H

#include "graph/emit/graph_emit.h"
#include "graph/plan/product_plan.h"

// `name = tl.make_tensor_descriptor(...)`, in scope 0. Blocks have the sizes BLOCK_M, BLOCK_N and
// BLOCK_K along the product's axes.
void emit_descriptor(struct emitter *e, const struct product *g, const struct product_tile *tile,
                     const char *name);
// The block at m_first, n_first and k0, with `row` as the axis of its rows: transposed if need be.
const char *tile_load_text(struct emitter *e, const struct product *g,
                           const struct product_tile *tile, const char *name,
                           const struct expr *row);
// Stores the write's value as a block.
void emit_tile_store(struct emitter *e, const struct product *g, const struct product_tile *tile,
                     const char *name, const struct write_part *w);

#endif
