// SPDX-License-Identifier: Apache-2.0
// Run-time operators: promotion, then the operation for the element type and its signedness.
#include "lang/ops/ops.h"

#include <math.h>

static struct value op2(struct eval *e, enum op_id op, struct value a, struct value b) {
  MlirValue r = build_binary(&e->b, op, a.rt, b.rt);
  bool fusable = op == OP_ARITH_ADDF || op == OP_ARITH_SUBF || op == OP_ARITH_MULF;
  if (fusable && e->frame->is_exact && mlirValueIsAOpResult(r))
    mlirOperationSetDiscardableAttributeByName(mlirOpResultGetOwner(r),
                                               mlirStringRefCreateFromCString("tile.unfused"),
                                               mlirUnitAttrGet(e->c->mlir));
  return value_rt(r, a.type);
}

static struct value negate(struct eval *e, struct value v) {
  if (type_is_float(v.type))
    return value_rt(build_unary(&e->b, OP_ARITH_NEGF, v.rt), v.type);
  return op2(e, OP_ARITH_SUBI, emit_zero_like(e, v), v);
}

// ---- pointer arithmetic ----

static struct value offset_pointer(struct eval *e, struct value ptr, struct value offset,
                                   bool minus) {
  // addptr reads its offset as signed.
  bool small_unsigned = !dtype_is_signed(offset.type.dtype) && dtype_bits(offset.type.dtype) < 64;
  if (small_unsigned)
    offset = emit_cast(e, offset, type_scalar(DTYPE_I64), NULL);
  if (minus)
    offset = negate(e, offset);
  return value_rt(build_addptr(&e->b, ptr.rt, offset.rt), ptr.type);
}

static struct value pointer_binary(struct eval *e, enum ast_op op, struct operand a,
                                   struct operand b, struct span at) {
  bool x = a.v.type.ptr, y = b.v.type.ptr;
  if (x != y && (op == OP_ADD || (op == OP_SUB && x)))
    return offset_pointer(e, x ? a.v : b.v, x ? b.v : a.v, op == OP_SUB);
  struct diag *d = eval_error(e, at, E0222, "`%s` does not take %s and %s", ast_op_text(op),
                              type_text(e->a, a.v.type), type_text(e->a, b.v.type));
  diag_help(d, "a pointer moves by `+` and `-` of integers, counted in elements");
  return VALUE_ERROR;
}

// ---- arithmetic ----

static struct value divide_ints(struct eval *e, struct value a, struct value b) {
  a = emit_cast(e, a, type_scalar(DTYPE_F32), NULL);
  b = emit_cast(e, b, type_scalar(DTYPE_F32), NULL);
  return op2(e, OP_ARITH_DIVF, a, b);
}

// `v & 1` of floats: the number is converted, or its bits are taken.
static void help_convert(struct eval *e, struct diag *d, enum ast_op op, struct operand a,
                         struct operand b, struct span at) {
  struct operand x = a.v.kind == VALUE_RT && dtype_is_float(a.v.type.dtype) ? a : b;
  struct str text = eval_spelled(e, x.at),
             other = eval_spelled(e, span_with_parentheses((x.at.begin == a.at.begin ? b : a).at));
  if (!text.len || !other.len || at.source != x.at.source) {
    diag_help(d, "convert the numbers, `x.to(tl.int32)`; for their bits "
                 "`x.to(tl.int32, bitcast=True)`");
    return;
  }
  const char *primary = spelled_primary(e, text);
  const char *edit =
      x.at.begin == a.at.begin
          ? arena_printf(e->a, "%s.to(tl.int32) %s %.*s", primary, ast_op_text(op), STR_ARG(other))
          : arena_printf(e->a, "%.*s %s %s.to(tl.int32)", STR_ARG(other), ast_op_text(op), primary);
  diag_help(d, "convert the numbers, `%s`; for their bits `%s.to(tl.int32, bitcast=True)`", edit,
            primary);
}

