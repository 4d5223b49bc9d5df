// SPDX-License-Identifier: Apache-2.0
// Tokens of PTX text.
#include "ptx-simulator/ptx_lexer.h"

#include <stdarg.h>
#include <stdio.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         c == '%';
}
static int hex_digit(char c) {
  return is_digit(c)              ? c - '0'
         : (c >= 'a' && c <= 'f') ? c - 'a' + 10
         : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                  : -1;
}

bool lexer_error(struct lexer *l, unsigned line, unsigned column, const char *format, ...) {
  if (!l->failed) {
    l->error->line = line;
    l->error->column = column;
    va_list args;
    va_start(args, format);
    vsnprintf(l->error->text, sizeof l->error->text, format, args);
    va_end(args);
  }
  l->failed = true;
  l->at = l->end;
  l->token.kind = TOKEN_END;
  l->token.text = (struct str){0};
  return false;
}

static char peek(const struct lexer *l, size_t n) {
  return (size_t)(l->end - l->at) > n ? l->at[n] : 0;
}

static void newline(struct lexer *l) {
  l->at++;
  l->line++;
  l->line_start = l->at;
}

static void skip_block_comment(struct lexer *l) {
  unsigned line = l->line, column = (unsigned)(l->at - l->line_start) + 1;
  l->at += 2;
  while (l->at < l->end && !(l->at[0] == '*' && peek(l, 1) == '/'))
    if (*l->at == '\n')
      newline(l);
    else
      l->at++;
  if (l->at == l->end)
    lexer_error(l, line, column, "a comment that never ends");
  else
    l->at += 2;
}

static void skip_space(struct lexer *l) {
  while (l->at < l->end) {
    char c = *l->at;
    if (c == '\n')
      newline(l);
    else if (c == ' ' || c == '\t' || c == '\r')
      l->at++;
    else if (c == '/' && peek(l, 1) == '/')
      while (l->at < l->end && *l->at != '\n')
        l->at++;
    else if (c == '/' && peek(l, 1) == '*')
      skip_block_comment(l);
    else
      return;
  }
}

static void lex_word(struct lexer *l) {
  for (;;) {
    while (is_word(peek(l, 0)))
      l->at++;
    if (peek(l, 0) == '.' && is_word(peek(l, 1)))
      l->at++;
    else if (peek(l, 0) == ':' && peek(l, 1) == ':' && is_word(peek(l, 2)))
      l->at += 2;
    else
      return;
  }
}

// Digits of a base; false if there are none, or more than 64 bits.
static bool lex_digits(struct lexer *l, unsigned base, uint64_t *ret) {
  const char *start = l->at;
  uint64_t value = 0;
  for (int d; (d = hex_digit(peek(l, 0))) >= 0 && (unsigned)d < base; l->at++)
    if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
        __builtin_add_overflow(value, (uint64_t)d, &value))
      return false;
  *ret = value;
  return l->at > start;
}

static bool lex_hex_float(struct lexer *l, struct token *t) {
  bool narrow = (l->at[1] | 32) == 'f';
  l->at += 2;
  const char *start = l->at;
  t->kind = narrow ? TOKEN_FLOAT32 : TOKEN_FLOAT64;
  return lex_digits(l, 16, &t->value) && l->at - start == (narrow ? 8 : 16);
}

static bool lex_decimal_float(struct lexer *l, struct token *t, const char *start) {
  while (is_digit(peek(l, 0)) || peek(l, 0) == '.')
    l->at++;
  if ((peek(l, 0) | 32) == 'e') {
    l->at += peek(l, 1) == '-' || peek(l, 1) == '+' ? 2 : 1;
    while (is_digit(peek(l, 0)))
      l->at++;
  }
  double value;
  if (!str_to_f64((struct str){start, (size_t)(l->at - start)}, &value))
    return false;
  memcpy(&t->value, &value, sizeof value);
  t->kind = TOKEN_FLOAT64;
  return true;
}

