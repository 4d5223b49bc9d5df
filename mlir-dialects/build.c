// SPDX-License-Identifier: Apache-2.0
// Builders of single ops: constants, elementwise, program and shape ops. Result types are inferred
// from the operands; see build_memory.c and build_structure.c for the rest.
#include "mlir-dialects/build.h"

#include "mlir-dialects/ir_internal.h"

#include <mlir-c/BuiltinAttributes.h>

#include <assert.h>

struct builder builder_at_end(struct ir_context *c, MlirBlock block, MlirLocation loc) {
  return (struct builder){.c = c, .block = block, .before = {NULL}, .loc = loc};
}

struct builder builder_before(struct ir_context *c, MlirOperation op) {
  return (struct builder){c, mlirOperationGetBlock(op), op, mlirOperationGetLocation(op)};
}

struct builder builder_after(struct ir_context *c, MlirOperation op) {
  return (struct builder){c, mlirOperationGetBlock(op), mlirOperationGetNextInBlock(op),
                          mlirOperationGetLocation(op)};
}

MlirNamedAttribute named_attr(struct ir_context *c, const char *name, MlirAttribute a) {
  return mlirNamedAttributeGet(mlirIdentifierGet(c->mlir, ref_of(name)), a);
}

MlirOperation build_op(struct builder *b, enum op_id id, size_t operand_count,
                       const MlirValue *operands, size_t result_count, const MlirType *results,
                       size_t attr_count, const MlirNamedAttribute *attrs) {
  MlirOperationState state = mlirOperationStateGet(ref_of(op_info(id)->name), b->loc);
  mlirOperationStateAddOperands(&state, (intptr_t)operand_count, operands);
  mlirOperationStateAddResults(&state, (intptr_t)result_count, results);
  mlirOperationStateAddAttributes(&state, (intptr_t)attr_count, attrs);
  return build_insert(b, mlirOperationCreate(&state));
}

MlirOperation build_insert(struct builder *b, MlirOperation op) {
  b->c->built++;
  if (mlirOperationIsNull(b->before))
    mlirBlockAppendOwnedOperation(b->block, op);
  else
    mlirBlockInsertOwnedOperationBefore(b->block, b->before, op);
  return op;
}

MlirValue build_value(struct builder *b, enum op_id id, size_t operand_count,
                      const MlirValue *operands, MlirType result, size_t attr_count,
                      const MlirNamedAttribute *attrs) {
  MlirOperation op = build_op(b, id, operand_count, operands, 1, &result, attr_count, attrs);
  return mlirOperationGetResult(op, 0);
}

// ---- constants ----

static MlirValue build_const(struct builder *b, MlirType type, MlirAttribute scalar) {
  MlirAttribute a = type_is_tensor(type) ? mlirDenseElementsAttrSplatGet(type, scalar) : scalar;
  MlirNamedAttribute value = named_attr(b->c, "value", a);
  return build_value(b, OP_ARITH_CONSTANT, 0, NULL, type, 1, &value);
}

