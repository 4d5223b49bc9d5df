// SPDX-License-Identifier: Apache-2.0
// Numbers and strings: where a literal ends, what is wrong with it, and its value. Scanning a
// number never fails (letters glued to it belong to it), so that host code causes no errors; the
// parser reports the error when it needs the value.
#include "base/utf8.h"
#include "lang/syntax/lexer.h"

#define MAX_FIELD_DEPTH 16
#define NOT_FOUND UINT32_MAX

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_word(char c) { return is_digit(c) || is_alpha(c) || c == '_'; }
static char lower(char c) { return is_alpha(c) ? (char)(c | 0x20) : c; }
static char char_at(struct str text, uint32_t at) { return at < text.len ? text.ptr[at] : '\0'; }

static unsigned digit_value(char c) {
  if (is_digit(c))
    return (unsigned)(c - '0');
  return is_alpha(c) ? (unsigned)(lower(c) - 'a') + 10 : 99;
}

// ---- Numbers ----

static uint32_t skip_digits(struct str text, uint32_t at) {
  while (is_digit(char_at(text, at)) || char_at(text, at) == '_')
    at++;
  return at;
}

// `1if x else y`: a keyword may follow a number without a blank.
static bool is_glued_keyword(struct str word) {
  static const char *const glued[] = {"if", "else", "and", "or", "in", "is", "for", "not"};
  for (size_t i = 0; i < COUNT_OF(glued); i++)
    if (str_is(word, glued[i]))
      return true;
  return false;
}

static uint32_t skip_exponent(struct str text, uint32_t at) {
  if (lower(char_at(text, at)) != 'e')
    return at;
  uint32_t digits = at + 1;
  if (char_at(text, digits) == '+' || char_at(text, digits) == '-')
    digits++;
  return is_digit(char_at(text, digits)) ? skip_digits(text, digits) : at;
}

static bool has_base_prefix(struct str text, uint32_t at) {
  char c = lower(char_at(text, at + 1));
  return char_at(text, at) == '0' && (c == 'x' || c == 'b' || c == 'o');
}

uint32_t literal_scan_number(struct str text, uint32_t begin, enum token_kind *ret_kind) {
  uint32_t at = begin;
  *ret_kind = TOK_INT;
  if (has_base_prefix(text, at)) {
    while (is_word(char_at(text, at)))
      at++;
    return at;
  }
  at = skip_digits(text, at);
  uint32_t after_int = at;
  if (char_at(text, at) == '.')
    at = skip_digits(text, at + 1);
  at = skip_exponent(text, at);
  if (at != after_int)
    *ret_kind = TOK_FLOAT;
  uint32_t word = at;
  while (is_word(char_at(text, at)))
    at++;
  struct str tail = {text.ptr + word, at - word};
  if (is_glued_keyword(tail))
    return word;
  if (str_is(tail, "j") || str_is(tail, "J"))
    *ret_kind = TOK_IMAGINARY;
  return at;
}

static const char *based_error(struct str text, unsigned base) {
  bool digit_before = false;
  for (size_t i = 2; i < text.len; i++) {
    char c = text.ptr[i];
    if (c == '_' ? i + 1 == text.len || text.ptr[i + 1] == '_' : digit_value(c) >= base)
      return c == '_'     ? "`_` must stand between digits"
             : base == 16 ? "hexadecimal digits are 0 to 9 and a to f"
             : base == 8  ? "octal digits are 0 to 7"
                          : "binary digits are 0 and 1";
    digit_before |= c != '_';
  }
  return digit_before ? NULL : "digits are missing after the prefix";
}

static bool bad_underscores(struct str text) {
  for (size_t i = 0; i < text.len; i++)
    if (text.ptr[i] == '_' &&
        (i == 0 || i + 1 == text.len || !is_digit(text.ptr[i - 1]) || !is_digit(text.ptr[i + 1])))
      return true;
  return false;
}

