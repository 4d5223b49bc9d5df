// SPDX-License-Identifier: Apache-2.0
// Errors of the parser: panic mode, and messages for a token that does not fit. Operators of C and
// Python 2 are recognised here, because they occur wherever an operand or the end of a statement is
// expected.
//
// Recursion is the algorithm: recursive descent.
#include "base/diag.h"
#include "base/utf8.h"
#include "lang/syntax/parser.h"

#include <stdio.h>

// Whether the lexer has reported an error in the line of the current token: a second would repeat
// it.
static bool line_is_reported(struct parser *p) {
  if (p->pos >= p->line_first && p->pos < p->line_end)
    return p->line_has_error;
  const struct token *t = p->tokens.at;
  p->line_first = p->pos;
  while (p->line_first > 0 && t[p->line_first - 1].kind != TOK_NEWLINE)
    p->line_first--;
  p->line_end = p->line_first;
  p->line_has_error = false;
  do
    p->line_has_error |= t[p->line_end].kind == TOK_ERROR;
  while (++p->line_end < p->tokens.len && t[p->line_end - 1].kind != TOK_NEWLINE);
  return p->line_has_error;
}

PRINTF(4, 0)
static struct diag *record(struct parser *p, struct span at, enum diag_code code, const char *fmt,
                           va_list ap) {
  p->error_count++;
  if (p->quiet || line_is_reported(p))
    return NULL;
  return diag_error(p->diag, at, code, "%s", arena_vprintf(p->arena, fmt, ap));
}

static void enter_panic(struct parser *p) {
  p->panic = true;
  parser_skip_line(p);
}

struct diag *parser_error(struct parser *p, struct span at, enum diag_code code, const char *fmt,
                          ...) {
  if (p->panic)
    return NULL;
  va_list ap;
  va_start(ap, fmt);
  struct diag *d = record(p, at, code, fmt, ap);
  va_end(ap);
  enter_panic(p);
  return d;
}

struct diag *parser_report(struct parser *p, struct span at, enum diag_code code, const char *fmt,
                           ...) {
  if (p->panic)
    return NULL;
  va_list ap;
  va_start(ap, fmt);
  struct diag *d = record(p, at, code, fmt, ap);
  va_end(ap);
  return d;
}

static void unknown_character(struct parser *p) {
  struct str text = parser_token_text(p);
  uint32_t code = 0;
  utf8_decode(text.ptr, text.len, &code);
  const char *meant = unicode_meant(code);
  struct span at = parser_token_span(p);
  struct diag *d;
  if (code < 0x20 || code == 0x7f)
    d = parser_error(p, at, E0002, "control character U+%04X", (unsigned)code);
  else if (code == '`')
    d = parser_error(p, at, E0002, "a backtick is not part of the language");
  else if (code < 0x80)
    d = parser_error(p, at, E0002, "`%.*s` is not part of the language", STR_ARG(text));
  else
    d = parser_error(p, at, E0002, "character U+%04X is not part of the language", (unsigned)code);
  if (!meant && code < 0x80)
    diag_help(d, "remove it; operators are those of Python, and texts stand in quotes");
  if (meant && *meant == ' ')
    diag_help(d, "it looks like a blank; type a space instead");
  else if (meant)
    diag_help(d, "it looks like `%s`; type that instead", meant);
  if (meant && *meant != '"' && *meant != '\'') // of quotes, one alone is not enough
    diag_fixit(d, at, meant);
}

// Operators of other languages, found where an operand or the end of the statement was expected.
// The lexer gives them as adjacent tokens of this language.
struct foreign {
  enum token_kind before, current; // TOK_EOF: any
  const char *text, *help, *replacement;
};

static const struct foreign foreign_pairs[] = {
    {TOK_AMP, TOK_AMP, "&&", "write `and`", "and"},
    {TOK_PIPE, TOK_PIPE, "||", "write `or`", "or"},
    {TOK_LT, TOK_GT, "<>", "write `!=`", "!="},
    {TOK_EQ, TOK_ASSIGN, "===", "write `==`", "=="},
    {TOK_NE, TOK_ASSIGN, "!==", "write `!=`", "!="},
    {TOK_ASSIGN, TOK_GT, "=>", "write `>=`", ">="},
};

static bool foreign_pair(struct parser *p) {
  if (p->pos == 0)
    return false;
  struct token before = p->tokens.at[p->pos - 1], current = parser_token(p);
  if (before.end != current.begin)
    return false;
  for (size_t i = 0; i < COUNT_OF(foreign_pairs); i++) {
    const struct foreign *f = &foreign_pairs[i];
    if (f->before != before.kind || f->current != current.kind)
      continue;
    struct span at = {p->source, before.begin, current.end};
    struct diag *d = parser_error(p, at, E0110, "`%s` is not an operator", f->text);
    diag_help(d, "%s", f->help);
    if (f->replacement)
      diag_fixit(d, at, f->replacement);
    return true;
  }
  return false;
}

