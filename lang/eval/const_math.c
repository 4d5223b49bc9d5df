// SPDX-License-Identifier: Apache-2.0
// Python's `math` in constants of a file and in functions evaluated at compile time.
#include "lang/eval/consteval.h"

#include <assert.h>
#include <math.h>

static double ln(double x) { return log(x); }

static const struct {
  double (*fn)(double);
  bool is_int;
} folds[] = {[FOLD_EXP >> 21] = {exp, false},     [FOLD_EXP2 >> 21] = {exp2, false},
             [FOLD_LOG >> 21] = {ln, false},      [FOLD_LOG2 >> 21] = {log2, false},
             [FOLD_LOG10 >> 21] = {log10, false}, [FOLD_LOG1P >> 21] = {log1p, false},
             [FOLD_EXPM1 >> 21] = {expm1, false}, [FOLD_SQRT >> 21] = {sqrt, false},
             [FOLD_SIN >> 21] = {sin, false},     [FOLD_COS >> 21] = {cos, false},
             [FOLD_TAN >> 21] = {tan, false},     [FOLD_TANH >> 21] = {tanh, false},
             [FOLD_FLOOR >> 21] = {floor, true},  [FOLD_CEIL >> 21] = {ceil, true},
             [FOLD_TRUNC >> 21] = {trunc, true}};

bool const_math(struct eval *e, const struct builtin *b, const struct operand *args, size_t count,
                struct value *ret) {
  unsigned fold = b->flags & FOLD_MASK;
  bool at_compile_time =
      e->on->is_static || !e->frame->function || e->frame->function->is_constexpr_function;
  if (!fold || !at_compile_time || e->frame->is_std || count != (fold == FOLD_POW ? 2 : 1))
    return false;
  for (size_t i = 0; i < count; i++)
    if (!value_is_number(args[i].v))
      return false;
  if (fold == FOLD_POW)
    return *ret = value_float(pow(value_as_double(args[0].v), value_as_double(args[1].v))), true;
  assert(fold >> 21 < COUNT_OF(folds));
  double v = folds[fold >> 21].fn(value_as_double(args[0].v));
  bool fits = v > -0x1p63 && v < 0x1p63;
  *ret = folds[fold >> 21].is_int && fits ? value_int((int_const)v) : value_float(v);
  return true;
}
