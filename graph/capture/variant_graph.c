// SPDX-License-Identifier: Apache-2.0
// Calls a captured function with the symbolic tensors of a variant, which its guards describe.
#include "base/memory.h"
#include "graph/capture/function_internal.h"
#include "graph/ir/sizes.h"

#include <stdio.h>
#include <stdlib.h>

static tile_value *add_input(const struct variant *v, tile_graph *graph, size_t i,
                             const struct tensor_view *t) {
  const struct guard *g = &v->guards[i];
  int64_t shape[GRAPH_MAX_RANK];
  char name[32];
  for (uint32_t d = 0; d < g->rank; d++) {
    size_t s = (size_t)(-1 - g->shape[d]);
    shape[d] = g->shape[d];
    if (shape[d] >= 0)
      continue;
    snprintf(name, sizeof name, "s%zu", s);
    shape[d] = tile_graph_size(graph, name, v->lo[s], v->hi[s]);
    tile_graph_set_likely_size(graph, shape[d], t->shape[d]);
  }
  snprintf(name, sizeof name, "in%zu", i);
  return tile_graph_input(graph, name, (tile_type)g->dtype, (int)g->rank, shape,
                          g->is_dense ? NULL : g->strides);
}

static bool lay_out(tile_graph *g, struct guard *guard, struct value *v,
                    const struct tensor_view *t) {
  CAPTURE_GUARD(g->arena, out_of_memory);
  if (setjmp(out_of_memory)) {
    capture_fail(g, TILE_OUT_OF_MEMORY, "out of memory for a graph");
    return false;
  }
  *guard = (struct guard){.dtype = t->dtype, .rank = t->rank, .is_dense = tensor_view_is_dense(t)};
  const struct expr **dense = contiguous_strides(g->g->exprs, g->arena, v->rank, v->shape);
  for (uint32_t d = 0; d < t->rank; d++) {
    guard->strides[d] = t->strides[d];
    v->strides[d] = guard->is_dense ? dense[d] : expr_const(g->g->exprs, t->strides[d]);
  }
  return true;
}

// Output i has the strides of the caller's tensor.
static tile_status add_output(struct variant *v, tile_graph *g, size_t i, tile_value *out,
                              const struct tensor_view *t) {
  struct guard *guard = &v->guards[v->input_count + i];
  if (!out)
    return g->status != TILE_OK
               ? tile_graph_status(g)
               : capture_fail(g, TILE_INVALID_ARGUMENT, "the function did not set output %zu", i);
  if (out->graph != g)
    return capture_fail(g, TILE_INVALID_ARGUMENT, "output %zu belongs to another graph", i);
  if (out->v->dtype != t->dtype || out->v->rank != t->rank)
    return capture_fail(g, TILE_INVALID_ARGUMENT,
                        "output %zu is %s of rank %u, but the function gives %s of rank %u", i,
                        dtype_name(t->dtype), t->rank, dtype_name(out->v->dtype), out->v->rank);
  bool is_taken = !out->v->def;
  for (size_t k = 0; k < g->g->outputs.len; k++)
    is_taken |= g->g->outputs.at[k] == out->v;
  if (is_taken) { // an input, or already an output, whose strides are fixed
    const tile_operand x = tile_g_tensor(out);
    out = tile_graph_apply(g, "aten.clone.default", &x, 1);
    if (!out)
      return tile_graph_status(g);
  }
  return lay_out(g, guard, out->v, t) ? tile_graph_output(g, out) : tile_graph_status(g);
}

static void find_sizes(void *graph) { graph_find_sizes(graph); }

static tile_status call_function(tile_captured *f, struct variant *v, tile_graph *g,
                                 const struct tensor_views *views, tile_value **values) {
  size_t outputs = views->count - views->input_count;
  for (size_t i = 0; i < views->input_count; i++)
    if (!(values[i] = add_input(v, g, i, &views->at[i])))
      return tile_graph_status(g);
  tile_value **out = values + views->input_count;
  tile_status s = f->function(g, values, views->input_count, out, outputs, f->user);
  if (g->status != TILE_OK)
    return tile_graph_status(g);
  if (s != TILE_OK)
    return status_set(s, "the captured function ended with %s", tile_status_name(s));
  for (size_t i = 0; s == TILE_OK && i < outputs; i++)
    s = add_output(v, g, i, out[i], &views->at[views->input_count + i]);
  if (s == TILE_OK && !arena_guard(g->arena, find_sizes, g->g))
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for the sizes of a function");
  return s == TILE_OK ? tensor_views_check(g->g, views, false) : s;
}

tile_status function_capture(tile_captured *f, struct variant *v, tile_graph *g,
                             struct path_capture *c) {
  tile_value **values = memory_zeroed(c->views->count + 1, sizeof *values);
  if (!values)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a function");
  g->path = c;
  tile_status s = call_function(f, v, g, c->views, values);
  g->path = NULL;
  free(values);
  return s;
}
