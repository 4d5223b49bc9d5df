// SPDX-License-Identifier: Apache-2.0
// Capture: calls a C function with symbolic tensors, which builds a graph. The properties of the
// arguments become guards; a call whose tensors satisfy the guards of a variant runs it, another
// captures and compiles a new variant.
//
// Sizes are constants unless marked dynamic. Strides are those of a dense tensor of any size, or
// constants. Marked dimensions of equal size share a symbol, which `x + y` needs if both are
// marked.
#include "base/memory.h"
#include "graph/capture/function_internal.h"
#include "graph/ir/sizes.h"
#include "graph/run/handle.h"
#include "graph/run/run.h"
#include "graph/run/tensor_views.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

tile_status tile_captured_create(tile_device *device, tile_graph_function function, void *user,
                                 tile_captured **ret_captured) {
  if (!device || !function || !ret_captured)
    return status_set(TILE_INVALID_ARGUMENT,
                      "a function needs a device and a C function, and a pointer for the result");
  tile_captured *f = memory_zeroed(1, sizeof *f);
  if (!f)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a function");
  pthread_mutex_init(&f->lock, NULL);
  f->device = device;
  f->function = function;
  f->user = user;
  f->limit = DEFAULT_LIMIT;
  *ret_captured = f;
  return TILE_OK;
}

static void variant_destroy(struct variant *v) {
  if (!v)
    return;
  tile_program_close(v->program);
  tile_graph_destroy(v->graph);
  free(v->guards);
  free(v->lo);
  free(v->hi);
  free(v);
}

void tile_captured_destroy(tile_captured *f) {
  if (!f)
    return;
  for (size_t i = 0; i < f->variant_count; i++)
    variant_destroy(f->variants[i]);
  free(f->variants);
  free(f->marks);
  pthread_mutex_destroy(&f->lock);
  free(f);
}

// ---- settings ----

static tile_status mark(tile_captured *f, const struct mark *m) {
  for (size_t i = 0; i < f->mark_count; i++)
    if (f->marks[i].input == m->input && f->marks[i].dim == m->dim)
      return f->marks[i] = *m, TILE_OK;
  struct mark *more = memory_resize(f->marks, (f->mark_count + 1) * sizeof *more);
  if (!more)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a dynamic dimension");
  f->marks = more;
  f->marks[f->mark_count++] = *m;
  return TILE_OK;
}

tile_status tile_captured_mark_dynamic(tile_captured *f, size_t input, int dim, int64_t lo,
                                       int64_t hi) {
  if (!f || dim < 0 || dim >= GRAPH_MAX_RANK || lo < 0 || hi < lo || hi > INT32_MAX)
    return status_set(TILE_INVALID_ARGUMENT,
                      "a dynamic dimension is counted from 0 and has a range from 0 to at most %d",
                      INT32_MAX);
  const struct mark m = {input, dim, lo, hi};
  pthread_mutex_lock(&f->lock);
  tile_status s = mark(f, &m);
  pthread_mutex_unlock(&f->lock);
  return s;
}

tile_status tile_captured_set_limit(tile_captured *f, size_t variants) {
  if (!f || variants == 0)
    return status_set(TILE_INVALID_ARGUMENT, "a function has at least one variant");
  pthread_mutex_lock(&f->lock);
  f->limit = variants;
  pthread_mutex_unlock(&f->lock);
  return TILE_OK;
}

tile_status tile_captured_set_seed(tile_captured *f, uint64_t seed) {
  if (!f)
    return status_set(TILE_INVALID_ARGUMENT, "no function");
  pthread_mutex_lock(&f->lock);
  f->seed = seed;
  pthread_mutex_unlock(&f->lock);
  return TILE_OK;
}

tile_status tile_captured_set_tuning(tile_captured *f, const tile_program_tuning *tuning) {
  if (!f)
    return status_set(TILE_INVALID_ARGUMENT, "no function");
  pthread_mutex_lock(&f->lock);
  f->tunes = tuning != NULL;
  f->tuning = tuning ? *tuning : (tile_program_tuning){0};
  pthread_mutex_unlock(&f->lock);
  return TILE_OK;
}

