// SPDX-License-Identifier: Apache-2.0
// Compile-time values as text: static_print, f-strings and messages.
#include "lang/eval/consteval.h"
#include "lang/eval/objects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void format_int(int_const v, unsigned base, bool upper, struct strbuf *out) {
  char digits[140];
  size_t n = sizeof digits;
  uint_const u = v < 0 ? -(uint_const)v : (uint_const)v;
  do {
    digits[--n] = (upper ? "0123456789ABCDEF" : "0123456789abcdef")[u % base];
    u /= base;
  } while (u);
  if (v < 0)
    digits[--n] = '-';
  strbuf_put(out, digits + n, sizeof digits - n);
}

// Shortest text that reads back as the same double, with a point or an exponent, as Python does.
static void format_float(double f, struct strbuf *out) {
  if (isnan(f) || isinf(f)) {
    strbuf_puts(out, isnan(f) ? "nan" : f > 0 ? "inf" : "-inf");
    return;
  }
  char text[40];
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, f);
    if (strtod(text, NULL) == f)
      break;
  }
  double magnitude = fabs(f);
  if (strchr(text, 'e') && magnitude >= 1e-4 && magnitude < 1e16)
    snprintf(text, sizeof text, "%.0f", f);
  strbuf_puts(out, text);
  if (!strpbrk(text, ".e"))
    strbuf_puts(out, ".0");
}

void const_format(struct eval *e, struct value v, bool repr, struct strbuf *out) {
  switch (v.kind) {
  case VALUE_INT: format_int(v.i, 10, false, out); return;
  case VALUE_FLOAT: format_float(v.f, out); return;
  case VALUE_BOOL: strbuf_puts(out, v.b ? "True" : "False"); return;
  case VALUE_NONE: strbuf_puts(out, "None"); return;
  case VALUE_STR: strbuf_printf(out, repr ? "'%.*s'" : "%.*s", STR_ARG(v.s)); return;
  case VALUE_TUPLE:
    if (v.tuple.record)
      strbuf_puts(out, record_name(v.tuple.record));
    strbuf_putc(out, '(');
    for (size_t i = 0; i < v.tuple.len; i++) {
      if (i)
        strbuf_puts(out, ", ");
      const_format(e, v.tuple.at[i], true, out);
    }
    strbuf_puts(out, v.tuple.len == 1 ? ",)" : ")");
    return;
  case VALUE_TYPE:
  case VALUE_RT: strbuf_puts(out, type_text(e->a, v.type)); return;
  case VALUE_FUNC:
  case VALUE_MODULE:
  case VALUE_FILE:
  case VALUE_BUILTIN:
  case VALUE_BOUND:
  case VALUE_RANGE:
  case VALUE_CLASS:
  case VALUE_SLICE:
  case VALUE_OPAQUE:
  case VALUE_ABSENT:
  case VALUE_POISON: strbuf_puts(out, value_describe(e, v)); return;
  }
}

// [[fill]align][sign][#][0][width][.precision][type] with type one of d x X b o f F e E g G % s.
struct format_spec {
  char fill, align, sign, type; // 0: not given
  bool has_prefix;              // `#`: 0x, 0o, 0b
  unsigned width, precision;
  bool has_precision;
};

static unsigned spec_number(struct str s, size_t *i, unsigned limit) {
  unsigned n = 0;
  for (; *i < s.len && s.ptr[*i] >= '0' && s.ptr[*i] <= '9' && n < limit; (*i)++)
    n = n * 10 + (unsigned)(s.ptr[*i] - '0');
  return n;
}

static bool spec_has(struct str s, size_t *i, const char *any) {
  bool r = *i < s.len && strchr(any, s.ptr[*i]);
  *i += r;
  return r;
}

