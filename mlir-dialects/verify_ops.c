// SPDX-License-Identifier: Apache-2.0
// Constraints that IRDL cannot express for the ops of `tile` and `tilegpu`, and that upstream does
// not check for elementwise ops: shapes, element types, layouts, ranges of attributes. One function
// per op family; the first error of an op is reported.
#include "mlir-dialects/verify_needs.h"

#include <mlir-c/BuiltinAttributes.h>

// ---- program and shape ----

static bool check_axis(struct checked *k) {
  int64_t axis = 0;
  if (!want_i32(k, "axis", &axis))
    return false;
  return (axis >= 0 && axis < 3) ||
         wrong(k, "has axis %lld; a grid has axes 0 to 2", (long long)axis);
}

static bool check_make_range(struct checked *k) {
  int64_t start = 0, end = 0;
  if (!want_i32(k, "start", &start) || !want_i32(k, "end", &end))
    return false;
  MlirType t = result_type(k);
  if (!type_is_tensor(t) || tensor_rank(t) != 1 || tensor_dim(t, 0) != end - start)
    return wrong(k, "from %lld to %lld cannot be `%s`", (long long)start, (long long)end,
                 text(k, t));
  return want_element(k, t, mlir_of_dtype(k->c, DTYPE_I32));
}

static bool check_splat(struct checked *k) {
  if (type_is_tensor(operand_type(k, 0)) || !type_is_tensor(result_type(k)))
    return wrong(k, "makes a tile of a scalar, not `%s` of `%s`", text(k, result_type(k)),
                 text(k, operand_type(k, 0)));
  return want_element(k, result_type(k), operand_type(k, 0));
}

static bool want_tiles(struct checked *k) {
  MlirType from = operand_type(k, 0), to = result_type(k);
  if (!type_is_tensor(from) || !type_is_tensor(to))
    return wrong(k, "takes and gives a tile, not `%s` and `%s`", text(k, from), text(k, to));
  return want_element(k, to, element_type(from));
}

// With layouts, the operand's is the slice of the result's along the new axis.
static bool check_expand_layout(struct checked *k, int64_t axis) {
  MlirAttribute from = tensor_encoding(operand_type(k, 0)), to = tensor_encoding(result_type(k));
  return is_slice_of(k, from, axis, to) ||
         wrong(k, "along axis %lld needs an operand laid out as the slice of the result's layout",
               (long long)axis);
}

static bool check_expand_dims(struct checked *k) {
  int64_t axis = 0;
  if (!want_tiles(k) || !want_i32(k, "axis", &axis))
    return false;
  MlirType from = operand_type(k, 0), to = result_type(k);
  unsigned rank = tensor_rank(to);
  if (rank != tensor_rank(from) + 1 || axis < 0 || axis >= (int64_t)rank)
    return wrong(k, "cannot put axis %lld into `%s` to make `%s`", (long long)axis, text(k, from),
                 text(k, to));
  for (unsigned i = 0; i < rank; i++) {
    int64_t want = i == axis ? 1 : tensor_dim(from, i < axis ? i : i - 1);
    if (tensor_dim(to, i) != want)
      return wrong(k, "cannot put axis %lld into `%s` to make `%s`", (long long)axis, text(k, from),
                   text(k, to));
  }
  return check_expand_layout(k, axis);
}

static bool check_broadcast(struct checked *k) {
  if (!want_tiles(k))
    return false;
  MlirType from = operand_type(k, 0), to = result_type(k);
  bool fits = tensor_rank(from) == tensor_rank(to);
  for (unsigned i = 0; fits && i < tensor_rank(to); i++)
    fits = tensor_dim(from, i) == 1 || tensor_dim(from, i) == tensor_dim(to, i);
  if (!fits)
    return wrong(k, "cannot grow `%s` to `%s`: only dimensions of size 1 grow", text(k, from),
                 text(k, to));
  return mlirAttributeEqual(tensor_encoding(from), tensor_encoding(to)) ||
         wrong(k, "keeps the layout: `%s` is not that of `%s`", text(k, to), text(k, from));
}

static bool check_reshape(struct checked *k) {
  if (!want_tiles(k) || !want_bool(k, "allow_reorder"))
    return false;
  MlirType from = operand_type(k, 0), to = result_type(k);
  return tensor_numel(from) == tensor_numel(to) ||
         wrong(k, "changes the number of elements: `%s` to `%s`", text(k, from), text(k, to));
}

static bool check_trans(struct checked *k) {
  int32_t order[TENSOR_RANK_LIMIT];
  if (!want_tiles(k))
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
  return fits || wrong(k, "by its `order` does not make `%s` of `%s`", text(k, to), text(k, from));
}

// ---- memory ----

#define EVICTIONS "evict_normal evict_first evict_last"

