// SPDX-License-Identifier: Apache-2.0
// How wide the copies of a tilegpu.async_copy are: used by the emission, and by passes before they
// create one. cp.async copies 4, 8 or 16 bytes that are consecutive in both memories in one
// thread's layout, under one mask. Other tiles are copied through registers, which is correct but
// waits for the data.
#ifndef TILE_LOWERING_ANALYSIS_ASYNC_COPY_H
#define TILE_LOWERING_ANALYSIS_ASYNC_COPY_H

#include "lowering/analysis/axis_info.h"

struct async_copy_plan {
  unsigned bytes;  // of one copy: 16, 8 or 4; 0: through registers
  unsigned width;  // the same in elements; through registers: 1
  const char *why; // through registers: the reason, a clause after "because"; else NULL
  // (register, lane, warp) -> offset in the buffer, in elements
  struct linear_layout offsets;
};

// ptr: a tile of pointers with a layout; mask: null for none; tile: what the buffer holds, with a
// shared encoding. False when the layouts do not fit each other.
bool async_copy_plan_of(struct ir_context *c, struct axis_analysis *x, const struct target *target,
                        MlirValue ptr, MlirValue mask, MlirType tile, struct async_copy_plan *ret);

#endif
