// SPDX-License-Identifier: Apache-2.0
// See verify_needs.h.
#include "mlir-dialects/verify_needs.h"

#include <mlir-c/BuiltinAttributes.h>

bool wrong(struct checked *k, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(k->c->arena, fmt, ap);
  va_end(ap);
  diag_error(k->c->diag, op_span(k->c, k->op), E0602, "`%s` %s", op_info(k->id)->name, text);
  return false;
}

// ---- attributes ----

bool want_i32(struct checked *k, const char *name, int64_t *ret) {
  MlirAttribute a = op_attr(k->op, name);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ||
      !mlirTypeEqual(mlirAttributeGetType(a), mlir_of_dtype(k->c, DTYPE_I32)))
    return wrong(k, "needs an i32 attribute `%s`", name);
  *ret = mlirIntegerAttrGetValueInt(a);
  return true;
}

bool want_bool(struct checked *k, const char *name) {
  MlirAttribute a = op_attr(k->op, name);
  return (!mlirAttributeIsNull(a) && mlirAttributeIsABool(a)) ||
         wrong(k, "needs a boolean attribute `%s`", name);
}

bool want_str(struct checked *k, const char *name) {
  MlirAttribute a = op_attr(k->op, name);
  return (!mlirAttributeIsNull(a) && mlirAttributeIsAString(a)) ||
         wrong(k, "needs a string attribute `%s`", name);
}

bool want_word_or_none(struct checked *k, const char *name, const char *words) {
  return want_str(k, name) && (op_attr_str(k->op, name).len == 0 || want_word(k, name, words));
}

bool want_word(struct checked *k, const char *name, const char *words) {
  if (!want_str(k, name))
    return false;
  struct str value = op_attr_str(k->op, name), rest = str_from(words), word;
  while (rest.ptr) {
    rest = str_split(rest, ' ', &word);
    if (str_eq(word, value))
      return true;
  }
  return wrong(k, "has `%s = \"%.*s\"`, which is none of: %s", name, STR_ARG(value), words);
}

// ---- types ----

bool is_float_type(MlirType t) {
  enum dtype d = dtype_of_mlir(element_type(t));
  return d != DTYPE_NONE && dtype_is_float(d);
}
bool is_int_type(MlirType t) {
  enum dtype d = dtype_of_mlir(element_type(t));
  return d != DTYPE_NONE && dtype_is_int(d);
}
bool is_ptr_type(struct checked *k, MlirType t) { return type_is_ptr(k->c, element_type(t)); }

static bool same_form(MlirType a, MlirType b) {
  if (!type_is_tensor(a) || !type_is_tensor(b))
    return type_is_tensor(a) == type_is_tensor(b);
  if (tensor_rank(a) != tensor_rank(b) ||
      !mlirAttributeEqual(tensor_encoding(a), tensor_encoding(b)))
    return false;
  for (unsigned i = 0; i < tensor_rank(a); i++)
    if (tensor_dim(a, i) != tensor_dim(b, i))
      return false;
  return true;
}

bool want_same_form(struct checked *k, MlirType a, MlirType b) {
  return same_form(a, b) ||
         wrong(k, "has types of different shape or layout: `%s` and `%s`", text(k, a), text(k, b));
}

bool want_equal(struct checked *k, MlirType a, MlirType b) {
  return mlirTypeEqual(a, b) ||
         wrong(k, "needs equal types, not `%s` and `%s`", text(k, a), text(k, b));
}

bool want_element(struct checked *k, MlirType t, MlirType element) {
  return mlirTypeEqual(element_type(t), element) ||
         wrong(k, "needs elements of type `%s`, not `%s`", text(k, element), text(k, t));
}

bool want_mask(struct checked *k, MlirType mask, MlirType like) {
  return want_element(k, mask, mlir_of_dtype(k->c, DTYPE_I1)) && want_same_form(k, mask, like);
}

bool want_pointee(struct checked *k, MlirType ptr, MlirType value) {
  if (!is_ptr_type(k, ptr))
    return wrong(k, "needs a pointer, not `%s`", text(k, ptr));
  return want_same_form(k, ptr, value) &&
         want_element(k, value, ptr_pointee(k->c, element_type(ptr)));
}

bool is_slice_of(struct checked *k, MlirAttribute slice, int64_t axis, MlirAttribute parent) {
  if (mlirAttributeIsNull(slice) || mlirAttributeIsNull(parent))
    return mlirAttributeIsNull(slice) && mlirAttributeIsNull(parent);
  const struct encoding_text *t = encoding_text_of(k->c, slice);
  if (!t || strcmp(t->kind, "slice") != 0 || !mlirAttributeIsADictionary(t->parameters))
    return false;
  MlirAttribute dim = mlirDictionaryAttrGetElementByName(t->parameters, ref_of("dim"));
  MlirAttribute of = mlirDictionaryAttrGetElementByName(t->parameters, ref_of("parent"));
  return !mlirAttributeIsNull(dim) && mlirAttributeIsAInteger(dim) &&
         mlirIntegerAttrGetValueInt(dim) == axis && mlirAttributeEqual(of, parent);
}

// ---- tiles ----

static bool is_shared(const struct encoding_text *t) {
  return t && (strcmp(t->kind, "shared") == 0 || strcmp(t->kind, "nvmma_shared") == 0);
}

static bool check_tile(struct checked *k, MlirType t) {
  if (tensor_rank(t) == 0)
    return wrong(k, "has a tile without dimensions: `%s`", text(k, t));
  for (unsigned i = 0; i < tensor_rank(t); i++)
    if (tensor_dim(t, i) < 1 || !is_pow2((uint64_t)tensor_dim(t, i)))
      return wrong(k, "has a dimension that is no power of two: `%s`", text(k, t));
  MlirType element = element_type(t);
  if (dtype_of_mlir(element) == DTYPE_NONE && !type_is_ptr(k->c, element))
    return wrong(k, "has elements that no kernel can hold: `%s`", text(k, t));
  return true;
}

static bool check_tensor(struct checked *k, MlirType t) {
  MlirAttribute encoding = tensor_encoding(t);
  const struct encoding_text *layout = encoding_text_of(k->c, encoding);
  if (!check_tile(k, t))
    return false;
  if (!mlirAttributeIsNull(encoding) && !layout)
    return wrong(k, "has a layout that is none of `tilegpu`: `%s`", text(k, t));
  return !is_shared(layout) ||
         wrong(k, "holds a tile in registers by a layout of shared memory: `%s`", text(k, t));
}

bool check_type(struct checked *k, MlirType t) {
  if (type_is_tensor(t))
    return check_tensor(k, t);
  if (!type_is_memdesc(k->c, t))
    return true;
  MlirType tile = memdesc_tile(k->c, t);
  if (!type_is_tensor(tile) || !is_shared(encoding_text_of(k->c, tensor_encoding(tile))))
    return wrong(k, "needs a tile laid out in shared memory, not `%s`", text(k, t));
  return check_tile(k, tile);
}
