// SPDX-License-Identifier: Apache-2.0
// What the files of transfer functions share: axis_lattice.c, axis_rules.c (arithmetic, dispatch)
// and axis_shape_rules.c. Private to lowering/analysis.
#ifndef TILE_LOWERING_ANALYSIS_AXIS_TRANSFER_H
#define TILE_LOWERING_ANALYSIS_AXIS_TRANSFER_H

#include "lowering/analysis/axis_rules.h"

typedef struct axis_info info_t;

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

// One op with the axis info of its operands.
struct transfer {
  struct ir_context *c;
  MlirOperation op;
  enum op_id id;
  MlirType type;    // of the result
  unsigned bits;    // of the result's elements, 0 for floats
  const info_t *in; // one for each operand
};

static inline MlirType operand_type(const struct transfer *t, unsigned i) {
  return mlirValueGetType(mlirOperationGetOperand(t->op, (intptr_t)i));
}

int64_t axis_product(int64_t a, int64_t b); // at most AXIS_ANY
unsigned axis_rank_of(MlirType t);          // 1 for scalars
// The largest group a dimension can hold.
int64_t axis_dim_limit(MlirType t, unsigned d);
// What divides the element at every multiple of `group` along d. `bytes` is the step between
// neighbours.
int64_t axis_divides_at(const info_t *x, unsigned d, int64_t group, int64_t bytes);
// What divides every element.
int64_t axis_divides_all(const info_t *x, int64_t bytes);

// Any function of the operands taken element by element.
info_t axis_rule_pointwise(const struct transfer *t);
info_t axis_rule_splat(const struct transfer *t);
info_t axis_transfer_shape(const struct transfer *t);  // shape ops, make_range, convert_layout
info_t axis_transfer_across(const struct transfer *t); // reduce, scan, gather, join, split, unsplat

#endif