static struct value need_ints(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                              struct span at) {
  struct diag *d =
      eval_error(e, at, E0203, "invalid operands of type %s and %s: `%s` takes integers",
                 value_type_text(e, a.v), value_type_text(e, b.v), ast_op_text(op));
  struct operand literal = b.v.kind == VALUE_FLOAT ? b : a;
  bool is_whole =
      literal.v.kind == VALUE_FLOAT && floor(literal.v.f) == literal.v.f && fabs(literal.v.f) < 1e9;
  bool is_other_int = type_is_int((literal.at.begin == b.at.begin ? a : b).v.type);
  if (is_whole && is_other_int) {
    const char *number = arena_printf(e->a, "%.0f", literal.v.f);
    diag_help(d, "write the integer `%s`", number);
    diag_fixit(d, literal.at, number);
  } else if (op == OP_FLOORDIV)
    diag_help(d, "for floats write `tl.floor(x / y)`");
  else
    help_convert(e, d, op, a, b, at);
  return VALUE_ERROR;
}

static enum op_id int_op(enum ast_op op, bool is_signed) {
  switch ((int)op) {
  case OP_ADD: return OP_ARITH_ADDI;
  case OP_SUB: return OP_ARITH_SUBI;
  case OP_MUL: return OP_ARITH_MULI;
  case OP_FLOORDIV: return is_signed ? OP_ARITH_DIVSI : OP_ARITH_DIVUI;
  case OP_MOD: return is_signed ? OP_ARITH_REMSI : OP_ARITH_REMUI;
  case OP_SHL: return OP_ARITH_SHLI;
  case OP_SHR: return is_signed ? OP_ARITH_SHRSI : OP_ARITH_SHRUI;
  case OP_BIT_AND: return OP_ARITH_ANDI;
  case OP_BIT_OR: return OP_ARITH_ORI;
  case OP_BIT_XOR: return OP_ARITH_XORI;
  }
  return OP_UNKNOWN;
}

static enum op_id float_op(enum ast_op op) {
  switch ((int)op) {
  case OP_DIV: return OP_ARITH_DIVF;
  case OP_ADD: return OP_ARITH_ADDF;
  case OP_SUB: return OP_ARITH_SUBF;
  case OP_MUL: return OP_ARITH_MULF;
  case OP_MOD: return OP_ARITH_REMF;
  }
  return OP_UNKNOWN;
}

// `x ** y` and `a @ b`: replaced by a call of `function` on the operands' texts.
static struct value unsupported_operator(struct eval *e, enum ast_op op, struct operand a,
                                         struct operand b, struct span at) {
  struct diag *d = eval_error(e, at, E0203, "`%s` does not take run-time values", ast_op_text(op));
  const struct source *s = at.source;
  bool has_texts =
      s && a.at.source == s && b.at.source == s && a.at.begin < at.begin && at.end <= b.at.begin;
  const char *text = s ? s->text.ptr : "";
  if (has_texts)
    a.at = span_with_parentheses(a.at), b.at = span_with_parentheses(b.at);
  struct str left = {text + a.at.begin, a.at.end - a.at.begin},
             right = {text + b.at.begin, b.at.end - b.at.begin};
  const char *edit = arena_printf(e->a, "tl.%s(%.*s, %.*s)", op == OP_POW ? "pow" : "dot",
                                  STR_ARG(left), STR_ARG(right));
  bool is_name = left.len > 0;
  for (size_t i = 0; i < left.len; i++)
    is_name &= left.ptr[i] == '_' || (left.ptr[i] | 0x20) >= 'a';
  bool is_dot_of_vectors = op != OP_POW && a.v.kind == VALUE_RT && b.v.kind == VALUE_RT &&
                           a.v.type.rank == 1 && b.v.type.rank == 1;
  if (is_dot_of_vectors) // of matrices alone is it `tl.dot`
    edit = arena_printf(e->a, "tl.sum(%.*s * %.*s)", STR_ARG(left), STR_ARG(right));
  if (op == OP_POW && str_is(right, "2") && is_name)
    edit = arena_printf(e->a, "%.*s * %.*s", STR_ARG(left), STR_ARG(left));
  if (has_texts)
    diag_fixit(d, (struct span){s, a.at.begin, b.at.end}, edit);
  else
    diag_help(d, "write `%s`", op == OP_POW ? "tl.pow(x, y)" : "tl.dot(a, b)");
  return VALUE_ERROR;
}