const char *literal_number_error(struct str text) {
  if (has_base_prefix(text, 0)) {
    char c = lower(text.ptr[1]);
    return based_error(text, c == 'x' ? 16 : c == 'o' ? 8 : 2);
  }
  enum token_kind kind;
  uint32_t at = skip_digits(text, 0);
  if (char_at(text, at) == '.')
    at = skip_digits(text, at + 1);
  at = skip_exponent(text, at);
  if (bad_underscores((struct str){text.ptr, at}))
    return "`_` must stand between digits";
  if (at < text.len && !(at + 1 == text.len && lower(text.ptr[at]) == 'j'))
    return "letters cannot follow a number; a name cannot begin with a digit";
  literal_scan_number(text, 0, &kind);
  if (kind == TOK_INT && text.len > 1 && text.ptr[0] == '0')
    for (size_t i = 0; i < text.len; i++)
      if (text.ptr[i] != '0' && text.ptr[i] != '_')
        return "decimal numbers do not begin with 0; octal ones begin with 0o";
  return NULL;
}

bool literal_int(struct str text, uint64_t *ret) {
  unsigned base = 10;
  size_t i = 0;
  if (has_base_prefix(text, 0)) {
    char c = lower(text.ptr[1]);
    base = c == 'x' ? 16 : c == 'o' ? 8 : 2;
    i = 2;
  }
  uint64_t value = 0;
  for (; i < text.len; i++) {
    if (text.ptr[i] == '_')
      continue;
    uint64_t scaled;
    if (!checked_mul(value, base, &scaled) || scaled > UINT64_MAX - digit_value(text.ptr[i])) {
      *ret = UINT64_MAX;
      return false;
    }
    value = scaled + digit_value(text.ptr[i]);
  }
  *ret = value;
  return true;
}

bool literal_float(struct str text, double *ret) {
  char plain[400];
  size_t n = 0;
  for (size_t i = 0; i < text.len; i++) {
    if (text.ptr[i] == '_')
      continue;
    if (n == sizeof plain)
      return false;
    plain[n++] = text.ptr[i];
  }
  return str_to_f64((struct str){plain, n}, ret);
}

// ---- Extent of strings ----

bool literal_at_string(struct str text, uint32_t begin, uint32_t *ret_prefix) {
  uint32_t n = 0;
  bool r = false, b = false, u = false, f = false;
  for (;; n++) {
    char c = lower(char_at(text, begin + n));
    bool *seen = c == 'r' ? &r : c == 'b' ? &b : c == 'u' ? &u : c == 'f' ? &f : NULL;
    if (!seen)
      break;
    if (*seen)
      return false;
    *seen = true;
  }
  if (b + u + f > 1 || (u && r))
    return false;
  *ret_prefix = n;
  char quote = char_at(text, begin + n);
  return quote == '"' || quote == '\'';
}

// Form of the literal at `begin`; the body's end is not known yet.
static struct string_form form_at(struct str text, uint32_t begin) {
  struct string_form f = {0};
  uint32_t at = begin;
  for (;; at++) {
    char c = lower(char_at(text, at));
    if (c == 'r')
      f.is_raw = true;
    else if (c == 'b')
      f.is_bytes = true;
    else if (c == 'f')
      f.is_format = true;
    else if (c != 'u')
      break;
  }
  f.quote = char_at(text, at);
  f.is_triple = char_at(text, at + 1) == f.quote && char_at(text, at + 2) == f.quote;
  f.body_begin = at + (f.is_triple ? 3 : 1);
  return f;
}

struct string_form literal_string_form(struct str text, uint32_t begin, uint32_t end) {
  struct string_form f = form_at(text, begin);
  f.body_end = end - (f.is_triple ? 3 : 1);
  return f;
}

static bool at_quotes(struct str text, uint32_t at, const struct string_form *f) {
  if (char_at(text, at) != f->quote)
    return false;
  return !f->is_triple || (char_at(text, at + 1) == f->quote && char_at(text, at + 2) == f->quote);
}

static bool ends_line(char c, const struct string_form *f) { return c == '\n' && !f->is_triple; }

