// SPDX-License-Identifier: Apache-2.0
// The layout of a buffer in shared memory between a load and the users of what it loads.
#ifndef TILE_LOWERING_PLAN_LOOP_BUFFERS_H
#define TILE_LOWERING_PLAN_LOOP_BUFFERS_H

#include "lowering/target.h"
#include "mlir-dialects/ir.h"

// Swizzled as the layout that the load is converted to wants it; plain where there is none, or
// where several disagree. Null if what is loaded is no tile of numbers of at least 8 bits.
MlirAttribute loop_buffer_layout(struct ir_context *c, const struct target *target,
                                 MlirOperation load);

#endif
