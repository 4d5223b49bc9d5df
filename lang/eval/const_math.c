// SPDX-License-Identifier: Apache-2.0
// Python's `math` at compile time: in constants of a file and in functions evaluated at compile
// time.
#include "lang/eval/consteval.h"

#include <math.h>

static double ln(double x) { return log(x); }

bool const_math(struct eval *e, const char *name, const struct operand *args, size_t count,
                struct value *ret) {
  static const struct {
    const char *name;
    double (*fn)(double);
    bool is_int;
  } functions[] = {{"exp", exp, false},     {"exp2", exp2, false},   {"log", ln, false},
                   {"log2", log2, false},   {"log10", log10, false}, {"log1p", log1p, false},
                   {"expm1", expm1, false}, {"sqrt", sqrt, false},   {"sin", sin, false},
                   {"cos", cos, false},     {"tan", tan, false},     {"tanh", tanh, false},
                   {"floor", floor, true},  {"ceil", ceil, true},    {"trunc", trunc, true}};
  bool at_compile_time =
      e->on->is_static || !e->frame->function || e->frame->function->is_constexpr_function;
  if (!at_compile_time || e->frame->is_std)
    return false;
  for (size_t i = 0; i < count; i++)
    if (!value_is_number(args[i].v))
      return false;
  if (count == 2 && strcmp(name, "pow") == 0)
    return *ret = value_float(pow(value_as_double(args[0].v), value_as_double(args[1].v))), true;
  for (size_t i = 0; count == 1 && i < COUNT_OF(functions); i++) {
    if (strcmp(name, functions[i].name) != 0)
      continue;
    double v = functions[i].fn(value_as_double(args[0].v));
    bool fits = v > -0x1p63 && v < 0x1p63;
    *ret = functions[i].is_int && fits ? value_int((int_const)v) : value_float(v);
    return true;
  }
  return false;
}