// The minimal extent of an escape: `\N{...}`, a newline after a backslash, or one character.
static uint32_t skip_escape(struct str text, uint32_t at, const struct string_form *f) {
  if (!f->is_raw && f->is_format && char_at(text, at + 1) == 'N' && char_at(text, at + 2) == '{') {
    uint32_t close = at + 3;
    while (is_word(char_at(text, close)) || char_at(text, close) == ' ' ||
           char_at(text, close) == '-')
      close++;
    if (char_at(text, close) == '}')
      return close + 1;
  }
  // In a raw f-string a brace after a backslash still opens a field.
  if (f->is_format && (char_at(text, at + 1) == '{' || char_at(text, at + 1) == '}'))
    return at + 1;
  return at + (char_at(text, at + 1) == '\r' && char_at(text, at + 2) == '\n' ? 3 : 2);
}

static enum string_scan scan_string(struct str text, uint32_t begin, unsigned depth,
                                    uint32_t *ret_end);
static uint32_t scan_field(struct str text, uint32_t open, const struct string_form *f,
                           unsigned depth, uint32_t *ret_expr_end);

// The format specification after `:`: text with fields in it, up to `}`.
static uint32_t scan_format(struct str text, uint32_t at, const struct string_form *f,
                            unsigned depth) {
  while (at < text.len) {
    char c = text.ptr[at];
    if (c == '}')
      return at;
    if (ends_line(c, f) || at_quotes(text, at, f))
      return NOT_FOUND;
    if (c == '{') {
      uint32_t ignored;
      at = scan_field(text, at, f, depth + 1, &ignored);
      if (at == NOT_FOUND)
        return NOT_FOUND;
    }
    at++;
  }
  return NOT_FOUND;
}

// Does the expression of a field end at this character? `=` counts if only the end can follow.
static bool ends_expression(struct str text, uint32_t at) {
  char c = text.ptr[at], next = char_at(text, at + 1);
  if (c == '!')
    return next != '=';
  if (c == '=') {
    for (at++; char_at(text, at) == ' ';)
      at++;
    next = char_at(text, at);
    return next == '}' || next == ':' || (next == '!' && char_at(text, at + 1) != '=');
  }
  return c == ':' || c == '}';
}

static uint32_t scan_field(struct str text, uint32_t open, const struct string_form *f,
                           unsigned depth, uint32_t *ret_expr_end) {
  unsigned brackets = 0;
  uint32_t at = open + 1, prefix;
  if (depth > MAX_FIELD_DEPTH)
    return NOT_FOUND;
  while (at < text.len) {
    char c = text.ptr[at];
    if (ends_line(c, f))
      return NOT_FOUND;
    bool word_before = is_word(text.ptr[at - 1]);
    if ((c == '"' || c == '\'' || !word_before) && literal_at_string(text, at, &prefix)) {
      uint32_t end;
      if (scan_string(text, at, depth + 1, &end) != STRING_CLOSED)
        return NOT_FOUND;
      at = end;
      continue;
    }
    if (brackets == 0 && ends_expression(text, at)) {
      *ret_expr_end = at;
      while (char_at(text, at) != ':' && char_at(text, at) != '}') {
        if (at >= text.len || ends_line(text.ptr[at], f) || at_quotes(text, at, f))
          return NOT_FOUND;
        at++;
      }
      return text.ptr[at] == '}' ? at : scan_format(text, at + 1, f, depth);
    }
    if (c == '(' || c == '[' || c == '{')
      brackets++;
    else if ((c == ')' || c == ']' || c == '}') && brackets > 0)
      brackets--;
    at++;
  }
  return NOT_FOUND;
}

uint32_t literal_scan_field(struct str text, uint32_t open, const struct string_form *form,
                            uint32_t *ret_expr_end) {
  return scan_field(text, open, form, 0, ret_expr_end);
}

static enum string_scan scan_string(struct str text, uint32_t begin, unsigned depth,
                                    uint32_t *ret_end) {
  struct string_form f = form_at(text, begin);
  enum string_scan result = STRING_UNCLOSED;
  uint32_t at = f.body_begin;
  while (at < text.len && !ends_line(text.ptr[at], &f)) {
    char c = text.ptr[at];
    if (at_quotes(text, at, &f)) {
      *ret_end = at + (f.is_triple ? 3 : 1);
      return STRING_CLOSED;
    }
    if (c == '\\') {
      at = skip_escape(text, at, &f);
    } else if (f.is_format && c == '{' && char_at(text, at + 1) == '{') {
      at += 2;
    } else if (f.is_format && c == '{') {
      uint32_t expr_end, close = scan_field(text, at, &f, depth, &expr_end);
      if (close == NOT_FOUND) {
        result = STRING_BAD_FIELD;
        break;
      }
      at = close + 1;
    } else {
      at++;
    }
  }
  // Lexing continues after the line; after three quotes the rest of the file is skipped.
  while (at < text.len && (f.is_triple || text.ptr[at] != '\n'))
    at++;
  *ret_end = at < text.len ? at : (uint32_t)text.len;
  return result;
}

