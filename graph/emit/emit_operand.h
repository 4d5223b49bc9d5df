// SPDX-License-Identifier: Apache-2.0
// Operands of tl.dot: half-precision values in their dtype in memory, where possible.
#ifndef TILE_GRAPH_EMIT_EMIT_OPERAND_H
#define TILE_GRAPH_EMIT_EMIT_OPERAND_H

#include "graph/emit/graph_emit.h"
#include "graph/plan/operand.h"

// The operand in dtype `t`: a tile over both axes of shape `shape`, 0 outside of `inside`.
const char *operand_text(struct emitter *e, const struct scalar *v, enum dtype t,
                         const struct expr *row, const struct expr *column,
                         const struct expr *inside, const char *shape);

#endif
