// SPDX-License-Identifier: Apache-2.0
// The internals of a tile_program, for clients that build graphs without text (capture).
#ifndef TILE_GRAPH_RUN_HANDLE_H
#define TILE_GRAPH_RUN_HANDLE_H

#include "graph/program/program.h"
#include "graph/run/run.h"

#include <tile/program.h>

#include <pthread.h>

struct tile_program {
  pthread_mutex_t lock; // held by each public call that runs or changes the program
  struct arena *arena;  // owns the graph and everything derived from it
  tile_device *device;
  struct program *program;
  struct loaded_program *loaded;
};

// NULL, with the thread's message, if out of memory.
tile_program *program_handle_create(void);
// Compiles and loads a graph that lives on the handle's arena.
tile_status program_handle_load(tile_program *p, struct graph *g, tile_device *device);

struct tensor_views;
// tile_program_tune with tensors already checked.
tile_status program_handle_tune(tile_program *p, tile_stream *stream, uint64_t seed,
                                const struct tensor_views *v, const tile_program_tuning *t);

#endif
