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
#include "graph/run/handle.h"
#include "graph/run/run.h"
#include "graph/run/tensor_views.h"

#include <pthread.h>
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
  f->path_limit = DEFAULT_PATHS;
  *ret_captured = f;
  return TILE_OK;
}

static void variant_destroy(tile_captured *f, struct variant *v) {
  if (!v)
    return;
  tile_program_close(v->program);
  path_destroy(f, v->first);
  for (size_t i = 0; i < v->graph_count; i++)
    tile_graph_destroy(v->graphs[i]);
  free(v->graphs);
  free(v->answers);
  free(v->sizes);
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
    variant_destroy(f, f->variants[i]);
  free(f->variants);
  free(f->marks);
  if (f->report)
    arena_destroy(f->report);
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

tile_status tile_captured_set_path_limit(tile_captured *f, size_t paths) {
  if (!f)
    return status_set(TILE_INVALID_ARGUMENT, "no function");
  pthread_mutex_lock(&f->lock);
  f->path_limit = paths;
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

// The symbol of a marked dimension of this size, by size and range; -1 if there are too many.
static int symbol_for(struct variant *v, int64_t *sizes, const struct mark *m, int64_t n) {
  for (size_t i = 0; i < v->symbol_count; i++)
    if (sizes[i] == n && v->lo[i] == m->lo && v->hi[i] == m->hi)
      return (int)i;
  if (v->symbol_count == MAX_SYMBOLS) {
    status_set(TILE_LIMIT, "more than %d dynamic sizes", MAX_SYMBOLS);
    return -1;
  }
  sizes[v->symbol_count] = n;
  v->lo[v->symbol_count] = m->lo;
  v->hi[v->symbol_count] = m->hi;
  return (int)v->symbol_count++;
}

static tile_status guard_inputs(const tile_captured *f, struct variant *v,
                                const struct tensor_views *views) {
  int64_t sizes[MAX_SYMBOLS];
  for (size_t i = 0; i < views->input_count; i++) {
    const struct tensor_view *t = &views->at[i];
    struct guard *g = &v->guards[i];
    *g = (struct guard){.dtype = t->dtype, .rank = t->rank, .is_dense = tensor_view_is_dense(t)};
    for (uint32_t d = 0; d < t->rank; d++) {
      const struct mark *m = find_mark(f, i, d);
      bool is_dynamic = m && t->shape[d] >= m->lo && t->shape[d] <= m->hi;
      int s = is_dynamic ? symbol_for(v, sizes, m, t->shape[d]) : 0;
      if (s < 0)
        return TILE_LIMIT;
      g->shape[d] = is_dynamic ? -1 - s : t->shape[d];
      g->strides[d] = t->strides[d];
    }
  }
  return TILE_OK;
}

// A program, or the first path of several.
static tile_status capture(tile_captured *f, struct variant *v, tile_stream *stream, bool has_data,
                           const struct tensor_views *views) {
  struct path_capture c = {.f = f, .stream = stream, .views = views, .has_data = has_data};
  tile_status s = function_capture(f, v, v->graph, &c);
  if (s != TILE_OK)
    return s;
  return c.items.len ? path_build(f, v, v->graph, &c, NULL)
                     : tile_program_from_graph(f->device, v->graph, &v->program);
}

static tile_status capture_variant(tile_captured *f, struct variant *v, tile_stream *stream,
                                   bool has_data, const struct tensor_views *views) {
  v->guards = memory_zeroed(views->count + 1, sizeof *v->guards);
  v->lo = memory_zeroed(MAX_SYMBOLS, sizeof *v->lo);
  v->hi = memory_zeroed(MAX_SYMBOLS, sizeof *v->hi);
  if (!v->guards || !v->lo || !v->hi)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for the guards of a function");
  v->input_count = views->input_count;
  v->count = views->count;
  tile_status s = guard_inputs(f, v, views);
  if (s == TILE_OK)
    s = tile_graph_create("function", &v->graph);
  return s == TILE_OK ? capture(f, v, stream, has_data, views) : s;
}

static tile_status variant_create(tile_captured *f, tile_stream *stream, bool has_data,
                                  const struct tensor_views *views, struct variant **ret) {
  struct variant *v = memory_zeroed(1, sizeof *v);
  struct variant **more = memory_resize(f->variants, (f->variant_count + 1) * sizeof *more);
  if (more)
    f->variants = more;
  tile_status s = v && more
                      ? capture_variant(f, v, stream, has_data, views)
                      : status_set(TILE_OUT_OF_MEMORY, "out of memory for a variant of a function");
  if (s != TILE_OK) {
    variant_destroy(f, v);
    return s;
  }
  f->variants[f->variant_count++] = *ret = v;
  return TILE_OK;
}

// ---- calls ----

static tile_status find_variant(tile_captured *f, tile_stream *stream, bool has_data,
                                const struct tensor_views *views, struct variant **ret) {
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
  return variant_create(f, stream, has_data, views, ret);
}

static tile_status run_variant(tile_captured *f, struct variant *v, tile_stream *stream,
                               const struct tensor_views *views) {
  if (v->first)
    return path_run(f, v, stream, views);
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
    s = find_variant(f, stream, runs, &views, &v);
  if (s == TILE_OK && !v->first) // paths differ in their outputs
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
