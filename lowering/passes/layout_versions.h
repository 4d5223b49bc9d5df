// SPDX-License-Identifier: Apache-2.0
// Tiles in other layouts than their own, obtained the cheapest way: recomputed, converted, or
// computed from something smaller that is converted.
#ifndef TILE_LOWERING_PASSES_LAYOUT_VERSIONS_H
#define TILE_LOWERING_PASSES_LAYOUT_VERSIONS_H

#include "mlir-dialects/ir.h"

struct layout_versions;

struct layout_versions *layout_versions_begin(struct ir_context *c, struct arena *a);
// `v` in layout `encoding`: itself when it has that layout. New ops are right after the definition
// of `v`, so that loop-invariant work stays outside of loops and equal requests share it.
MlirValue layout_version(struct layout_versions *x, MlirValue v, MlirAttribute encoding);
// Completes loops that carry more than before. Until then they have operands without results.
void layout_versions_finish(struct layout_versions *x);

#endif
