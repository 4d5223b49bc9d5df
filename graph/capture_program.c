// SPDX-License-Identifier: Apache-2.0
// A graph of the caller as a program that runs.
#include "graph/capture.h"
#include "graph/program.h"

#include <pthread.h>
#include <stdlib.h>

struct tile_program {
  tile_graph *graph;
  struct loaded_program *loaded;
  pthread_mutex_t lock; // a run sets the sizes and addresses of the loaded program
};

static tile_status compile(tile_device *device, tile_graph *g, struct loaded_program **ret) {
  tile_device_properties properties;
  tile_status s = tile_device_get_properties(device, &properties);
  if (s != TILE_OK)
    return s;
  jmp_buf out_of_memory;
  if (setjmp(out_of_memory))
    return capture_fail(g, TILE_OUT_OF_MEMORY, "out of memory for a graph's program");
  arena_set_oom(g->arena, &out_of_memory);
  const struct program_options o = {.target = arena_strdup(g->arena, properties.target)};
  g->is_closed = true;
  struct program *p = graph_verify(g->g) ? program_compile(g->g, &o) : NULL;
  return p ? program_load(p, device, ret) : capture_fail_diag(g);
}

tile_status tile_program_create(tile_device *device, tile_graph *graph,
                                tile_program **ret_program) {
  if (!device || !graph || !ret_program)
    return status_set(TILE_INVALID_ARGUMENT,
                      "a program wants a device and a graph, and a place for it");
  if (graph->status != TILE_OK)
    return tile_graph_status(graph);
  if (graph->g->outputs.len + graph->g->mutations.len == 0)
    return status_set(TILE_INVALID_ARGUMENT, "the graph has no output");
  tile_program *p = calloc(1, sizeof *p);
  if (!p)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a program");
  pthread_mutex_init(&p->lock, NULL);
  p->graph = graph;
  tile_status s = compile(device, graph, &p->loaded);
  if (s != TILE_OK) {
    tile_program_destroy(p);
    return s;
  }
  *ret_program = p;
  return TILE_OK;
}

void tile_program_destroy(tile_program *p) {
  if (!p)
    return;
  program_unload(p->loaded);
  pthread_mutex_destroy(&p->lock);
  free(p);
}

tile_status capture_run(tile_program *p, tile_stream *stream, uint64_t seed,
                        const struct capture_views *v) {
  tile_status s = capture_check_views(p->graph->g, v, true);
  if (s != TILE_OK)
    return s;
  pthread_mutex_lock(&p->lock);
  s = program_run(p->loaded, stream, seed, v->at, v->at + v->input_count);
  pthread_mutex_unlock(&p->lock);
  return s;
}

tile_status tile_program_run(tile_program *p, tile_stream *stream, uint64_t seed,
                             const tile_tensor *inputs, size_t input_count,
                             const tile_tensor *outputs, size_t output_count) {
  struct capture_views v;
  if (!p)
    return status_set(TILE_INVALID_ARGUMENT, "no program");
  tile_status s = capture_views_create(inputs, input_count, outputs, output_count, &v);
  if (s == TILE_OK)
    s = capture_run(p, stream, seed, &v);
  capture_views_finish(&v);
  return s;
}
