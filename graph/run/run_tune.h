// SPDX-License-Identifier: Apache-2.0
// Tunes a program's kernels, from a file of tunings or by measuring. A kernel is tuned before its
// first launch in a run, on copies of the arrays that the launch would read.
#ifndef TILE_GRAPH_RUN_RUN_TUNE_H
#define TILE_GRAPH_RUN_RUN_TUNE_H

#include "autotune/tune.h"
#include "graph/program/program.h"
#include "graph/run/run.h"

#define PROGRAM_TUNE_SECONDS 60

struct kernel_choice { // the result for one kernel
  const struct graph_kernel *kernel;
  const char *config;    // the current one: "BLOCK=128, num_warps=4"; NULL: nothing to tune
  double ms, default_ms; // medians; 0: not measured
  bool is_measured, is_from_file;
  const char *why; // why it stays as it was emitted; NULL: a configuration was chosen
};

struct program_tune_options {
  const char *file; // of tunings, read and written; NULL: none
  bool measures;    // measures kernels that are not on file
  double seconds;   // for the whole program; 0: no bound
  enum tune_effort effort;
  uint32_t candidates; // per kernel; 0: by effort
  uint64_t seed;       // of the search
  double timeout_ms;   // per candidate; 0: default
  bool resume;
  const int *stop;                                         // as in struct tune_options; may be NULL
  void (*told)(void *user, const struct kernel_choice *c); // called for each kernel; may be NULL
  void *user;
};

struct program_tune_count {
  size_t measured, from_file, kept; // numbers of kernels
};

// Runs the program once, like program_run, and chooses a configuration for each of its kernels,
// which later runs, recordings and emissions use. A kernel that cannot be tuned stays unchanged,
// and `told` gets the reason. A configuration that fails, or gives other results than the emitted
// kernel, is not chosen.
tile_status program_tune(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                         const struct tensor_view *inputs, const struct tensor_view *outputs,
                         const struct program_tune_options *o, struct program_tune_count *ret);

// Applies the file's configurations for the program's kernels and their likely sizes, without a
// device. `device` NULL: tunings of any device of that target. Returns the number of kernels on
// file. TILE_IO_ERROR: the file is malformed.
tile_status program_take_tunings(struct program *p, const char *file, const char *device,
                                 const char *target, size_t *ret_count);

#endif
