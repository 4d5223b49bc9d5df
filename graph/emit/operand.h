// SPDX-License-Identifier: Apache-2.0
// Operands of tl.dot: formulas that give halves as they lie in memory, where they can.
#ifndef TILE_GRAPH_EMIT_OPERAND_H
#define TILE_GRAPH_EMIT_OPERAND_H

#include "graph/emit/emit.h"

// The dtype of memory that holds every value of v exactly: v is a load, converted and masked by 0
// at most. DTYPE_NONE: it is computed.
enum dtype operand_loaded(const struct scalar *v);
// Is v loaded from places linear in both axes?
bool operand_is_plain(struct exprs *x, const struct scalar *v, const struct expr *a,
                      const struct expr *b);
// In which dtype tl.dot gets the operands a and b of a product that is stored as `out`: the one
// both were loaded in, else that of the graph's values, which is the result's.
enum dtype operand_dtype(const struct scalar *a, const struct scalar *b, enum dtype out);
// The operand in `t`: a tile over both axes, whose shape is `shape`; 0 outside of `inside`.
const char *operand_text(struct emitter *e, const struct scalar *v, enum dtype t,
                         const struct expr *row, const struct expr *column,
                         const struct expr *inside, const char *shape);

#endif
