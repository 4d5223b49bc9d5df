// SPDX-License-Identifier: Apache-2.0
// Programs in this process: loaded on a device, run, recorded.
#ifndef TILE_GRAPH_RUN_RUN_H
#define TILE_GRAPH_RUN_RUN_H

#include "graph/program/program.h"

// The seed of tl.rand for random operator number `which`.
uint64_t program_seed(uint64_t seed, uint32_t which);

// How programs for the device are planned.
struct program_options program_options_of(tile_device *device);

struct loaded_program;
struct tensor_view { // device memory of the caller
  void *data;
  enum dtype dtype;
  uint32_t rank;
  const int64_t *shape, *strides; // strides in elements
};
// Compiles all kernels in parallel, and allocates the arena if sizes are known. The program must
// outlive the result. Products may run slower at first, with the same results, until their code is
// recompiled in the background.
tile_status program_load(struct program *p, tile_device *device, struct loaded_program **ret);
void program_unload(struct loaded_program *l);
// Waits for the fully optimised code of all kernels.
void program_await_best_code(struct loaded_program *l);
// Whether later runs and recordings use programmatic dependent launch; only for programs that were
// compiled for it. On after loading.
void program_set_pdl(struct loaded_program *l, bool on);
// Asynchronous on a GPU. Outputs are the caller's memory, with the annotated strides; entries for
// None are ignored.
tile_status program_run(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                        const struct tensor_view *inputs, const struct tensor_view *outputs);
// The same, and looks after each launch at what it wrote (graph/run/find_nan.c). Appends to
// `report` which launch first made a NaN and which an infinity, where in the text that is, and what
// it read; nothing if all is finite. Waits for each launch.
tile_status program_find_nan(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                             const struct tensor_view *inputs, const struct tensor_view *outputs,
                             struct strbuf *report);
// Records the launches (CUDA graph) with these addresses, sizes and this seed. Needs a stream other
// than the default one. The loaded program must outlive the recording.
tile_status program_record(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                           const struct tensor_view *inputs, const struct tensor_view *outputs,
                           tile_replay **ret);

#endif
