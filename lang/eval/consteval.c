// SPDX-License-Identifier: Apache-2.0
// Compile-time arithmetic, comparison and formatting.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions; a
// sequence may be an Enum, whose members are expressions (lang/eval/eval.h).
#include "lang/eval/consteval.h"

#include <math.h>
#include <stdio.h>

bool const_truth(struct value v, bool *ret) {
  switch (v.kind) {
  case VALUE_BOOL: *ret = v.b; return true;
  case VALUE_INT: *ret = v.i != 0; return true;
  case VALUE_FLOAT: *ret = v.f != 0; return true;
  case VALUE_NONE: *ret = false; return true;
  case VALUE_STR: *ret = v.s.len != 0; return true;
  case VALUE_TUPLE: *ret = v.tuple.len != 0; return true;
  case VALUE_TYPE:
  case VALUE_FUNC:
  case VALUE_MODULE:
  case VALUE_FILE:
  case VALUE_BUILTIN:
  case VALUE_BOUND:
  case VALUE_RANGE:
  case VALUE_CLASS:
  case VALUE_SLICE: *ret = true; return true;
  case VALUE_ABSENT:
  case VALUE_OPAQUE:
  case VALUE_POISON:
  case VALUE_RT: return false;
  }
  return false;
}

static bool equal_tuples(struct tuple a, struct tuple b) {
  if (a.len != b.len || a.record != b.record)
    return false;
  for (size_t i = 0; a.at != b.at && i < a.len; i++)
    if (!const_equal(a.at[i], b.at[i]))
      return false;
  return true;
}

bool const_equal(struct value a, struct value b) {
  if (value_is_number(a) && value_is_number(b)) {
    int_const x, y;
    if (value_as_int(a, &x) && value_as_int(b, &y))
      return x == y;
    return value_as_double(a) == value_as_double(b);
  }
  if (a.kind != b.kind)
    return false;
  switch (a.kind) {
  case VALUE_NONE: return true;
  case VALUE_STR: return str_eq(a.s, b.s);
  case VALUE_TYPE: return type_eq(a.type, b.type);
  case VALUE_TUPLE: return equal_tuples(a.tuple, b.tuple);
  case VALUE_FUNC: return a.func == b.func;
  case VALUE_MODULE: return a.module == b.module;
  case VALUE_FILE: return a.file == b.file;
  case VALUE_BUILTIN: return a.builtin == b.builtin;
  case VALUE_CLASS: return a.class == b.class;
  case VALUE_RT: return mlirValueEqual(a.rt, b.rt);
  case VALUE_OPAQUE: return a.opaque == b.opaque;
  case VALUE_ABSENT:
  case VALUE_POISON:
  case VALUE_INT:
  case VALUE_FLOAT:
  case VALUE_BOOL:
  case VALUE_BOUND:
  case VALUE_RANGE:
  case VALUE_SLICE: return false;
  }
  return false;
}

static struct value overflow(struct eval *e, enum ast_op op, struct span at) {
  struct diag *d = eval_error(e, at, E0304, "compile-time `%s` overflows", ast_op_text(op));
  diag_help(d, "compile-time integers have 127 bits; no run-time type holds more than 64");
  return VALUE_ERROR;
}

static struct value division_by_zero(struct eval *e, enum ast_op op, struct operand b,
                                     struct span at) {
  struct diag *d = eval_error(e, at, E0302, "compile-time `%s` by zero", ast_op_text(op));
  diag_label(d, b.at, "this is 0");
  diag_help(d, "test the divisor first, or write `float(\"inf\")` if infinity is meant");
  return VALUE_ERROR;
}

static void warn_division(struct eval *e, enum ast_op op, int_const python, int_const run_time,
                          struct span at) {
  if (python == run_time || e->on->is_static)
    return;
  struct diag *d = diag_warning(e->diag, at, E0305,
                                "`%s` of a negative number is %lld here but %lld at run time",
                                ast_op_text(op), (long long)python, (long long)run_time);
  diag_help(d, "compile-time integers round down as in Python, run-time integers toward zero; "
               "make both operands positive");
}

static struct value int_pow(struct eval *e, int_const x, int_const y, struct span at) {
  if (y < 0)
    return value_float(pow((double)x, (double)y));
  int_const r = 1;
  while (y > 0) {
    if (y & 1 && __builtin_mul_overflow(r, x, &r))
      return overflow(e, OP_POW, at);
    y >>= 1;
    if (y && __builtin_mul_overflow(x, x, &x))
      return overflow(e, OP_POW, at);
  }
  return value_int(r);
}

