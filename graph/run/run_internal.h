// SPDX-License-Identifier: Apache-2.0
// The insides of a loaded program, shared by running it (run.c) and by choosing block sizes on the
// way (graph/run/run_tune.c).
#ifndef TILE_GRAPH_RUN_RUN_INTERNAL_H
#define TILE_GRAPH_RUN_RUN_INTERNAL_H

#include "graph/program/program.h"
#include "graph/run/run.h"

#include <stdatomic.h>

enum { LAUNCH_MOST_ARGS = 256 };

struct loaded_kernel {
  tile_kernel *kernel;  // as the program has it
  tile_kernel *tier1;   // its tier-1 code (graph/plan/tier1.h); NULL: none was wanted
  atomic_bool is_there; // `kernel` can be launched instead of the tier-1 code
};

struct loaded_program {
  struct program *p;
  tile_device *device;
  struct loaded_kernel *kernels; // by id
  void **memory;                 // by buffer id; inputs' and outputs' are set for each run
  int64_t *sizes;                // of the graph's symbols
  char *arena;
  int64_t arena_bytes;
  bool has_zeros;                      // where the program's counters are
  struct recompilation *recompilation; // NULL: the best code is there
  VEC(tile_kernel *) retired;          // replaced by better ones; recordings may still launch them
};

// All that has to happen before launches can run or be recorded: sizes, memory, addresses.
tile_status loaded_get_ready(struct loaded_program *l, const struct tensor_view *inputs,
                             const struct tensor_view *outputs);
// Zeros where the launch wants them; then the launch itself.
tile_status loaded_clear(struct loaded_program *l, tile_stream *stream,
                         const struct launch *launch);
tile_status loaded_launch(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                          const struct launch *launch);
// The arguments that such a launch probably has. Returns how many.
size_t launch_likely_args(const struct launch *l, tile_arg *args);
// Opens and compiles the kernel as it is now, instead of what was loaded for it.
tile_status loaded_replace(struct loaded_program *l, const struct graph_kernel *k);
// graph/run/load.c: compiles and loads all kernels, those that gain by it in their tier-1 code.
tile_status loaded_open_kernels(struct loaded_program *l);
void loaded_close_kernels(struct loaded_program *l);
// graph/run/recompile.c: better code than what kernels were loaded with, made in the background.
void loaded_begin_recompilation(struct loaded_program *l);
void loaded_stop_recompilation(struct loaded_program *l); // waits for what is under way
bool loaded_size(const struct loaded_program *l, const struct expr *e, int64_t *ret);

#endif
