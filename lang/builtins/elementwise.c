// SPDX-License-Identifier: Apache-2.0
// Elementwise functions that are one operation each: selection, extrema, fused and rounded
// arithmetic.
#include "lang/builtins/builtins.h"

static const struct type f32_type = {.dtype = DTYPE_F32};

static struct value widen_bf16(struct eval *e, struct value v) {
  if (!value_is_poison(v) && !v.type.ptr && !type_is_storage(v.type) &&
      (v.type.dtype == DTYPE_BF16 || type_is_fp8(v.type)))
    return emit_cast(e, v, f32_type, NULL);
  return v;
}

struct value builtin_where(struct eval *e, struct call *c) {
  struct operand cond = c->args[0], x = c->args[1], y = c->args[2];
  bool truth;
  if (const_truth(cond.v, &truth)) {
    // The condition is known; both operands still determine the type and the shape.
    if (!value_is_number(x.v) && x.v.kind != VALUE_RT)
      return truth ? x.v : y.v;
    cond.v = to_runtime(e, (struct operand){value_bool(truth), cond.at}, "the condition");
  }
  if (x.v.kind != VALUE_RT && y.v.kind != VALUE_RT) {
    x.v = arg_runtime(e, c, 1);
    y.v = arg_runtime(e, c, 2);
  }
  cond.v = emit_truth_tile(e, cond.v);
  if (value_is_poison(cond.v) ||
      !promote_pair(e, &x, &y, PROMOTE_POINTERS | PROMOTE_STORAGE, "where", c->at))
    return VALUE_ERROR;
  if (!type_elem_eq(x.v.type, y.v.type)) {
    diag_help(eval_error(e, c->at, E0203, "`where` does not take %s and %s",
                         type_text(e->a, x.v.type), type_text(e->a, y.v.type)),
              "convert one: `.to(...)`");
    return VALUE_ERROR;
  }
  if (!broadcast_pair(e, &cond, &x, c->at) || !broadcast_pair(e, &cond, &y, c->at))
    return VALUE_ERROR;
  return value_rt(build_select(&e->b, cond.v.rt, x.v.rt, y.v.rt), x.v.type);
}

// ---- extrema ----

static enum op_id extremum_op(struct type t, bool maximum, bool propagate_nan) {
  if (type_is_float(t)) {
    if (propagate_nan)
      return maximum ? OP_ARITH_MAXIMUMF : OP_ARITH_MINIMUMF;
    return maximum ? OP_ARITH_MAXNUMF : OP_ARITH_MINNUMF;
  }
  if (dtype_is_signed(t.dtype))
    return maximum ? OP_ARITH_MAXSI : OP_ARITH_MINSI;
  return maximum ? OP_ARITH_MAXUI : OP_ARITH_MINUI;
}

struct value emit_minimum(struct eval *e, struct operand a, struct operand b, bool maximum,
                          bool propagate_nan, struct span at) {
  const char *what = maximum ? "maximum" : "minimum";
  if (value_is_poison(a.v) || value_is_poison(b.v))
    return VALUE_ERROR;
  if (a.v.kind != VALUE_RT && b.v.kind != VALUE_RT) {
    struct value less = const_compare(e, OP_LT, a, b, at);
    if (value_is_poison(less))
      return less;
    return less.b == maximum ? b.v : a.v;
  }
  // As in Triton, a literal has its own type, and bf16 is compared as f32.
  a.v = widen_bf16(e, to_runtime(e, a, what));
  b.v = widen_bf16(e, to_runtime(e, b, what));
  if (!promote_pair(e, &a, &b, 0, what, at))
    return VALUE_ERROR;
  enum op_id op = extremum_op(a.v.type, maximum, propagate_nan);
  return value_rt(build_binary(&e->b, op, a.v.rt, b.v.rt), a.v.type);
}

static bool need_propagate_nan(struct eval *e, struct call *c, unsigned i, bool *ret) {
  static const char *const modes[] = {"NONE", "ALL", NULL};
  const char *mode;
  *ret = false;
  if (arg_given(c, i) && c->args[i].v.kind == VALUE_BOOL)
    return *ret = c->args[i].v.b, true;
  if (!need_choice(e, c, i, "`propagate_nan`", modes, &mode))
    return false;
  *ret = strcmp(mode, "ALL") == 0;
  return true;
}

