// SPDX-License-Identifier: Apache-2.0
// Text from templates at compile time: "{} {name:>4}".format(...) and "%d of %s" % (...).
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "lang/eval/consteval.h"
#include "lang/eval/objects.h"

#include <ctype.h>

struct template {
  struct eval *e;
  struct span at; // of the template
  const struct operand *args;
  const char *const *names; // NULL: none has a name
  size_t count, next;       // the argument that the next field without a name takes
  struct strbuf out;
};

static bool wrong(struct template *t, struct str field, const char *why) {
  diag_help(eval_error(t->e, t->at, E0310, "`%.*s`: %s", STR_ARG(field), why),
            "numbers take `d`, `x`, `b`, `.3f` or `e`, texts take `s` and widths: `{:>8}`");
  return false;
}

// Appends the value by a specification such as `>4` or `.3f`; without one as str() or repr().
static bool put(struct template *t, const struct operand *x, struct str spec, bool repr) {
  if (!need_known(t->e, *x))
    return false;
  if (!value_is_const(x->v)) {
    eval_error(t->e, x->at, E0301, "text takes values known at compile time, not %s",
               value_describe(t->e, x->v));
    return false;
  }
  if (!spec.len)
    const_format(t->e, x->v, repr, &t->out);
  else if (!const_format_spec(x->v, spec, &t->out))
    return wrong(t, spec, "this value has no such format");
  return true;
}

static struct value finish(struct template *t, bool ok) {
  struct eval *e = t->e;
  struct value r = VALUE_ERROR;
  if (ok && t->out.len > EVAL_MAX_STRING)
    diag_help(eval_error(e, t->at, E0903, "the string is longer than %d bytes", EVAL_MAX_STRING),
              "build a shorter text");
  else if (ok)
    r = value_str((struct str){arena_strndup(e->a, strbuf_cstr(&t->out), t->out.len), t->out.len});
  strbuf_finish(&t->out);
  return r;
}

// ---- str.format ----

// The argument of `{}`, `{2}` or `{name}`.
static const struct operand *argument(struct template *t, struct str field) {
  uint64_t n;
  if (field.len == 0)
    n = t->next++;
  else if (!str_to_u64(field, &n))
    n = t->count;
  size_t position = 0;
  for (size_t i = 0; i < t->count; i++) {
    const char *name = t->names ? t->names[i] : NULL;
    if (name ? str_is(field, name) : position++ == n)
      return &t->args[i];
  }
  wrong(t, field, "there is no such argument of `format`");
  return NULL;
}

// field = [ NAME | NUMBER ] [ "!" ( "r" | "s" | "a" ) ] [ ":" spec ], without its braces
static bool put_field(struct template *t, struct str field) {
  struct str head, name, spec = str_split(field, ':', &head);
  struct str conversion = str_split(head, '!', &name);
  bool repr = str_is(conversion, "r") || str_is(conversion, "a");
  if (conversion.ptr && !repr && !str_is(conversion, "s"))
    return wrong(t, field, "a conversion is `!r`, `!s` or `!a`");
  if (memchr(field.ptr, '{', field.len) || memchr(name.ptr, '.', name.len) ||
      memchr(name.ptr, '[', name.len))
    return wrong(t, field, "fields within fields, attributes and elements are not supported here");
  const struct operand *x = argument(t, name);
  return x && put(t, x, spec, repr);
}

struct value text_format(struct eval *e, const struct operand *args, const char *const *names,
                         size_t count, struct span at) {
  struct template t = {.e = e,
                       .at = at,
                       .args = args + 1,
                       .names = names ? names + 1 : NULL,
                       .count = count - 1,
                       .out = {.arena = e->a}};
  struct str s = args[0].v.s;
  bool ok = true;
  for (size_t i = 0; ok && i < s.len; i++) {
    char c = s.ptr[i];
    bool twice = i + 1 < s.len && s.ptr[i + 1] == c;
    if ((c == '{' || c == '}') && twice) {
      strbuf_putc(&t.out, c);
      i++;
    } else if (c == '{') {
      const char *end = memchr(s.ptr + i, '}', s.len - i);
      struct str field = {s.ptr + i + 1, end ? (size_t)(end - s.ptr) - i - 1 : 0};
      ok = end ? put_field(&t, field) : wrong(&t, s, "a `{` is not closed");
      i += field.len + 1;
    } else if (c == '}') {
      ok = wrong(&t, s, "a `}` without `{`");
    } else {
      strbuf_putc(&t.out, c);
    }
  }
  return finish(&t, ok);
}

