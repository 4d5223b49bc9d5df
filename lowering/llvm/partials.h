// SPDX-License-Identifier: Apache-2.0
// Partial results of reductions and scans, distributed to all threads that need them by one
// exchange through shared memory.
#ifndef TILE_LOWERING_LLVM_PARTIALS_H
#define TILE_LOWERING_LLVM_PARTIALS_H

#include "lowering/llvm/emit.h"

struct partials {
  const struct linear_layout *from, *to; // of one tile: the dimension `axis` counts partial results
  unsigned axis, count;                  // values
  uint32_t bytes;                        // of scratch
  const uint32_t *offset;                // of each value's area in it
};

// x[i]: the registers of value i in layout `from`; replaced by those in layout `to`. One barrier.
bool exchange_partials(struct emitter *e, MlirOperation op, const struct partials *p,
                       const LLVMTypeRef *types, LLVMValueRef **x);

#endif
