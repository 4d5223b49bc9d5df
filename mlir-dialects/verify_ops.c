// SPDX-License-Identifier: Apache-2.0
// What IRDL cannot say about the ops of `tile` and `tilegpu`, and what upstream does not ask of
// elementwise ops: shapes, element types, layouts, ranges of attributes. One function an op family;
// the first problem of an op is reported.
#include "mlir-dialects/ir_internal.h"

#include <mlir-c/BuiltinAttributes.h>

struct checked {
  struct ir_context *c;
  MlirOperation op;
  enum op_id id;
};

static bool fail(struct checked *k, const char *fmt, ...) PRINTF(2, 3);

static bool fail(struct checked *k, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(k->c->arena, fmt, ap);
  va_end(ap);
  diag_error(k->c->diag, op_span(k->c, k->op), E0602, "`%s` %s", op_info(k->id)->name, text);
  return false;
}

static MlirType operand_type(struct checked *k, intptr_t i) {
  return mlirValueGetType(mlirOperationGetOperand(k->op, i));
}
static MlirType result_type(struct checked *k) {
  return mlirValueGetType(mlirOperationGetResult(k->op, 0));
}
static const char *text(struct checked *k, MlirType t) { return ir_type_text(k->c, t); }

// ---- attributes ----

static bool need_i32(struct checked *k, const char *name, int64_t *ret) {
  MlirAttribute a = op_attr(k->op, name);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ||
      !mlirTypeEqual(mlirAttributeGetType(a), mlir_of_dtype(k->c, DTYPE_I32)))
    return fail(k, "needs an i32 attribute `%s`", name);
  *ret = mlirIntegerAttrGetValueInt(a);
  return true;
}

static bool need_bool(struct checked *k, const char *name) {
  MlirAttribute a = op_attr(k->op, name);
  return (!mlirAttributeIsNull(a) && mlirAttributeIsABool(a)) ||
         fail(k, "needs a boolean attribute `%s`", name);
}

static bool need_str(struct checked *k, const char *name) {
  MlirAttribute a = op_attr(k->op, name);
  return (!mlirAttributeIsNull(a) && mlirAttributeIsAString(a)) ||
         fail(k, "needs a string attribute `%s`", name);
}

// The string is one of `words`, separated by blanks.
static bool need_word(struct checked *k, const char *name, const char *words) {
  if (!need_str(k, name))
    return false;
  struct str value = op_attr_str(k->op, name), rest = str_from(words), word;
  while (rest.ptr) {
    rest = str_split(rest, ' ', &word);
    if (str_eq(word, value))
      return true;
  }
  return fail(k, "has `%s = \"%.*s\"`, which is none of: %s", name, STR_ARG(value), words);
}

// ---- types ----

static bool is_float_type(MlirType t) {
  enum dtype d = dtype_of_mlir(element_type(t));
  return d != DTYPE_NONE && dtype_is_float(d);
}
static bool is_int_type(MlirType t) {
  enum dtype d = dtype_of_mlir(element_type(t));
  return d != DTYPE_NONE && dtype_is_int(d);
}
static bool is_ptr_type(struct checked *k, MlirType t) {
  return type_is_ptr(k->c, element_type(t));
}

// Both scalars, or tiles of one shape and layout; element types may differ.
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

static bool need_same_form(struct checked *k, MlirType a, MlirType b) {
  return same_form(a, b) ||
         fail(k, "has types of different shape or layout: `%s` and `%s`", text(k, a), text(k, b));
}

static bool need_equal(struct checked *k, MlirType a, MlirType b) {
  return mlirTypeEqual(a, b) ||
         fail(k, "needs equal types, not `%s` and `%s`", text(k, a), text(k, b));
}

static bool need_element(struct checked *k, MlirType t, MlirType element) {
  return mlirTypeEqual(element_type(t), element) ||
         fail(k, "needs elements of type `%s`, not `%s`", text(k, element), text(k, t));
}

