// SPDX-License-Identifier: Apache-2.0
// Layout propagation: given the layout on one side of an op, the layout of the other side. The
// layout passes and their cost model share these rules.
#ifndef TILE_LOWERING_ANALYSIS_LAYOUT_FLOW_H
#define TILE_LOWERING_ANALYSIS_LAYOUT_FLOW_H

#include "layouts/attr.h"
#include "layouts/convert_plan.h"
#include "mlir-dialects/ir.h"

// The blocked layout every tile of that shape starts with: one element a thread, the last
// dimension fastest.
MlirAttribute layout_default(struct ir_context *c, MlirType tensor, uint32_t num_warps);

// The layout of a slice of `parent` with dimension `dim` removed.
MlirAttribute layout_slice(struct ir_context *c, MlirAttribute parent, unsigned dim);

// Operand `index` (0 A, 1 B) of a matrix product whose accumulator has layout `parent`.
MlirAttribute layout_dot_operand(struct ir_context *c, MlirAttribute parent, unsigned index,
                                 unsigned k_width);
bool layout_is_dot_operand(struct ir_context *c, MlirAttribute encoding);
// The layout in shared memory of a tile of that type (with its layout) that is read as the operand
// `dot`: rows as the tile has them in registers, so that it is stored in wide vectors, swizzled for
// the loads.
MlirAttribute layout_dot_buffer(struct ir_context *c, MlirType tile, MlirAttribute dot);

// `op` ties its operands to its results: it is elementwise, a scan, a shape op (expand_dims,
// broadcast, reshape, trans), a join or a split, a reduction (results are slices) or a gather (its
// index). All its results have one layout, and so have its tied operands.
// The layout of the results when the operands have layout `operand`; null when that does not
// determine one.
MlirAttribute layout_of_result(struct ir_context *c, MlirOperation op, MlirAttribute operand);
// The layout the tied operands must have for the results to have layout `result`; null when no
// layout of the operands gives them that. `current` (may be null) is the operand's layout now: it
// is returned when it fits.
MlirAttribute layout_of_operand(struct ir_context *c, MlirOperation op, MlirAttribute result,
                                MlirAttribute current);

// True for ops that the two functions above support.
bool layout_flows_through(struct ir_context *c, MlirOperation op);
// Is operand `i` a tile whose layout is tied to the results'? Others may have any.
bool layout_ties_operand(struct ir_context *c, MlirOperation op, intptr_t i);

// Operands and results of such an op keep their layout: calls, returns, ops of other dialects, and
// joins and splits of scalars (a tile of 2 that every thread holds: layout_of_pair).
bool layout_is_foreign(struct ir_context *c, MlirOperation op);
MlirAttribute layout_of_pair(struct ir_context *c, uint32_t num_warps);

// Are both the same layout for that shape and element type, though maybe different encodings?
bool layout_same(struct ir_context *c, MlirType tensor, MlirAttribute a, MlirAttribute b);

// Gives `v` (a tile) layout `encoding`; the value of an arith.constant follows.
void layout_set(struct ir_context *c, MlirValue v, MlirAttribute encoding);

// The layout a memory access works in: its pointer's. Null for scalar accesses and other ops.
MlirAttribute layout_of_access(struct ir_context *c, MlirOperation op);

// Distinct elements a thread holds of a tile of that type.
unsigned layout_registers(struct ir_context *c, MlirType tensor);
// Estimated instructions per thread of converting a tile of that type to layout `to`.
unsigned layout_convert_cost(struct ir_context *c, MlirType tensor, MlirAttribute to);
// How such a conversion is done.
enum convert_kind layout_convert_kind(struct ir_context *c, MlirType tensor, MlirAttribute to);

#endif