static bool check_addptr(struct checked *k) {
  MlirType ptr = operand_type(k, 0), offset = operand_type(k, 1);
  if (!is_ptr_type(k, ptr))
    return wrong(k, "needs a pointer, not `%s`", text(k, ptr));
  if (!is_int_type(offset))
    return wrong(k, "needs an integer offset, not `%s`", text(k, offset));
  return want_equal(k, ptr, result_type(k)) && want_same_form(k, ptr, offset);
}

static bool check_load(struct checked *k) {
  int32_t sizes[3] = {0};
  MlirType ptr = operand_type(k, 0), value = result_type(k);
  if (!want_word_or_none(k, "cache", "ca cg cs cv") || !want_word_or_none(k, "evict", EVICTIONS) ||
      !want_bool(k, "is_volatile") || !want_pointee(k, ptr, value))
    return false;
  if (op_attr_i32_array(k->op, "operandSegmentSizes", 3, sizes) != 3)
    return wrong(k, "needs `operandSegmentSizes` of three numbers");
  if (sizes[2] && !sizes[1])
    return wrong(k, "has a value for masked-off lanes but no mask");
  if (sizes[1] && !want_mask(k, operand_type(k, 1), ptr))
    return false;
  return !sizes[2] || want_equal(k, operand_type(k, 2), value);
}

static bool check_store(struct checked *k) {
  if (!want_word_or_none(k, "cache", "wb cg cs wt") || !want_word_or_none(k, "evict", EVICTIONS) ||
      !want_pointee(k, operand_type(k, 0), operand_type(k, 1)))
    return false;
  return mlirOperationGetNumOperands(k->op) < 3 ||
         want_mask(k, operand_type(k, 2), operand_type(k, 0));
}

static bool check_atomic_rmw(struct checked *k) {
  MlirType value = operand_type(k, 1);
  if (!want_word(k, "kind", "add fadd and or xor max min umax umin fmax fmin xchg") ||
      !want_word_or_none(k, "sem", MEMORY_SEMS) || !want_word_or_none(k, "scope", MEMORY_SCOPES) ||
      !want_pointee(k, operand_type(k, 0), value) || !want_equal(k, value, result_type(k)))
    return false;
  struct str kind = op_attr_str(k->op, "kind");
  if (kind.ptr[0] == 'f' ? !is_float_type(value) : !str_is(kind, "xchg") && !is_int_type(value))
    return wrong(k, "of kind `%.*s` cannot work on `%s`", STR_ARG(kind), text(k, value));
  return mlirOperationGetNumOperands(k->op) < 3 ||
         want_mask(k, operand_type(k, 2), operand_type(k, 0));
}

// ---- elementwise ----

static bool check_elementwise(struct checked *k) {
  if (result_count(k) == 0)
    return wrong(k, "needs a result");
  MlirType like = result_type(k);
  for (intptr_t i = 0, n = mlirOperationGetNumOperands(k->op); i < n; i++) {
    // A scalar condition may select between whole tiles.
    bool scalar_condition =
        k->id == OP_ARITH_SELECT && i == 0 && !type_is_tensor(operand_type(k, 0));
    if (!scalar_condition && !want_same_form(k, operand_type(k, i), like))
      return false;
  }
  return true;
}

static bool want_all(struct checked *k, bool (*is)(MlirType), const char *what) {
  for (intptr_t i = 0, n = mlirOperationGetNumOperands(k->op); i < n; i++)
    if (!is(operand_type(k, i)))
      return wrong(k, "works on %s, not on `%s`", what, text(k, operand_type(k, i)));
  return is(result_type(k)) || wrong(k, "gives %s, not `%s`", what, text(k, result_type(k)));
}

static bool want_f32(struct checked *k) {
  return want_element(k, operand_type(k, 0), mlir_of_dtype(k->c, DTYPE_F32)) &&
         want_equal(k, operand_type(k, 0), result_type(k));
}

static bool check_bitcast(struct checked *k) {
  unsigned from = type_bits(k->c, element_type(operand_type(k, 0)));
  unsigned to = type_bits(k->c, element_type(result_type(k)));
  return from == to || wrong(k, "changes the width: `%s` to `%s`", text(k, operand_type(k, 0)),
                             text(k, result_type(k)));
}

static bool check_ptr_cast(struct checked *k, MlirType ptr, MlirType number) {
  if (!is_ptr_type(k, ptr))
    return wrong(k, "needs a pointer, not `%s`", text(k, ptr));
  return want_element(k, number, mlir_of_dtype(k->c, DTYPE_I64));
}

