// SPDX-License-Identifier: Apache-2.0
// Shared by the files that tune kernels during a run.
#ifndef TILE_GRAPH_RUN_RUN_TUNE_INTERNAL_H
#define TILE_GRAPH_RUN_RUN_TUNE_INTERNAL_H

#include "autotune/tuned/tuned.h"
#include "graph/run/run_internal.h"
#include "graph/run/run_tune.h"

#define DATA_ALIGN 256 // of arrays in the data file

struct tuning {
  struct loaded_program *l;
  tile_stream *stream;
  const struct program_tune_options *o;
  tile_device_properties properties;
  struct tune_file file;
  double began_ms;
  size_t left; // kernels not yet tuned
  struct program_tune_count count;
};

struct block { // the memory behind a pointer
  const void *pointer;
  uint64_t size, offset; // in the data file
  bool is_reset, is_zero;
};

struct work { // the tuning of one kernel
  struct tuning *tuning;
  const struct launch *launch;
  tile_arg args[LAUNCH_MOST_ARGS];
  struct block blocks[LAUNCH_MOST_ARGS];
  size_t block_count;
  uint64_t data_bytes;
  tile_status status; // of copying the arrays, which another thread does
};

// ---- graph/run/tune_arrays.c ----
// The problem of a launch with these arguments, as the database knows it.
struct tune_problem launch_problem_of(struct arena *a, struct exprs *x, const struct launch *l,
                                      const tile_arg *args);
// Its key in a file of tunings.
tile_status launch_key_of(struct arena *a, const struct launch *l, const struct tune_problem *p,
                          const tile_device_properties *device, struct tune_key *ret);
tile_status tune_read_file(struct arena *a, const char *path, struct tune_file *ret);
// Finds the arrays behind the arguments. NULL, or why the kernel cannot be tuned.
const char *tune_find_arrays(struct work *w);
// Assigns offsets in the data file.
void tune_lay_out(struct work *w, struct tune_problem *p);
// Would the data and the results take more than half of the memory of this machine?
bool tune_exceeds_memory(const struct work *w);
// Copies the arrays from the device to the data file.
bool tune_fill(void *user, void *data);

#endif