static struct value int_shift(struct eval *e, enum ast_op op, int_const x, struct operand b,
                              int_const y, struct span at) {
  if (y < 0) {
    diag_help(eval_error(e, at, E0306, "negative shift count %lld", (long long)y),
              "shift the other way by a positive count");
    return VALUE_ERROR;
  }
  if (op == OP_SHR)
    return value_int(y > 126 ? (x < 0 ? -1 : 0) : x >> y);
  int_const r;
  if (x != 0 && (y > 126 || __builtin_mul_overflow(x, (int_const)1 << y, &r))) {
    (void)b;
    return overflow(e, op, at);
  }
  return value_int(x == 0 ? 0 : r);
}

// `//` and `%` round down.
static struct value int_quotient(struct eval *e, enum ast_op op, int_const x, int_const y,
                                 struct operand b, struct span at) {
  int_const r;
  if (y == 0)
    return division_by_zero(e, op, b, at);
  if (y == -1) { // the one quotient that can overflow
    if (op == OP_MOD)
      return value_int(0);
    return __builtin_sub_overflow((int_const)0, x, &r) ? overflow(e, op, at) : value_int(r);
  }
  int_const q = x / y, m = x % y;
  bool adjust = m != 0 && (m < 0) != (y < 0);
  int_const fq = q - adjust, fm = adjust ? m + y : m;
  if (op == OP_FLOORDIV) {
    warn_division(e, op, fq, q, at);
    return value_int(fq);
  }
  warn_division(e, op, fm, m, at);
  return value_int(fm);
}

static struct value int_binary(struct eval *e, enum ast_op op, int_const x, int_const y,
                               struct operand b, struct span at) {
  int_const r;
  switch ((int)op) {
  case OP_ADD: return __builtin_add_overflow(x, y, &r) ? overflow(e, op, at) : value_int(r);
  case OP_SUB: return __builtin_sub_overflow(x, y, &r) ? overflow(e, op, at) : value_int(r);
  case OP_MUL: return __builtin_mul_overflow(x, y, &r) ? overflow(e, op, at) : value_int(r);
  case OP_DIV:
    if (y == 0)
      return division_by_zero(e, op, b, at);
    return value_float((double)x / (double)y);
  case OP_FLOORDIV:
  case OP_MOD: return int_quotient(e, op, x, y, b, at);
  case OP_POW: return int_pow(e, x, y, at);
  case OP_SHL:
  case OP_SHR: return int_shift(e, op, x, b, y, at);
  case OP_BIT_AND: return value_int(x & y);
  case OP_BIT_OR: return value_int(x | y);
  case OP_BIT_XOR: return value_int(x ^ y);
  }
  return value_of_kind(VALUE_ABSENT);
}

static struct value float_binary(struct eval *e, enum ast_op op, double x, double y,
                                 struct operand b, struct span at) {
  switch ((int)op) {
  case OP_ADD: return value_float(x + y);
  case OP_SUB: return value_float(x - y);
  case OP_MUL: return value_float(x * y);
  case OP_POW: return value_float(pow(x, y));
  case OP_DIV:
  case OP_FLOORDIV:
  case OP_MOD: {
    if (y == 0)
      return division_by_zero(e, op, b, at);
    if (op == OP_DIV)
      return value_float(x / y);
    if (op == OP_FLOORDIV)
      return value_float(floor(x / y));
    double m = fmod(x, y);
    return value_float(m != 0 && (m < 0) != (y < 0) ? m + y : m);
  }
  }
  return value_of_kind(VALUE_ABSENT);
}

static struct value concat(struct eval *e, struct value a, struct value b, struct span at) {
  if (a.kind == VALUE_STR) {
    if (a.s.len + b.s.len <= EVAL_MAX_STRING)
      return value_str(str_from(arena_printf(e->a, "%.*s%.*s", STR_ARG(a.s), STR_ARG(b.s))));
    diag_help(eval_error(e, at, E0903, "the string is longer than %d bytes", EVAL_MAX_STRING),
              "build a shorter text");
    return VALUE_ERROR;
  }
  size_t n = a.tuple.len + b.tuple.len;
  if (n > EVAL_MAX_UNROLL) {
    diag_help(eval_error(e, at, E0309, "a sequence of more than %d values", EVAL_MAX_UNROLL),
              "use a tile for many values: `tl.arange`, `tl.zeros`");
    return VALUE_ERROR;
  }
  struct value *r = arena_array(e->a, struct value, n ? n : 1);
  for (size_t i = 0; i < n; i++)
    r[i] = i < a.tuple.len ? a.tuple.at[i] : b.tuple.at[i - a.tuple.len];
  return value_tuple(r, n);
}