// Whether `>>` is arithmetic: as in Triton the type of the left operand before promotion decides. A
// literal on the left takes the signedness of the right operand, unless it has a type of its own.
static bool shifts_sign(struct value left, struct value right) {
  if (left.kind == VALUE_RT)
    return dtype_is_signed(left.type.dtype);
  if (left.is_typed)
    return left.kind == VALUE_INT && left.i < 0;
  return dtype_is_signed(right.type.dtype);
}

struct value emit_binary(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                         struct span at) {
  if (value_is_poison(a.v) || value_is_poison(b.v))
    return VALUE_ERROR;
  if (a.v.kind != VALUE_RT && b.v.kind != VALUE_RT) {
    struct value r = const_binary(e, op, a, b, at);
    r.is_typed = value_is_number(r) && (a.v.is_typed || b.v.is_typed);
    return r;
  }
  if (op == OP_POW || op == OP_MATMUL)
    return unsupported_operator(e, op, a, b, at);
  emit_at(e, at);
  bool division = op == OP_DIV || op == OP_FLOORDIV || op == OP_MOD;
  bool additive = op == OP_ADD || op == OP_SUB;
  struct operand x = a, y = b;
  if (!promote_pair(e, &x, &y, (additive ? PROMOTE_POINTERS : 0) | (division ? PROMOTE_DIV : 0),
                    ast_op_text(op), at))
    return VALUE_ERROR;
  if (x.v.type.ptr || y.v.type.ptr)
    return pointer_binary(e, op, x, y, at);
  if (!type_is_float(x.v.type) && op == OP_DIV)
    return divide_ints(e, x.v, y.v);
  if (!type_is_float(x.v.type)) {
    bool is_signed = op == OP_SHR ? shifts_sign(a.v, b.v) : dtype_is_signed(x.v.type.dtype);
    return op2(e, int_op(op, is_signed), x.v, y.v);
  }
  if (float_op(op) == OP_UNKNOWN)
    return need_ints(e, op, a, b, at);
  if (!type_is_fp8(x.v.type))
    return op2(e, float_op(op), x.v, y.v);
  // fp8 has no arithmetic: computed in f32 and rounded back.
  struct type f32 = type_scalar(DTYPE_F32), fp8 = x.v.type;
  return emit_cast(e,
                   op2(e, float_op(op), emit_cast(e, x.v, f32, NULL), emit_cast(e, y.v, f32, NULL)),
                   fp8, NULL);
}

struct value emit_unary(struct eval *e, enum ast_op op, struct operand x, struct span at) {
  if (value_is_poison(x.v))
    return x.v;
  if (x.v.kind != VALUE_RT) {
    struct value r = const_unary(e, op, x, at);
    r.is_typed = value_is_number(r) && x.v.is_typed;
    return r;
  }
  emit_at(e, at);
  if (op == OP_NOT) {
    struct value t = emit_truth_tile(e, x.v);
    MlirType type = type_to_mlir(e->c, t.type);
    return value_rt(build_binary(&e->b, OP_ARITH_XORI, t.rt, build_const_int(&e->b, type, 1)),
                    t.type);
  }
  bool bad = x.v.type.ptr || (op == OP_INVERT && !type_is_int(x.v.type)) ||
             (op == OP_NEG && type_is_storage(x.v.type));
  if (bad) {
    struct diag *d = eval_error(e, at, E0203, "`%s` does not take %s", ast_op_text(op),
                                type_text(e->a, x.v.type));
    if (op == OP_INVERT)
      diag_help(d, "`~` flips the bits of integers; compare floats first: `~(x > 0)`");
    else if (type_is_storage(x.v.type))
      diag_help(d, "convert first: `.to(tl.float16)`");
    else
      diag_help(d, "`tl.load(x)` reads what a pointer points to");
    return VALUE_ERROR;
  }
  if (op == OP_POS)
    return x.v;
  if (op == OP_NEG) {
    if (!type_is_fp8(x.v.type))
      return negate(e, x.v);
    return emit_cast(e, negate(e, emit_cast(e, x.v, type_scalar(DTYPE_F32), NULL)), x.v.type, NULL);
  }
  MlirType type = type_to_mlir(e->c, x.v.type);
  return value_rt(build_binary(&e->b, OP_ARITH_XORI, x.v.rt,
                               build_const_int(&e->b, type, type_is_bool(x.v.type) ? 1 : -1)),
                  x.v.type);
}

