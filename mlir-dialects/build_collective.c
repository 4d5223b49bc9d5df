// SPDX-License-Identifier: Apache-2.0
// Builders of collective ops (reductions, scans, gather, ...), maps and inline assembly.
#include "mlir-dialects/build.h"
#include "mlir-dialects/ir_internal.h"

#include <mlir-c/BuiltinAttributes.h>

// The number of optional operands and results that IRDL declares for these ops.
enum { SCALAR_OPERANDS = 16 };

static MlirNamedAttribute segments(struct builder *b, const char *name, size_t cap, size_t n) {
  int32_t sizes[SCALAR_OPERANDS] = {0};
  for (size_t i = 0; i < n; i++)
    sizes[i] = 1;
  return named_attr(b->c, name, attr_i32_array(b->c, cap, sizes));
}

static void build_many(struct builder *b, enum op_id id, size_t operand_cap, size_t n,
                       const MlirValue *values, size_t result_count, const MlirType *results,
                       size_t attr_count, MlirNamedAttribute *attrs, MlirValue *ret) {
  attrs[attr_count++] = segments(b, "operandSegmentSizes", operand_cap, n);
  attrs[attr_count++] = segments(b, "resultSegmentSizes", COLLECTIVE_MAX_VALUES, result_count);
  MlirOperation op = build_op(b, id, n, values, result_count, results, attr_count, attrs);
  for (size_t i = 0; i < result_count; i++)
    ret[i] = mlirOperationGetResult(op, (intptr_t)i);
}

static MlirAttribute symbol(struct builder *b, const char *name) {
  return mlirFlatSymbolRefAttrGet(b->c->mlir, ref_of(name));
}

// The type without dimension `axis`: a scalar for rank 1. A layout becomes a slice of it.
static MlirType reduced_type(struct builder *b, MlirType from, unsigned axis) {
  int64_t shape[TENSOR_RANK_LIMIT];
  unsigned rank = tensor_rank(from), n = 0;
  if (rank == 1)
    return element_type(from);
  for (unsigned i = 0; i < rank; i++)
    if (i != axis)
      shape[n++] = tensor_dim(from, i);
  MlirAttribute encoding = tensor_encoding(from);
  if (!mlirAttributeIsNull(encoding)) {
    const char *text = arena_printf(b->c->arena, "#tilegpu.slice<{dim = %u : i32, parent = %s}>",
                                    axis, ir_attr_text(b->c, encoding));
    encoding = mlirAttributeParseGet(b->c->mlir, ref_of(text));
  }
  return tensor_type(n, shape, element_type(from), encoding);
}

void build_reduce(struct builder *b, size_t n, const MlirValue *values, unsigned axis,
                  const char *combine, MlirValue *ret) {
  MlirType results[COLLECTIVE_MAX_VALUES];
  for (size_t i = 0; i < n; i++)
    results[i] = reduced_type(b, mlirValueGetType(values[i]), axis);
  MlirNamedAttribute a[4] = {named_attr(b->c, "axis", attr_i32(b->c, (int32_t)axis)),
                             named_attr(b->c, "combine", symbol(b, combine))};
  build_many(b, OP_TILE_REDUCE, COLLECTIVE_MAX_VALUES, n, values, n, results, 2, a, ret);
}

void build_scan(struct builder *b, size_t n, const MlirValue *values, unsigned axis,
                const char *combine, bool reverse, MlirValue *ret) {
  MlirType results[COLLECTIVE_MAX_VALUES];
  for (size_t i = 0; i < n; i++)
    results[i] = mlirValueGetType(values[i]);
  MlirNamedAttribute a[5] = {named_attr(b->c, "axis", attr_i32(b->c, (int32_t)axis)),
                             named_attr(b->c, "combine", symbol(b, combine)),
                             named_attr(b->c, "reverse", attr_bool(b->c, reverse))};
  build_many(b, OP_TILE_SCAN, COLLECTIVE_MAX_VALUES, n, values, n, results, 3, a, ret);
}

void build_map(struct builder *b, size_t n, const MlirValue *values, const char *function,
               unsigned pack, size_t result_count, const MlirType *elements, MlirValue *ret) {
  MlirType results[COLLECTIVE_MAX_VALUES];
  for (size_t i = 0; i < result_count; i++)
    results[i] = type_with_element(mlirValueGetType(values[0]), elements[i]);
  MlirNamedAttribute a[4] = {named_attr(b->c, "function", symbol(b, function)),
                             named_attr(b->c, "pack", attr_i32(b->c, (int32_t)pack))};
  build_many(b, OP_TILE_MAP, COLLECTIVE_MAX_VALUES, n, values, result_count, results, 2, a, ret);
}

