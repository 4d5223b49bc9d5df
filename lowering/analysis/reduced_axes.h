// SPDX-License-Identifier: Apache-2.0
// Dimensions along which a loaded tile is reduced or scanned: found by walking back from reductions
// and scans through elementwise ops, shape ops and control flow.
#ifndef TILE_LOWERING_ANALYSIS_REDUCED_AXES_H
#define TILE_LOWERING_ANALYSIS_REDUCED_AXES_H

#include "mlir-dialects/ir.h"

struct reduced_axes;

// Walks everything under `root`. The result is on `a`.
struct reduced_axes *reduced_axes_find(struct ir_context *c, MlirOperation root, struct arena *a);
// The same, of scans only.
struct reduced_axes *scanned_axes_find(struct ir_context *c, MlirOperation root, struct arena *a);
// A mask: bit d is set when the value of the tile.load `load` is reduced or scanned along dimension
// d.
uint32_t reduced_axes_of(struct reduced_axes *r, MlirOperation load);

#endif
