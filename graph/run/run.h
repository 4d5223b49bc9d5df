// SPDX-License-Identifier: Apache-2.0
// Programs in this process: loaded on a device, run, recorded.
#ifndef TILE_GRAPH_RUN_RUN_H
#define TILE_GRAPH_RUN_RUN_H

#include "graph/program/program.h"

// What tl.rand is given as its seed by random operator number `which`.
uint64_t program_seed(uint64_t seed, uint32_t which);

struct loaded_program;
struct tensor_view { // memory of the caller on the device
  void *data;
  enum dtype dtype;
  uint32_t rank;
  const int64_t *shape, *strides; // strides in elements
};
// Compiles all kernels (in parallel) and allocates the arena when sizes are known. The program must
// outlive it. Products may run somewhat slower, with the same results, until their code has been
// assembled again in the background.
tile_status program_load(struct program *p, tile_device *device, struct loaded_program **ret);
void program_unload(struct loaded_program *l);
// Waits for the best code of all kernels.
void program_await_best_code(struct loaded_program *l);
// Asynchronous on a GPU. Outputs are the caller's memory, of the annotated strides; entries for
// None are ignored.
tile_status program_run(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                        const struct tensor_view *inputs, const struct tensor_view *outputs);
// The same launches as a recording (CUDA graph), with these addresses, sizes and this seed: it may
// run as often as they stay the same. Needs a stream that was created. The loaded program must
// outlive it.
tile_status program_record(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                           const struct tensor_view *inputs, const struct tensor_view *outputs,
                           tile_replay **ret);

#endif
