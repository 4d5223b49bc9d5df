// SPDX-License-Identifier: Apache-2.0
// canonicalize: tiles of equal elements stay scalars as long as possible; shape ops and layout
// conversions that cancel or do nothing are removed.
#include "lowering/passes/canonicalize.h"

#include <mlir-c/BuiltinAttributes.h>

static MlirValue build_as(struct canon *k, MlirOperation before, enum op_id id, MlirValue x,
                          MlirType type, size_t attr_count, const MlirNamedAttribute *attrs) {
  struct builder b = builder_before(k->c, before);
  return mlirOperationGetResult(build_op(&b, id, 1, &x, 1, &type, attr_count, attrs), 0);
}

// ---- uniform tiles ----

// The scalar all lanes of `v` hold, built before `op` if it is the lane of a constant; null when
// the lanes may differ.
static bool is_uniform(struct canon *k, MlirValue v) {
  int64_t i;
  double f;
  return !mlirOperationIsNull(def_of(k->c, v, OP_TILE_SPLAT)) || value_const_int(k->c, v, &i) ||
         value_const_float(k->c, v, &f);
}

static MlirValue lane_of(struct canon *k, MlirOperation op, MlirValue v) {
  MlirOperation splat = def_of(k->c, v, OP_TILE_SPLAT);
  if (!mlirOperationIsNull(splat))
    return operand(splat, 0);
  if (!type_is_tensor(mlirValueGetType(v)))
    return v;
  MlirAttribute lane = mlirDenseElementsAttrGetSplatValue(op_attr(value_def(v), "value"));
  struct builder b = builder_before(k->c, op);
  MlirNamedAttribute value = named_attr(k->c, "value", lane);
  MlirType type = element_type(mlirValueGetType(v));
  return mlirOperationGetResult(build_op(&b, OP_ARITH_CONSTANT, 0, NULL, 1, &type, 1, &value), 0);
}

// `v` is uniform: the same lanes as a tile of another type.
static MlirValue uniform_as(struct canon *k, MlirOperation op, MlirValue v, MlirType type) {
  struct builder b = builder_before(k->c, op);
  if (!mlirOperationIsNull(def_of(k->c, v, OP_TILE_SPLAT)))
    return build_as(k, op, OP_TILE_SPLAT, lane_of(k, op, v), type, 0, NULL);
  MlirAttribute value = op_attr(value_def(v), "value");
  if (mlirAttributeIsADenseElements(value))
    value = mlirDenseElementsAttrGetSplatValue(value);
  MlirNamedAttribute a = named_attr(k->c, "value", mlirDenseElementsAttrSplatGet(type, value));
  return mlirOperationGetResult(build_op(&b, OP_ARITH_CONSTANT, 0, NULL, 1, &type, 1, &a), 0);
}

// An elementwise op on uniform tiles: computed once, then splat.
static MlirValue scalar_op(struct canon *k, MlirOperation op, enum op_id id) {
  intptr_t n = mlirOperationGetNumOperands(op);
  if (!(op_info(id)->flags & OP_EW) || !type_is_tensor(result_type(op)) || n < 1 || n > 3 ||
      id == OP_TILE_MAP || id == OP_TILE_INLINE_ASM) // they may have several results
    return no_value();
  for (intptr_t i = 0; i < n; i++)
    if (!is_uniform(k, operand(op, i)))
      return no_value();
  MlirValue lanes[3];
  for (intptr_t i = 0; i < n; i++)
    lanes[i] = lane_of(k, op, operand(op, i));
  intptr_t attr_count = mlirOperationGetNumAttributes(op);
  MlirNamedAttribute *attrs = arena_array(k->scratch, MlirNamedAttribute, (size_t)attr_count + 1);
  for (intptr_t i = 0; i < attr_count; i++)
    attrs[i] = mlirOperationGetAttribute(op, i);
  struct builder b = builder_before(k->c, op);
  MlirType type = element_type(result_type(op));
  MlirOperation scalar = build_op(&b, id, (size_t)n, lanes, 1, &type, (size_t)attr_count, attrs);
  return build_as(k, op, OP_TILE_SPLAT, mlirOperationGetResult(scalar, 0), result_type(op), 0,
                  NULL);
}

// ---- shapes ----

static MlirValue splat(struct canon *k, MlirOperation op) {
  int64_t i;
  double f;
  MlirValue x = operand(op, 0);
  if (value_const_int(k->c, x, &i) || value_const_float(k->c, x, &f))
    return uniform_as(k, op, x, result_type(op));
  return no_value();
}

static MlirValue broadcast(struct canon *k, MlirOperation op) {
  MlirValue x = operand(op, 0);
  if (mlirTypeEqual(mlirValueGetType(x), result_type(op)))
    return x;
  MlirOperation inner = def_of(k->c, x, OP_TILE_BROADCAST);
  if (mlirOperationIsNull(inner))
    return no_value();
  return build_as(k, op, OP_TILE_BROADCAST, operand(inner, 0), result_type(op), 0, NULL);
}