static bool need_mask(struct checked *k, MlirType mask, MlirType like) {
  return need_element(k, mask, mlir_of_dtype(k->c, DTYPE_I1)) && need_same_form(k, mask, like);
}

static bool check_tensor(struct checked *k, MlirType t) {
  if (tensor_rank(t) == 0)
    return fail(k, "has a tile without dimensions: `%s`", text(k, t));
  for (unsigned i = 0; i < tensor_rank(t); i++)
    if (tensor_dim(t, i) < 1 || !is_pow2((uint64_t)tensor_dim(t, i)))
      return fail(k, "has a dimension that is no power of two: `%s`", text(k, t));
  MlirType element = element_type(t);
  if (dtype_of_mlir(element) == DTYPE_NONE && !type_is_ptr(k->c, element))
    return fail(k, "has elements that no kernel can hold: `%s`", text(k, t));
  MlirAttribute encoding = tensor_encoding(t);
  if (!mlirAttributeIsNull(encoding) && !encoding_text_of(k->c, encoding))
    return fail(k, "has a layout that is none of `tilegpu`: `%s`", text(k, t));
  return true;
}

static bool check_types(struct checked *k) {
  for (intptr_t i = 0, n = mlirOperationGetNumResults(k->op); i < n; i++) {
    MlirType t = mlirValueGetType(mlirOperationGetResult(k->op, i));
    if (type_is_tensor(t) && !check_tensor(k, t))
      return false;
  }
  return true;
}

// ---- program and shape ----

static bool check_axis(struct checked *k) {
  int64_t axis = 0;
  if (!need_i32(k, "axis", &axis))
    return false;
  return (axis >= 0 && axis < 3) ||
         fail(k, "has axis %lld; a grid has axes 0 to 2", (long long)axis);
}

static bool check_make_range(struct checked *k) {
  int64_t start = 0, end = 0;
  if (!need_i32(k, "start", &start) || !need_i32(k, "end", &end))
    return false;
  MlirType t = result_type(k);
  if (!type_is_tensor(t) || tensor_rank(t) != 1 || tensor_dim(t, 0) != end - start)
    return fail(k, "from %lld to %lld cannot be `%s`", (long long)start, (long long)end,
                text(k, t));
  return need_element(k, t, mlir_of_dtype(k->c, DTYPE_I32));
}

static bool check_splat(struct checked *k) {
  if (type_is_tensor(operand_type(k, 0)) || !type_is_tensor(result_type(k)))
    return fail(k, "makes a tile of a scalar, not `%s` of `%s`", text(k, result_type(k)),
                text(k, operand_type(k, 0)));
  return need_element(k, result_type(k), operand_type(k, 0));
}

static bool need_tiles(struct checked *k) {
  MlirType from = operand_type(k, 0), to = result_type(k);
  if (!type_is_tensor(from) || !type_is_tensor(to))
    return fail(k, "takes and gives a tile, not `%s` and `%s`", text(k, from), text(k, to));
  return need_element(k, to, element_type(from));
}

// Under layouts the operand's is the slice of the result's along the new axis.
static bool check_expand_layout(struct checked *k, int64_t axis) {
  MlirAttribute from = tensor_encoding(operand_type(k, 0)), to = tensor_encoding(result_type(k));
  if (mlirAttributeIsNull(from) && mlirAttributeIsNull(to))
    return true;
  const struct encoding_text *slice = encoding_text_of(k->c, from);
  if (slice && strcmp(slice->kind, "slice") == 0 && mlirAttributeIsADictionary(slice->parameters)) {
    MlirAttribute dim = mlirDictionaryAttrGetElementByName(slice->parameters, ref_of("dim"));
    MlirAttribute parent = mlirDictionaryAttrGetElementByName(slice->parameters, ref_of("parent"));
    if (!mlirAttributeIsNull(dim) && mlirAttributeIsAInteger(dim) &&
        mlirIntegerAttrGetValueInt(dim) == axis && mlirAttributeEqual(parent, to))
      return true;
  }
  return fail(k, "along axis %lld needs an operand laid out as the slice of the result's layout",
              (long long)axis);
}