MlirValue build_const_int(struct builder *b, MlirType type, int64_t value) {
  MlirType element = element_type(type);
  unsigned bits = mlirTypeIsAInteger(element) ? mlirIntegerTypeGetWidth(element) : 64;
  if (bits < 64) // the attribute holds the value truncated to its width
    value = (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
  MlirAttribute a =
      bits == 1 ? mlirBoolAttrGet(b->c->mlir, value != 0) : mlirIntegerAttrGet(element, value);
  return build_const(b, type, a);
}

MlirValue build_const_float(struct builder *b, MlirType type, double value) {
  return build_const(b, type, mlirFloatAttrDoubleGet(b->c->mlir, element_type(type), value));
}

// ---- elementwise ----

MlirValue build_unary(struct builder *b, enum op_id id, MlirValue x) {
  return build_value(b, id, 1, &x, mlirValueGetType(x), 0, NULL);
}

MlirValue build_binary(struct builder *b, enum op_id id, MlirValue x, MlirValue y) {
  assert(mlirTypeEqual(mlirValueGetType(x), mlirValueGetType(y)));
  return build_value(b, id, 2, (MlirValue[]){x, y}, mlirValueGetType(x), 0, NULL);
}

MlirValue build_ternary(struct builder *b, enum op_id id, MlirValue x, MlirValue y, MlirValue z) {
  return build_value(b, id, 3, (MlirValue[]){x, y, z}, mlirValueGetType(x), 0, NULL);
}

MlirValue build_cast(struct builder *b, enum op_id id, MlirValue x, MlirType element) {
  return build_value(b, id, 1, &x, type_with_element(mlirValueGetType(x), element), 0, NULL);
}

MlirValue build_fp_to_fp(struct builder *b, MlirValue x, MlirType element, const char *rounding) {
  MlirNamedAttribute a = named_attr(b->c, "rounding", attr_str(b->c, rounding));
  return build_value(b, OP_TILE_FP_TO_FP, 1, &x, type_with_element(mlirValueGetType(x), element), 1,
                     &a);
}

static MlirValue build_compare(struct builder *b, enum op_id id, int predicate, MlirValue x,
                               MlirValue y) {
  MlirAttribute p = mlirIntegerAttrGet(mlir_of_dtype(b->c, DTYPE_I64), predicate);
  MlirNamedAttribute a = named_attr(b->c, "predicate", p);
  MlirType type = type_with_element(mlirValueGetType(x), mlir_of_dtype(b->c, DTYPE_I1));
  return build_value(b, id, 2, (MlirValue[]){x, y}, type, 1, &a);
}

MlirValue build_cmpi(struct builder *b, int predicate, MlirValue x, MlirValue y) {
  assert(predicate >= 0 && predicate <= 9);
  return build_compare(b, OP_ARITH_CMPI, predicate, x, y);
}

MlirValue build_cmpf(struct builder *b, int predicate, MlirValue x, MlirValue y) {
  assert(predicate >= 0 && predicate <= 15);
  return build_compare(b, OP_ARITH_CMPF, predicate, x, y);
}

MlirValue build_select(struct builder *b, MlirValue cond, MlirValue x, MlirValue y) {
  return build_value(b, OP_ARITH_SELECT, 3, (MlirValue[]){cond, x, y}, mlirValueGetType(x), 0,
                     NULL);
}

MlirValue build_clampf(struct builder *b, MlirValue x, MlirValue lo, MlirValue hi,
                       bool propagate_nan) {
  MlirNamedAttribute a = named_attr(b->c, "propagate_nan", attr_bool(b->c, propagate_nan));
  return build_value(b, OP_TILE_CLAMPF, 3, (MlirValue[]){x, lo, hi}, mlirValueGetType(x), 1, &a);
}

// ---- program and shape ----

static MlirValue build_axis_op(struct builder *b, enum op_id id, int axis) {
  MlirNamedAttribute a = named_attr(b->c, "axis", attr_i32(b->c, axis));
  return build_value(b, id, 0, NULL, mlir_of_dtype(b->c, DTYPE_I32), 1, &a);
}

MlirValue build_program_id(struct builder *b, int axis) {
  return build_axis_op(b, OP_TILE_PROGRAM_ID, axis);
}

MlirValue build_num_programs(struct builder *b, int axis) {
  return build_axis_op(b, OP_TILE_NUM_PROGRAMS, axis);
}

MlirValue build_make_range(struct builder *b, int32_t start, int32_t end) {
  MlirNamedAttribute a[] = {named_attr(b->c, "start", attr_i32(b->c, start)),
                            named_attr(b->c, "end", attr_i32(b->c, end))};
  assert(start < end);
  int64_t size = (int64_t)end - start;
  MlirType type = tensor_type(1, &size, mlir_of_dtype(b->c, DTYPE_I32), mlirAttributeGetNull());
  return build_value(b, OP_TILE_MAKE_RANGE, 0, NULL, type, 2, a);
}

MlirValue build_splat(struct builder *b, MlirValue scalar, unsigned rank, const int64_t *shape) {
  MlirType type = tensor_type(rank, shape, mlirValueGetType(scalar), mlirAttributeGetNull());
  return build_value(b, OP_TILE_SPLAT, 1, &scalar, type, 0, NULL);
}

MlirValue build_expand_dims(struct builder *b, MlirValue x, unsigned axis) {
  MlirType from = mlirValueGetType(x);
  unsigned rank = tensor_rank(from) + 1;
  assert(axis < rank && rank <= TENSOR_RANK_LIMIT + 1);
  int64_t shape[TENSOR_RANK_LIMIT + 1];
  for (unsigned i = 0; i < rank; i++)
    shape[i] = i == axis ? 1 : tensor_dim(from, i < axis ? i : i - 1);
  // With layouts, the operand has a slice, and the result its parent.
  MlirAttribute encoding = mlirAttributeGetNull();
  const struct encoding_text *slice = encoding_text_of(b->c, tensor_encoding(from));
  if (slice && !mlirAttributeIsNull(slice->parameters))
    encoding = mlirDictionaryAttrGetElementByName(slice->parameters, ref_of("parent"));
  MlirNamedAttribute a = named_attr(b->c, "axis", attr_i32(b->c, (int32_t)axis));
  return build_value(b, OP_TILE_EXPAND_DIMS, 1, &x,
                     tensor_type(rank, shape, element_type(from), encoding), 1, &a);
}

MlirValue build_broadcast(struct builder *b, MlirValue x, unsigned rank, const int64_t *shape) {
  MlirType from = mlirValueGetType(x);
  assert(tensor_rank(from) == rank);
  return build_value(b, OP_TILE_BROADCAST, 1, &x,
                     tensor_type(rank, shape, element_type(from), tensor_encoding(from)), 0, NULL);
}

MlirValue build_reshape(struct builder *b, MlirValue x, unsigned rank, const int64_t *shape,
                        bool allow_reorder) {
  MlirType element = element_type(mlirValueGetType(x));
  MlirNamedAttribute a = named_attr(b->c, "allow_reorder", attr_bool(b->c, allow_reorder));
  return build_value(b, OP_TILE_RESHAPE, 1, &x,
                     tensor_type(rank, shape, element, mlirAttributeGetNull()), 1, &a);
}

MlirValue build_trans(struct builder *b, MlirValue x, unsigned rank, const int32_t *order) {
  MlirType from = mlirValueGetType(x);
  int64_t shape[TENSOR_RANK_LIMIT];
  assert(rank == tensor_rank(from) && rank <= TENSOR_RANK_LIMIT);
  for (unsigned i = 0; i < rank; i++)
    shape[i] = tensor_dim(from, (unsigned)order[i]);
  MlirNamedAttribute a = named_attr(b->c, "order", attr_i32_array(b->c, rank, order));
  return build_value(b, OP_TILE_TRANS, 1, &x,
                     tensor_type(rank, shape, element_type(from), mlirAttributeGetNull()), 1, &a);
}

// ---- layouts ----

MlirValue build_convert_layout(struct builder *b, MlirValue x, MlirAttribute encoding) {
  MlirType type = type_with_encoding(mlirValueGetType(x), encoding);
  return build_value(b, OP_GPU_CONVERT_LAYOUT, 1, &x, type, 0, NULL);
}
