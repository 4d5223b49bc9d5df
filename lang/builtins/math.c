// SPDX-License-Identifier: Apache-2.0
// Mathematical functions of one or more floats: a hardware operation where there is one, else
// NAME_f32 or NAME_f64 of the standard library, written in the language and inlined. f16, bf16 and
// 8-bit floats are computed in f32; a result that is a float gets their type back.
#include "lang/builtins/builtins.h"

static const struct {
  enum op_id f32_op, f64_op;
} operations[] = {
    [MATH_FN_STD] = {OP_UNKNOWN, OP_UNKNOWN},
    [MATH_FN_EXP2] = {OP_MATH_EXP2, OP_UNKNOWN},
    [MATH_FN_LOG2] = {OP_MATH_LOG2, OP_UNKNOWN},
    [MATH_FN_SQRT] = {OP_MATH_SQRT, OP_MATH_SQRT},
    [MATH_FN_SQRT_RN] = {OP_TILE_PRECISE_SQRT, OP_MATH_SQRT},
    [MATH_FN_RSQRT] = {OP_MATH_RSQRT, OP_UNKNOWN},
    [MATH_FN_FLOOR] = {OP_MATH_FLOOR, OP_MATH_FLOOR},
    [MATH_FN_CEIL] = {OP_MATH_CEIL, OP_MATH_CEIL},
    [MATH_FN_RINT] = {OP_MATH_ROUNDEVEN, OP_MATH_ROUNDEVEN},
};

static bool is_float(struct value v) {
  return v.kind == VALUE_FLOAT ||
         (v.kind == VALUE_RT && type_is_float(v.type) && !type_is_storage(v.type));
}

static bool has_float(const struct call *c) {
  for (size_t i = 0; i < c->count; i++)
    if (is_float(c->args[i].v))
      return true;
  return false;
}

// Argument i as a float; an integer literal is converted. Other integers are promoted later, if
// there is a float beside them, as in Triton: `pow(x, n)`.
static bool float_argument(struct eval *e, struct call *c, size_t i, bool is_beside_float) {
  struct operand *x = &c->args[i];
  if (x->v.kind == VALUE_INT || x->v.kind == VALUE_BOOL)
    x->v = value_float(value_as_double(x->v));
  if (x->v.kind == VALUE_FLOAT)
    return true;
  x->v = arg_runtime(e, c, (unsigned)i);
  if (value_is_poison(x->v))
    return false;
  if (is_float(x->v) || (is_beside_float && type_is_int(x->v.type)))
    return true;
  struct diag *d = eval_error(e, c->at, E0508, "`tl.%s` takes floats, not %s", c->builtin->name,
                              type_text(e->a, x->v.type));
  diag_help(d, "convert first: `.to(tl.float32)`");
  return false;
}

// Brings the arguments to one type and shape; `ret` is the type of their elements.
static bool float_arguments(struct eval *e, struct call *c, struct type *ret) {
  bool is_beside_float = has_float(c);
  for (size_t i = 0; i < c->count; i++)
    if (!float_argument(e, c, i, is_beside_float))
      return false;
  size_t lead = 0; // literals take the type of the others
  while (lead < c->count && !(c->args[lead].v.kind == VALUE_RT && is_float(c->args[lead].v)))
    lead++;
  if (lead == c->count) {
    lead = 0;
    c->args[0].v = arg_runtime(e, c, 0);
  }
  for (int round = 0; round < 2; round++) // the second promotes the first ones to the last type
    for (size_t i = 0; i < c->count; i++)
      if (i != lead && !promote_pair(e, &c->args[lead], &c->args[i], 0, c->builtin->name, c->at))
        return false;
  *ret = type_elem(c->args[lead].v.type);
  return !value_is_poison(c->args[lead].v);
}

struct value builtin_math(struct eval *e, struct call *c) {
  struct type given;
  struct value x[4];
  if (c->count > COUNT_OF(x) || !float_arguments(e, c, &given))
    return VALUE_ERROR;
  bool is_f64 = given.dtype == DTYPE_F64;
  for (size_t i = 0; i < c->count; i++)
    x[i] = is_f64 ? c->args[i].v : emit_cast(e, c->args[i].v, type_scalar(DTYPE_F32), NULL);
  enum op_id op = is_f64 ? operations[c->builtin->tag].f64_op : operations[c->builtin->tag].f32_op;
  const char *name = arena_printf(e->a, "%s_f%d", c->builtin->name, is_f64 ? 64 : 32);
  struct value r = op != OP_UNKNOWN ? value_rt(build_unary(&e->b, op, x[0].rt), x[0].type)
                                    : emit_std(e, name, c->count, x, c->at);
  return r.kind == VALUE_RT && type_is_float(r.type) ? emit_cast(e, r, given, NULL) : r;
}
