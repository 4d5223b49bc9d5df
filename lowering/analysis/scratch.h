// SPDX-License-Identifier: Apache-2.0
// Shared memory that an operation needs while it runs: what allocate-shared reserves, what
// insert-barriers keeps apart, and what the emission uses. One routine a family decides the size
// and the addresses alike (layouts/exchange_plan.h, layouts/reduce_plan.h, ...).
//
// An op with scratch writes it, meets at barriers of its own, and reads it. Whoever used that
// memory before must have finished: insert-barriers sees to it.
#ifndef TILE_LOWERING_ANALYSIS_SCRATCH_H
#define TILE_LOWERING_ANALYSIS_SCRATCH_H

#include "mlir-dialects/ir.h"

// Bytes of the CTA's shared memory that `op` (in tilegpu form) needs; 0 for most.
uint32_t scratch_bytes(struct ir_context *c, MlirOperation op, uint32_t num_warps);

// Where the op's scratch or buffer lies, once allocate-shared has run: attribute
// tilegpu.shared_offset (i32); 0 without it.
uint32_t scratch_offset(MlirOperation op);

#endif
