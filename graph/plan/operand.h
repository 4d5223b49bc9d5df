// SPDX-License-Identifier: Apache-2.0
// Operands of tl.dot: expressions that give f16 and bf16 as they lie in memory, where they can.
#ifndef TILE_GRAPH_PLAN_OPERAND_H
#define TILE_GRAPH_PLAN_OPERAND_H

#include "graph/plan/plan.h"

// The load of an expression that only masks and converts it exactly; NULL: it computes.
const struct scalar *operand_load(const struct scalar *v);
// The dtype of memory that holds every value of v exactly: v is a load, converted and masked by 0
// at most. DTYPE_NONE: it is computed.
enum dtype operand_loaded(const struct scalar *v);
// Is v loaded at offsets linear in both axes?
bool operand_is_plain(struct exprs *x, const struct scalar *v, const struct expr *a,
                      const struct expr *b);
// In which dtype tl.dot gets the operands a and b of a product that is stored as `out`: the one
// both were loaded in, else that of the graph's values, which is the result's.
enum dtype operand_dtype(const struct scalar *a, const struct scalar *b, enum dtype out);

#endif
