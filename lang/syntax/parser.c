// SPDX-License-Identifier: Apache-2.0
// Looks at tokens, takes them, skips them, and reports a token that does not fit. Operators of C
// and Python 2 are recognised here, because they occur wherever an operand or the end of a
// statement is expected.
//
// Recursion is the algorithm: recursive descent.
#include "lang/syntax/parser.h"

#include "base/diag.h"
#include "base/utf8.h"
#include "lang/syntax/kernels.h"

#include <stdio.h>

// ---- Tokens ----

enum token_kind parser_peek_at(const struct parser *p, size_t ahead) {
  size_t at = p->pos + ahead;
  return p->tokens.at[at < p->tokens.len ? at : p->tokens.len - 1].kind;
}

enum token_kind parser_peek(const struct parser *p) { return p->tokens.at[p->pos].kind; }

struct token parser_token(const struct parser *p) {
  return p->tokens.at[p->pos];
}

static struct str text_of(const struct parser *p, struct token t) {
  return (struct str){p->source->text.ptr + t.begin, t.end - t.begin};
}

struct str parser_token_text(const struct parser *p) {
  return text_of(p, parser_token(p));
}

static struct span span_of(const struct parser *p, struct token t) {
  return (struct span){p->source, t.begin, t.end};
}

static bool is_layout(enum token_kind kind) {
  return kind == TOK_NEWLINE || kind == TOK_EOF || kind == TOK_DEDENT || kind == TOK_INDENT;
}

struct span parser_end_span(const struct parser *p) {
  size_t at = p->pos;
  while (at > 0 && is_layout(p->tokens.at[at - 1].kind))
    at--;
  uint32_t end = at > 0 ? p->tokens.at[at - 1].end : 0;
  return (struct span){p->source, end, end};
}

struct span parser_token_span(const struct parser *p) {
  enum token_kind kind = parser_peek(p);
  if (kind == TOK_NEWLINE || kind == TOK_EOF)
    return parser_end_span(p);
  return span_of(p, parser_token(p));
}

struct span parser_span_from(const struct parser *p, size_t first) {
  uint32_t begin = p->tokens.at[first].begin;
  uint32_t end = p->pos > first ? p->tokens.at[p->pos - 1].end : begin;
  return (struct span){p->source, begin, end < begin ? begin : end};
}

static void advance(struct parser *p) {
  if (p->pos + 1 < p->tokens.len)
    p->pos++;
}

bool parser_accept(struct parser *p, enum token_kind kind) {
  if (parser_peek(p) != kind)
    return false;
  advance(p);
  return true;
}

bool parser_expect(struct parser *p, enum token_kind kind) {
  if (parser_accept(p, kind))
    return true;
  char expected[40];
  snprintf(expected, sizeof expected, "`%s`", token_kind_text(kind));
  parser_unexpected(p, expected);
  return false;
}

const char *parser_intern(struct parser *p, struct str name, struct span at) {
  const char *known = map_get(p->names, name);
  if (known)
    return known;
  if (name.len > LEXER_MAX_NAME)
    parser_report(p, at, E0903, "this name has %zu bytes, the limit is %d", name.len,
                  LEXER_MAX_NAME);
  char *copy = arena_strndup(p->arena, name.ptr, name.len);
  map_put(p->arena, p->names, name, copy);
  return copy;
}

const char *parser_name(struct parser *p, const char *what) {
  if (parser_peek(p) != TOK_NAME) {
    char expected[80];
    snprintf(expected, sizeof expected, "the name of %s", what);
    parser_unexpected(p, expected);
    return NULL;
  }
  const char *name = parser_intern(p, parser_token_text(p), parser_token_span(p));
  advance(p);
  return name;
}

bool parser_at_word(const struct parser *p, const char *word) {
  return parser_peek(p) == TOK_NAME && str_is(parser_token_text(p), word);
}

bool parser_starts_expression(enum token_kind kind) {
  switch (kind) {
  case TOK_NAME:
  case TOK_INT:
  case TOK_FLOAT:
  case TOK_IMAGINARY:
  case TOK_STRING:
  case TOK_FSTRING:
  case TOK_LPAREN:
  case TOK_LBRACKET:
  case TOK_LBRACE:
  case TOK_ELLIPSIS:
  case TOK_PLUS:
  case TOK_MINUS:
  case TOK_TILDE:
  case TOK_TRUE:
  case TOK_FALSE:
  case TOK_NONE:
  case TOK_NOT:
  case TOK_LAMBDA:
  case TOK_AWAIT: return true;
  default: return false;
  }
}

