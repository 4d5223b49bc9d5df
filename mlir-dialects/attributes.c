// SPDX-License-Identifier: Apache-2.0
// Attributes of ops and of function arguments, and constants.
#include "mlir-dialects/ir_internal.h"

#include <mlir-c/BuiltinAttributes.h>

#include <assert.h>

MlirAttribute attr_i32(struct ir_context *c, int32_t v) {
  return mlirIntegerAttrGet(mlir_of_dtype(c, DTYPE_I32), v);
}

MlirAttribute attr_bool(struct ir_context *c, bool v) { return mlirBoolAttrGet(c->mlir, v); }

MlirAttribute attr_str(struct ir_context *c, const char *s) {
  return mlirStringAttrGet(c->mlir, ref_of(s));
}

MlirAttribute attr_i32_array(struct ir_context *c, size_t n, const int32_t *v) {
  return mlirDenseI32ArrayGet(c->mlir, (intptr_t)n, v);
}

MlirAttribute op_attr(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, ref_of(name));
}

int64_t op_attr_int(MlirOperation op, const char *name, int64_t absent) {
  MlirAttribute a = op_attr(op, name);
  return !mlirAttributeIsNull(a) && mlirAttributeIsAInteger(a) ? mlirIntegerAttrGetValueInt(a)
                                                               : absent;
}

bool op_attr_bool(MlirOperation op, const char *name) {
  MlirAttribute a = op_attr(op, name);
  return !mlirAttributeIsNull(a) && mlirAttributeIsABool(a) && mlirBoolAttrGetValue(a);
}

struct str op_attr_str(MlirOperation op, const char *name) {
  MlirAttribute a = op_attr(op, name);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAString(a))
    return STR("");
  return str_of_ref(mlirStringAttrGetValue(a));
}

size_t op_attr_i32_array(MlirOperation op, const char *name, size_t cap, int32_t *ret) {
  MlirAttribute a = op_attr(op, name);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsADenseI32Array(a))
    return 0;
  size_t n = (size_t)mlirDenseArrayGetNumElements(a);
  for (size_t i = 0; i < n && i < cap; i++)
    ret[i] = mlirDenseI32ArrayGetElement(a, (intptr_t)i);
  return n;
}

// ---- function arguments: the array attribute arg_attrs of dictionaries ----

static MlirAttribute arg_dictionary(MlirOperation func, unsigned i) {
  MlirAttribute all = op_attr(func, "arg_attrs");
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all) ||
      (intptr_t)i >= mlirArrayAttrGetNumElements(all))
    return mlirAttributeGetNull();
  return mlirArrayAttrGetElement(all, i);
}

MlirAttribute func_arg_attr(MlirOperation func, unsigned i, const char *name) {
  MlirAttribute dictionary = arg_dictionary(func, i);
  if (mlirAttributeIsNull(dictionary))
    return dictionary;
  return mlirDictionaryAttrGetElementByName(dictionary, ref_of(name));
}

// `dictionary` with `name` set to `value`.
static MlirAttribute dictionary_with(struct ir_context *c, MlirAttribute dictionary,
                                     const char *name, MlirAttribute value) {
  intptr_t old = mlirAttributeIsNull(dictionary) ? 0 : mlirDictionaryAttrGetNumElements(dictionary);
  MlirNamedAttribute *entries = arena_array(c->arena, MlirNamedAttribute, (size_t)old + 1);
  MlirIdentifier id = mlirIdentifierGet(c->mlir, ref_of(name));
  intptr_t n = 0;
  for (intptr_t i = 0; i < old; i++) {
    MlirNamedAttribute e = mlirDictionaryAttrGetElement(dictionary, i);
    if (!mlirIdentifierEqual(e.name, id))
      entries[n++] = e;
  }
  entries[n++] = mlirNamedAttributeGet(id, value);
  return mlirDictionaryAttrGet(c->mlir, n, entries);
}

void func_set_arg_attr(struct ir_context *c, MlirOperation func, unsigned i, const char *name,
                       MlirAttribute value) {
  intptr_t count =
      mlirBlockGetNumArguments(mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0)));
  MlirAttribute *all = arena_array(c->arena, MlirAttribute, (size_t)count);
  for (intptr_t k = 0; k < count; k++) {
    all[k] = arg_dictionary(func, (unsigned)k);
    if (mlirAttributeIsNull(all[k]))
      all[k] = mlirDictionaryAttrGet(c->mlir, 0, NULL);
  }
  assert(i < (size_t)count);
  all[i] = dictionary_with(c, all[i], name, value);
  mlirOperationSetAttributeByName(func, ref_of("arg_attrs"), mlirArrayAttrGet(c->mlir, count, all));
}

void func_set_arg_attrs(struct ir_context *c, MlirOperation func, MlirAttribute *dictionaries) {
  intptr_t count =
      mlirBlockGetNumArguments(mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0)));
  mlirOperationSetAttributeByName(func, ref_of("arg_attrs"),
                                  mlirArrayAttrGet(c->mlir, count, dictionaries));
}

// ---- constants ----

MlirOperation value_def(MlirValue v) {
  return mlirValueIsAOpResult(v) ? mlirOpResultGetOwner(v) : (MlirOperation){NULL};
}

// The scalar attribute of an arith.constant, or of its splat; null otherwise.
static MlirAttribute constant_scalar(struct ir_context *c, MlirValue v) {
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def) || !op_is(c, def, OP_ARITH_CONSTANT))
    return mlirAttributeGetNull();
  MlirAttribute a = op_attr(def, "value");
  if (mlirAttributeIsADenseElements(a))
    return mlirDenseElementsAttrIsSplat(a) ? mlirDenseElementsAttrGetSplatValue(a)
                                           : mlirAttributeGetNull();
  return a;
}

bool value_const_int(struct ir_context *c, MlirValue v, int64_t *ret) {
  MlirAttribute a = constant_scalar(c, v);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a))
    return false;
  MlirType t = mlirAttributeGetType(a);
  if (!mlirTypeIsAIndex(t) &&
      (!mlirTypeIsAInteger(t) || !mlirIntegerTypeIsSignless(t) || mlirIntegerTypeGetWidth(t) > 64))
    return false;
  *ret = mlirIntegerAttrGetValueInt(a);
  if (mlirTypeIsAInteger(t) && mlirIntegerTypeGetWidth(t) == 1)
    *ret &= 1; // true is 1, not -1
  return true;
}

bool value_const_float(struct ir_context *c, MlirValue v, double *ret) {
  MlirAttribute a = constant_scalar(c, v);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAFloat(a))
    return false;
  *ret = mlirFloatAttrGetValueDouble(a);
  return true;
}

unsigned op_flags(struct ir_context *c, MlirOperation op) {
  enum op_id id = op_id(c, op);
  if (id == OP_TILE_INLINE_ASM && !op_attr_bool(op, "is_pure"))
    return ((*op_info(id)).flags & ~(unsigned)OP_PURE) | OP_EFFECT;
  return (*op_info(id)).flags;
}