static bool lex_number(struct lexer *l, struct token *t) {
  const char *start = l->at;
  char second = (char)(peek(l, 1) | 32);
  t->kind = TOKEN_INTEGER;
  if (*l->at == '0' && (second == 'f' || second == 'd') && hex_digit(peek(l, 2)) >= 0)
    return lex_hex_float(l, t) && !is_word(peek(l, 0));
  unsigned base = *l->at != '0'      ? 10
                  : second == 'x'    ? 16
                  : second == 'b'    ? 2
                  : is_digit(second) ? 8
                                     : 10;
  if (base == 16 || base == 2)
    l->at += 2;
  bool ok = lex_digits(l, base, &t->value);
  if ((base == 10 || base == 8) &&
      ((peek(l, 0) == '.' && is_digit(peek(l, 1))) || (ok && (peek(l, 0) | 32) == 'e'))) {
    l->at = start;
    return lex_decimal_float(l, t, start);
  }
  if (peek(l, 0) == 'U')
    l->at++;
  return ok && !is_word(peek(l, 0));
}

static void lex_string(struct lexer *l, struct token *t) {
  const char *start = ++l->at;
  while (l->at < l->end && *l->at != '"' && *l->at != '\n')
    l->at += *l->at == '\\' && l->end - l->at > 1 ? 2 : 1;
  t->kind = TOKEN_STRING;
  if (l->at >= l->end || *l->at != '"') {
    lexer_error(l, t->line, t->column, "a string that never ends");
    return;
  }
  t->text = (struct str){start, (size_t)(l->at - start)};
  l->at++;
}

void lexer_next(struct lexer *l) {
  l->previous_end = l->token_end;
  skip_space(l);
  if (l->failed)
    return;
  struct token t = {.line = l->line, .column = (unsigned)(l->at - l->line_start) + 1};
  const char *start = l->at;
  char c = peek(l, 0);
  if (l->at == l->end) {
    t.kind = TOKEN_END;
  } else if (is_digit(c)) {
    if (!lex_number(l, &t)) {
      lexer_error(l, t.line, t.column, "a number that cannot be read");
      return;
    }
  } else if (is_word(c)) {
    t.kind = TOKEN_WORD;
    lex_word(l);
  } else if (c == '.' && is_word(peek(l, 1))) {
    t.kind = TOKEN_DIRECTIVE;
    for (l->at++; is_word(peek(l, 0));)
      l->at++;
  } else if (c == '"') {
    lex_string(l, &t);
    if (l->failed)
      return;
  } else {
    t.kind = TOKEN_PUNCTUATION;
    l->at++;
  }
  if (t.kind != TOKEN_STRING)
    t.text = (struct str){start, (size_t)(l->at - start)};
  l->token = t;
  l->token_end = l->at;
}

void lexer_start(struct lexer *l, const char *text, size_t size, struct sim_error *error) {
  *l = (struct lexer){.at = text,
                      .end = text + size,
                      .line_start = text,
                      .line = 1,
                      .token_end = text,
                      .error = error};
  lexer_next(l);
}

bool token_is(const struct token *t, const char *text) {
  return (t->kind == TOKEN_WORD || t->kind == TOKEN_DIRECTIVE || t->kind == TOKEN_PUNCTUATION) &&
         str_is(t->text, text);
}

bool lexer_take(struct lexer *l, const char *text) {
  if (!token_is(&l->token, text))
    return false;
  lexer_next(l);
  return true;
}

bool lexer_expect(struct lexer *l, const char *text) {
  if (lexer_take(l, text))
    return true;
  if (l->token.kind == TOKEN_END)
    return lexer_error(l, l->line, 1, "the text ends where '%s' was expected", text);
  return lexer_error(l, l->token.line, l->token.column, "'%s' was expected, found '%.*s'", text,
                     (int)(l->token.text.len < 64 ? l->token.text.len : 64), l->token.text.ptr);
}
