// SPDX-License-Identifier: Apache-2.0
// Compile-time numbers as run-time constants: literals adopt a type.
#include "lang/ops/ops.h"

#include <float.h>
#include <math.h>

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

static struct value float_constant(struct eval *e, struct type t, double f) {
  MlirType type = type_to_mlir(e->c, t);
  if (!type_is_storage(t))
    return value_rt(build_const_float(&e->b, type, f), t);
  int8_t bits;
  dtype_store(t.dtype, &bits, f);
  return value_rt(build_const_int(&e->b, type, bits), t);
}

struct value literal_as(struct eval *e, struct operand x, struct type t) {
  if (value_is_poison(x.v))
    return x.v;
  MlirType type = type_to_mlir(e->c, t);
  if (dtype_is_float(t.dtype))
    return float_constant(e, t, value_as_double(x.v));
  int_const i;
  if (!value_as_int(x.v, &i)) { // a float literal truncates, as `int()` does
    double f = trunc(x.v.f);
    if (!(fabs(f) < 0x1p64)) {
      diag_help(eval_error(e, x.at, E0204, "%s has no value of type %s", value_describe(e, x.v),
                           type_text(e->a, t)),
                "cast the other operand to a type that has it: `.to(tl.float32)`");
      return VALUE_ERROR;
    }
    i = (int_const)f;
  }
  if (t.dtype == DTYPE_I1)
    i = i != 0;
  if (!int_fits(i, t.dtype)) {
    struct diag *d;
    if (i < 0 && !dtype_is_signed(t.dtype)) {
      d = eval_error(e, x.at, E0209, "negative %s meets the unsigned type %s",
                     value_describe(e, x.v), type_text(e->a, t));
      diag_help(d, "cast the unsigned operand first: `.to(tl.int%u)`",
                dtype_bits(t.dtype) < 64 ? dtype_bits(t.dtype) * 2 : 64);
    } else {
      d = eval_error(e, x.at, E0204, "%s is out of range for %s", value_describe(e, x.v),
                     type_text(e->a, t));
      diag_help(d,
                "a literal takes the type of the other operand; cast that to a wider type first");
    }
    return VALUE_ERROR;
  }
  return value_rt(build_const_int(&e->b, type, (int64_t)(uint64_t)(uint_const)i), t);
}

struct value to_runtime(struct eval *e, struct operand x, const char *what) {
  struct type t;
  if (x.v.kind == VALUE_RT || value_is_poison(x.v))
    return x.v;
  if (literal_type(x.v, &t))
    return literal_as(e, x, t);
  if (x.v.kind == VALUE_INT) {
    diag_help(eval_error(e, x.at, E0204, "%s does not fit into 64 bits", value_describe(e, x.v)),
              "compute with it at compile time only, or write a float");
    return VALUE_ERROR;
  }
  struct diag *d = eval_error(e, x.at, E0208, "%s must be a number or a tile, not %s", what,
                              value_describe(e, x.v));
  if (eval_help_none(e, d, x))
    return VALUE_ERROR;
  if (x.v.kind == VALUE_TYPE)
    diag_help(d, "write `tl.full(shape, 0, %s)` for a tile of that type, or `x.to(%s)`",
              type_text(e->a, x.v.type), type_text(e->a, x.v.type));
  else if (x.v.kind == VALUE_TUPLE)
    diag_help(d, "name one of its values: `x[0]`");
  else if (x.v.kind == VALUE_FUNC || x.v.kind == VALUE_BUILTIN)
    diag_help(d, "call it: `f(...)`");
  else
    diag_help(d, "give a number, such as 0, or a tile");
  return VALUE_ERROR;
}
