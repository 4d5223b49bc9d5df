// SPDX-License-Identifier: Apache-2.0
// The internals of a loaded program, shared by running it (run.c) and by tuning during a run
// (graph/run/run_tune.c).
#ifndef TILE_GRAPH_RUN_RUN_INTERNAL_H
#define TILE_GRAPH_RUN_RUN_INTERNAL_H

#include "graph/program/program.h"
#include "graph/reference/tensor.h"
#include "graph/run/run.h"

#include <stdatomic.h>

enum { LAUNCH_MOST_ARGS = 256 };

struct loaded_kernel {
  tile_kernel *kernel;  // the program's kernel
  tile_kernel *tier1;   // its tier-1 code (graph/plan/tier1.h); NULL: not used
  atomic_bool is_there; // `kernel` is ready and replaces the tier-1 code
};

// Called around each launch of a run, on the host, in order.
struct launch_watch {
  tile_status (*before)(void *user, const struct launch *launch, size_t index);
  tile_status (*after)(void *user, const struct launch *launch, size_t index);
  void *user;
};

struct loaded_program {
  struct program *p;
  tile_device *device;
  struct loaded_kernel *kernels; // by id
  void **memory;                 // by buffer id; entries of inputs and outputs are set for each run
  int64_t *sizes;                // of the graph's symbols
  char *arena;
  int64_t arena_bytes;
  bool is_in_order;                    // launches begin when the one before has ended
  bool has_zeros;                      // the program's counters are zero
  const struct launch_watch *watch;    // of the current run; NULL: none
  struct recompilation *recompilation; // NULL: all code is fully optimised
  VEC(tile_kernel *) retired;          // replaced kernels, which recordings may still launch
  struct loaded_call *calls;           // launches without a kernel, in order
  size_t call_count;
};

// Prepares for launches or recording: sizes, memory, addresses.
tile_status loaded_get_ready(struct loaded_program *l, const struct tensor_view *inputs,
                             const struct tensor_view *outputs);
// graph/run/find_operator.c: the graph's inputs in host memory, before a run changes them; NULL
// entries after an error, or if its values are too many to compute them all. inputs_forget frees
// them.
tile_status inputs_keep(struct loaded_program *l, tile_stream *stream,
                        const struct tensor_view *inputs, struct tensor ***ret);
void inputs_forget(const struct graph *g, struct tensor **inputs);
// Appends which operator first makes a NaN or an infinity, by the reference interpreter with
// values of the graph's dtypes, and what it reads.
void find_operator(struct loaded_program *l, uint64_t seed, struct tensor *const *inputs,
                   struct strbuf *report);
// The order of a launch that follows what this thread has put into the stream.
enum launch_order {
  LAUNCH_BEHIND_OTHERS, // foreign work, a copy or memset: it begins when that has ended
  LAUNCH_BEHIND_KERNEL, // a kernel of the same run: it may begin before that has ended
};
// Clears the launch's buffer if it has one; then the launch itself. *ret_launches is
// false for an empty grid, which launches nothing.
tile_status loaded_clear(struct loaded_program *l, tile_stream *stream,
                         const struct launch *launch);
tile_status loaded_launch(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                          const struct launch *launch, enum launch_order order, bool *ret_launches);
// graph/run/run_call.c: a launch without a kernel. Waits for results of earlier launches where
// they decide what is run.
tile_status loaded_call(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                        const struct launch *launch);
tile_status loaded_open_calls(struct loaded_program *l);
void loaded_close_calls(struct loaded_program *l);
// Allocates what calls need for the current sizes, also in subgraphs: a recording cannot.
tile_status loaded_reserve_calls(struct loaded_program *l);
tile_status program_reserve_within(struct loaded_program *l, const int64_t *sizes);
// Calls f for each program of a subgraph.
void loaded_each_body(struct loaded_program *l, void (*f)(struct loaded_program *body, bool on),
                      bool on);
// A run of a subgraph's program: with the sizes of the program around it. Only the addresses of
// the tensors count.
tile_status program_run_within(struct loaded_program *l, const int64_t *sizes, tile_stream *stream,
                               uint64_t seed, const struct tensor_view *inputs,
                               const struct tensor_view *outputs);
// Likely arguments of such a launch. Returns how many.
size_t launch_likely_args(const struct launch *l, tile_arg *args);
// Opens and compiles the current version of the kernel and replaces the loaded one.
tile_status loaded_replace(struct loaded_program *l, const struct graph_kernel *k);
// graph/run/load.c: compiles and loads all kernels, as tier-1 code where that is faster.
tile_status loaded_open_kernels(struct loaded_program *l);
void loaded_close_kernels(struct loaded_program *l);
// graph/run/recompile.c: recompiles kernels in the background with full optimisation.
void loaded_begin_recompilation(struct loaded_program *l);
void loaded_stop_recompilation(struct loaded_program *l); // waits for compilations in progress
bool loaded_size(const struct loaded_program *l, const struct expr *e, int64_t *ret);

#endif
