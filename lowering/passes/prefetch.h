// SPDX-License-Identifier: Apache-2.0
// What the files of the pass `prefetch` share: a matrix product that is split along K.
#ifndef TILE_LOWERING_PASSES_PREFETCH_H
#define TILE_LOWERING_PASSES_PREFETCH_H

#include "base/vec.h"
#include "lowering/pass.h"
#include "mlir-dialects/build.h"

struct cut_dot {
  struct pass_context *p;
  MlirOperation dot;         // the whole product; after splitting the last slice
  unsigned slice, count;     // K of a slice; slices
  bool in_registers[2];      // of its operands: not loaded, slices are parts of the tile
  VEC(MlirOperation) loads;  // the local_loads that its operands are computed from
  VEC(MlirOperation) firsts; // of each: that of the first slice
};

// ---- prefetch_iterations.c ----
// Loads the first slice of an iteration of a pipelined loop at the end of the iteration before.
// False if impossible; *ret_why_not: the reason, if it is a pipelined loop.
bool prefetch_across_iterations(struct cut_dot *d, const char **ret_why_not);

#endif
