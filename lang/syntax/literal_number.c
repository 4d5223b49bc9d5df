// SPDX-License-Identifier: Apache-2.0
// Numbers: where a literal ends, what is wrong with it, and its value. Scanning a number never
// fails (letters glued to it belong to it), so that host code causes no errors; the parser reports
// the error when it needs the value.
#include "lang/syntax/lexer.h"
#include "lang/syntax/literal_chars.h"

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
