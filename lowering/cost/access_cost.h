// SPDX-License-Identifier: Apache-2.0
// The cost of a memory access in a layout, and when another layout is as good.
#ifndef TILE_LOWERING_COST_ACCESS_COST_H
#define TILE_LOWERING_COST_ACCESS_COST_H

#include "lowering/analysis/axis_info.h"

// Transfers of 128 bytes that a warp makes for the access `op` in that layout.
int64_t access_cost(struct ir_context *c, struct axis_analysis *axis, const struct target *target,
                    MlirOperation op, MlirAttribute encoding);

// Is the access in layout `other` no more expensive than in `own` plus a conversion between the
// two?
bool access_gives_way(struct ir_context *c, struct axis_analysis *axis, const struct target *target,
                      MlirOperation op, MlirAttribute own, MlirAttribute other);

#endif
