// SPDX-License-Identifier: Apache-2.0
// How a tile.gather finds its elements: in registers of the same warp where the layouts allow it,
// else in shared memory.
#ifndef TILE_LOWERING_ANALYSIS_GATHER_PLAN_H
#define TILE_LOWERING_ANALYSIS_GATHER_PLAN_H

#include "layouts/linear.h"
#include "mlir-dialects/ir.h"

struct gather_plan {
  unsigned axis, axis_bits; // of the source
  // The result's layout in the source's shape, at index 0 along the axis.
  struct linear_layout column;
  bool in_warp;
  // In a warp: where the source holds what `column` names (inputs register, lane; outputs 0
  // register, 1 lane), and how its index changes with each bit of an index.
  struct linear_layout source_of;
  uint32_t axis_register[LL_MAX_BITS], axis_lane[LL_MAX_BITS];
  bool own_lane; // every element is in the same thread
};

// False when a layout is missing.
bool gather_plan_of(struct ir_context *c, MlirOperation op, struct gather_plan *ret);
// Bytes of shared memory for a tile.gather; 0 when it stays within warps.
uint32_t gather_scratch_bytes(struct ir_context *c, MlirOperation op);

#endif
