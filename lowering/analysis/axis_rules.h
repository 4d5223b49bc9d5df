// SPDX-License-Identifier: Apache-2.0
// Transfer functions of the axis analysis: the axis info of an op's result, given that of its
// operands. Private to lowering/analysis; axis_info.c drives them over the structured IR.
#ifndef TILE_LOWERING_ANALYSIS_AXIS_RULES_H
#define TILE_LOWERING_ANALYSIS_AXIS_RULES_H

#include "lowering/analysis/axis_info.h"

// Divisibility of zero: any power of two.
#define AXIS_ANY ((int64_t)1 << 62)

// The lattice of one type: unknown, and the join of two control paths.
struct axis_info axis_unknown(MlirType type);
struct axis_info axis_join(struct ir_context *c, MlirType type, const struct axis_info *a,
                           const struct axis_info *b);
bool axis_equal(const struct axis_info *a, const struct axis_info *b);

// `v` everywhere, as a value of `type`.
struct axis_info axis_of_constant(MlirType type, int64_t v);
// Largest power of two that divides v; AXIS_ANY for 0.
int64_t axis_power_of_two(int64_t v);
// Bytes between neighbours of a tile of pointers; 1 for integers.
int64_t axis_element_bytes(struct ir_context *c, MlirType type);

// Information about result `result` of `op`, which must not have regions. in[i] describes operand
// i.
struct axis_info axis_transfer(struct ir_context *c, MlirOperation op, intptr_t result,
                               const struct axis_info *in);

#endif
