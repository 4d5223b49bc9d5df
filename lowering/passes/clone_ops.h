// SPDX-License-Identifier: Apache-2.0
// Copies of operations whose operands are replaced by the copies of those that were copied before.
#ifndef TILE_LOWERING_PASSES_CLONE_OPS_H
#define TILE_LOWERING_PASSES_CLONE_OPS_H

#include "mlir-dialects/ir.h"

struct clone_map {
  struct arena *arena;
  struct map values; // MlirValue.ptr -> MlirValue * that stands for it in copies
};

void clone_map_set(struct clone_map *m, MlirValue v, MlirValue copy);
// What stands for `v`: itself where nothing else does.
MlirValue clone_map_get(const struct clone_map *m, MlirValue v);
// Appends a copy of the op to the block; its results stand for those of the op from here on.
MlirOperation clone_op(struct clone_map *m, MlirOperation op, MlirBlock to);

#endif