void build_inline_asm(struct builder *b, const char *text, const char *constraints, unsigned pack,
                      bool is_pure, size_t n, const MlirValue *values, size_t result_count,
                      const MlirType *results, MlirValue *ret) {
  MlirNamedAttribute a[6] = {named_attr(b->c, "asm", attr_str(b->c, text)),
                             named_attr(b->c, "constraints", attr_str(b->c, constraints)),
                             named_attr(b->c, "pack", attr_i32(b->c, (int32_t)pack)),
                             named_attr(b->c, "is_pure", attr_bool(b->c, is_pure))};
  build_many(b, OP_TILE_INLINE_ASM, SCALAR_OPERANDS, n, values, result_count, results, 4, a, ret);
}

MlirValue build_gather(struct builder *b, MlirValue source, MlirValue index, unsigned axis) {
  MlirNamedAttribute a = named_attr(b->c, "axis", attr_i32(b->c, (int32_t)axis));
  MlirType type =
      type_with_element(mlirValueGetType(index), element_type(mlirValueGetType(source)));
  return build_value(b, OP_TILE_GATHER, 2, (MlirValue[]){source, index}, type, 1, &a);
}

MlirValue build_histogram(struct builder *b, MlirValue x, MlirValue mask, int64_t bins) {
  size_t n = mlirValueIsNull(mask) ? 1 : 2;
  MlirType type = tensor_type(1, &bins, mlir_of_dtype(b->c, DTYPE_I32), mlirAttributeGetNull());
  return build_value(b, OP_TILE_HISTOGRAM, n, (MlirValue[]){x, mask}, type, 0, NULL);
}

// ---- join and split: a last dimension of 2 ----

MlirValue build_join(struct builder *b, MlirValue x, MlirValue y) {
  int64_t shape[TENSOR_RANK_LIMIT + 1];
  MlirType from = mlirValueGetType(x);
  unsigned rank = tensor_rank(from);
  for (unsigned i = 0; i < rank; i++)
    shape[i] = tensor_dim(from, i);
  shape[rank] = 2;
  MlirType type = tensor_type(rank + 1, shape, element_type(from), mlirAttributeGetNull());
  return build_value(b, OP_TILE_JOIN, 2, (MlirValue[]){x, y}, type, 0, NULL);
}

void build_split(struct builder *b, MlirValue x, MlirValue ret[2]) {
  int64_t shape[TENSOR_RANK_LIMIT];
  MlirType from = mlirValueGetType(x), half = element_type(from);
  unsigned rank = tensor_rank(from);
  for (unsigned i = 0; i + 1 < rank; i++)
    shape[i] = tensor_dim(from, i);
  if (rank > 1)
    half = tensor_type(rank - 1, shape, half, mlirAttributeGetNull());
  MlirOperation op = build_op(b, OP_TILE_SPLIT, 1, &x, 2, (MlirType[]){half, half}, 0, NULL);
  ret[0] = mlirOperationGetResult(op, 0);
  ret[1] = mlirOperationGetResult(op, 1);
}

MlirValue build_unsplat(struct builder *b, MlirValue x) {
  return build_value(b, OP_TILE_UNSPLAT, 1, &x, element_type(mlirValueGetType(x)), 0, NULL);
}

// ---- programs and devices ----

MlirValue build_atomic_cas(struct builder *b, MlirValue ptr, MlirValue compare, MlirValue value,
                           const char *sem, const char *scope) {
  MlirNamedAttribute a[] = {named_attr(b->c, "sem", attr_str(b->c, sem)),
                            named_attr(b->c, "scope", attr_str(b->c, scope))};
  return build_value(b, OP_TILE_ATOMIC_CAS, 3, (MlirValue[]){ptr, compare, value},
                     mlirValueGetType(value), 2, a);
}

MlirValue build_special_register(struct builder *b, const char *name, enum dtype type) {
  MlirNamedAttribute a = named_attr(b->c, "name", attr_str(b->c, name));
  return build_value(b, OP_TILE_SPECIAL, 0, NULL, mlir_of_dtype(b->c, type), 1, &a);
}

void build_grid_dependency(struct builder *b, const char *kind) {
  MlirNamedAttribute a = named_attr(b->c, "kind", attr_str(b->c, kind));
  build_op(b, OP_TILE_GRID_DEPENDENCY, 0, NULL, 0, NULL, 1, &a);
}

void build_call(struct builder *b, const char *function, size_t n, const MlirValue *values,
                size_t result_count, const MlirType *results, MlirValue *ret) {
  MlirNamedAttribute a = named_attr(b->c, "callee", symbol(b, function));
  MlirOperation op = build_op(b, OP_FUNC_CALL, n, values, result_count, results, 1, &a);
  for (size_t i = 0; i < result_count; i++)
    ret[i] = mlirOperationGetResult(op, (intptr_t)i);
}
