// SPDX-License-Identifier: Apache-2.0
// Where in the CTA's shared memory every buffer and every op's scratch should lie. What lives at
// the same time lies apart; the largest is placed first, as low as it fits.
//
// Reusing memory soon costs a barrier: whoever writes it next must wait for its last readers. So
// ops that follow each other get memory of their own as long as the program stays small enough for
// as many of them to run on a multiprocessor as its threads allow. Small scratch that its own op
// would reuse in the next turn of a loop gets two places, which take turns. Functions that are
// called lie above their callers.
#ifndef TILE_LOWERING_ANALYSIS_SHARED_PLACES_H
#define TILE_LOWERING_ANALYSIS_SHARED_PLACES_H

#include "base/vec.h"
#include "lowering/target.h"
#include "mlir-dialects/ir.h"

struct shared_place {
  MlirOperation op;
  uint32_t offset, bytes; // of one place
  uint32_t toggle;        // how far above it the second one is; 0: none
};

struct shared_places {
  VEC(struct shared_place) at; // in program order
  uint32_t total;              // bytes, without what is parked (scratch.h)
};

// Of the whole module; on `a`.
struct shared_places shared_places_of(struct ir_context *c, MlirModule module,
                                      const struct target *target, uint32_t num_warps,
                                      struct arena *a);

#endif
