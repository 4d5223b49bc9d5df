// SPDX-License-Identifier: Apache-2.0
// Type promotion of operands, literals that adopt a type, and casts between element types.
#include "lang/emit/consteval.h"
#include "lang/emit/std_module.h"

#include <float.h>
#include <math.h>

// ---- literals ----

bool literal_type(struct value v, struct type *ret) {
  enum dtype t = DTYPE_NONE;
  if (v.kind == VALUE_BOOL) {
    t = DTYPE_I1;
  } else if (v.kind == VALUE_INT) {
    int_const one = 1;
    if (v.i >= -(one << 31) && v.i < (one << 31))
      t = DTYPE_I32;
    else if (v.i >= 0 && v.i < (one << 32))
      t = DTYPE_U32;
    else if (v.i >= -(one << 63) && v.i < (one << 63))
      t = DTYPE_I64;
    else if (v.i >= 0 && v.i < (one << 64))
      t = DTYPE_U64;
  } else if (v.kind == VALUE_FLOAT) {
    double m = fabs(v.f);
    bool f32 = isnan(v.f) || isinf(v.f) || m == 0 || (m >= (double)FLT_MIN && m <= (double)FLT_MAX);
    t = f32 ? DTYPE_F32 : DTYPE_F64;
  }
  if (t == DTYPE_NONE)
    return false;
  *ret = type_scalar(t);
  return true;
}

static bool int_fits(int_const i, enum dtype t) {
  unsigned bits = dtype_bits(t);
  int_const one = 1;
  if (dtype_is_signed(t))
    return i >= -(one << (bits - 1)) && i < (one << (bits - 1));
  return i >= 0 && i < (one << bits);
}

static struct value float_constant(struct emitter *e, struct type t, double f) {
  MlirType type = type_to_mlir(e->c, t);
  if (!type_is_storage(t))
    return value_rt(build_const_float(&e->b, type, f), t);
  int8_t bits;
  dtype_store(t.dtype, &bits, f);
  return value_rt(build_const_int(&e->b, type, bits), t);
}

struct value literal_as(struct emitter *e, struct operand x, struct type t) {
  if (value_is_poison(x.v))
    return x.v;
  MlirType type = type_to_mlir(e->c, t);
  if (dtype_is_float(t.dtype))
    return float_constant(e, t, value_as_double(x.v));
  int_const i;
  if (!value_as_int(x.v, &i)) { // a float literal truncates, as `int()` does
    double f = trunc(x.v.f);
    if (!(fabs(f) < 0x1p64)) {
      emit_error(e, x.at, E0204, "%s has no value of type %s", value_describe(e, x.v),
                 type_text(e->a, t));
      return VALUE_ERROR;
    }
    i = (int_const)f;
  }
  if (t.dtype == DTYPE_I1)
    i = i != 0;
  if (!int_fits(i, t.dtype)) {
    struct diag *d;
    if (i < 0 && !dtype_is_signed(t.dtype)) {
      d = emit_error(e, x.at, E0209, "negative %s meets the unsigned type %s",
                     value_describe(e, x.v), type_text(e->a, t));
      diag_help(d, "cast the unsigned operand first: `.to(tl.int%u)`",
                dtype_bits(t.dtype) < 64 ? dtype_bits(t.dtype) * 2 : 64);
    } else {
      d = emit_error(e, x.at, E0204, "%s is out of range for %s", value_describe(e, x.v),
                     type_text(e->a, t));
      diag_help(d,
                "a literal takes the type of the other operand; cast that to a wider type first");
    }
    return VALUE_ERROR;
  }
  return value_rt(build_const_int(&e->b, type, (int64_t)(uint64_t)(uint_const)i), t);
}

struct value to_runtime(struct emitter *e, struct operand x, const char *what) {
  struct type t;
  if (x.v.kind == VALUE_RT || value_is_poison(x.v))
    return x.v;
  if (literal_type(x.v, &t))
    return literal_as(e, x, t);
  if (x.v.kind == VALUE_INT) {
    emit_error(e, x.at, E0204, "%s does not fit into 64 bits", value_describe(e, x.v));
    return VALUE_ERROR;
  }
  emit_error(e, x.at, E0208, "%s must be a number or a tile, not %s", what, value_describe(e, x.v));
  return VALUE_ERROR;
}

// ---- casts ----

static struct value cast_op(struct emitter *e, enum op_id op, struct value v, struct type elem) {
  return value_rt(build_cast(&e->b, op, v.rt, type_to_mlir(e->c, elem)), type_shaped(elem, v.type));
}

