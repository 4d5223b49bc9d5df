// SPDX-License-Identifier: Apache-2.0
// Mathematical functions: a hardware operation where there is one, else a function of the standard
// library, written in the language and inlined. f16 and bf16 are computed in f32.
#include "lang/builtins.h"

static const struct {
  enum op_id f32_op, f64_op;
  const char *f32_std, *f64_std;
} functions[] = {
    [MATH_FN_EXP] = {.f32_std = "exp_f32", .f64_std = "exp_f64"},
    [MATH_FN_EXP2] = {.f32_op = OP_MATH_EXP2, .f64_std = "exp2_f64"},
    [MATH_FN_LOG] = {.f32_std = "log_f32", .f64_std = "log_f64"},
    [MATH_FN_LOG2] = {.f32_op = OP_MATH_LOG2, .f64_std = "log2_f64"},
    [MATH_FN_SIN] = {.f32_std = "sin_f32", .f64_std = "sin_f64"},
    [MATH_FN_COS] = {.f32_std = "cos_f32", .f64_std = "cos_f64"},
    [MATH_FN_TANH] = {.f32_std = "tanh_f32", .f64_std = "tanh_f64"},
    [MATH_FN_ERF] = {.f32_std = "erf_f32", .f64_std = "erf_f64"},
    [MATH_FN_SIGMOID] = {.f32_std = "sigmoid_f32", .f64_std = "sigmoid_f64"},
    [MATH_FN_SQRT] = {.f32_op = OP_MATH_SQRT, .f64_op = OP_MATH_SQRT},
    [MATH_FN_SQRT_RN] = {.f32_op = OP_TILE_PRECISE_SQRT, .f64_op = OP_MATH_SQRT},
    [MATH_FN_RSQRT] = {.f32_op = OP_MATH_RSQRT, .f64_std = "rsqrt_f64"},
    [MATH_FN_FLOOR] = {.f32_op = OP_MATH_FLOOR, .f64_op = OP_MATH_FLOOR},
    [MATH_FN_CEIL] = {.f32_op = OP_MATH_CEIL, .f64_op = OP_MATH_CEIL},
};

struct value builtin_math(struct emitter *e, struct call *c) {
  struct value x = arg_runtime(e, c, 0);
  if (value_is_poison(x))
    return x;
  if (c->args[0].v.kind == VALUE_INT) // an integer literal stands for the float
    x = literal_as(e, c->args[0], type_scalar(DTYPE_F32));
  if (!type_is_float(x.type)) {
    struct diag *d = emit_error(e, c->at, E0508, "`tl.%s` takes floats, not %s", c->builtin->name,
                                type_text(e->a, x.type));
    diag_help(d, "convert first: `.to(tl.float32)`");
    return VALUE_ERROR;
  }
  struct type given = type_elem(x.type);
  bool is_f64 = given.dtype == DTYPE_F64;
  if (!is_f64)
    x = emit_cast(e, x, type_scalar(DTYPE_F32), NULL);
  enum op_id op = is_f64 ? functions[c->builtin->tag].f64_op : functions[c->builtin->tag].f32_op;
  const char *name =
      is_f64 ? functions[c->builtin->tag].f64_std : functions[c->builtin->tag].f32_std;
  struct value r = op != OP_UNKNOWN ? value_rt(build_unary(&e->b, op, x.rt), x.type)
                                    : emit_std(e, is_f64, name, 1, &x, c->at);
  return value_is_poison(r) ? r : emit_cast(e, r, given, NULL);
}