static bool spec_read(struct str s, struct format_spec *ret) {
  size_t i = 0;
  *ret = (struct format_spec){.fill = ' ', .precision = 6};
  if (s.len >= 2 && strchr("<>^=", s.ptr[1])) {
    ret->fill = s.ptr[0], ret->align = s.ptr[1], i = 2;
  } else if (s.len >= 1 && strchr("<>^=", s.ptr[0])) {
    ret->align = s.ptr[0], i = 1;
  }
  if (spec_has(s, &i, "+- "))
    ret->sign = s.ptr[i - 1];
  ret->has_prefix = spec_has(s, &i, "#");
  if (spec_has(s, &i, "0")) {
    ret->fill = '0';
    ret->align = ret->align ? ret->align : '=';
  }
  ret->width = spec_number(s, &i, 1000);
  if (spec_has(s, &i, ".")) {
    ret->has_precision = true;
    ret->precision = spec_number(s, &i, 100);
  }
  ret->type = i < s.len ? s.ptr[i++] : 0;
  return i == s.len;
}

static void spec_float(double f, const struct format_spec *spec, struct strbuf *text) {
  int precision = (int)spec->precision;
  switch (spec->type) {
  case 'f':
  case 'F': strbuf_printf(text, "%.*f", precision, f); return;
  case 'e': strbuf_printf(text, "%.*e", precision, f); return;
  case 'E': strbuf_printf(text, "%.*E", precision, f); return;
  case 'G': strbuf_printf(text, "%.*G", precision, f); return;
  case '%': strbuf_printf(text, "%.*f%%", precision, 100 * f); return;
  default: strbuf_printf(text, "%.*g", precision, f); return;
  }
}

static unsigned spec_base(char type) {
  return type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10;
}

// The digits of a number's magnitude; *negative says whether it is below 0.
static bool spec_digits(struct value v, const struct format_spec *spec, struct strbuf *text,
                        bool *negative) {
  int_const n;
  double f = value_as_double(v);
  if (value_as_int(v, &n) && strchr("dxXbo", spec->type ? spec->type : 'd')) {
    *negative = n < 0;
    format_int(n < 0 ? -n : n, spec_base(spec->type), spec->type == 'X', text);
    return !spec->has_precision;
  }
  *negative = signbit(f);
  f = fabs(f);
  if (!spec->type && !spec->has_precision)
    format_float(f, text);
  else if (!spec->type || strchr("fFeEgG%", spec->type))
    spec_float(f, spec, text);
  else
    return false;
  return true;
}

// Sign and base of a number.
static void spec_prefix(const struct format_spec *spec, bool negative, struct strbuf *out) {
  if (negative)
    strbuf_putc(out, '-');
  else if (spec->sign && spec->sign != '-')
    strbuf_putc(out, spec->sign);
  if (spec->has_prefix && spec_base(spec->type) != 10)
    strbuf_printf(out, "0%c", spec->type);
}

static bool spec_text(struct value v, const struct format_spec *spec, struct strbuf *text) {
  bool is_cut = spec->has_precision && spec->precision < v.s.len;
  strbuf_put(text, v.s.ptr, is_cut ? spec->precision : v.s.len);
  return (spec->type == 0 || spec->type == 's') && !spec->sign && !spec->has_prefix &&
         spec->align != '=';
}

static void put_fill(struct strbuf *out, char fill, size_t count) {
  for (size_t k = 0; k < count; k++)
    strbuf_putc(out, fill);
}

bool const_format_spec(struct value v, struct str text, struct strbuf *out) {
  struct format_spec spec;
  if ((v.kind != VALUE_STR && !value_is_number(v)) || !spec_read(text, &spec))
    return false;
  struct strbuf prefix = {.arena = out->arena}, value = {.arena = out->arena};
  bool negative = false;
  bool ok =
      v.kind == VALUE_STR ? spec_text(v, &spec, &value) : spec_digits(v, &spec, &value, &negative);
  if (v.kind != VALUE_STR)
    spec_prefix(&spec, negative, &prefix);
  char align = spec.align ? spec.align : v.kind == VALUE_STR ? '<' : '>';
  size_t len = prefix.len + value.len, pad = spec.width > len ? spec.width - len : 0;
  size_t left = align == '>' ? pad : align == '^' ? pad / 2 : 0, inner = align == '=' ? pad : 0;
  if (ok) {
    put_fill(out, spec.fill, left);
    strbuf_put(out, strbuf_cstr(&prefix), prefix.len);
    put_fill(out, spec.fill, inner);
    strbuf_put(out, strbuf_cstr(&value), value.len);
    put_fill(out, spec.fill, pad - left - inner);
  }
  strbuf_finish(&value);
  strbuf_finish(&prefix);
  return ok;
}

