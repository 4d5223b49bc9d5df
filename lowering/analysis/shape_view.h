// SPDX-License-Identifier: Apache-2.0
// Shape operations are linear on coordinates: the result's layout in the operand's coordinates
// gives the element of the operand for every register of the result.
#ifndef TILE_LOWERING_ANALYSIS_SHAPE_VIEW_H
#define TILE_LOWERING_ANALYSIS_SHAPE_VIEW_H

#include "layouts/attr.h"

// For an expand_dims, broadcast, reshape or trans: the element of the operand for each register of
// the result. False for other ops and for scalars.
bool shape_view(struct ir_context *c, MlirOperation op, struct linear_layout *ret);

#endif