size_t tile_captured_variants(tile_captured *f) {
  if (!f)
    return 0;
  pthread_mutex_lock(&f->lock);
  size_t n = f->variant_count;
  pthread_mutex_unlock(&f->lock);
  return n;
}

// ---- capturing ----

static const struct mark *find_mark(const tile_captured *f, size_t input, uint32_t dim) {
  for (size_t i = 0; i < f->mark_count; i++)
    if (f->marks[i].input == input && f->marks[i].dim == (int)dim)
      return &f->marks[i];
  return NULL;
}

// The symbols of a variant during capture: by size and range.
struct sizes {
  size_t count;
  int64_t values[MAX_SYMBOLS], handles[MAX_SYMBOLS];
};

// The symbol of a marked dimension of this size; -1 if there are too many.
static int symbol_for(struct variant *v, struct sizes *sizes, const struct mark *m, int64_t n) {
  for (size_t i = 0; i < sizes->count; i++)
    if (sizes->values[i] == n && v->lo[i] == m->lo && v->hi[i] == m->hi)
      return (int)i;
  if (sizes->count == COUNT_OF(sizes->values)) {
    capture_fail(v->graph, TILE_LIMIT, "more than %zu dynamic sizes", COUNT_OF(sizes->values));
    return -1;
  }
  char name[16];
  snprintf(name, sizeof name, "s%zu", sizes->count);
  sizes->values[sizes->count] = n;
  sizes->handles[sizes->count] = tile_graph_size(v->graph, name, m->lo, m->hi);
  tile_graph_set_likely_size(v->graph, sizes->handles[sizes->count], n);
  v->lo[sizes->count] = m->lo;
  v->hi[sizes->count] = m->hi;
  return (int)sizes->count++;
}

