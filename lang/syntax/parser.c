// SPDX-License-Identifier: Apache-2.0
// The parser's access to tokens: looking at them, taking them, skipping; and parsing of a file.
//
// Recursion is the algorithm: recursive descent.
#include "lang/syntax/parser.h"

#include "base/diag.h"
#include "base/utf8.h"
#include "lang/syntax/kernels.h"

#include <assert.h>
#include <stdio.h>

// ---- Tokens ----

enum token_kind parser_peek_at(const struct parser *p, size_t ahead) {
  size_t at = p->pos + ahead;
  return p->tokens.at[at < p->tokens.len ? at : p->tokens.len - 1].kind;
}

enum token_kind parser_peek(const struct parser *p) {
  assert(p->pos < p->tokens.len); // the last token is TOK_EOF
  return p->tokens.at[p->pos].kind;
}

struct token parser_token(const struct parser *p) {
  return p->tokens.at[p->pos];
}

struct str parser_text_of(const struct parser *p, struct token t) {
  return (struct str){p->source->text.ptr + t.begin, t.end - t.begin};
}

struct str parser_token_text(const struct parser *p) {
  return parser_text_of(p, parser_token(p));
}

struct span parser_span_of(const struct parser *p, struct token t) {
  return (struct span){p->source, t.begin, t.end};
}

bool parser_is_layout(enum token_kind kind) {
  return kind == TOK_NEWLINE || kind == TOK_EOF || kind == TOK_DEDENT || kind == TOK_INDENT;
}

struct span parser_end_span(const struct parser *p) {
  size_t at = p->pos;
  while (at > 0 && parser_is_layout(p->tokens.at[at - 1].kind))
    at--;
  uint32_t end = at > 0 ? p->tokens.at[at - 1].end : 0;
  return (struct span){p->source, end, end};
}

struct span parser_token_span(const struct parser *p) {
  enum token_kind kind = parser_peek(p);
  if (kind == TOK_NEWLINE || kind == TOK_EOF)
    return parser_end_span(p);
  return parser_span_of(p, parser_token(p));
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
    diag_help(parser_report(p, at, E0903, "this name has %zu bytes, the limit is %d", name.len,
                            LEXER_MAX_NAME),
              "choose a shorter name");
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

// ---- Recursion ----

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
                                const struct source *source, bool is_python, bool is_imported) {
  struct token_list tokens;
  if (!lexer_run(a, diag, source, &tokens))
    return NULL;
  struct parser p = {.arena = a, .diag = diag, .source = source, .tokens = tokens};
  p.is_imported = is_imported;
  p.names = arena_new(a, struct map);
  p.module = arena_new(a, struct ast_module);
  p.module->source = source;
  parse_module(&p, is_python);
  kernels_find(a, p.module);
  return p.module;
}

struct ast_module *ast_read(struct arena *a, struct diag_engine *diag,
                            const struct source *source) {
  return parse(a, diag, source, false, false);
}

struct ast_module *ast_read_python(struct arena *a, struct diag_engine *diag,
                                   const struct source *source) {
  return parse(a, diag, source, true, false);
}

struct ast_module *ast_read_imported(struct arena *a, struct diag_engine *diag,
                                     const struct source *source) {
  return parse(a, diag, source, false, true);
}
