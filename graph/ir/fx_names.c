// SPDX-License-Identifier: Apache-2.0
// PyTorch's spellings of dtypes, numbers and words.
#include "graph/ir/fx_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// DTYPE_NONE: not supported. A dtype is printed by its first row.
static const struct {
  const char *brief, *full, *other; // NULL: none
  enum dtype dtype;
} names[] = {
    {"f32", "float32", "float", DTYPE_F32},
    {"i64", "int64", "long", DTYPE_I64},
    {"bf16", "bfloat16", NULL, DTYPE_BF16},
    {"f16", "float16", "half", DTYPE_F16},
    {"b8", "bool", NULL, DTYPE_I1},
    {"i32", "int32", "int", DTYPE_I32},
    {"f64", "float64", "double", DTYPE_F64},
    {"i8", "int8", NULL, DTYPE_I8},
    {"i16", "int16", "short", DTYPE_I16},
    {"u8", "uint8", NULL, DTYPE_U8},
    {"u16", "uint16", NULL, DTYPE_U16},
    {"u32", "uint32", NULL, DTYPE_U32},
    {"u64", "uint64", NULL, DTYPE_U64},
    {"f8e4m3fn", "float8_e4m3fn", NULL, DTYPE_F8E4NV},
    {"f8e5m2", "float8_e5m2", NULL, DTYPE_F8E5},
    {"f8e4b15", "float8_e4b15", NULL, DTYPE_F8E4B15},
    {"f8e4m3fnuz", "float8_e4m3fnuz", NULL, DTYPE_NONE},
    {"f8e5m2fnuz", "float8_e5m2fnuz", NULL, DTYPE_NONE},
    {"f8e8m0fnu", "float8_e8m0fnu", NULL, DTYPE_NONE},
    {"f4e2m1fnx2", "float4_e2m1fn_x2", NULL, DTYPE_NONE},
    {"b16", "bits16", NULL, DTYPE_NONE},
    {"b1x8", "bits1x8", NULL, DTYPE_NONE},
};

const char *fx_dtype_short(enum dtype t) {
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (names[i].dtype == t)
      return names[i].brief;
  return "?";
}

const char *fx_complex_short(enum dtype part) {
  return part == DTYPE_F16 ? "c32" : part == DTYPE_F64 ? "c128" : "c64";
}

enum dtype fx_complex_part(struct str name) {
  static const struct {
    const char *names[3];
    enum dtype part;
  } rows[] = {{{"c64", "complex64", "cfloat"}, DTYPE_F32},
              {{"c128", "complex128", "cdouble"}, DTYPE_F64},
              {{"c32", "complex32", "chalf"}, DTYPE_F16}};
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    for (size_t k = 0; k < COUNT_OF(rows[i].names); k++)
      if (str_is(name, rows[i].names[k]))
        return rows[i].part;
  return DTYPE_NONE;
}

const char *fx_dtype_long(enum dtype t) {
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (names[i].dtype == t)
      return names[i].full;
  return "?";
}

static enum fx_dtype_status status(size_t row, enum dtype *ret) {
  *ret = names[row].dtype;
  return *ret == DTYPE_NONE ? FX_DTYPE_UNSUPPORTED : FX_DTYPE_KNOWN;
}

enum fx_dtype_status fx_dtype_from_short(struct str name, enum dtype *ret) {
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (str_is(name, names[i].brief))
      return status(i, ret);
  return str_is(name, dtype_name(DTYPE_I1)) ? (*ret = DTYPE_I1, FX_DTYPE_KNOWN) : FX_DTYPE_UNKNOWN;
}

enum fx_dtype_status fx_dtype_from_long(struct str name, enum dtype *ret) {
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (str_is(name, names[i].full) || (names[i].other && str_is(name, names[i].other)))
      return status(i, ret);
  return FX_DTYPE_UNKNOWN;
}

void fx_print_real(double v, struct strbuf *out) {
  char text[40], digits[24];
  if (isnan(v) || isinf(v)) {
    strbuf_puts(out, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
    return;
  }
  int precision = 0;
  do
    snprintf(text, sizeof text, "%.*e", precision, v);
  while (strtod(text, NULL) != v && ++precision < 17);
  int exponent = atoi(strchr(text, 'e') + 1);
  if (exponent < -4 || exponent >= 16) { // 1e-05, 1.5e+16
    strbuf_puts(out, text);
    return;
  }
  snprintf(digits, sizeof digits, "%.*f", precision > exponent ? precision - exponent : 0, v);
  strbuf_printf(out, "%s%s", digits, strchr(digits, '.') ? "" : ".0");
}

void fx_print_word(struct str s, struct strbuf *out) {
  if (str_starts(s, "torch.") || str_starts(s, "device(") || str_starts(s, "{")) {
    strbuf_put(out, s.ptr, s.len);
    return;
  }
  strbuf_putc(out, '\'');
  for (size_t i = 0; i < s.len; i++) {
    uint8_t c = (uint8_t)s.ptr[i];
    if (c < ' ')
      strbuf_printf(out, "\\x%02x", c);
    else
      strbuf_printf(out, "%s%c", c == '\'' || c == '\\' ? "\\" : "", c);
  }
  strbuf_putc(out, '\'');
}
