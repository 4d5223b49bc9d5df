// SPDX-License-Identifier: Apache-2.0
// Pure operations that must not be speculated (MLIR's Speculatability).
#ifndef TILE_LOWERING_ANALYSIS_SPECULATION_H
#define TILE_LOWERING_ANALYSIS_SPECULATION_H

#include "mlir-dialects/ir.h"

// May the op divide by zero, or overflow in a division? True for divisors that are not constants,
// and for reductions, scans and maps whose function has such a division. Regions are not
// considered.
bool op_may_have_no_value(struct ir_context *c, MlirOperation op);

#endif