// (x, y) * 3
static struct value repeat(struct eval *e, enum ast_op op, struct tuple t, int_const times,
                           struct span at) {
  if (times < 0)
    times = 0;
  if (times * (int_const)t.len > EVAL_MAX_UNROLL)
    return overflow(e, op, at);
  size_t n = (size_t)times * t.len;
  struct value *r = arena_array(e->a, struct value, n ? n : 1);
  for (size_t i = 0; i < n; i++)
    r[i] = t.at[i % t.len];
  return value_tuple(r, n);
}

struct value const_binary(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                          struct span at) {
  struct value r = value_of_kind(VALUE_ABSENT);
  int_const x, y;
  if (value_as_int(a.v, &x) && value_as_int(b.v, &y)) {
    r = int_binary(e, op, x, y, b, at);
    if (r.kind == VALUE_INT && a.v.kind == VALUE_BOOL && b.v.kind == VALUE_BOOL &&
        (op == OP_BIT_AND || op == OP_BIT_OR || op == OP_BIT_XOR))
      r = value_bool(r.i != 0);
  } else if (value_is_number(a.v) && value_is_number(b.v)) {
    r = float_binary(e, op, value_as_double(a.v), value_as_double(b.v), b, at);
  } else if (op == OP_MOD && a.v.kind == VALUE_STR) {
    r = text_percent(e, a, b, at);
  } else if (op == OP_ADD && a.v.kind == b.v.kind &&
             (a.v.kind == VALUE_STR || a.v.kind == VALUE_TUPLE)) {
    r = concat(e, a.v, b.v, at);
  } else if (op == OP_MUL && a.v.kind == VALUE_TUPLE && value_as_int(b.v, &y)) {
    r = repeat(e, op, a.v.tuple, y, at);
  } else if (op == OP_MUL && b.v.kind == VALUE_TUPLE && value_as_int(a.v, &x)) {
    r = repeat(e, op, b.v.tuple, x, at);
  }
  if (r.kind != VALUE_ABSENT)
    return r;
  struct diag *d = eval_error(e, at, E0203, "`%s` does not take %s and %s", ast_op_text(op),
                              value_describe(e, a.v), value_describe(e, b.v));
  diag_label(d, a.at, "%s", value_type_text(e, a.v));
  diag_label(d, b.at, "%s", value_type_text(e, b.v));
  if (eval_help_none(e, d, a.v.kind == VALUE_NONE ? a : b))
    return VALUE_ERROR;
  if (a.v.kind == VALUE_STR || b.v.kind == VALUE_STR)
    diag_help(d, "numbers become text by an f-string: `f\"{x}\"`");
  else if (value_is_memory_record(a.v) || value_is_memory_record(b.v))
    diag_help(d, "a descriptor is not moved: give offsets to its `load` and `store`");
  else
    diag_help(d, "name one value of a tuple, `x[0]`, or convert: `int(x)`");
  return VALUE_ERROR;
}

struct value const_unary(struct eval *e, enum ast_op op, struct operand x, struct span at) {
  int_const i;
  bool truth;
  if (op == OP_NOT && const_truth(x.v, &truth))
    return value_bool(!truth);
  if (value_as_int(x.v, &i)) {
    if (op == OP_NEG)
      return __builtin_sub_overflow((int_const)0, i, &i) ? overflow(e, op, at) : value_int(i);
    if (op == OP_POS)
      return value_int(i);
    if (op == OP_INVERT)
      return value_int(~i);
  }
  if (x.v.kind == VALUE_FLOAT && op == OP_NEG)
    return value_float(-x.v.f);
  if (x.v.kind == VALUE_FLOAT && op == OP_POS)
    return x.v;
  struct diag *d =
      eval_error(e, at, E0203, "`%s` does not take %s", ast_op_text(op), value_describe(e, x.v));
  diag_label(d, x.at, "%s", value_type_text(e, x.v));
  eval_help_none(e, d, x);
  return VALUE_ERROR;
}

