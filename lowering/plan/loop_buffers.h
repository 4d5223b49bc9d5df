// SPDX-License-Identifier: Apache-2.0
// The layout of a buffer in shared memory between a load and its users.
#ifndef TILE_LOWERING_PLAN_LOOP_BUFFERS_H
#define TILE_LOWERING_PLAN_LOOP_BUFFERS_H

#include "lowering/target.h"
#include "mlir-dialects/ir.h"

// Swizzled for the layout that the load is converted to; without swizzle if there is none, or if
// several differ. Null if the loaded value is not a tile of numbers of at least 8 bits.
MlirAttribute loop_buffer_layout(struct ir_context *c, const struct target *target,
                                 MlirOperation load);

#endif