static bool check_same_types(struct checked *k) {
  for (intptr_t i = 0, n = mlirOperationGetNumOperands(k->op); i < n; i++)
    if (!want_equal(k, operand_type(k, i), result_type(k)))
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
    return want_all(k, is_float_type, "floats") && want_word(k, "rounding", "rtne rtz");
  case OP_TILE_CLAMPF:
    return want_all(k, is_float_type, "floats") && check_same_types(k) &&
           want_bool(k, "propagate_nan");
  case OP_TILE_MULHIUI: return want_all(k, is_int_type, "integers") && check_same_types(k);
  case OP_TILE_PRECISE_SQRT:
  case OP_MATH_EXP2:
  case OP_MATH_LOG2:
  case OP_MATH_TANH: return want_f32(k);
  case OP_TILE_PRECISE_DIVF: return check_same_types(k) && want_f32(k);
  case OP_TILE_MAP: return check_map(k);
  case OP_TILE_INLINE_ASM: return check_inline_asm(k);
  default: return true;
  }
}

// ---- debugging, hints, layouts ----

static bool check_print(struct checked *k) {
  intptr_t n = mlirOperationGetNumOperands(k->op);
  if (!want_str(k, "prefix") || !want_bool(k, "hex"))
    return false;
  return (intptr_t)op_attr_i32_array(k->op, "is_signed", 0, NULL) == n ||
         wrong(k, "of %lld values needs as many numbers in `is_signed`", (long long)n);
}

static bool check_debug_value(struct checked *k) {
  enum dtype dtype;
  int64_t argument = 1;
  if (!want_str(k, "name") || !want_str(k, "dtype"))
    return false;
  if (!mlirAttributeIsNull(op_attr(k->op, "argument")) && !want_i32(k, "argument", &argument))
    return false;
  if (argument < 1 || argument > UINT16_MAX)
    return wrong(k, "has no parameter %lld", (long long)argument);
  MlirType element = element_type(operand_type(k, 0));
  return (dtype_parse(op_attr_str(k->op, "dtype"), &dtype) &&
          (is_ptr_type(k, element) || dtype_bits(dtype) == dtype_bits(dtype_of_mlir(element)))) ||
         wrong(k, "of `%s` has another `dtype`", text(k, operand_type(k, 0)));
}

static bool check_condition(struct checked *k) {
  if (k->id == OP_TILE_ASSERT && !want_str(k, "message"))
    return false;
  if (k->id == OP_TILE_ASSUME && type_is_tensor(operand_type(k, 0)))
    return wrong(k, "takes one condition, not `%s`", text(k, operand_type(k, 0)));
  return want_element(k, operand_type(k, 0), mlir_of_dtype(k->c, DTYPE_I1));
}

static bool check_convert_layout(struct checked *k) {
  if (!want_tiles(k))
    return false;
  MlirType from = operand_type(k, 0), to = result_type(k);
  if (mlirAttributeIsNull(tensor_encoding(from)) || mlirAttributeIsNull(tensor_encoding(to)))
    return wrong(k, "needs a layout on both sides: `%s` and `%s`", text(k, from), text(k, to));
  return want_same_form(k, type_with_encoding(from, tensor_encoding(to)), to);
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
  case OP_TILE_DESCRIPTOR_LOAD:
  case OP_TILE_DESCRIPTOR_STORE:
  case OP_TILE_DESCRIPTOR_REDUCE:
  case OP_TILE_DESCRIPTOR_GATHER:
  case OP_TILE_DESCRIPTOR_SCATTER: return check_descriptor(k);
  case OP_TILE_PRINT: return check_print(k);
  case OP_TILE_DEBUG_VALUE: return check_debug_value(k);
  case OP_TILE_ASSERT:
  case OP_TILE_ASSUME: return check_condition(k);
  case OP_GPU_CONVERT_LAYOUT: return check_convert_layout(k);
  default: return check_shared(k) && check_ring(k) && check_collective(k);
  }
}

// Byte offsets of shared memory, from allocate-shared or from handwritten IR.
static bool check_shared_offset(struct checked *k, const char *name) {
  const int64_t most = 1 << 24;
  int64_t at = 0;
  if (mlirAttributeIsNull(op_attr(k->op, name)))
    return true;
  return want_i32(k, name, &at) &&
         ((at >= 0 && at <= most) || wrong(k, "has `%s` %lld; shared memory has bytes 0 to %lld",
                                           name, (long long)at, (long long)most));
}

bool verify_op(struct ir_context *c, MlirOperation op) {
  struct checked k = {c, op, op_id(c, op)};
  if (!check_shared_offset(&k, "tilegpu.shared_offset") ||
      !check_shared_offset(&k, "tilegpu.shared_double_buffer"))
    return false;
  for (intptr_t i = 0, n = result_count(&k); i < n; i++)
    if (!check_type(&k, result_type_at(&k, i)))
      return false;
  if (op_info(k.id)->flags & OP_EW)
    return check_elementwise(&k) && check_tile_elementwise(&k);
  return check_op(&k);
}
