// SPDX-License-Identifier: Apache-2.0
// Trainers: shared by the files of graph/train.
#ifndef TILE_GRAPH_TRAIN_TRAINER_INTERNAL_H
#define TILE_GRAPH_TRAIN_TRAINER_INTERNAL_H

#include "graph/capture/capture.h"

#include <tile/train.h>

// What the last steps found: a row of doubles for step s at s % HISTORY_ROWS. The step's number
// stands at both ends, so that a row that is being written is not taken for a whole one.
enum { HISTORY_ROWS = 64, HISTORY_COLUMNS = 8 };
enum {
  COLUMN_STEP,
  COLUMN_LOSS,
  COLUMN_NORM,
  COLUMN_RATE,
  COLUMN_SCALE,
  COLUMN_SKIPPED,
  COLUMN_NONE,
  COLUMN_STEP_AGAIN
};
#define HISTORY_NAME "trainer_history"
#define SCALE_NAME "trainer_loss_scale"

// An array of the trainer: a parameter, or what steps remember.
struct slot {
  char *name;
  int64_t shape[TILE_WEIGHTS_MAX_RANK];
  size_t bytes;
  tile_tensor tensor;
};

// A program's inputs: of the batch, in order, or slots.
struct trained_program {
  tile_graph *graph;
  tile_program *program;
  size_t count;
  size_t *slots;       // by input: its slot, or NO_SLOT
  tile_tensor *inputs; // by input; those of the batch are set by each step
  void **addresses;    // by input, of the last run
  tile_stream *stream; // of the last run
  tile_replay *replay; // of such a run; NULL: none
};
#define NO_SLOT SIZE_MAX

struct tile_trainer {
  tile_device *device;
  tile_trainer_options options;
  struct trained_program batch, update; // update: with `accumulate`; its graph is the trainer's
  size_t batch_inputs;
  struct slot *slots;
  size_t slot_count;
  tile_stream *side; // for reports
  bool may_replay;   // no random operators, which need another seed each step, and constant sizes
  int64_t calls;
};

// ---- graph/train/parameter.c ----
// The first elements of a parameter: host memory of its size.
void parameter_fill(const struct graph_parameter *p, uint64_t seed, void *to);
// A number that depends on all bits of both.
uint64_t train_mix(uint64_t a, uint64_t b);

// ---- graph/train/trainer_graph.c ----
// Appends gradients and the step to the graph; with accumulation, the sums of gradients, and the
// step to `update`, which is empty.
tile_status trainer_build(tile_graph *graph, tile_value *loss, const tile_trainer_options *o,
                          tile_graph *update);

// ---- graph/train/trainer_run.c ----
// Runs the program on its inputs; as a recording if the run before had the same addresses and the
// same stream, not the default one. `report` not NULL: tile_program_find_nan instead.
tile_status trained_run(tile_trainer *t, struct trained_program *p, tile_stream *stream,
                        const char **report);
void trained_finish(struct trained_program *p);

// ---- graph/train/trainer_report.c ----
bool history_find(const double *history, int64_t step, tile_trainer_report *ret); // 0: the last

#endif