struct value builtin_minimum(struct eval *e, struct call *c) {
  bool propagate;
  if (!need_propagate_nan(e, c, 2, &propagate))
    return VALUE_ERROR;
  return emit_minimum(e, c->args[0], c->args[1], c->builtin->tag == 1, propagate, c->at);
}

struct value builtin_clamp(struct eval *e, struct call *c) {
  struct operand v[3];
  bool propagate;
  if (!need_propagate_nan(e, c, 3, &propagate))
    return VALUE_ERROR;
  for (unsigned i = 0; i < 3; i++)
    v[i] = (struct operand){widen_bf16(e, arg_runtime(e, c, i)), c->args[i].at};
  if (!promote_pair(e, &v[1], &v[2], 0, "clamp", c->at) ||
      !promote_pair(e, &v[0], &v[1], 0, "clamp", c->at) ||
      !promote_pair(e, &v[0], &v[2], 0, "clamp", c->at) ||
      !promote_pair(e, &v[0], &v[1], 0, "clamp", c->at))
    return VALUE_ERROR;
  struct type t = v[0].v.type;
  if (type_is_float(t))
    return value_rt(build_clampf(&e->b, v[0].v.rt, v[1].v.rt, v[2].v.rt, propagate), t);
  bool is_signed = dtype_is_signed(t.dtype);
  MlirValue low =
      build_binary(&e->b, is_signed ? OP_ARITH_MAXSI : OP_ARITH_MAXUI, v[0].v.rt, v[1].v.rt);
  return value_rt(build_binary(&e->b, is_signed ? OP_ARITH_MINSI : OP_ARITH_MINUI, low, v[2].v.rt),
                  t);
}

// ---- arithmetic by name ----

struct value builtin_operator(struct eval *e, struct call *c) {
  return emit_binary(e, (enum ast_op)c->builtin->tag, c->args[0], c->args[1], c->at);
}

struct value builtin_logical(struct eval *e, struct call *c) {
  return emit_logic(e, (enum ast_op)c->builtin->tag, c->args[0], c->args[1], c->at);
}

struct value builtin_cdiv(struct eval *e, struct call *c) {
  struct operand x = c->args[0], div = c->args[1], one = {value_int(1), c->at};
  int_const n, d;
  if (value_as_int(x.v, &n) && value_as_int(div.v, &d) && d > 0)
    return value_int(n > 0 ? (n + d - 1) / d : -(-n / d));
  struct operand rest = {emit_binary(e, OP_SUB, div, one, c->at), div.at};
  x.v = emit_binary(e, OP_ADD, x, rest, c->at);
  return emit_binary(e, OP_FLOORDIV, x, div, c->at);
}

static struct value need_floats(struct eval *e, struct call *c, struct value v) {
  struct diag *d = eval_error(e, c->at, E0508, "`%s` takes floats, not %s", c->builtin->name,
                              type_text(e->a, v.type));
  diag_help(d, "convert first: `.to(tl.float32)`");
  return VALUE_ERROR;
}

struct value builtin_fma(struct eval *e, struct call *c) {
  struct operand *v = c->args;
  if (v[0].v.kind != VALUE_RT && v[1].v.kind != VALUE_RT && v[2].v.kind != VALUE_RT)
    v[0].v = arg_runtime(e, c, 0);
  // A literal in any position takes the type of the others.
  int lead = v[0].v.kind == VALUE_RT ? 0 : v[1].v.kind == VALUE_RT ? 1 : 2;
  int p = (lead + 1) % 3, q = (lead + 2) % 3;
  if (!promote_pair(e, &v[lead], &v[p], 0, "fma", c->at) ||
      !promote_pair(e, &v[lead], &v[q], 0, "fma", c->at) ||
      !promote_pair(e, &v[lead], &v[p], 0, "fma", c->at))
    return VALUE_ERROR;
  struct type t = v[0].v.type;
  if (!type_is_float(t) || type_is_fp8(t))
    return need_floats(e, c, v[0].v);
  if (t.dtype == DTYPE_F16 || t.dtype == DTYPE_BF16) { // rounded once, from the f32 result
    struct value w[3];
    for (int i = 0; i < 3; i++)
      w[i] = emit_cast(e, v[i].v, f32_type, NULL);
    struct type wide = w[0].type;
    struct value r = value_rt(build_ternary(&e->b, OP_MATH_FMA, w[0].rt, w[1].rt, w[2].rt), wide);
    return emit_cast(e, r, type_elem(t), NULL);
  }
  return value_rt(build_ternary(&e->b, OP_MATH_FMA, v[0].v.rt, v[1].v.rt, v[2].v.rt), t);
}

