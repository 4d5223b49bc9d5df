// SPDX-License-Identifier: Apache-2.0
// Facts about reductions and scans for the allocation of shared memory and for the emission: the
// properties of the combine function, and the plan that follows from it and the layouts.
#ifndef TILE_LOWERING_ANALYSIS_COLLECTIVE_H
#define TILE_LOWERING_ANALYSIS_COLLECTIVE_H

#include "layouts/layout_scan_plan.h"
#include "layouts/reduce_plan.h"
#include "mlir-dialects/ir.h"

struct combine_info {
  MlirOperation function; // of 2 * count scalars to count; null when the module has none
  unsigned count;
  // Value i of the result is simple[i] of value i of both sides, a commutative operation;
  // OP_UNKNOWN: the function is another one.
  enum op_id simple[REDUCE_MAX_VALUES];
  bool commutative;
  unsigned operations; // of the body
};

// Operations of arith whose values may be combined in any order and grouping: commutative and, on
// floats up to rounding, associative.
bool combine_is_free(enum op_id id);
// Of a tile.reduce or tile.scan.
struct combine_info combine_info_of(struct ir_context *c, MlirOperation op);

// False when the operands' layouts are missing or differ, or there is no plan.
bool reduce_plan_of(struct ir_context *c, MlirOperation op, struct reduce_plan *ret);
bool scan_plan_of(struct ir_context *c, MlirOperation op, struct scan_plan *ret);
// Bytes of shared memory for a tile.reduce, a tile.scan.
uint32_t reduce_scratch_bytes(struct ir_context *c, MlirOperation op);
uint32_t scan_scratch_bytes(struct ir_context *c, MlirOperation op);

#endif
