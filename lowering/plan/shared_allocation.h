// SPDX-License-Identifier: Apache-2.0
// The offset in the CTA's shared memory of every buffer and every op's scratch. Items that are live
// at the same time do not overlap; the largest is allocated first, as low as it fits. The plan
// changes nothing; the pass allocate_shared writes it to the ops.
//
// Reusing memory soon costs a barrier: its next writer must wait for its last readers. So ops that
// follow each other get separate memory as long as shared memory does not limit the occupancy.
// Small scratch that its own op would reuse in the next iteration of a loop gets two slots, which
// alternate. Frames of functions are above those of their callers.
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
  uint32_t total;             // bytes, without spill rows (scratch.h)
};

// Of the whole module; on `a`.
struct shared_allocation shared_allocation_of(struct ir_context *c, MlirModule module,
                                              const struct target *target, uint32_t num_warps,
                                              struct arena *a);

#endif
