// SPDX-License-Identifier: Apache-2.0
// Tensors that callers pass to programs and functions: normalises them and checks them against a
// graph.
#ifndef TILE_GRAPH_RUN_TENSOR_VIEWS_H
#define TILE_GRAPH_RUN_TENSOR_VIEWS_H

#include "graph/program/program.h"
#include "graph/run/run.h"

#include <tile/program.h>

enum { TENSOR_VIEWS_FEW = 64 }; // so many need no allocation

// A call's tensors with explicit strides. Not to be copied: `at` may point into it.
struct tensor_views {
  struct tensor_view *at; // inputs, then outputs
  size_t input_count, count;
  struct tensor_view few[TENSOR_VIEWS_FEW];
};

// TILE_INVALID_ARGUMENT for an invalid tensor: a negative size, too many dimensions, no shape.
// tensor_views_finish frees the result, also after failures.
tile_status tensor_views_create(const tile_tensor *inputs, size_t input_count,
                                const tile_tensor *outputs, size_t output_count,
                                struct tensor_views *ret);
void tensor_views_finish(struct tensor_views *v);
bool tensor_view_is_dense(const struct tensor_view *t);
// The sizes of the graph's symbols, by g->size_sources; 0 if an input does not match the graph.
// TILE_INVALID_ARGUMENT if no input determines a symbol that is used. `inputs`: as many as the
// graph has.
tile_status tensor_views_sizes(const struct graph *g, const struct tensor_view *inputs,
                               int64_t *ret);
// TILE_INVALID_ARGUMENT, with the difference, unless the tensors have the dtypes, shapes and
// strides of the graph's inputs and outputs, sizes are in their ranges, and, if `wants_data`, all
// have memory.
tile_status tensor_views_check(const struct graph *g, const struct tensor_views *v,
                               bool wants_data);
// The same; writes the sizes of the graph's symbols to `sizes`, which has room for all of them.
tile_status tensor_views_check_into(const struct graph *g, const struct tensor_views *v,
                                    bool wants_data, int64_t *sizes);

#endif