struct value builtin_fdiv(struct eval *e, struct call *c) {
  struct operand x = c->args[0], y = c->args[1];
  bool exact = c->builtin->tag == 1;
  if (!exact && arg_given(c, 2) && !need_const_bool(e, c->args[2], "`ieee_rounding`", &exact))
    return VALUE_ERROR;
  if (x.v.kind != VALUE_RT && y.v.kind != VALUE_RT)
    x.v = arg_runtime(e, c, 0);
  if (!promote_pair(e, &x, &y, PROMOTE_DIV, c->builtin->name, c->at))
    return VALUE_ERROR;
  if (!type_is_float(x.v.type))
    return need_floats(e, c, x.v);
  if (type_is_fp8(x.v.type)) // the f32 quotient is precise enough for either
    return emit_binary(e, OP_DIV, x, y, c->at);
  bool precise = exact && x.v.type.dtype == DTYPE_F32;
  enum op_id op = precise ? OP_TILE_PRECISE_DIVF : OP_ARITH_DIVF;
  return value_rt(build_binary(&e->b, op, x.v.rt, y.v.rt), x.v.type);
}

struct value builtin_umulhi(struct eval *e, struct call *c) {
  struct operand x = c->args[0], y = c->args[1];
  if (x.v.kind != VALUE_RT && y.v.kind != VALUE_RT)
    x.v = arg_runtime(e, c, 0);
  if (!promote_pair(e, &x, &y, 0, "umulhi", c->at))
    return VALUE_ERROR;
  if (!type_is_int(x.v.type) || dtype_bits(x.v.type.dtype) < 32) {
    struct diag *d = eval_error(e, c->at, E0503, "`umulhi` takes integers of 32 or 64 bits, not %s",
                                type_text(e->a, x.v.type));
    diag_help(d, "convert first: `.to(tl.uint32)`");
    return VALUE_ERROR;
  }
  return value_rt(build_binary(&e->b, OP_TILE_MULHIUI, x.v.rt, y.v.rt), x.v.type);
}

// Of an 8-bit float that is only stored, by its bits.
static struct value without_sign(struct eval *e, struct value v, struct span at) {
  struct operand bits = {emit_bitcast(e, (struct operand){v, at}, type_scalar(DTYPE_U8)), at};
  struct operand rest = {value_int(0x7f), at};
  struct value magnitude = emit_binary(e, OP_BIT_AND, bits, rest, at);
  return emit_bitcast(e, (struct operand){magnitude, at}, type_elem(v.type));
}

struct value builtin_abs(struct eval *e, struct call *c) {
  struct operand x = c->args[0];
  int_const i;
  if (x.v.kind == VALUE_FLOAT)
    return value_float(x.v.f < 0 ? -x.v.f : x.v.f);
  if (value_as_int(x.v, &i))
    return value_int(i < 0 ? -i : i);
  struct value v = arg_runtime(e, c, 0);
  if (value_is_poison(v))
    return v;
  if (v.type.ptr) {
    eval_error(e, x.at, E0503, "`abs` of %s", type_text(e->a, v.type));
    return VALUE_ERROR;
  }
  if (v.type.dtype == DTYPE_F8E4B15)
    return without_sign(e, v, c->at);
  if (type_is_storage(v.type))
    return need_floats(e, c, v);
  if (type_is_fp8(v.type)) {
    struct value wide = emit_cast(e, v, f32_type, NULL);
    wide.rt = build_unary(&e->b, OP_MATH_ABSF, wide.rt);
    return emit_cast(e, wide, type_elem(v.type), NULL);
  }
  if (type_is_float(v.type))
    return value_rt(build_unary(&e->b, OP_MATH_ABSF, v.rt), v.type);
  if (!dtype_is_signed(v.type.dtype))
    return v;
  return value_rt(build_unary(&e->b, OP_MATH_ABSI, v.rt), v.type);
}