// ---- Errors ----

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
  if (meant && *meant == ' ')
    diag_help(d, "it looks like a blank; type a space instead");
  else if (meant)
    diag_help(d, "it looks like `%s`; type that instead", meant);
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
    {TOK_ASSIGN, TOK_GT, "=>", "write `>=`, or `lambda x: ...` for a function", NULL},
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
  if (variable.kind == TOK_NAME)
    diag_help(d, "write `%.*s %s= 1`", STR_ARG(text_of(p, variable)), op);
  return true;
}

static bool foreign_token(struct parser *p) {
  struct span at = parser_token_span(p);
  enum token_kind next = parser_peek_at(p, 1);
  switch (parser_peek(p)) {
  case TOK_QUESTION:
    diag_help(parser_error(p, at, E0110, "`?` is not an operator"),
              "write `a if condition else b`");
    return true;
  case TOK_BANG:
    diag_help(parser_error(p, at, E0110, "`!` is not an operator"),
              "write `not x`, or `~x` for bits");
    return true;
  case TOK_DOUBLE_SLASH:
    diag_help(parser_error(p, at, E0110, "`//` divides; here its left operand is missing"),
              "comments begin with `#`");
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
  if (is_layout(t.kind))
    return token_kind_text(t.kind);
  struct str text = text_of(p, t);
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
  if (is_keyword && strstr(expected, "name"))
    diag_help(d, "%s is a keyword and cannot be a name", found);
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
    diag_label(d, span_of(p, bracket), "opened here");
  } else if (found == TOK_NEWLINE || found == TOK_EOF) {
    // Only inside f-strings: elsewhere lines do not end inside brackets.
    parser_error(p, span_of(p, bracket), E0103, "`%s` is never closed",
                 token_kind_text(bracket.kind));
  } else {
    char expected[40];
    snprintf(expected, sizeof expected, "`,` or `%s`", token_kind_text(kind));
    parser_unexpected(p, expected);
  }
}

bool parser_enter(struct parser *p) {
  if (p->nesting >= PARSER_MAX_NESTING) {
    diag_help(parser_error(p, parser_token_span(p), E0902, "this is nested too deeply"),
              "name intermediate results");
    return false;
  }
  p->nesting++;
  return true;
}

void parser_leave(struct parser *p) { p->nesting--; }

// ---- Skipping ----

void parser_skip_line(struct parser *p) {
  while (parser_peek(p) != TOK_NEWLINE && parser_peek(p) != TOK_EOF)
    p->pos++;
}

void parser_skip_block(struct parser *p) {
  if (parser_peek(p) != TOK_INDENT)
    return;
  size_t depth = 0;
  do {
    enum token_kind kind = parser_peek(p);
    if (kind == TOK_EOF)
      return;
    depth += kind == TOK_INDENT;
    depth -= kind == TOK_DEDENT;
    p->pos++;
  } while (depth > 0);
}

void parser_skip_statement(struct parser *p) {
  parser_skip_line(p);
  parser_accept(p, TOK_NEWLINE);
  parser_skip_block(p);
}

// ---- Entry ----

static struct ast_module *parse(struct arena *a, struct diag_engine *diag,
                                const struct source *source, bool is_python) {
  struct token_list tokens;
  if (!lexer_run(a, diag, source, &tokens))
    return NULL;
  struct parser p = {.arena = a, .diag = diag, .source = source, .tokens = tokens};
  p.names = arena_new(a, struct map);
  p.module = arena_new(a, struct ast_module);
  p.module->source = source;
  parse_module(&p, is_python);
  kernels_find(a, p.module);
  return p.module;
}

struct ast_module *ast_read(struct arena *a, struct diag_engine *diag,
                            const struct source *source) {
  return parse(a, diag, source, false);
}

struct ast_module *ast_read_python(struct arena *a, struct diag_engine *diag,
                                   const struct source *source) {
  return parse(a, diag, source, true);
}