static bool check_expand_dims(struct checked *k) {
  int64_t axis = 0;
  if (!need_tiles(k) || !need_i32(k, "axis", &axis))
    return false;
  MlirType from = operand_type(k, 0), to = result_type(k);
  unsigned rank = tensor_rank(to);
  if (rank != tensor_rank(from) + 1 || axis < 0 || axis >= (int64_t)rank)
    return fail(k, "cannot put axis %lld into `%s` to make `%s`", (long long)axis, text(k, from),
                text(k, to));
  for (unsigned i = 0; i < rank; i++) {
    int64_t want = i == axis ? 1 : tensor_dim(from, i < axis ? i : i - 1);
    if (tensor_dim(to, i) != want)
      return fail(k, "cannot put axis %lld into `%s` to make `%s`", (long long)axis, text(k, from),
                  text(k, to));
  }
  return check_expand_layout(k, axis);
}

static bool check_broadcast(struct checked *k) {
  if (!need_tiles(k))
    return false;
  MlirType from = operand_type(k, 0), to = result_type(k);
  bool fits = tensor_rank(from) == tensor_rank(to);
  for (unsigned i = 0; fits && i < tensor_rank(to); i++)
    fits = tensor_dim(from, i) == 1 || tensor_dim(from, i) == tensor_dim(to, i);
  if (!fits)
    return fail(k, "cannot grow `%s` to `%s`: only dimensions of size 1 grow", text(k, from),
                text(k, to));
  return mlirAttributeEqual(tensor_encoding(from), tensor_encoding(to)) ||
         fail(k, "keeps the layout: `%s` is not that of `%s`", text(k, to), text(k, from));
}

static bool check_reshape(struct checked *k) {
  if (!need_tiles(k) || !need_bool(k, "allow_reorder"))
    return false;
  MlirType from = operand_type(k, 0), to = result_type(k);
  return tensor_numel(from) == tensor_numel(to) ||
         fail(k, "changes the number of elements: `%s` to `%s`", text(k, from), text(k, to));
}

static bool check_trans(struct checked *k) {
  int32_t order[TENSOR_RANK_LIMIT];
  if (!need_tiles(k))
    return false;
  MlirType from = operand_type(k, 0), to = result_type(k);
  size_t n = op_attr_i32_array(k->op, "order", TENSOR_RANK_LIMIT, order);
  uint32_t seen = 0;
  bool fits = n == tensor_rank(from) && n == tensor_rank(to) && n <= TENSOR_RANK_LIMIT;
  for (size_t i = 0; fits && i < n; i++) {
    fits = order[i] >= 0 && (size_t)order[i] < n && !(seen >> order[i] & 1) &&
           tensor_dim(to, (unsigned)i) == tensor_dim(from, (unsigned)order[i]);
    seen |= fits ? 1u << order[i] : 0;
  }
  return fits || fail(k, "by its `order` does not make `%s` of `%s`", text(k, to), text(k, from));
}

// ---- memory ----

// `value` is what a pointer of type `ptr` points at.
static bool need_pointee(struct checked *k, MlirType ptr, MlirType value) {
  if (!is_ptr_type(k, ptr))
    return fail(k, "needs a pointer, not `%s`", text(k, ptr));
  return need_same_form(k, ptr, value) &&
         need_element(k, value, ptr_pointee(k->c, element_type(ptr)));
}

static bool check_addptr(struct checked *k) {
  MlirType ptr = operand_type(k, 0), offset = operand_type(k, 1);
  if (!is_ptr_type(k, ptr))
    return fail(k, "needs a pointer, not `%s`", text(k, ptr));
  if (!is_int_type(offset))
    return fail(k, "needs an integer offset, not `%s`", text(k, offset));
  return need_equal(k, ptr, result_type(k)) && need_same_form(k, ptr, offset);
}

