// SPDX-License-Identifier: Apache-2.0
// Casts between element types.
#include "lang/ops/ops.h"

#include <assert.h>

static struct value cast_op(struct eval *e, enum op_id op, struct value v, struct type elem) {
  return value_rt(build_cast(&e->b, op, v.rt, type_to_mlir(e->c, elem)), type_shaped(elem, v.type));
}

// Between f8e4b15, which is i8 in the IR, and f16 by library functions; other types go through f16.
static struct value cast_storage(struct eval *e, struct value v, struct type elem) {
  if (type_is_storage(v.type)) {
    v.type.dtype = DTYPE_U8;
    v = emit_std(e, "f8e4b15_to_half", 1, &v, SPAN_NONE);
    return emit_cast(e, v, elem, NULL);
  }
  v = emit_cast(e, v, type_scalar(DTYPE_F16), NULL);
  v = emit_std(e, "half_to_f8e4b15", 1, &v, SPAN_NONE);
  v.type.dtype = elem.dtype;
  return v;
}

static struct value cast_float(struct eval *e, struct value v, struct type elem,
                               const char *rounding) {
  unsigned from = dtype_bits(v.type.dtype), to = dtype_bits(elem.dtype);
  if (type_is_storage(v.type) || type_is_storage(elem))
    return cast_storage(e, v, elem);
  if (type_is_fp8(v.type) || type_is_fp8(elem)) {
    if (from == 64) // there is no direct conversion
      v = cast_float(e, v, type_scalar(DTYPE_F32), NULL);
    if (to == 64)
      return cast_float(e, cast_float(e, v, type_scalar(DTYPE_F32), NULL), elem, NULL);
    return value_rt(
        build_fp_to_fp(&e->b, v.rt, type_to_mlir(e->c, elem), rounding ? rounding : "rtne"),
        type_shaped(elem, v.type));
  }
  if (from == to) // f16 and bf16: through f32, which holds both
    return cast_float(e, cast_float(e, v, type_scalar(DTYPE_F32), NULL), elem, rounding);
  if (from < to)
    return cast_op(e, OP_ARITH_EXTF, v, elem);
  if (rounding && strcmp(rounding, "rtne") != 0)
    return value_rt(build_fp_to_fp(&e->b, v.rt, type_to_mlir(e->c, elem), rounding),
                    type_shaped(elem, v.type));
  return cast_op(e, OP_ARITH_TRUNCF, v, elem);
}

static struct value cast_int(struct eval *e, struct value v, struct type elem) {
  if (type_is_bool(elem))
    return emit_truth_tile(e, v);
  unsigned from = dtype_bits(v.type.dtype), to = dtype_bits(elem.dtype);
  if (from == to)
    return value_rt(v.rt, type_shaped(elem, v.type));
  if (from > to)
    return cast_op(e, OP_ARITH_TRUNCI, v, elem);
  return cast_op(e, dtype_is_signed(v.type.dtype) ? OP_ARITH_EXTSI : OP_ARITH_EXTUI, v, elem);
}

static struct value cast_pointer(struct eval *e, struct value v, struct type elem) {
  if (v.type.ptr && elem.ptr) {
    // Pointers to i1 and to i8 are one type in the IR.
    MlirType to = type_to_mlir(e->c, type_elem(elem));
    if (mlirTypeEqual(to, type_to_mlir(e->c, type_elem(v.type))))
      return value_rt(v.rt, type_shaped(elem, v.type));
    return cast_op(e, OP_TILE_BITCAST, v, elem);
  }
  if (v.type.ptr) {
    struct value i = cast_op(e, OP_TILE_PTR_TO_INT, v, type_scalar(DTYPE_I64));
    return emit_cast(e, i, elem, NULL);
  }
  return cast_op(e, OP_TILE_INT_TO_PTR, emit_cast(e, v, type_scalar(DTYPE_I64), NULL), elem);
}

// Converts an integer constant to type t; the result's bits as a signed 64-bit number.
static int64_t wrap(int64_t i, enum dtype t) {
  unsigned bits = dtype_bits(t);
  if (bits == 64)
    return i;
  uint64_t u = (uint64_t)i & (((uint64_t)1 << bits) - 1);
  if (dtype_is_signed(t) && u >> (bits - 1))
    u |= ~(((uint64_t)1 << bits) - 1);
  return (int64_t)u;
}

// Casts of constants, such as promoted literals, are folded.
static bool cast_constant(struct eval *e, struct value v, struct type elem, struct value *ret) {
  struct type t = type_shaped(elem, v.type);
  int64_t i;
  double f;
  if (type_is_fp8(v.type) || type_is_fp8(elem))
    return false;
  if (type_is_int(v.type) && value_const_int(e->c, v.rt, &i)) {
    i = wrap(i, v.type.dtype);
    bool is_unsigned = v.type.dtype == DTYPE_U64;
    if (type_is_float(elem))
      f = is_unsigned ? (double)(uint64_t)i : (double)i;
    else
      i = type_is_bool(elem) ? i != 0 : wrap(i, elem.dtype);
  } else if (type_is_float(v.type) && type_is_float(elem) && value_const_float(e->c, v.rt, &f)) {
    i = 0;
  } else {
    return false;
  }
  MlirType type = type_to_mlir(e->c, t);
  *ret = value_rt(
      type_is_float(elem) ? build_const_float(&e->b, type, f) : build_const_int(&e->b, type, i), t);
  return true;
}

