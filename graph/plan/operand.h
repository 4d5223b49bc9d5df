// SPDX-License-Identifier: Apache-2.0
// Operands of tl.dot: loads of f16 and bf16 are used directly where possible.
#ifndef TILE_GRAPH_PLAN_OPERAND_H
#define TILE_GRAPH_PLAN_OPERAND_H

#include "graph/plan/plan.h"

// The load, if the expression only masks and converts it exactly; NULL: it computes.
const struct scalar *operand_load(const struct scalar *v);
// The dtype in memory that represents every value of v exactly: v is a load, at most converted and
// masked by 0. DTYPE_NONE: it is computed.
enum dtype operand_loaded(const struct scalar *v);
// Is v an integer of at most 8 bits, less a constant of at most 128? Half precision has all of these
// values, and computes them exactly.
bool operand_is_small_integer(const struct scalar *v);
// Is v loaded at offsets linear in both axes?
bool operand_is_plain(struct exprs *x, const struct scalar *v, const struct expr *a,
                      const struct expr *b);
// The operand dtype of tl.dot for a product stored as `out`: the one both were loaded in, else that
// of the graph's values, which is the result's.
enum dtype operand_dtype(const struct scalar *a, const struct scalar *b, enum dtype out);

#endif