// ---- as messages call values ----

// With the type of the block that it accesses.
static const char *record_text(struct eval *e, struct tuple t) {
  const char *name = record_name(t.record);
  for (size_t i = 0; i < t.len && t.record->kind == RECORD_DESCRIPTOR; i++)
    if (t.at[i].kind == VALUE_TYPE)
      return arena_printf(e->a, "%s of %s", name, type_text(e->a, t.at[i].type));
  return name;
}

const char *value_type_text(struct eval *e, struct value v) {
  switch (v.kind) {
  case VALUE_RT: return type_text(e->a, v.type);
  case VALUE_INT: return "int";
  case VALUE_FLOAT: return "float";
  case VALUE_BOOL: return "bool";
  case VALUE_NONE: return "None";
  case VALUE_STR: return "str";
  case VALUE_TYPE: return "type";
  case VALUE_CLASS: return "class";
  case VALUE_TUPLE: {
    if (v.tuple.record)
      return record_text(e, v.tuple);
    struct strbuf b = {.arena = e->a};
    strbuf_putc(&b, '(');
    for (size_t i = 0; i < v.tuple.len && i < 8; i++)
      strbuf_printf(&b, "%s%s", i ? ", " : "", value_type_text(e, v.tuple.at[i]));
    strbuf_puts(&b, v.tuple.len > 8 ? ", ...)" : ")");
    const char *r = arena_strdup(e->a, strbuf_cstr(&b));
    strbuf_finish(&b);
    return r;
  }
  case VALUE_FUNC:
  case VALUE_BUILTIN:
  case VALUE_BOUND: return "function";
  case VALUE_MODULE:
  case VALUE_FILE: return "module";
  case VALUE_RANGE: return "range";
  case VALUE_SLICE: return "slice";
  case VALUE_OPAQUE: return "unknown";
  case VALUE_ABSENT: return "nothing";
  case VALUE_POISON: return "an error";
  }
  return "?";
}

const char *value_describe(struct eval *e, struct value v) {
  switch (v.kind) {
  case VALUE_INT:
  case VALUE_FLOAT:
  case VALUE_BOOL:
  case VALUE_STR: {
    struct strbuf b = {.arena = e->a};
    const_format(e, v, true, &b);
    const char *r = arena_printf(e->a, "`%s`", strbuf_cstr(&b));
    strbuf_finish(&b);
    return r;
  }
  case VALUE_NONE: return "`None`";
  case VALUE_TYPE: return arena_printf(e->a, "the type %s", type_text(e->a, v.type));
  case VALUE_TUPLE:
    return arena_printf(e->a, v.tuple.record ? "a %s" : "the tuple %s", value_type_text(e, v));
  case VALUE_CLASS: return arena_printf(e->a, "the class `%s`", record_name(v.class));
  case VALUE_FUNC: return arena_printf(e->a, "the function `%s`", v.func->ast->name);
  case VALUE_BUILTIN: return arena_printf(e->a, "the function `%s`", v.builtin->name);
  case VALUE_BOUND:
    return arena_printf(e->a, "the method `%s`",
                        v.bound.func ? v.bound.func->ast->name : v.bound.builtin->name);
  case VALUE_MODULE:
  case VALUE_FILE: return "a module";
  case VALUE_RANGE: return "a range";
  case VALUE_SLICE: return "a slice";
  case VALUE_OPAQUE: return arena_printf(e->a, "`%s`", v.opaque->path);
  case VALUE_RT:
  case VALUE_ABSENT:
  case VALUE_POISON: return value_type_text(e, v);
  }
  return "?";
}
