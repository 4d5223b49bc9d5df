// SPDX-License-Identifier: Apache-2.0
// Which pure operations must not run where the program would not run them.
#ifndef TILE_LOWERING_ANALYSIS_SPECULATION_H
#define TILE_LOWERING_ANALYSIS_SPECULATION_H

#include "mlir-dialects/ir.h"

// May the op divide by zero, or overflow in a division? That holds for divisors that are not
// constants, and for reductions, scans and maps whose function divides so. Not of what its regions
// hold.
bool op_may_have_no_value(struct ir_context *c, MlirOperation op);

#endif
