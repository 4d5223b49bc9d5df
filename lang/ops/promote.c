// SPDX-License-Identifier: Apache-2.0
// Type promotion of operands.
#include "lang/ops/ops.h"

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

static bool bad_operands(struct eval *e, struct operand a, struct operand b, const char *what,
                         struct span at, const char *help) {
  struct diag *d = eval_error(e, at, E0203, "`%s` does not take %s and %s", what,
                              value_describe(e, a.v), value_describe(e, b.v));
  diag_label(d, a.at, "%s", value_type_text(e, a.v));
  diag_label(d, b.at, "%s", value_type_text(e, b.v));
  bool is_pointer =
      (a.v.kind == VALUE_RT && a.v.type.ptr) || (b.v.kind == VALUE_RT && b.v.type.ptr);
  if (eval_help_none(e, d, a.v.kind == VALUE_NONE ? a : b) ||
      (is_pointer && (help_true_division(e, d, a.v) || help_true_division(e, d, b.v))))
    return false;
  struct operand several = a.v.kind == VALUE_TUPLE ? a : b;
  struct str name = eval_spelled(e, several.at);
  if (help)
    diag_help(d, "%s", help);
  else if (several.v.kind == VALUE_TUPLE && spelled_is_primary(name))
    diag_help(d, "`%.*s` has several values: use one, `%.*s[0]`", STR_ARG(name), STR_ARG(name));
  else if (a.v.kind == VALUE_STR || b.v.kind == VALUE_STR)
    diag_help(d, "a text is no number; `tl.device_print` prints one beside values");
  else if (is_pointer)
    diag_help(d, "an address is compared with addresses; `tl.load(x)` reads what it points to");
  else
    diag_help(d, "operands are numbers, tiles of numbers, or a pointer and an integer");
  return false;
}

// Element type of an operand, and whether it is a literal that adopts the other's type; false if it
// is not a number.
static bool operand_type(struct operand x, struct type *ret, bool *adopts) {
  *adopts = x.v.kind != VALUE_RT && !x.v.is_typed;
  if (x.v.kind == VALUE_RT)
    return *ret = type_elem(x.v.type), true;
  return literal_type(x.v, ret);
}

// An integer as a value of type t; wraps around.
static int_const wrap_number(int_const i, enum dtype t) {
  int_const range = (int_const)1 << dtype_bits(t);
  i &= range - 1;
  return dtype_is_signed(t) && i >= range / 2 ? i - range : i;
}

// Converts to the common type; next to a tile, a number becomes a splat constant of its shape.
static struct value promote_one(struct eval *e, struct operand x, struct value other,
                                struct type elem) {
  if (x.v.kind == VALUE_RT || other.kind != VALUE_RT)
    return emit_convert(e, x, elem);
  if (x.v.is_typed && x.v.kind == VALUE_INT && type_is_int(elem) && !type_is_bool(elem))
    x.v.i = wrap_number(x.v.i, elem.dtype);
  return literal_as(e, x, type_shaped(elem, other.type));
}

static bool promote_pointers(struct eval *e, struct operand *a, struct operand *b, struct type x,
                             struct type y, unsigned flags, const char *what, struct span at) {
  bool is_offset = what[0] == '+' || what[0] == '-';
  if (!(flags & PROMOTE_POINTERS))
    return bad_operands(e, *a, *b, what, at,
                        "load the value first, or cast the pointer: `.to(tl.int64)`");
  if (x.ptr && y.ptr && !type_elem_eq(x, y))
    return bad_operands(e, *a, *b, what, at, NULL);
  if (type_is_float(x) || type_is_float(y))
    return bad_operands(e, *a, *b, what, at,
                        is_offset ? "offsets are integers: `.to(tl.int32)`" : NULL);
  a->v = to_runtime(e, *a, what);
  b->v = to_runtime(e, *b, what);
  return !value_is_poison(a->v) && !value_is_poison(b->v);
}

static void report_mixed(struct eval *e, const struct operand *a, const struct operand *b,
                         struct type x, struct type y, const char *what, struct span at) {
  struct diag *d = eval_error(e, at, E0210, "`%s` of %s and %s mixes signed and unsigned", what,
                              type_text(e->a, x), type_text(e->a, y));
  diag_label(d, a->at, "%s", value_type_text(e, a->v));
  diag_label(d, b->at, "%s", value_type_text(e, b->v));
  diag_help(d, "cast one of them: `.to(tl.%s)`", dtype_language_name(x.dtype));
}

bool promote_elements(struct eval *e, struct operand *a, struct operand *b, unsigned flags,
                      const char *what, struct span at) {
  if (value_is_poison(a->v) || value_is_poison(b->v))
    return false;
  struct type x, y;
  bool x_literal, y_literal, mixed;
  if (!operand_type(*a, &x, &x_literal) || !operand_type(*b, &y, &y_literal))
    return bad_operands(e, *a, *b, what, at, NULL);
  if (x.ptr || y.ptr)
    return promote_pointers(e, a, b, x, y, flags, what, at);
  if ((type_is_storage(x) || type_is_storage(y)) && !(flags & PROMOTE_STORAGE))
    return bad_operands(e, *a, *b, what, at, "convert first: `.to(tl.float16)`");
  enum dtype t = computation_type(x, x_literal, y, y_literal, flags & PROMOTE_DIV, &mixed);
  if (mixed) {
    report_mixed(e, a, b, x, y, what, at);
    return false;
  }
  if (t == DTYPE_NONE)
    return bad_operands(e, *a, *b, what, at, "cast the fp8 operand first: `.to(tl.float16)`");
  struct operand l = *a, r = *b;
  a->v = promote_one(e, l, r.v, type_scalar(t));
  b->v = promote_one(e, r, l.v, type_scalar(t));
  return !value_is_poison(a->v) && !value_is_poison(b->v);
}

bool promote_pair(struct eval *e, struct operand *a, struct operand *b, unsigned flags,
                  const char *what, struct span at) {
  return promote_elements(e, a, b, flags, what, at) && broadcast_pair(e, a, b, at);
}
