// SPDX-License-Identifier: Apache-2.0
// Encodings as MLIR attributes: parsed once per attribute and context, since attributes are
// uniqued.
#ifndef TILE_LAYOUTS_ATTR_H
#define TILE_LAYOUTS_ATTR_H

#include "layouts/encoding.h"
#include "mlir-dialects/ir.h"

MlirAttribute encoding_attr(struct ir_context *c, const struct encoding *e);
// NULL for a null attribute or for one that is not a tilegpu layout.
const struct encoding *encoding_of_attr(struct ir_context *c, MlirAttribute a);
// The layout of a tensor type with an encoding; cached per type. NULL if there is none or it does
// not fit the shape. Scalars: NULL.
const struct linear_layout *linear_of_type(struct ir_context *c, MlirType tensor);

#endif
