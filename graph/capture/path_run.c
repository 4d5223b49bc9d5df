// SPDX-License-Identifier: Apache-2.0
// Runs a function that asks for values: step by step, each answer chooses the next one. An answer
// that no call had before captures the rest of another path.
#include "base/memory.h"
#include "graph/capture/function_internal.h"
#include "graph/reference/tensor.h"
#include "graph/run/handle.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ANSWERS = 4096 }; // of one call

static tile_status out_of_memory(void) {
  return status_set(TILE_OUT_OF_MEMORY, "out of memory for the paths of a function");
}

// ---- one step ----

// The memory of what a step writes, for the sizes of this call.
static tile_status place(tile_captured *f, const struct path_step *s, struct path_buffer *b,
                         const int64_t *sizes) {
  const struct graph *g = s->graph->g;
  const struct value *v = b->value;
  for (uint32_t d = 0; d < v->rank; d++)
    if (!expr_eval(v->shape[d], g->symbols.len, g->symbols.at, sizes, &b->shape[d]) ||
        !expr_eval(v->strides[d], g->symbols.len, g->symbols.at, sizes, &b->strides[d]))
      return status_set(TILE_INVALID_ARGUMENT, "a size does not fit 64 bits");
  size_t bytes =
      (size_t)tensor_span(v->rank, b->shape, b->strides) * dtype_bytes(v->dtype) + sizeof(uint64_t);
  if (b->data && b->bytes >= bytes)
    return TILE_OK;
  tile_free(f->device, b->data);
  b->data = NULL;
  b->bytes = bytes;
  return tile_malloc(f->device, bytes, &b->data);
}

static struct tensor_view view_of(const struct path_buffer *b) {
  return (struct tensor_view){b->data, b->value->dtype, b->value->rank, b->shape, b->strides};
}

static tile_status run_step(tile_captured *f, struct path_step *s, tile_stream *stream,
                            const struct tensor_views *views, const int64_t *sizes) {
  tile_status status = TILE_OK;
  size_t count = views->input_count;
  for (size_t i = 0; i < count; i++)
    s->in[i] = views->at[i];
  for (size_t i = 0; i < s->given_count; i++)
    s->in[count + i] = view_of(s->given[i]);
  if (!s->item) {
    status = tensor_views_check(s->graph->g, views, true);
    return status == TILE_OK
               ? program_run(s->program->loaded, stream, f->seed, s->in, views->at + count)
               : status;
  }
  for (size_t i = 0; status == TILE_OK && i < s->write_count; i++) {
    status = place(f, s, &s->writes[i], sizes);
    s->out[i] = view_of(&s->writes[i]);
  }
  return status == TILE_OK ? program_run(s->program->loaded, stream, f->seed, s->in, s->out)
                           : status;
}

// ---- another path ----

static tile_status keep_graph(struct variant *v, tile_graph *g) {
  tile_graph **more = memory_resize(v->graphs, (v->graph_count + 1) * sizeof(tile_graph *));
  if (!more)
    return out_of_memory();
  v->graphs = more;
  v->graphs[v->graph_count++] = g;
  return TILE_OK;
}

// The rest of a path behind `last`, whose answers so far are `known`.
static tile_status extend(tile_captured *f, struct variant *v, tile_stream *stream,
                          const struct tensor_views *views, const uint64_t *known, size_t count,
                          struct path_step *last) {
  struct path_capture c = {.f = f,
                           .stream = stream,
                           .views = views,
                           .has_data = true,
                           .known = known,
                           .known_count = count};
  tile_graph *g = NULL;
  tile_status s = tile_graph_create("function", &g);
  if (s == TILE_OK && (s = keep_graph(v, g)) != TILE_OK)
    tile_graph_destroy(g);
  if (s == TILE_OK)
    s = function_capture(f, v, g, &c);
  if (s == TILE_OK && c.items.len < count)
    s = status_set(TILE_INVALID_ARGUMENT,
                   "the function asked for %zu values, and for %zu with the same answers", count,
                   c.items.len);
  return s == TILE_OK ? path_build(f, v, g, &c, last) : s;
}

// Takes the last path out again: its steps behind `last`, and its graph.
static void forget(tile_captured *f, struct variant *v, struct path_step *last, bool was_built) {
  path_destroy(f, last->next[--last->next_count]);
  tile_graph_destroy(v->graphs[--v->graph_count]);
  v->path_count -= was_built;
}

static struct path_step *find(const struct path_step *s, uint64_t answer) {
  for (size_t i = 0; i < s->next_count; i++)
    if (s->next[i]->answer == answer)
      return s->next[i];
  return NULL;
}

// ---- a call ----

struct walk {
  tile_captured *f;
  struct variant *v;
  tile_stream *stream;
  const struct tensor_views *views;
  uint64_t *answers; // MOST_ANSWERS
  size_t count;
  struct path_step *dropped; // what follows it is only for this call; NULL: nothing
};

// The step behind `s`, captured if no call had this answer.
static tile_status next_step(struct walk *w, struct path_step **s) {
  struct path_step *last = *s;
  size_t before = last->next_count;
  uint64_t bits = 0;
  tile_status status = tile_copy_to_host(w->f->device, w->stream, &bits, last->writes[0].data,
                                         dtype_bytes(last->item->dtype));
  if (status != TILE_OK)
    return status;
  if (w->count == MOST_ANSWERS)
    return status_set(TILE_LIMIT, "a call asked for more than %d values", MOST_ANSWERS);
  w->answers[w->count++] = bits;
  if ((*s = find(last, bits)))
    return TILE_OK;
  bool is_kept = w->v->path_count < w->f->path_limit;
  status = extend(w->f, w->v, w->stream, w->views, w->answers, w->count, last);
  if (status != TILE_OK) {
    if (last->next_count > before)
      forget(w->f, w->v, last, false);
    return status;
  }
  *s = find(last, bits);
  w->dropped = is_kept ? w->dropped : last;
  w->v->dropped += !is_kept;
  return *s ? TILE_OK
            : status_set(TILE_INVALID_ARGUMENT, "the function gave other answers on its way");
}

static tile_status walk(struct walk *w, const int64_t *sizes) {
  struct path_step *s = w->v->first;
  tile_status status = TILE_OK;
  while (status == TILE_OK) {
    status = run_step(w->f, s, w->stream, w->views, sizes);
    s->calls += status == TILE_OK;
    if (!s->item || status != TILE_OK)
      break;
    status = next_step(w, &s);
  }
  if (w->dropped) {
    tile_stream_synchronize(w->f->device, w->stream);
    forget(w->f, w->v, w->dropped, true);
  }
  return status;
}

tile_status path_run(tile_captured *f, struct variant *v, tile_stream *stream,
                     const struct tensor_views *views) {
  if (!v->answers) {
    v->answers = memory_alloc(MOST_ANSWERS * sizeof *v->answers);
    v->sizes = memory_zeroed(v->graph->g->symbols.len + 1, sizeof *v->sizes);
  }
  if (!v->answers || !v->sizes)
    return out_of_memory();
  struct walk w = {.f = f, .v = v, .stream = stream, .views = views, .answers = v->answers};
  tile_status s = tensor_views_sizes(v->graph->g, views->at, v->sizes);
  return s == TILE_OK ? walk(&w, v->sizes) : s;
}
