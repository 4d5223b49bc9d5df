// SPDX-License-Identifier: Apache-2.0
// The offset in the CTA's shared memory of every buffer and every op's scratch. What lives at the
// same time does not overlap; the largest is allocated first, as low as it fits. The plan changes
// nothing; the pass allocate_shared writes it onto the ops.
//
// Reusing memory soon costs a barrier: whoever writes it next must wait for its last readers. So
// ops that follow each other get memory of their own as long as the program stays small enough for
// as many of them to run on a multiprocessor as its threads allow. Small scratch that its own op
// would reuse in the next iteration of a loop gets two slots, which alternate. Functions that are
// called lie above their callers.
#ifndef TILE_LOWERING_PLAN_SHARED_ALLOCATION_H
#define TILE_LOWERING_PLAN_SHARED_ALLOCATION_H

#include "base/vec.h"
#include "lowering/target.h"
#include "mlir-dialects/ir.h"

struct shared_slot {
  MlirOperation op;
  uint32_t offset, bytes; // of the first slot
  uint32_t double_buffer; // distance to the second slot; 0: there is one slot
};

struct shared_allocation {
  VEC(struct shared_slot) at; // in program order
  uint32_t total;             // bytes, without what is spilled (scratch.h)
};

// Of the whole module; on `a`.
struct shared_allocation shared_allocation_of(struct ir_context *c, MlirModule module,
                                              const struct target *target, uint32_t num_warps,
                                              struct arena *a);

#endif
