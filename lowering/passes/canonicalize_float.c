// SPDX-License-Identifier: Apache-2.0
// canonicalize: float identities that hold for every value, NaN, infinities and signed zeros
// included, and casts that undo each other.
#include "lowering/passes/canonicalize.h"

#include <math.h>

static bool is_const(struct canon *k, MlirValue v, double value) {
  double f;
  return value_const_float(k->c, v, &f) && f == value && !signbit(f) == !signbit(value);
}

static bool types_equal(MlirValue x, MlirType t) { return mlirTypeEqual(mlirValueGetType(x), t); }

static MlirValue identity(struct canon *k, MlirOperation op, enum op_id id) {
  MlirValue x = operand(op, 0), y = operand(op, 1);
  switch (id) {
  case OP_ARITH_ADDF: // x + 0.0 is not x where x is -0.0
    return is_const(k, y, -0.0) ? x : is_const(k, x, -0.0) ? y : no_value();
  case OP_ARITH_SUBF: return is_const(k, y, 0.0) ? x : no_value();
  case OP_ARITH_MULF: return is_const(k, y, 1) ? x : is_const(k, x, 1) ? y : no_value();
  case OP_ARITH_DIVF:
  case OP_TILE_PRECISE_DIVF: return is_const(k, y, 1) ? x : no_value();
  case OP_ARITH_MAXIMUMF:
  case OP_ARITH_MINIMUMF:
  case OP_ARITH_MAXNUMF:
  case OP_ARITH_MINNUMF: return mlirValueEqual(x, y) ? x : no_value();
  default: return no_value();
  }
}

static bool is_bitcast(enum op_id id) { return id == OP_ARITH_BITCAST || id == OP_TILE_BITCAST; }

// outer(inner(x)) where the two cancel, or are one cast.
static MlirValue undo(struct canon *k, MlirOperation op, enum op_id id) {
  MlirType to = result_type(op);
  bool free_when_same = is_bitcast(id) || id == OP_TILE_FP_TO_FP;
  if (free_when_same && types_equal(operand(op, 0), to))
    return operand(op, 0);
  MlirOperation inner = value_def(operand(op, 0));
  if (mlirOperationIsNull(inner) || mlirOperationGetNumOperands(inner) != 1)
    return no_value();
  enum op_id inner_id = op_id(k->c, inner);
  MlirValue x = operand(inner, 0);
  struct builder b = builder_before(k->c, op);
  if (is_bitcast(id) && is_bitcast(inner_id))
    return types_equal(x, to) ? x : build_cast(&b, OP_TILE_BITCAST, x, element_type(to));
  if (id == OP_ARITH_EXTF && inner_id == OP_ARITH_EXTF)
    return build_cast(&b, id, x, element_type(to));
  bool inverse = (id == OP_ARITH_TRUNCF && inner_id == OP_ARITH_EXTF) ||
                 (id == OP_ARITH_NEGF && inner_id == OP_ARITH_NEGF) ||
                 (id == OP_TILE_PTR_TO_INT && inner_id == OP_TILE_INT_TO_PTR) ||
                 (id == OP_TILE_INT_TO_PTR && inner_id == OP_TILE_PTR_TO_INT);
  if (inverse && types_equal(x, to))
    return x;
  bool idempotent =
      id == inner_id && (id == OP_MATH_ABSF || id == OP_MATH_ABSI || id == OP_MATH_CEIL ||
                         id == OP_MATH_FLOOR || id == OP_MATH_ROUNDEVEN);
  if (idempotent)
    return operand(op, 0);
  return id == OP_MATH_ABSF && inner_id == OP_ARITH_NEGF ? build_unary(&b, id, x) : no_value();
}

MlirValue canon_float(struct canon *k, MlirOperation op, enum op_id id) {
  if (!(op_info(id)->flags & OP_EW))
    return no_value();
  switch (mlirOperationGetNumOperands(op)) {
  case 1: return undo(k, op, id);
  case 2: return identity(k, op, id);
  default: return no_value();
  }
}