static bool check_load(struct checked *k) {
  int32_t sizes[3] = {0};
  MlirType ptr = operand_type(k, 0), value = result_type(k);
  if (!need_str(k, "cache") || !need_str(k, "evict") || !need_bool(k, "is_volatile") ||
      !need_pointee(k, ptr, value))
    return false;
  if (op_attr_i32_array(k->op, "operandSegmentSizes", 3, sizes) != 3)
    return fail(k, "needs `operandSegmentSizes` of three numbers");
  if (sizes[2] && !sizes[1])
    return fail(k, "has a value for masked-off lanes but no mask");
  if (sizes[1] && !need_mask(k, operand_type(k, 1), ptr))
    return false;
  return !sizes[2] || need_equal(k, operand_type(k, 2), value);
}

static bool check_store(struct checked *k) {
  if (!need_str(k, "cache") || !need_str(k, "evict") ||
      !need_pointee(k, operand_type(k, 0), operand_type(k, 1)))
    return false;
  return mlirOperationGetNumOperands(k->op) < 3 ||
         need_mask(k, operand_type(k, 2), operand_type(k, 0));
}

static bool check_atomic_rmw(struct checked *k) {
  MlirType value = operand_type(k, 1);
  if (!need_word(k, "kind", "add fadd and or xor max min umax umin xchg") || !need_str(k, "sem") ||
      !need_str(k, "scope") || !need_pointee(k, operand_type(k, 0), value) ||
      !need_equal(k, value, result_type(k)))
    return false;
  struct str kind = op_attr_str(k->op, "kind");
  if (str_is(kind, "fadd") ? !is_float_type(value) : !str_is(kind, "xchg") && !is_int_type(value))
    return fail(k, "of kind `%.*s` cannot work on `%s`", STR_ARG(kind), text(k, value));
  return mlirOperationGetNumOperands(k->op) < 3 ||
         need_mask(k, operand_type(k, 2), operand_type(k, 0));
}

// ---- elementwise ----

static bool check_elementwise(struct checked *k) {
  MlirType like = result_type(k);
  for (intptr_t i = 0, n = mlirOperationGetNumOperands(k->op); i < n; i++) {
    // One condition may choose between whole tiles.
    bool scalar_condition =
        k->id == OP_ARITH_SELECT && i == 0 && !type_is_tensor(operand_type(k, 0));
    if (!scalar_condition && !need_same_form(k, operand_type(k, i), like))
      return false;
  }
  return true;
}

static bool need_all(struct checked *k, bool (*is)(MlirType), const char *what) {
  for (intptr_t i = 0, n = mlirOperationGetNumOperands(k->op); i < n; i++)
    if (!is(operand_type(k, i)))
      return fail(k, "works on %s, not on `%s`", what, text(k, operand_type(k, i)));
  return is(result_type(k)) || fail(k, "gives %s, not `%s`", what, text(k, result_type(k)));
}

static bool need_f32(struct checked *k) {
  return need_element(k, operand_type(k, 0), mlir_of_dtype(k->c, DTYPE_F32)) &&
         need_equal(k, operand_type(k, 0), result_type(k));
}

static bool check_bitcast(struct checked *k) {
  unsigned from = type_bits(k->c, element_type(operand_type(k, 0)));
  unsigned to = type_bits(k->c, element_type(result_type(k)));
  return from == to || fail(k, "changes the width: `%s` to `%s`", text(k, operand_type(k, 0)),
                            text(k, result_type(k)));
}

static bool check_ptr_cast(struct checked *k, MlirType ptr, MlirType number) {
  if (!is_ptr_type(k, ptr))
    return fail(k, "needs a pointer, not `%s`", text(k, ptr));
  return need_element(k, number, mlir_of_dtype(k->c, DTYPE_I64));
}

static bool check_same_types(struct checked *k) {
  for (intptr_t i = 0, n = mlirOperationGetNumOperands(k->op); i < n; i++)
    if (!need_equal(k, operand_type(k, i), result_type(k)))
      return false;
  return true;
}