struct value emit_cast(struct eval *e, struct value v, struct type elem, const char *rounding) {
  if (value_is_poison(v) || type_elem_eq(v.type, elem))
    return v;
  assert(v.kind == VALUE_RT);
  elem = type_elem(elem);
  if (v.type.ptr || elem.ptr)
    return cast_pointer(e, v, elem);
  struct value constant;
  if (!rounding && cast_constant(e, v, elem, &constant))
    return constant;
  bool from_float = type_is_float(v.type), to_float = type_is_float(elem);
  if (from_float && to_float)
    return cast_float(e, v, elem, rounding);
  if (!from_float && !to_float)
    return cast_int(e, v, elem);
  if (type_is_bool(elem))
    return emit_truth_tile(e, v);
  // bf16 and fp8 convert to and from integers through f32, but bf16 has all integers of 8 bits.
  enum dtype small = from_float ? v.type.dtype : elem.dtype;
  bool is_exact = !from_float && dtype_bits(v.type.dtype) == 8;
  if ((small == DTYPE_BF16 && !is_exact) || dtype_bits(small) == 8)
    return emit_cast(e, emit_cast(e, v, type_scalar(DTYPE_F32), NULL), elem, rounding);
  if (from_float)
    return cast_op(e, dtype_is_signed(elem.dtype) ? OP_ARITH_FPTOSI : OP_ARITH_FPTOUI, v, elem);
  return cast_op(e, dtype_is_signed(v.type.dtype) ? OP_ARITH_SITOFP : OP_ARITH_UITOFP, v, elem);
}

static bool is_carried_as_int(struct type t) { return type_is_int(t) || type_is_storage(t); }

struct value emit_bitcast(struct eval *e, struct operand x, struct type elem) {
  if (value_is_poison(x.v) || type_elem_eq(x.v.type, elem))
    return x.v;
  unsigned from = x.v.type.ptr ? 64 : dtype_bits(x.v.type.dtype);
  unsigned to = elem.ptr ? 64 : dtype_bits(elem.dtype);
  if (from != to) {
    struct diag *d = eval_error(e, x.at, E0217, "cannot reinterpret %s as %s: %u bits against %u",
                                type_text(e->a, x.v.type), type_text(e->a, elem), from, to);
    diag_help(d, "a bitcast keeps the width; leave out `bitcast=True` to convert the value");
    return VALUE_ERROR;
  }
  if (x.v.type.ptr || elem.ptr)
    return cast_pointer(e, x.v, elem);
  if (is_carried_as_int(x.v.type) && is_carried_as_int(elem))
    return value_rt(x.v.rt, type_shaped(elem, x.v.type));
  return cast_op(e, OP_ARITH_BITCAST, x.v, elem);
}

struct value emit_convert(struct eval *e, struct operand x, struct type elem) {
  if (x.v.kind == VALUE_RT)
    return emit_cast(e, x.v, elem, NULL);
  if (value_is_poison(x.v))
    return x.v;
  if (!value_is_number(x.v))
    return to_runtime(e, x, "this value");
  if (elem.ptr) {
    struct value i = literal_as(e, x, type_scalar(DTYPE_I64));
    return value_is_poison(i) ? i : emit_cast(e, i, elem, NULL);
  }
  return literal_as(e, x, type_elem(elem));
}

// ---- truth ----

// Pointers are addresses of 64 bits.
struct value emit_address(struct eval *e, struct value v) {
  return v.type.ptr ? emit_cast(e, v, type_scalar(DTYPE_I64), NULL) : v;
}

struct value emit_zero_like(struct eval *e, struct value v) {
  MlirType t = type_to_mlir(e->c, v.type);
  return value_rt(type_is_float(v.type) ? build_const_float(&e->b, t, 0)
                                        : build_const_int(&e->b, t, 0),
                  v.type);
}

struct value emit_truth_tile(struct eval *e, struct value v) {
  if (value_is_poison(v) || type_is_bool(v.type))
    return v;
  if (type_is_fp8(v.type))
    v = emit_cast(e, v, type_scalar(DTYPE_F32), NULL);
  v = emit_address(e, v);
  struct value zero = emit_zero_like(e, v);
  MlirValue r = type_is_float(v.type) ? build_cmpf(&e->b, 13, v.rt, zero.rt)
                                      : build_cmpi(&e->b, 1, v.rt, zero.rt);
  return value_rt(r, type_with_dtype(v.type, DTYPE_I1));
}
