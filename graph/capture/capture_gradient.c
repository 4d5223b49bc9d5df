// SPDX-License-Identifier: Apache-2.0
// Gradients of graphs that are built in C.
#include "graph/autodiff/gradient.h"
#include "graph/capture/capture.h"

// The values of the caller; entries may be NULL if `may_lack`. False after an error.
static bool take(tile_graph *g, tile_value *const *from, size_t count, const char *what,
                 bool may_lack, struct value **to) {
  for (size_t i = 0; i < count; i++) {
    bool is_lacking = may_lack && !from[i];
    if (!is_lacking && !capture_is_own(g, from[i], what))
      return false;
    to[i] = is_lacking ? NULL : from[i]->v;
  }
  return true;
}

tile_status tile_graph_gradient(tile_graph *g, tile_value *const *outputs, size_t output_count,
                                tile_value *const *seeds, tile_value *const *inputs,
                                size_t input_count, tile_value **ret_gradients) {
  if (!g || !outputs || !inputs || !ret_gradients)
    return status_set(TILE_INVALID_ARGUMENT,
                      "gradients need a graph, outputs, inputs and room for the results");
  for (size_t i = 0; i < input_count; i++)
    ret_gradients[i] = NULL;
  if (!capture_is_open(g))
    return g->status;
  if (output_count > GRAPH_MAX_VALUES || input_count > GRAPH_MAX_VALUES)
    return capture_fail(g, TILE_LIMIT, "more than %d values", GRAPH_MAX_VALUES);
  GUARDED(g, out_of_memory, TILE_OUT_OF_MEMORY);
  struct value **of = arena_array(g->arena, struct value *, output_count + 1),
               **by = arena_array(g->arena, struct value *, input_count + 1),
               **weights = arena_array(g->arena, struct value *, output_count + 1),
               **ret = arena_array(g->arena, struct value *, input_count + 1);
  if (!take(g, outputs, output_count, "an output", false, of) ||
      !take(g, inputs, input_count, "an input", false, by) ||
      (seeds && !take(g, seeds, output_count, "a seed", true, weights)))
    return g->status;
  g->has_gradients = true;
  struct gradient_request r = {.output_count = output_count,
                               .input_count = input_count,
                               .outputs = of,
                               .seeds = weights,
                               .inputs = by};
  if (!graph_gradient(g->g, &r, SPAN_NONE, ret))
    return capture_fail_diag(g);
  for (size_t i = 0; i < input_count; i++)
    ret_gradients[i] = capture_value(g, ret[i]);
  return TILE_OK;
}

// ---- recomputation ----

tile_status tile_graph_limit_saved(tile_graph *g, int64_t bytes) {
  if (!g)
    return status_set(TILE_INVALID_ARGUMENT, "no graph");
  if (!capture_is_open(g))
    return g->status;
  if (bytes < 0 || g->has_gradients)
    return capture_fail(g, TILE_INVALID_ARGUMENT, "%s",
                        bytes < 0 ? "a negative number of saved bytes"
                                  : "the limit of saved bytes comes before the gradients");
  g->g->recomputes = true;
  g->g->saved_limit = bytes;
  return TILE_OK;
}

tile_status tile_graph_begin_region(tile_graph *g) {
  if (!g)
    return status_set(TILE_INVALID_ARGUMENT, "no graph");
  if (!capture_is_open(g))
    return g->status;
  if (g->g->region)
    return capture_fail(g, TILE_INVALID_ARGUMENT, "a region within a region");
  g->g->region = ++g->g->regions;
  return TILE_OK;
}

tile_status tile_graph_end_region(tile_graph *g) {
  if (!g)
    return status_set(TILE_INVALID_ARGUMENT, "no graph");
  if (!capture_is_open(g))
    return g->status;
  if (!g->g->region)
    return capture_fail(g, TILE_INVALID_ARGUMENT, "there is no region to end");
  g->g->region = 0;
  return TILE_OK;
}
