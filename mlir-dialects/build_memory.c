// SPDX-License-Identifier: Apache-2.0
// Builders of memory, debugging and hint ops.
#include "mlir-dialects/build.h"
#include "mlir-dialects/ir_internal.h"

#include <mlir-c/BuiltinAttributes.h>

MlirValue build_addptr(struct builder *b, MlirValue ptr, MlirValue offset) {
  return build_value(b, OP_TILE_ADDPTR, 2, (MlirValue[]){ptr, offset}, mlirValueGetType(ptr), 0,
                     NULL);
}

// `required` operands, then the optional ones that are present, as *ret_sizes says.
static size_t with_optional(MlirValue *operands, size_t required, size_t optional,
                            const MlirValue *extra, int32_t *ret_sizes) {
  size_t n = required;
  for (size_t i = 0; i < required; i++)
    ret_sizes[i] = 1;
  for (size_t i = 0; i < optional; i++) {
    ret_sizes[required + i] = !mlirValueIsNull(extra[i]);
    if (ret_sizes[required + i])
      operands[n++] = extra[i];
  }
  return n;
}

MlirValue build_load(struct builder *b, MlirValue ptr, MlirValue mask, MlirValue other,
                     const char *cache, const char *evict, bool is_volatile) {
  MlirValue operands[3] = {ptr};
  int32_t sizes[3];
  size_t n = with_optional(operands, 1, 2, (MlirValue[]){mask, other}, sizes);
  MlirType from = mlirValueGetType(ptr);
  MlirType type = type_with_element(from, ptr_pointee(b->c, element_type(from)));
  MlirNamedAttribute a[] = {
      named_attr(b->c, "cache", attr_str(b->c, cache)),
      named_attr(b->c, "evict", attr_str(b->c, evict)),
      named_attr(b->c, "is_volatile", attr_bool(b->c, is_volatile)),
      named_attr(b->c, "operandSegmentSizes", attr_i32_array(b->c, 3, sizes)),
  };
  return build_value(b, OP_TILE_LOAD, n, operands, type, 4, a);
}

void build_store(struct builder *b, MlirValue ptr, MlirValue value, MlirValue mask,
                 const char *cache, const char *evict) {
  MlirValue operands[3] = {ptr, value};
  int32_t sizes[3];
  size_t n = with_optional(operands, 2, 1, &mask, sizes);
  MlirNamedAttribute a[] = {named_attr(b->c, "cache", attr_str(b->c, cache)),
                            named_attr(b->c, "evict", attr_str(b->c, evict))};
  build_op(b, OP_TILE_STORE, n, operands, 0, NULL, 2, a);
}

MlirValue build_atomic_rmw(struct builder *b, const char *kind, MlirValue ptr, MlirValue value,
                           MlirValue mask, const char *sem, const char *scope) {
  MlirValue operands[3] = {ptr, value};
  int32_t sizes[3];
  size_t n = with_optional(operands, 2, 1, &mask, sizes);
  MlirNamedAttribute a[] = {named_attr(b->c, "kind", attr_str(b->c, kind)),
                            named_attr(b->c, "sem", attr_str(b->c, sem)),
                            named_attr(b->c, "scope", attr_str(b->c, scope))};
  return build_value(b, OP_TILE_ATOMIC_RMW, n, operands, mlirValueGetType(value), 3, a);
}

// ---- debugging and hints ----

#define PRINT_OPERANDS 16 // optional operands of tile.print in tile.irdl.mlir

static void build_print_some(struct builder *b, const char *prefix, bool hex, size_t n,
                             const MlirValue *values, const int32_t *is_signed) {
  int32_t sizes[PRINT_OPERANDS] = {0};
  for (size_t i = 0; i < n; i++)
    sizes[i] = 1;
  MlirNamedAttribute a[] = {
      named_attr(b->c, "prefix", attr_str(b->c, prefix)),
      named_attr(b->c, "hex", attr_bool(b->c, hex)),
      named_attr(b->c, "is_signed", attr_i32_array(b->c, n, is_signed)),
      named_attr(b->c, "operandSegmentSizes", attr_i32_array(b->c, PRINT_OPERANDS, sizes)),
  };
  build_op(b, OP_TILE_PRINT, n, values, 0, NULL, 4, a);
}

void build_print(struct builder *b, const char *prefix, bool hex, size_t n, const MlirValue *values,
                 const int32_t *is_signed) {
  size_t first = n < PRINT_OPERANDS ? n : PRINT_OPERANDS;
  build_print_some(b, prefix, hex, first, values, is_signed);
  if (n > first)
    build_print(b, "", hex, n - first, values + first, is_signed + first);
}

void build_debug_value(struct builder *b, const char *name, const char *dtype, unsigned argument,
                       MlirValue value) {
  MlirNamedAttribute a[] = {named_attr(b->c, "name", attr_str(b->c, name)),
                            named_attr(b->c, "dtype", attr_str(b->c, dtype)),
                            named_attr(b->c, "argument", attr_i32(b->c, (int32_t)argument))};
  build_op(b, OP_TILE_DEBUG_VALUE, 1, &value, 0, NULL, argument ? 3 : 2, a);
}

void build_assert(struct builder *b, MlirValue cond, const char *message) {
  MlirNamedAttribute a = named_attr(b->c, "message", attr_str(b->c, message));
  build_op(b, OP_TILE_ASSERT, 1, &cond, 0, NULL, 1, &a);
}

void build_assume(struct builder *b, MlirValue cond) {
  build_op(b, OP_TILE_ASSUME, 1, &cond, 0, NULL, 0, NULL);
}

void build_barrier(struct builder *b) { build_op(b, OP_TILE_BARRIER, 0, NULL, 0, NULL, 0, NULL); }
