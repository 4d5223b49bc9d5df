// SPDX-License-Identifier: Apache-2.0
// What the files of canonicalize share. A rule takes an op and returns the value that replaces its
// result, or null when it does not apply; it may build ops before that op.
#ifndef TILE_LOWERING_PASSES_CANONICALIZE_H
#define TILE_LOWERING_PASSES_CANONICALIZE_H

#include "lowering/analysis/int_arith.h"
#include "mlir-dialects/build.h"

struct canon {
  struct ir_context *c;
  struct arena *scratch;
};

static inline MlirValue no_value(void) { return (MlirValue){NULL}; }
static inline MlirValue operand(MlirOperation op, intptr_t i) {
  return mlirOperationGetOperand(op, i);
}
static inline MlirType result_type(MlirOperation op) {
  return mlirValueGetType(mlirOperationGetResult(op, 0));
}
// The op that defines `v` if it is an `id`; else null.
static inline MlirOperation def_of(struct ir_context *c, MlirValue v, enum op_id id) {
  MlirOperation def = value_def(v);
  return !mlirOperationIsNull(def) && op_is(c, def, id) ? def : (MlirOperation){NULL};
}

// canonicalize_fold.c: the op on constants.
MlirValue canon_fold(struct canon *k, MlirOperation op, enum op_id id);
// canonicalize_int.c: integer identities, comparisons, select, integer casts, addptr.
MlirValue canon_int(struct canon *k, MlirOperation op, enum op_id id);
// canonicalize_float.c: float identities and casts, bitcasts.
MlirValue canon_float(struct canon *k, MlirOperation op, enum op_id id);
// canonicalize_shape.c: splat, expand_dims, broadcast, reshape, trans, convert_layout, and
// elementwise ops whose operands are all splats.
MlirValue canon_shape(struct canon *k, MlirOperation op, enum op_id id);
// canonicalize_control.c: ops with regions or without results (scf, masks of loads and stores,
// asserts). True when it replaced or erased the op.
bool canon_control(struct canon *k, MlirOperation op, enum op_id id);

// A constant of `type` holding the integer `value`, before `op`.
MlirValue canon_int_constant(struct canon *k, MlirOperation op, MlirType type, int64_t value);
bool is_const_int(struct canon *k, MlirValue v, int64_t value);

#endif