static int compare_ints(int_const x, int_const y) { return x < y ? -1 : x > y; }

static bool ordered(enum ast_op op, int sign) {
  switch ((int)op) {
  case OP_LT: return sign < 0;
  case OP_LE: return sign <= 0;
  case OP_GT: return sign > 0;
  case OP_GE: return sign >= 0;
  }
  return false;
}

static bool contains(struct value needle, struct value hay, bool *ret) {
  if (hay.kind == VALUE_TUPLE) {
    *ret = false;
    bool is_dict = value_is_record(hay, RECORD_DICT);
    for (size_t i = 0; i < hay.tuple.len && !*ret; i++)
      *ret = const_equal(needle, is_dict ? hay.tuple.at[i].tuple.at[0] : hay.tuple.at[i]);
    return true;
  }
  if (hay.kind != VALUE_STR || needle.kind != VALUE_STR)
    return false;
  *ret = needle.s.len == 0;
  for (size_t i = 0; i + needle.s.len <= hay.s.len && !*ret; i++)
    *ret = memcmp(hay.s.ptr + i, needle.s.ptr, needle.s.len) == 0;
  return true;
}

// Python's order of tuples: by their first elements that differ, else by length.
static struct value compare_tuples(struct eval *e, enum ast_op op, struct operand a,
                                   struct operand b, struct span at) {
  struct tuple x = a.v.tuple, y = b.v.tuple;
  for (size_t i = 0; i < x.len && i < y.len; i++)
    if (!const_equal(x.at[i], y.at[i]))
      return const_compare(e, op, (struct operand){x.at[i], a.at}, (struct operand){y.at[i], b.at},
                           at);
  return value_bool(ordered(op, compare_ints((int_const)x.len, (int_const)y.len)));
}

static int compare_strings(struct str a, struct str b) {
  size_t n = a.len < b.len ? a.len : b.len;
  int sign = n ? memcmp(a.ptr, b.ptr, n) : 0;
  return sign ? sign : compare_ints((int_const)a.len, (int_const)b.len);
}

// `<`, `<=`, `>`, `>=`; false: the values have no order.
static bool compare_ordered(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                            struct span at, struct value *ret) {
  int_const x, y;
  if (value_as_int(a.v, &x) && value_as_int(b.v, &y)) {
    *ret = value_bool(ordered(op, compare_ints(x, y)));
  } else if (value_is_number(a.v) && value_is_number(b.v)) {
    double p = value_as_double(a.v), q = value_as_double(b.v);
    *ret = value_bool(!isnan(p) && !isnan(q) && ordered(op, p < q ? -1 : p > q));
  } else if (a.v.kind == VALUE_STR && b.v.kind == VALUE_STR) {
    *ret = value_bool(ordered(op, compare_strings(a.v.s, b.v.s)));
  } else if (a.v.kind == VALUE_TUPLE && b.v.kind == VALUE_TUPLE && !a.v.tuple.record &&
             !b.v.tuple.record) {
    *ret = compare_tuples(e, op, a, b, at);
  } else {
    return false;
  }
  return true;
}

struct value const_compare(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                           struct span at) {
  struct value r;
  bool found;
  switch ((int)op) {
  case OP_EQ: return value_bool(const_equal(a.v, b.v));
  case OP_NE: return value_bool(!const_equal(a.v, b.v));
  case OP_IS: return value_bool(a.v.kind == b.v.kind && const_equal(a.v, b.v));
  case OP_IS_NOT: return value_bool(!(a.v.kind == b.v.kind && const_equal(a.v, b.v)));
  case OP_IN:
  case OP_NOT_IN:
    if (contains(a.v, b.v, &found))
      return value_bool(found == (op == OP_IN));
    break;
  default:
    if (compare_ordered(e, op, a, b, at, &r))
      return r;
  }
  struct diag *d = eval_error(e, at, E0203, "`%s` does not compare %s and %s", ast_op_text(op),
                              value_describe(e, a.v), value_describe(e, b.v));
  diag_label(d, a.at, "%s", value_type_text(e, a.v));
  diag_label(d, b.at, "%s", value_type_text(e, b.v));
  if (!eval_help_none(e, d, a.v.kind == VALUE_NONE ? a : b))
    diag_help(d, "only numbers are ordered, and texts are equal or not");
  return VALUE_ERROR;
}