// Between f8e4b15, carried as i8, and f16 by functions of the library; others go through f16.
static struct value cast_storage(struct emitter *e, struct value v, struct type elem) {
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

static struct value cast_float(struct emitter *e, struct value v, struct type elem,
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

static struct value cast_int(struct emitter *e, struct value v, struct type elem) {
  if (type_is_bool(elem))
    return emit_truth_tile(e, v);
  unsigned from = dtype_bits(v.type.dtype), to = dtype_bits(elem.dtype);
  if (from == to)
    return value_rt(v.rt, type_shaped(elem, v.type));
  if (from > to)
    return cast_op(e, OP_ARITH_TRUNCI, v, elem);
  return cast_op(e, dtype_is_signed(v.type.dtype) ? OP_ARITH_EXTSI : OP_ARITH_EXTUI, v, elem);
}

static struct value cast_pointer(struct emitter *e, struct value v, struct type elem) {
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

// The constant of type t that an integer constant becomes; its bits as a signed number of 64.
static int64_t wrap(int64_t i, enum dtype t) {
  unsigned bits = dtype_bits(t);
  if (bits == 64)
    return i;
  uint64_t u = (uint64_t)i & (((uint64_t)1 << bits) - 1);
  if (dtype_is_signed(t) && u >> (bits - 1))
    u |= ~(((uint64_t)1 << bits) - 1);
  return (int64_t)u;
}

// Casts of constants, as literals become by promotion, leave no operation behind.
static bool cast_constant(struct emitter *e, struct value v, struct type elem, struct value *ret) {
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

struct value emit_cast(struct emitter *e, struct value v, struct type elem, const char *rounding) {
  if (value_is_poison(v) || type_elem_eq(v.type, elem))
    return v;
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
  // bf16 and fp8 meet integers through f32.
  enum dtype small = from_float ? v.type.dtype : elem.dtype;
  if (small == DTYPE_BF16 || dtype_bits(small) == 8)
    return emit_cast(e, emit_cast(e, v, type_scalar(DTYPE_F32), NULL), elem, rounding);
  if (from_float)
    return cast_op(e, dtype_is_signed(elem.dtype) ? OP_ARITH_FPTOSI : OP_ARITH_FPTOUI, v, elem);
  return cast_op(e, dtype_is_signed(v.type.dtype) ? OP_ARITH_SITOFP : OP_ARITH_UITOFP, v, elem);
}

static bool is_carried_as_int(struct type t) { return type_is_int(t) || type_is_storage(t); }

struct value emit_bitcast(struct emitter *e, struct operand x, struct type elem) {
  if (value_is_poison(x.v) || type_elem_eq(x.v.type, elem))
    return x.v;
  unsigned from = x.v.type.ptr ? 64 : dtype_bits(x.v.type.dtype);
  unsigned to = elem.ptr ? 64 : dtype_bits(elem.dtype);
  if (from != to) {
    struct diag *d = emit_error(e, x.at, E0217, "cannot reinterpret %s as %s: %u bits against %u",
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

struct value emit_convert(struct emitter *e, struct operand x, struct type elem) {
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

// ---- promotion ----

static int kind_rank(struct type t) { return type_is_float(t) ? 2 : type_is_bool(t) ? 0 : 1; }

static enum dtype promote_ints(enum dtype a, enum dtype b) {
  unsigned wa = dtype_bits(a), wb = dtype_bits(b);
  if (dtype_is_signed(a) == dtype_is_signed(b))
    return wa > wb ? a : b;
  if (!dtype_is_signed(a))
    return wa >= wb ? a : b;
  return wb >= wa ? b : a;
}

static enum dtype promote_floats(enum dtype a, enum dtype b, bool division) {
  if (a == DTYPE_F64 || b == DTYPE_F64)
    return DTYPE_F64;
  if (a == DTYPE_F32 || b == DTYPE_F32)
    return DTYPE_F32;
  if (a == DTYPE_F16 || b == DTYPE_F16)
    return division ? DTYPE_F32 : DTYPE_F16;
  if (a == DTYPE_BF16 || b == DTYPE_BF16)
    return a == b && !division ? DTYPE_BF16 : DTYPE_F32;
  if (dtype_is_float(a) && dtype_is_float(b)) // both fp8
    return a == b ? a : DTYPE_F16;
  return DTYPE_NONE; // fp8 with an integer
}

// The type both operands are computed in; DTYPE_NONE when there is none.
static enum dtype computation_type(struct type a, bool a_literal, struct type b, bool b_literal,
                                   bool division, bool *ret_mixed_signs) {
  *ret_mixed_signs = false;
  if (a_literal != b_literal) {
    struct type literal = a_literal ? a : b, other = a_literal ? b : a;
    if (kind_rank(literal) <= kind_rank(other)) {
      bool half = other.dtype == DTYPE_F16 || other.dtype == DTYPE_BF16;
      return division && half ? DTYPE_F32 : other.dtype;
    }
  }
  if (type_is_float(a) || type_is_float(b))
    return promote_floats(a.dtype, b.dtype, division);
  if (division && dtype_is_signed(a.dtype) != dtype_is_signed(b.dtype)) {
    *ret_mixed_signs = true;
    return DTYPE_NONE;
  }
  return promote_ints(a.dtype, b.dtype);
}

static bool bad_operands(struct emitter *e, struct operand a, struct operand b, const char *what,
                         struct span at, const char *help) {
  struct diag *d = emit_error(e, at, E0203, "`%s` does not take %s and %s", what,
                              value_describe(e, a.v), value_describe(e, b.v));
  diag_label(d, a.at, "%s", value_type_text(e, a.v));
  diag_label(d, b.at, "%s", value_type_text(e, b.v));
  if (help)
    diag_help(d, "%s", help);
  return false;
}

// Element type of an operand, and whether it is a literal that adopts the other's type; false if it
// is no number.
static bool operand_type(struct operand x, struct type *ret, bool *adopts) {
  *adopts = x.v.kind != VALUE_RT && !x.v.is_typed;
  if (x.v.kind == VALUE_RT)
    return *ret = type_elem(x.v.type), true;
  return literal_type(x.v, ret);
}

// An integer as a value of type t: what does not fit wraps.
static int_const wrap_number(int_const i, enum dtype t) {
  int_const range = (int_const)1 << dtype_bits(t);
  i &= range - 1;
  return dtype_is_signed(t) && i >= range / 2 ? i - range : i;
}

// To the type that both operands are computed in; beside a tile, a number is a constant of its
// shape at once.
static struct value promote_one(struct emitter *e, struct operand x, struct value other,
                                struct type elem) {
  if (x.v.kind == VALUE_RT || other.kind != VALUE_RT)
    return emit_convert(e, x, elem);
  if (x.v.is_typed && x.v.kind == VALUE_INT && type_is_int(elem) && !type_is_bool(elem))
    x.v.i = wrap_number(x.v.i, elem.dtype);
  return literal_as(e, x, type_shaped(elem, other.type));
}

bool promote_elements(struct emitter *e, struct operand *a, struct operand *b, unsigned flags,
                      const char *what, struct span at) {
  if (value_is_poison(a->v) || value_is_poison(b->v))
    return false;
  struct type x, y;
  bool x_literal, y_literal, mixed;
  if (!operand_type(*a, &x, &x_literal) || !operand_type(*b, &y, &y_literal))
    return bad_operands(e, *a, *b, what, at, NULL);
  if (x.ptr || y.ptr) {
    if (!(flags & PROMOTE_POINTERS))
      return bad_operands(e, *a, *b, what, at,
                          "load the value first, or cast the pointer: `.to(tl.int64)`");
    if (x.ptr && y.ptr && !type_elem_eq(x, y))
      return bad_operands(e, *a, *b, what, at, NULL);
    if (type_is_float(x) || type_is_float(y))
      return bad_operands(e, *a, *b, what, at,
                          what[0] == '+' || what[0] == '-' ? "offsets are integers: `.to(tl.int32)`"
                                                           : NULL);
    a->v = to_runtime(e, *a, what);
    b->v = to_runtime(e, *b, what);
    return !value_is_poison(a->v) && !value_is_poison(b->v);
  }
  if ((type_is_storage(x) || type_is_storage(y)) && !(flags & PROMOTE_STORAGE))
    return bad_operands(e, *a, *b, what, at, "convert first: `.to(tl.float16)`");
  enum dtype t = computation_type(x, x_literal, y, y_literal, flags & PROMOTE_DIV, &mixed);
  if (mixed) {
    struct diag *d = emit_error(e, at, E0210, "`%s` of %s and %s mixes signed and unsigned", what,
                                type_text(e->a, x), type_text(e->a, y));
    diag_label(d, a->at, "%s", value_type_text(e, a->v));
    diag_label(d, b->at, "%s", value_type_text(e, b->v));
    diag_help(d, "cast one of them: `.to(tl.%s)`", dtype_language_name(x.dtype));
    return false;
  }
  if (t == DTYPE_NONE)
    return bad_operands(e, *a, *b, what, at, "cast the fp8 operand first: `.to(tl.float16)`");
  struct operand l = *a, r = *b;
  a->v = promote_one(e, l, r.v, type_scalar(t));
  b->v = promote_one(e, r, l.v, type_scalar(t));
  return !value_is_poison(a->v) && !value_is_poison(b->v);
}

bool promote_pair(struct emitter *e, struct operand *a, struct operand *b, unsigned flags,
                  const char *what, struct span at) {
  return promote_elements(e, a, b, flags, what, at) && broadcast_pair(e, a, b, at);
}
