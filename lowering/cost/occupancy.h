// SPDX-License-Identifier: Apache-2.0
// Resources of a multiprocessor that a kernel takes, from the IR.
#ifndef TILE_LOWERING_COST_OCCUPANCY_H
#define TILE_LOWERING_COST_OCCUPANCY_H

#include "lowering/target.h"
#include "mlir-dialects/ir.h"

// What the op uses its shared memory for: "a layout conversion", "a buffer", ...
const char *resource_purpose(struct ir_context *c, MlirOperation op);

struct widest_tile {
  MlirOperation op; // that defines it; null if there are no tiles
  MlirType type;
  unsigned elements; // distinct ones per thread
};
struct widest_tile resource_widest_tile(struct ir_context *c, MlirOperation root);

// Registers per thread when that many warps are resident.
unsigned resource_registers(const struct target *t, uint32_t num_warps);

// Programs of a multiprocessor that each resource allows.
struct program_limits {
  unsigned warps, programs, registers, shared; // registers UINT_MAX: not known
};
struct program_limits resource_program_limits(const struct target *t, uint32_t num_warps,
                                              uint32_t registers, uint32_t shared_bytes);

// Programs of a multiprocessor that run at the same time. `registers` of a thread may be 0: not
// known. *ret_limit: the limiting resource: "warps", "programs", "registers" or "shared memory".
unsigned resource_programs_per_sm(const struct target *t, uint32_t num_warps, uint32_t registers,
                                  uint32_t shared_bytes, const char **ret_limit);
// Warps that a multiprocessor runs at most.
unsigned resource_warps_per_sm(const struct target *t);

#endif
