// SPDX-License-Identifier: Apache-2.0
// From the command line to a tuning problem: arguments as for --run, laid out in the memory that
// the worker maps, without a device; and the space.
#ifndef TILE_TOOLS_TUNING_PROBLEM_H
#define TILE_TOOLS_TUNING_PROBLEM_H

#include "autotune/tune.h"
#include "lang/tuning/tuning.h"
#include "tools/launch/launch.h"

struct tuning_problem {
  struct launch launch;
  struct tune_problem problem;
  struct tune_space space;
  struct lang_tuning decorators;
  struct array *expected; // of --expect, by argument; without data: not given
  uint64_t data_bytes;
  const char *target; // the problem's, or a guess; NULL: unknown
};

// EXIT_DONE, or the status of a failure that is recorded; tuning_problem_close in either case.
int tuning_problem_open(struct tool *t, struct tuning_problem *ret);
void tuning_problem_close(struct tuning_problem *p);
// Fills the worker's data with the arrays' first contents and the expected results; a tune_fill_fn.
bool tuning_problem_fill(void *problem, void *data);
// Every array argument once.
uint64_t tuning_problem_bytes(const struct tuning_problem *p);

#endif
