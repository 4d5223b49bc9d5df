// SPDX-License-Identifier: Apache-2.0
// Strings: where a literal ends, the fields of an f-string, and the text with escapes resolved.
#include "base/utf8.h"
#include "lang/syntax/lexer.h"
#include "lang/syntax/literal_chars.h"

#define MAX_FIELD_DEPTH 16
#define NOT_FOUND UINT32_MAX

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