enum string_scan literal_scan_string(struct str text, uint32_t begin, uint32_t *ret_end) {
  return scan_string(text, begin, 0, ret_end);
}

// ---- Values of strings ----

struct unescape {
  struct str text;
  uint32_t at, end;
  bool is_bytes;
  char *out;
  size_t len;
  const char *why;
  uint32_t bad_begin, bad_end;
};

static void fail(struct unescape *u, uint32_t begin, const char *why) {
  if (u->why)
    return;
  u->why = why;
  u->bad_begin = begin;
  u->bad_end = u->at;
}

static void put_code(struct unescape *u, uint32_t code) {
  if (u->is_bytes)
    u->out[u->len++] = (char)code;
  else
    u->len += utf8_encode(code, u->out + u->len);
}

static void unescape_digits(struct unescape *u, uint32_t begin, unsigned count, unsigned base) {
  uint32_t code = 0;
  unsigned n = 0;
  for (; n < count && u->at < u->end && digit_value(u->text.ptr[u->at]) < base; n++, u->at++)
    code = code * base + digit_value(u->text.ptr[u->at]);
  if (base == 16 && n < count)
    fail(u, begin,
         count == 2   ? "`\\x` takes two hexadecimal digits"
         : count == 4 ? "`\\u` takes four hexadecimal digits"
                      : "`\\U` takes eight hexadecimal digits");
  else if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    fail(u, begin, "this is no Unicode character");
  else
    put_code(u, code);
}

static void unescape_one(struct unescape *u) {
  static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
  uint32_t begin = u->at++;
  char c = u->at < u->end ? u->text.ptr[u->at] : '\0';
  const char *simple = c ? strchr(from, c) : NULL;
  if (simple) {
    u->out[u->len++] = to[simple - from];
    u->at++;
  } else if (c == '\n') {
    u->at++;
  } else if (c == '\r' && char_at(u->text, u->at + 1) == '\n') {
    u->at += 2;
  } else if (c == 'x' || (!u->is_bytes && (c == 'u' || c == 'U'))) {
    u->at++;
    unescape_digits(u, begin, c == 'x' ? 2 : c == 'u' ? 4 : 8, 16);
  } else if (c >= '0' && c <= '7') {
    unescape_digits(u, begin, 3, 8);
  } else if (c == 'N' && !u->is_bytes) {
    u->at++;
    fail(u, begin, "characters by name are not supported; use `\\u` and four hexadecimal digits");
  } else {
    u->out[u->len++] = '\\'; // as in Python, an unknown escape is the two characters
  }
}

size_t literal_unescape(struct str text, uint32_t begin, uint32_t end,
                        const struct string_form *form, char *out, const char **ret_why,
                        uint32_t *ret_bad_begin, uint32_t *ret_bad_end) {
  struct unescape u = {
      .text = text, .at = begin, .end = end, .is_bytes = form->is_bytes, .out = out};
  while (u.at < u.end) {
    char c = text.ptr[u.at], next = u.at + 1 < u.end ? text.ptr[u.at + 1] : '\0';
    if (c == '\\' && !form->is_raw) {
      unescape_one(&u);
    } else if (c == '\r' && next == '\n') {
      u.at++; // line ends are one character whatever the file uses
    } else {
      if (form->is_format && (c == '{' || c == '}') && next == c)
        u.at++;
      u.out[u.len++] = c;
      u.at++;
    }
  }
  *ret_why = u.why;
  *ret_bad_begin = u.bad_begin;
  *ret_bad_end = u.bad_end;
  return u.len;
}