// `x++` and `x--` at the end of a statement.
static bool foreign_increment(struct parser *p) {
  if (p->pos < 3 || parser_starts_expression(parser_peek(p)))
    return false;
  struct token a = p->tokens.at[p->pos - 2], b = p->tokens.at[p->pos - 1];
  if (a.kind != b.kind || a.end != b.begin || (a.kind != TOK_PLUS && a.kind != TOK_MINUS))
    return false;
  const char *op = a.kind == TOK_PLUS ? "+" : "-";
  struct token variable = p->tokens.at[p->pos - 3];
  struct diag *d = parser_error(p, (struct span){p->source, a.begin, b.end}, E0110,
                                "`%s%s` is not an operator", op, op);
  if (variable.kind == TOK_NAME) {
    diag_help(d, "write `%.*s %s= 1`", STR_ARG(parser_text_of(p, variable)), op);
    diag_fixit(d, (struct span){p->source, a.begin, b.end}, *op == '+' ? " += 1" : " -= 1");
  }
  return true;
}

static bool foreign_token(struct parser *p) {
  struct diag *d;
  struct span at = parser_token_span(p);
  enum token_kind next = parser_peek_at(p, 1);
  switch (parser_peek(p)) {
  case TOK_QUESTION:
    diag_help(parser_error(p, at, E0110, "`?` is not an operator"),
              "write `a if condition else b`");
    return true;
  case TOK_BANG:
    d = parser_error(p, at, E0110, "`!` is not an operator");
    diag_help(d, "write `not x`, or `~x` for bits");
    diag_fixit(d, at, "not ");
    return true;
  case TOK_DOUBLE_SLASH:
    d = parser_error(p, at, E0110, "`//` divides; here its left operand is missing");
    diag_help(d, "comments begin with `#`");
    diag_fixit(d, at, "#");
    return true;
  case TOK_SLASH:
    if (next != TOK_STAR && next != TOK_DOUBLE_STAR)
      return false;
    diag_help(parser_error(p, at, E0110, "`/*` does not begin a comment"),
              "comments begin with `#` and end with the line");
    return true;
  default: return foreign_pair(p) || foreign_increment(p);
  }
}

// How a message names the current token.
static const char *describe(const struct parser *p) {
  struct token t = parser_token(p);
  if (t.kind == TOK_EOF && p->in_field)
    return "the end of the replacement field";
  if (parser_is_layout(t.kind))
    return token_kind_text(t.kind);
  struct str text = parser_text_of(p, t);
  const size_t limit = 40;
  bool is_long = text.len > limit || memchr(text.ptr, '\n', text.len);
  if (is_long)
    return token_kind_text(t.kind);
  return arena_printf(p->arena, "`%.*s`", STR_ARG(text));
}

void parser_unexpected(struct parser *p, const char *expected) {
  enum token_kind kind = parser_peek(p);
  if (p->panic)
    return;
  if (kind == TOK_ERROR) { // reported by the lexer
    p->error_count++;
    enter_panic(p);
    return;
  }
  if (kind == TOK_UNKNOWN) {
    unknown_character(p);
    return;
  }
  if (foreign_token(p))
    return;
  struct span at = parser_token_span(p);
  bool is_keyword = token_kind_is_keyword(kind);
  const char *found = describe(p);
  struct diag *d = parser_error(p, at, E0102, "expected %s, found %s", expected, found);
  if (kind == TOK_ARROW)
    diag_help(d, "a member is read by `.`; `->` is for the type that a function returns");
  if (is_keyword && kind != TOK_IN)
    diag_help(d, "%s is a keyword: choose another name", found);
  else if (is_keyword)
    diag_help(d, "`in` is a keyword: a loop is `for i in range(n):`, a test `x in (1, 2)`");
  else if (kind == TOK_AMP)
    diag_help(d, "there is no `&` of C: `x + i` is the address of element i of `x`");
  else if (kind == TOK_SEMICOLON)
    diag_help(d, "a statement ends with its line: remove it");
  else if (strstr(expected, "an expression"))
    diag_help(d, "an operand is missing: add it, or remove the operator in front");
  else if (strstr(expected, "`in`"))
    diag_help(d, "a loop that counts is `for i in range(start, end):`");
}

void parser_close(struct parser *p, enum token_kind kind, size_t open) {
  if (parser_accept(p, kind) || p->panic)
    return;
  struct token bracket = p->tokens.at[open];
  enum token_kind found = parser_peek(p);
  struct span at = parser_token_span(p);
  if (found == TOK_ASSIGN && p->pos > 0 && p->tokens.at[p->pos - 1].kind != TOK_EQ &&
      p->tokens.at[p->pos - 1].kind != TOK_NE) {
    struct diag *d = parser_error(p, at, E0106, "`=` assigns and has no value");
    diag_help(d, "write `==` to compare, `:=` to name a value inside an expression");
  } else if (parser_starts_expression(found)) {
    struct diag *d = parser_error(p, at, E0102, "expected `,` or `%s`, found %s",
                                  token_kind_text(kind), describe(p));
    diag_label(d, parser_span_of(p, bracket), "opened here");
    diag_help(d, "separate values by `,`, or put an operator between them");
  } else if (found == TOK_NEWLINE || found == TOK_EOF) {
    // Only inside f-strings: elsewhere lines do not end inside brackets.
    diag_help(parser_error(p, parser_span_of(p, bracket), E0103, "`%s` is never closed",
                           token_kind_text(bracket.kind)),
              "close it where the expression ends");
  } else {
    char expected[40];
    snprintf(expected, sizeof expected, "`,` or `%s`", token_kind_text(kind));
    parser_unexpected(p, expected);
  }
}