static bool check_tile_elementwise(struct checked *k) {
  switch (k->id) {
  case OP_TILE_ADDPTR: return check_addptr(k);
  case OP_TILE_BITCAST: return check_bitcast(k);
  case OP_TILE_INT_TO_PTR: return check_ptr_cast(k, result_type(k), operand_type(k, 0));
  case OP_TILE_PTR_TO_INT: return check_ptr_cast(k, operand_type(k, 0), result_type(k));
  case OP_TILE_FP_TO_FP:
    return need_all(k, is_float_type, "floats") && need_word(k, "rounding", "rtne rtz");
  case OP_TILE_CLAMPF:
    return need_all(k, is_float_type, "floats") && check_same_types(k) &&
           need_bool(k, "propagate_nan");
  case OP_TILE_MULHIUI: return need_all(k, is_int_type, "integers") && check_same_types(k);
  case OP_TILE_PRECISE_SQRT:
  case OP_MATH_EXP2:
  case OP_MATH_LOG2:
  case OP_MATH_TANH: return need_f32(k);
  case OP_TILE_PRECISE_DIVF: return check_same_types(k) && need_f32(k);
  default: return true;
  }
}

// ---- debugging, hints, layouts ----

static bool check_print(struct checked *k) {
  intptr_t n = mlirOperationGetNumOperands(k->op);
  if (!need_str(k, "prefix") || !need_bool(k, "hex"))
    return false;
  return (intptr_t)op_attr_i32_array(k->op, "is_signed", 0, NULL) == n ||
         fail(k, "of %lld values needs as many numbers in `is_signed`", (long long)n);
}

static bool check_condition(struct checked *k) {
  if (k->id == OP_TILE_ASSERT && !need_str(k, "message"))
    return false;
  if (k->id == OP_TILE_ASSUME && type_is_tensor(operand_type(k, 0)))
    return fail(k, "takes one condition, not `%s`", text(k, operand_type(k, 0)));
  return need_element(k, operand_type(k, 0), mlir_of_dtype(k->c, DTYPE_I1));
}

static bool check_convert_layout(struct checked *k) {
  if (!need_tiles(k))
    return false;
  MlirType from = operand_type(k, 0), to = result_type(k);
  if (mlirAttributeIsNull(tensor_encoding(from)) || mlirAttributeIsNull(tensor_encoding(to)))
    return fail(k, "needs a layout on both sides: `%s` and `%s`", text(k, from), text(k, to));
  return need_same_form(k, type_with_encoding(from, tensor_encoding(to)), to);
}

static bool check_op(struct checked *k) {
  switch (k->id) {
  case OP_TILE_PROGRAM_ID:
  case OP_TILE_NUM_PROGRAMS: return check_axis(k);
  case OP_TILE_MAKE_RANGE: return check_make_range(k);
  case OP_TILE_SPLAT: return check_splat(k);
  case OP_TILE_EXPAND_DIMS: return check_expand_dims(k);
  case OP_TILE_BROADCAST: return check_broadcast(k);
  case OP_TILE_RESHAPE: return check_reshape(k);
  case OP_TILE_TRANS: return check_trans(k);
  case OP_TILE_LOAD: return check_load(k);
  case OP_TILE_STORE: return check_store(k);
  case OP_TILE_ATOMIC_RMW: return check_atomic_rmw(k);
  case OP_TILE_PRINT: return check_print(k);
  case OP_TILE_ASSERT:
  case OP_TILE_ASSUME: return check_condition(k);
  case OP_GPU_CONVERT_LAYOUT: return check_convert_layout(k);
  default: return true;
  }
}

bool verify_op(struct ir_context *c, MlirOperation op) {
  struct checked k = {c, op, op_id(c, op)};
  if (!check_types(&k))
    return false;
  if (op_info(k.id)->flags & OP_EW)
    return check_elementwise(&k) && check_tile_elementwise(&k);
  return check_op(&k);
}
