// SPDX-License-Identifier: Apache-2.0
// Shape operations are linear on coordinates: the result's layout, seen in the operand's
// coordinates, says which element of the operand every register of the result wants.
#ifndef TILE_LOWERING_ANALYSIS_SHAPE_VIEW_H
#define TILE_LOWERING_ANALYSIS_SHAPE_VIEW_H

#include "layouts/attr.h"

// Where the registers of the result of an expand_dims, broadcast, reshape or trans find their
// elements in its operand. False for other ops and for scalars.
bool shape_view(struct ir_context *c, MlirOperation op, struct linear_layout *ret);

#endif
