// SPDX-License-Identifier: Apache-2.0
// Types and limits of array libraries, for constants of a file: `torch.float32`,
// `torch.finfo(torch.float16).max`, `np.iinfo("int32").min`.
#include "lang/builtins/builtins.h"
#include "lang/eval/objects.h"

#include <float.h>
#include <math.h>

static struct value int_info(struct eval *e, enum dtype t) {
  static const struct ast_class type = {.name = "iinfo"};
  static const struct ast_field fields[] = {{.name = "min"}, {.name = "max"}, {.name = "bits"}};
  static const struct record record = {
      .kind = RECORD_CLASS, .ast = &type, .fields = fields, .field_count = COUNT_OF(fields)};
  unsigned bits = dtype_bits(t);
  bool is_signed = dtype_is_signed(t);
  int_const top = (int_const)1 << (is_signed ? bits - 1 : bits);
  struct value values[] = {value_int(is_signed ? -top : 0), value_int(top - 1), value_int(bits)};
  return host_record(e, &record, COUNT_OF(fields), values);
}

static struct value float_info(struct eval *e, enum dtype t) {
  static const struct ast_class type = {.name = "finfo"};
  static const struct ast_field fields[] = {{.name = "min"},  {.name = "max"},
                                            {.name = "eps"},  {.name = "tiny"},
                                            {.name = "bits"}, {.name = "smallest_normal"}};
  static const struct record record = {
      .kind = RECORD_CLASS, .ast = &type, .fields = fields, .field_count = COUNT_OF(fields)};
  // Mantissa bits, largest and smallest exponent of normal numbers.
  int mantissa = 23, most = 127, least = -126;
  double max = 0;
  switch ((int)t) {
  case DTYPE_F64: mantissa = 52, most = 1023, least = -1022, max = DBL_MAX; break;
  case DTYPE_F16: mantissa = 10, most = 15, least = -14; break;
  case DTYPE_BF16: mantissa = 7; break;
  case DTYPE_F8E5: mantissa = 2, most = 15, least = -14; break;
  case DTYPE_F8E4NV: mantissa = 3, most = 8, least = -6, max = 448; break;
  case DTYPE_F8E4B15: mantissa = 3, most = 0, least = -14, max = 1.75; break;
  }
  max = max > 0 ? max : ldexp(2 - ldexp(1, -mantissa), most);
  double tiny = ldexp(1, least);
  struct value values[] = {
      value_float(-max), value_float(max),         value_float(ldexp(1, -mantissa)),
      value_float(tiny), value_int(dtype_bits(t)), value_float(tiny)};
  return host_record(e, &record, COUNT_OF(fields), values);
}

struct value builtin_number_info(struct eval *e, struct call *c) {
  struct type t;
  bool floating = c->builtin->tag == 'f';
  if (!need_type(e, c->args[0], "the argument", &t))
    return VALUE_ERROR;
  if (t.ptr || type_is_float(t) != floating || type_is_bool(t)) {
    eval_error(e, c->args[0].at, E0503, "`%s` of %s", c->builtin->name, type_text(e->a, t));
    return VALUE_ERROR;
  }
  return floating ? float_info(e, t.dtype) : int_info(e, t.dtype);
}

struct value builtin_int_dtype(struct eval *e, struct call *c) {
  static const enum dtype types[][2] = {
      {DTYPE_U8, DTYPE_I8}, {DTYPE_U16, DTYPE_I16}, {DTYPE_U32, DTYPE_I32}, {DTYPE_U64, DTYPE_I64}};
  int64_t bits;
  bool is_signed;
  if (!need_const_int(e, c->args[0], "the width", &bits) ||
      !need_const_bool(e, c->args[1], "`signed`", &is_signed))
    return VALUE_ERROR;
  if (bits == 1)
    return value_type(type_scalar(DTYPE_I1));
  for (size_t i = 0; i < COUNT_OF(types); i++)
    if (bits == (int64_t)8 << i)
      return value_type(type_scalar(types[i][is_signed]));
  eval_error(e, c->args[0].at, E0503, "there are no integers of %lld bits", (long long)bits);
  return VALUE_ERROR;
}