static tile_value *add_input(const tile_captured *f, struct variant *v, struct sizes *sizes,
                             size_t i, const struct tensor_view *t) {
  struct guard *g = &v->guards[i];
  int64_t shape[GRAPH_MAX_RANK];
  char name[32];
  *g = (struct guard){.dtype = t->dtype, .rank = t->rank, .is_dense = tensor_view_is_dense(t)};
  for (uint32_t d = 0; d < t->rank; d++) {
    const struct mark *m = find_mark(f, i, d);
    bool is_dynamic = m && t->shape[d] >= m->lo && t->shape[d] <= m->hi;
    int s = is_dynamic ? symbol_for(v, sizes, m, t->shape[d]) : 0;
    if (s < 0)
      return NULL;
    g->shape[d] = is_dynamic ? -1 - s : t->shape[d];
    shape[d] = is_dynamic ? sizes->handles[s] : t->shape[d];
    g->strides[d] = t->strides[d];
  }
  snprintf(name, sizeof name, "in%zu", i);
  return tile_graph_input(v->graph, name, (tile_type)t->dtype, (int)t->rank, shape,
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
static tile_status add_output(struct variant *v, size_t i, tile_value *out,
                              const struct tensor_view *t) {
  tile_graph *g = v->graph;
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

static tile_status add_outputs(struct variant *v, tile_value *const *out,
                               const struct tensor_views *views) {
  tile_status s = tile_graph_status(v->graph);
  for (size_t i = 0; s == TILE_OK && i < views->count - views->input_count; i++)
    s = add_output(v, i, out[i], &views->at[views->input_count + i]);
  return s;
}

static void find_sizes(void *graph) { graph_find_sizes(graph); }

static tile_status capture(const tile_captured *f, struct variant *v,
                           const struct tensor_views *views, tile_value **values) {
  struct sizes sizes = {0};
  size_t outputs = views->count - views->input_count;
  for (size_t i = 0; i < views->input_count; i++)
    if (!(values[i] = add_input(f, v, &sizes, i, &views->at[i])))
      return tile_graph_status(v->graph);
  v->symbol_count = sizes.count;
  tile_value **out = values + views->input_count;
  tile_status s = f->function(v->graph, values, views->input_count, out, outputs, f->user);
  if (v->graph->status != TILE_OK)
    return tile_graph_status(v->graph);
  if (s != TILE_OK)
    return status_set(s, "the captured function ended with %s", tile_status_name(s));
  s = add_outputs(v, out, views);
  if (s == TILE_OK && !arena_guard(v->graph->arena, find_sizes, v->graph->g))
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for the sizes of a function");
  if (s == TILE_OK)
    s = tensor_views_check(v->graph->g, views, false);
  return s == TILE_OK ? tile_program_from_graph(f->device, v->graph, &v->program) : s;
}

static tile_status capture_variant(tile_captured *f, struct variant *v,
                                   const struct tensor_views *views, tile_value **values) {
  v->guards = memory_zeroed(views->count + 1, sizeof *v->guards);
  v->lo = memory_zeroed(MAX_SYMBOLS, sizeof *v->lo);
  v->hi = memory_zeroed(MAX_SYMBOLS, sizeof *v->hi);
  if (!v->guards || !v->lo || !v->hi)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for the guards of a function");
  v->input_count = views->input_count;
  v->count = views->count;
  tile_status s = tile_graph_create("function", &v->graph);
  return s == TILE_OK ? capture(f, v, views, values) : s;
}

static tile_status variant_create(tile_captured *f, const struct tensor_views *views,
                                  struct variant **ret) {
  struct variant *v = memory_zeroed(1, sizeof *v);
  tile_value **values = memory_zeroed(views->count + 1, sizeof *values);
  struct variant **more = memory_resize(f->variants, (f->variant_count + 1) * sizeof *more);
  if (more)
    f->variants = more;
  tile_status s = v && values && more
                      ? capture_variant(f, v, views, values)
                      : status_set(TILE_OUT_OF_MEMORY, "out of memory for a variant of a function");
  free(values);
  if (s != TILE_OK) {
    variant_destroy(v);
    return s;
  }
  f->variants[f->variant_count++] = *ret = v;
  return TILE_OK;
}

// ---- calls ----

static tile_status find_variant(tile_captured *f, const struct tensor_views *views,
                                struct variant **ret) {
  for (size_t i = 0; i < f->variant_count; i++)
    if (variant_guards_hold(f->variants[i], views)) {
      *ret = f->variants[i];
      return TILE_OK;
    }
  if (f->variant_count >= f->limit)
    return status_set(
        TILE_LIMIT,
        "the function has %zu variants, its limit, and these tensors need another: mark dimensions "
        "that change "
        "with tile_captured_mark_dynamic, or raise the limit with tile_captured_set_limit",
        f->variant_count);
  return variant_create(f, views, ret);
}

static tile_status run_variant(tile_captured *f, struct variant *v, tile_stream *stream,
                               const struct tensor_views *views) {
  if (!f->tunes || v->is_tuned)
    return program_run(v->program->loaded, stream, f->seed, views->at,
                       views->at + views->input_count);
  v->is_tuned = true;
  return program_handle_tune(v->program, stream, f->seed, views, &f->tuning);
}

static tile_status call(tile_captured *f, tile_stream *stream, const tile_tensor *inputs,
                        size_t input_count, const tile_tensor *outputs, size_t output_count,
                        bool runs) {
  struct tensor_views views;
  struct variant *v = NULL;
  if (!f)
    return status_set(TILE_INVALID_ARGUMENT, "no function");
  tile_status s = tensor_views_create(inputs, input_count, outputs, output_count, &views);
  pthread_mutex_lock(&f->lock);
  if (s == TILE_OK)
    s = find_variant(f, &views, &v);
  if (s == TILE_OK)
    s = tensor_views_check(v->graph->g, &views, runs);
  if (s == TILE_OK && runs)
    s = run_variant(f, v, stream, &views);
  pthread_mutex_unlock(&f->lock);
  tensor_views_finish(&views);
  return s;
}

tile_status tile_captured_call(tile_captured *f, tile_stream *stream, const tile_tensor *inputs,
                               size_t input_count, const tile_tensor *outputs,
                               size_t output_count) {
  return call(f, stream, inputs, input_count, outputs, output_count, true);
}

tile_status tile_captured_prepare(tile_captured *f, const tile_tensor *inputs, size_t input_count,
                                  const tile_tensor *outputs, size_t output_count) {
  return call(f, NULL, inputs, input_count, outputs, output_count, false);
}
