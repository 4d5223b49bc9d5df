// SPDX-License-Identifier: Apache-2.0
// What warps that only issue copies have to compute: the offsets of the copies, and the control flow
// around them.
#ifndef TILE_LOWERING_ANALYSIS_PRODUCER_SLICE_H
#define TILE_LOWERING_ANALYSIS_PRODUCER_SLICE_H

#include "mlir-dialects/ir.h"

// NULL: one thread can compute the operands of `op`, and whether and how often it is executed, by
// itself: from scalars, in loops and branches, reading only memory that the kernel does not write.
// Else why not. Work memory is on `a`.
const char *producer_cannot_compute(struct ir_context *c, MlirOperation kernel, MlirOperation op,
                                    struct arena *a);

#endif
