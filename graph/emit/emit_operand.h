// SPDX-License-Identifier: Apache-2.0
// Operands of tl.dot: expression trees that give half-precision values as they lie in memory, where
// they can.
#ifndef TILE_GRAPH_EMIT_EMIT_OPERAND_H
#define TILE_GRAPH_EMIT_EMIT_OPERAND_H

#include "graph/emit/graph_emit.h"
#include "graph/plan/operand.h"

// The operand in `t`: a tile over both axes, whose shape is `shape`; 0 outside of `inside`.
const char *operand_text(struct emitter *e, const struct scalar *v, enum dtype t,
                         const struct expr *row, const struct expr *column,
                         const struct expr *inside, const char *shape);

#endif