static MlirValue reshape(struct canon *k, MlirOperation op) {
  MlirValue x = operand(op, 0);
  if (mlirTypeEqual(mlirValueGetType(x), result_type(op)))
    return x;
  MlirOperation inner = def_of(k->c, x, OP_TILE_RESHAPE);
  if (mlirOperationIsNull(inner) || !mlirAttributeIsNull(tensor_encoding(result_type(op))))
    return no_value();
  bool reorder = op_attr_bool(op, "allow_reorder") || op_attr_bool(inner, "allow_reorder");
  MlirNamedAttribute a = named_attr(k->c, "allow_reorder", attr_bool(k->c, reorder));
  return build_as(k, op, OP_TILE_RESHAPE, operand(inner, 0), result_type(op), 1, &a);
}

enum { MAX_RANK = 16 };

static MlirValue trans(struct canon *k, MlirOperation op) {
  int32_t order[MAX_RANK], inner_order[MAX_RANK];
  size_t n = op_attr_i32_array(op, "order", MAX_RANK, order);
  if (n > MAX_RANK)
    return no_value();
  bool identity = true;
  for (size_t i = 0; i < n; i++)
    identity &= order[i] == (int32_t)i;
  if (identity && mlirTypeEqual(mlirValueGetType(operand(op, 0)), result_type(op)))
    return operand(op, 0);
  MlirOperation inner = def_of(k->c, operand(op, 0), OP_TILE_TRANS);
  if (mlirOperationIsNull(inner) || op_attr_i32_array(inner, "order", MAX_RANK, inner_order) != n)
    return no_value();
  for (size_t i = 0; i < n; i++)
    order[i] = inner_order[order[i]];
  MlirNamedAttribute a = named_attr(k->c, "order", attr_i32_array(k->c, n, order));
  return build_as(k, op, OP_TILE_TRANS, operand(inner, 0), result_type(op), 1, &a);
}

// split(join(a, b)) is a and b again, where the layouts agree.
static MlirValue split(struct canon *k, MlirOperation op) {
  MlirOperation join = def_of(k->c, operand(op, 0), OP_TILE_JOIN);
  if (mlirOperationIsNull(join) ||
      !mlirTypeEqual(mlirValueGetType(operand(join, 0)), result_type(op)))
    return no_value();
  value_replace(mlirOperationGetResult(op, 1), operand(join, 1));
  return operand(join, 0);
}

static MlirValue unsplat(struct canon *k, MlirOperation op) {
  if (is_uniform(k, operand(op, 0)))
    return lane_of(k, op, operand(op, 0));
  MlirOperation def = value_def(operand(op, 0));
  if (mlirOperationIsNull(def))
    return no_value();
  switch (op_id(k->c, def)) { // the same single element
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS:
  case OP_GPU_CONVERT_LAYOUT:
    return build_as(k, op, OP_TILE_UNSPLAT, operand(def, 0), result_type(op), 0, NULL);
  default: return no_value();
  }
}

// Every element of a uniform source is the same.
static MlirValue gather(struct canon *k, MlirOperation op) {
  MlirValue source = operand(op, 0);
  return is_uniform(k, source) ? uniform_as(k, op, source, result_type(op)) : no_value();
}

// ---- layouts ----

static MlirValue convert_layout(struct canon *k, MlirOperation op) {
  MlirValue x = operand(op, 0);
  if (mlirTypeEqual(mlirValueGetType(x), result_type(op)))
    return x;
  MlirOperation inner = def_of(k->c, x, OP_GPU_CONVERT_LAYOUT);
  if (!mlirOperationIsNull(inner))
    return build_as(k, op, OP_GPU_CONVERT_LAYOUT, operand(inner, 0), result_type(op), 0, NULL);
  MlirOperation range = def_of(k->c, x, OP_TILE_MAKE_RANGE);
  if (mlirOperationIsNull(range))
    return no_value();
  struct builder b = builder_before(k->c, op);
  MlirNamedAttribute a[] = {named_attr(k->c, "start", op_attr(range, "start")),
                            named_attr(k->c, "end", op_attr(range, "end"))};
  MlirType type = result_type(op);
  return mlirOperationGetResult(build_op(&b, OP_TILE_MAKE_RANGE, 0, NULL, 1, &type, 2, a), 0);
}

MlirValue canon_shape(struct canon *k, MlirOperation op, enum op_id id) {
  switch (id) {
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS:
  case OP_GPU_CONVERT_LAYOUT:
    if (is_uniform(k, operand(op, 0)))
      return uniform_as(k, op, operand(op, 0), result_type(op));
    break;
  default: break;
  }
  switch (id) {
  case OP_TILE_SPLAT: return splat(k, op);
  case OP_TILE_BROADCAST: return broadcast(k, op);
  case OP_TILE_RESHAPE: return reshape(k, op);
  case OP_TILE_TRANS: return trans(k, op);
  case OP_TILE_SPLIT: return split(k, op);
  case OP_TILE_UNSPLAT: return unsplat(k, op);
  case OP_TILE_GATHER: return gather(k, op);
  case OP_GPU_CONVERT_LAYOUT: return convert_layout(k, op);
  default: return scalar_op(k, op, id);
  }
}
