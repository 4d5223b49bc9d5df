// SPDX-License-Identifier: Apache-2.0
// What a kernel takes of a multiprocessor, as far as the IR tells.
#ifndef TILE_LOWERING_COST_OCCUPANCY_H
#define TILE_LOWERING_COST_OCCUPANCY_H

#include "lowering/target.h"
#include "mlir-dialects/ir.h"

// What the op uses its shared memory for: "a layout conversion", "a buffer", ...
const char *resource_purpose(struct ir_context *c, MlirOperation op);

struct widest_tile {
  MlirOperation op; // that makes it; null if there are no tiles
  MlirType type;
  unsigned elements; // distinct ones a thread
};
struct widest_tile resource_widest_tile(struct ir_context *c, MlirOperation root);

// Registers that a thread may have where so many warps are to run.
unsigned resource_registers(const struct target *t, uint32_t num_warps);

// Programs of a multiprocessor that run at the same time. `registers` of a thread may be 0: not
// known. *ret_limit: which of "warps", "programs", "registers", "shared memory" stops more.
unsigned resource_programs_per_sm(const struct target *t, uint32_t num_warps, uint32_t registers,
                                  uint32_t shared_bytes, const char **ret_limit);
// Warps that a multiprocessor runs at most.
unsigned resource_warps_per_sm(const struct target *t);

#endif