// ---- % ----

// One conversion as a format specification: `%-5d` is `<5d`.
static bool put_conversion(struct template *t, struct str s, size_t *at) {
  struct strbuf spec = {.arena = t->e->a};
  size_t begin = *at, i = begin;
  bool is_left = false, is_zero = false;
  for (; i < s.len && (s.ptr[i] == '-' || s.ptr[i] == '0'); i++)
    *(s.ptr[i] == '-' ? &is_left : &is_zero) = true;
  size_t width = i;
  while (i < s.len && (isdigit((unsigned char)s.ptr[i]) || s.ptr[i] == '.'))
    i++;
  char type = i < s.len ? s.ptr[i] : 0;
  *at = i;
  struct str text = {s.ptr + begin, i < s.len ? i - begin + 1 : s.len - begin};
  if (!type || !strchr("disrxXofeg", type))
    return wrong(t, text, "no conversion of `%`: `d`, `i`, `s`, `r`, `x`, `X`, `o`, `f`, `e`, `g`");
  if (t->next == t->count)
    return wrong(t, text, "`%` has no value for this conversion");
  struct operand x = t->args[t->next++];
  if (i > width || is_left || is_zero || !strchr("disr", type)) {
    strbuf_puts(&spec, is_left ? "<" : is_zero ? "" : ">");
    strbuf_printf(&spec, "%s%.*s", is_zero && !is_left ? "0" : "", (int)(i - width), s.ptr + width);
    if (!strchr("isr", type))
      strbuf_putc(&spec, type);
  }
  struct strbuf word = {.arena = t->e->a};
  bool is_text = type == 's' || type == 'r';
  bool ok = is_text || value_is_number(x.v) || wrong(t, text, "the value is no number");
  if (ok && is_text && value_is_const(x.v)) {
    const_format(t->e, x.v, type == 'r', &word);
    x.v = value_str((struct str){arena_strndup(t->e->a, strbuf_cstr(&word), word.len), word.len});
  } else if (ok && (type == 'd' || type == 'i') && x.v.kind == VALUE_FLOAT) {
    ok = wrong(t, text, "the value is no integer");
  }
  int_const n;
  if (ok && value_as_int(x.v, &n))
    x.v = value_int(n); // True is 1
  ok = ok && put(t, &x, (struct str){strbuf_cstr(&spec), spec.len}, false);
  strbuf_finish(&spec);
  strbuf_finish(&word);
  return ok;
}

struct value text_percent(struct eval *e, struct operand text, struct operand values,
                          struct span at) {
  struct str s = text.v.s;
  bool is_tuple = values.v.kind == VALUE_TUPLE && !values.v.tuple.record;
  size_t count = is_tuple ? values.v.tuple.len : 1;
  struct operand *args = arena_array(e->a, struct operand, count + 1);
  for (size_t i = 0; i < count; i++)
    args[i] = (struct operand){is_tuple ? values.v.tuple.at[i] : values.v, values.at};
  struct template t = {.e = e, .at = at, .args = args, .count = count, .out = {.arena = e->a}};
  bool ok = true;
  for (size_t i = 0; ok && i < s.len; i++) {
    bool twice = s.ptr[i] == '%' && i + 1 < s.len && s.ptr[i + 1] == '%';
    if (s.ptr[i] == '%' && !twice)
      i++, ok = put_conversion(&t, s, &i);
    else
      strbuf_putc(&t.out, s.ptr[i]), i += twice;
  }
  if (ok && t.next < t.count)
    ok = wrong(&t, s, "`%` has more values than conversions");
  return finish(&t, ok);
}
