// SPDX-License-Identifier: Apache-2.0
// Bytes of shared memory that a layout conversion takes; allocation and emission both use these.
#ifndef TILE_LOWERING_ANALYSIS_CONVERT_SCRATCH_H
#define TILE_LOWERING_ANALYSIS_CONVERT_SCRATCH_H

#include "layouts/linear.h"
#include "mlir-dialects/ir.h"

// Bits of an element in memory: i1 takes a byte, a pointer 64 bits.
unsigned memory_bits(struct ir_context *c, MlirType element);
// All elements of `l` (NULL: a scalar) at once.
uint32_t exchange_bytes(const struct linear_layout *l, unsigned element_bits);
// exchange_through_shared: large tiles go in rounds.
uint32_t convert_bytes(const struct linear_layout *from, const struct linear_layout *to,
                       unsigned element_bits);
// Does a conversion between the layouts go through shared memory?
bool converts_through_shared(const struct linear_layout *from, const struct linear_layout *to);

#endif