// ---- comparison and logic ----

// MLIR's predicate numbers.
static int int_predicate(enum ast_op op, bool is_signed) {
  switch ((int)op) {
  case OP_EQ: return 0;
  case OP_NE: return 1;
  case OP_LT: return is_signed ? 2 : 6;
  case OP_LE: return is_signed ? 3 : 7;
  case OP_GT: return is_signed ? 4 : 8;
  case OP_GE: return is_signed ? 5 : 9;
  }
  return 0;
}

// Ordered, except `!=`, which is true for NaN.
static int float_predicate(enum ast_op op) {
  switch ((int)op) {
  case OP_EQ: return 1;
  case OP_NE: return 13;
  case OP_LT: return 4;
  case OP_LE: return 5;
  case OP_GT: return 2;
  case OP_GE: return 3;
  }
  return 1;
}

struct value emit_comparison(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                             struct span at) {
  if (value_is_poison(a.v) || value_is_poison(b.v))
    return VALUE_ERROR;
  bool identity = op == OP_IS || op == OP_IS_NOT;
  bool a_rt = a.v.kind == VALUE_RT, b_rt = b.v.kind == VALUE_RT;
  if (!a_rt && !b_rt)
    return const_compare(e, op, a, b, at);
  // A run-time value is never None, a string or a type: known at compile time.
  if (identity ||
      (a_rt != b_rt && (op == OP_EQ || op == OP_NE) && !value_is_number(a_rt ? b.v : a.v)))
    return value_bool((op == OP_IS || op == OP_EQ) == (a_rt && b_rt && const_equal(a.v, b.v)));
  if (op == OP_IN || op == OP_NOT_IN) {
    diag_help(eval_error(e, at, E0203, "`%s` needs values known at compile time", ast_op_text(op)),
              "compare with each value: `(x == a) | (x == b)`");
    return VALUE_ERROR;
  }
  emit_at(e, at);
  if (!promote_pair(e, &a, &b, PROMOTE_POINTERS, ast_op_text(op), at))
    return VALUE_ERROR;
  struct value x = emit_address(e, a.v), y = emit_address(e, b.v);
  bool is_signed = dtype_is_signed(x.type.dtype) && !a.v.type.ptr;
  if (a.v.type.ptr != b.v.type.ptr)
    y = emit_cast(e, y, x.type, NULL), x = emit_cast(e, x, y.type, NULL);
  if (type_is_fp8(x.type)) {
    x = emit_cast(e, x, type_scalar(DTYPE_F32), NULL);
    y = emit_cast(e, y, type_scalar(DTYPE_F32), NULL);
  }
  MlirValue r = type_is_float(x.type) ? build_cmpf(&e->b, float_predicate(op), x.rt, y.rt)
                                      : build_cmpi(&e->b, int_predicate(op, is_signed), x.rt, y.rt);
  return value_rt(r, type_with_dtype(x.type, DTYPE_I1));
}

struct value emit_logic(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                        struct span at) {
  if (value_is_poison(a.v) || value_is_poison(b.v))
    return VALUE_ERROR;
  emit_at(e, at);
  a.v = to_runtime(e, a, "an operand of `and`/`or`");
  b.v = to_runtime(e, b, "an operand of `and`/`or`");
  a.v = emit_truth_tile(e, a.v);
  b.v = emit_truth_tile(e, b.v);
  if (value_is_poison(a.v) || value_is_poison(b.v) || !broadcast_pair(e, &a, &b, at))
    return VALUE_ERROR;
  return op2(e, op == OP_AND ? OP_ARITH_ANDI : OP_ARITH_ORI, a.v, b.v);
}
