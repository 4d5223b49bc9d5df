// SPDX-License-Identifier: Apache-2.0
// Compiles a caller's graph to a program.
#include "graph/capture/capture.h"
#include "graph/run/handle.h"

static tile_status load(tile_program *p, tile_graph *g, tile_device *device) {
  jmp_buf out_of_memory;
  if (setjmp(out_of_memory))
    return capture_fail(g, TILE_OUT_OF_MEMORY, "out of memory for a graph's program");
  arena_set_oom(g->arena, &out_of_memory);
  g->is_closed = true;
  return graph_verify(g->g) ? program_handle_load(p, g->g, device) : capture_fail_diag(g);
}

tile_status tile_program_from_graph(tile_device *device, tile_graph *graph,
                                    tile_program **ret_program) {
  if (!device || !graph || !ret_program)
    return status_set(TILE_INVALID_ARGUMENT,
                      "a program needs a device and a graph, and a pointer for the result");
  if (graph->status != TILE_OK)
    return tile_graph_status(graph);
  if (graph->g->outputs.len + graph->g->mutations.len == 0)
    return status_set(TILE_INVALID_ARGUMENT, "the graph has no output");
  tile_program *p = program_handle_create();
  if (!p)
    return TILE_OUT_OF_MEMORY;
  tile_status s = load(p, graph, device);
  arena_set_oom(graph->arena, NULL);
  if (s != TILE_OK)
    tile_program_close(p);
  else
    *ret_program = p;
  return s;
}
