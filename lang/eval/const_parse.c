// SPDX-License-Identifier: Apache-2.0
// Literals of command lines, configurations and settings: 128, 0x10, 1.5, True, None, float16,
// "relu", relu, and tuples of them.
#include "base/vec.h"
#include "lang/eval/consteval.h"

enum { MOST_NESTING = 32 };

static bool parse_number(struct str text, struct value *ret) {
  int64_t i;
  uint64_t u;
  double f;
  if (str_to_i64(text, &i))
    return *ret = value_int(i), true;
  if (str_to_u64(text, &u))
    return *ret = value_int((int_const)u), true;
  if (str_to_f64(text, &f))
    return *ret = value_float(f), true;
  return false;
}

// Only quotes of one kind, at both ends, and no NUL byte, since C strings end there.
static bool is_quoted(struct str text) {
  if (text.len < 2 || (text.ptr[0] != '"' && text.ptr[0] != '\''))
    return false;
  return memchr(text.ptr + 1, text.ptr[0], text.len - 1) == text.ptr + text.len - 1 &&
         !memchr(text.ptr, 0, text.len);
}

static bool parse(struct arena *a, struct str text, unsigned depth, struct value *ret);

// (2, 3), (16,), ((1, 2), "x"), [4, 8]; `()` is empty, and `(2)` is the number.
static bool parse_tuple(struct arena *a, struct str text, unsigned depth, struct value *ret) {
  bool is_list = text.ptr[0] == '[';
  char close = text.ptr[text.len - 1];
  if (text.len < 2 || close != (is_list ? ']' : ')') || depth == MOST_NESTING)
    return false;
  struct str rest = str_trim((struct str){text.ptr + 1, text.len - 2}), element;
  VEC(struct value) items = {0};
  bool has_comma = false;
  while (rest.len) {
    struct value v;
    rest = str_split_list(rest, &element);
    has_comma |= rest.ptr != NULL;
    rest = str_trim(rest);
    if (!parse(a, element, depth + 1, &v))
      return false;
    vec_push(a, &items, v);
  }
  bool is_number = !is_list && items.len == 1 && !has_comma;
  *ret = is_number ? items.at[0] : value_tuple(items.at, items.len);
  return true;
}

static bool parse(struct arena *a, struct str text, unsigned depth, struct value *ret) {
  text = str_trim(text);
  if (text.len == 0)
    return false;
  if (text.ptr[0] == '(' || text.ptr[0] == '[')
    return parse_tuple(a, text, depth, ret);
  if (parse_number(text, ret))
    return true;
  if (str_is(text, "True") || str_is(text, "true") || str_is(text, "False") ||
      str_is(text, "false"))
    return *ret = value_bool(text.ptr[0] == 'T' || text.ptr[0] == 't'), true;
  if (str_is(text, "None"))
    return *ret = value_of_kind(VALUE_NONE), true;
  if (is_quoted(text))
    return *ret = value_str(str_from(arena_strndup(a, text.ptr + 1, text.len - 2))), true;
  struct str name = text;
  if (str_starts(name, "tl."))
    name = (struct str){text.ptr + 3, text.len - 3};
  enum dtype t;
  if (dtype_parse(name, &t))
    return *ret = value_type(type_scalar(t)), true;
  // A bare word is a string: the shell removed the quotes.
  for (size_t i = 0; i < text.len; i++) {
    unsigned char ch = (unsigned char)text.ptr[i];
    bool word = ch == '_' || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                (i && ((ch >= '0' && ch <= '9') || ch == '-' || ch == '.'));
    if (!word)
      return false;
  }
  return *ret = value_str(str_from(arena_strndup(a, text.ptr, text.len))), true;
}

bool const_parse(struct arena *a, struct str text, struct value *ret) {
  return parse(a, text, 0, ret);
}
