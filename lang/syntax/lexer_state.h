// SPDX-License-Identifier: Apache-2.0
// State shared by the files of the lexer.
#ifndef TILE_LANG_SYNTAX_LEXER_STATE_H
#define TILE_LANG_SYNTAX_LEXER_STATE_H

#include "base/vec.h"
#include "lang/syntax/lexer.h"

// Where lexing resumes if a bracket is found to be unclosed.
struct resume {
  uint32_t offset; // start of a line
  size_t token_count;
};

struct bracket {
  enum token_kind kind;
  uint32_t offset;
  bool can_resume;
  struct resume resume;
};

// Width of an indentation with tabs as TAB_WIDTH and as 1: two lines compare alike under both, or
// their indentation depends on the reader's editor.
struct indent {
  uint32_t width, narrow;
};

struct lexer {
  struct arena *arena;
  struct diag_engine *diag;
  const struct source *source;
  struct str text;
  uint32_t pos;
  VEC(struct token) tokens;
  struct bracket brackets[LEXER_MAX_NESTING];
  unsigned depth;
  struct indent indents[LEXER_MAX_NESTING];
  unsigned level;
  struct indent statement; // indentation of the statement that is being read
  size_t statement_token;  // its first token
  unsigned rewinds;
  bool is_field; // inside an f-string: no lines, no indentation
  bool stopped;  // a limit was exceeded
};

static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline struct span span_of(const struct lexer *lx, uint32_t begin, uint32_t end) {
  return (struct span){lx->source, begin, end};
}

static inline char char_at(const struct lexer *lx, uint32_t at) {
  return at < lx->text.len ? lx->text.ptr[at] : '\0';
}

static inline bool at_end(const struct lexer *lx) { return lx->pos >= lx->text.len; }

static inline void push(struct lexer *lx, enum token_kind kind, uint32_t begin, uint32_t end) {
  vec_push(lx->arena, &lx->tokens, (struct token){kind, begin, end});
}

static inline void push_error(struct lexer *lx, uint32_t at) { push(lx, TOK_ERROR, at, at); }

static inline enum token_kind last_kind(const struct lexer *lx) {
  return lx->tokens.len ? vec_last(&lx->tokens).kind : TOK_NEWLINE;
}

static inline bool at_line_break(const struct lexer *lx) {
  char c = char_at(lx, lx->pos);
  return c == '\n' || (c == '\r' && char_at(lx, lx->pos + 1) == '\n');
}

static inline void skip_line_break(struct lexer *lx) {
  lx->pos += char_at(lx, lx->pos) == '\r' ? 2 : 1;
}

// ---- lexer_lines.c ----
enum token_kind lexer_keyword(const struct lexer *lx, uint32_t begin, uint32_t end);
uint32_t lexer_name_end(const struct lexer *lx, uint32_t at);
void lexer_close_unclosed(struct lexer *lx);
bool lexer_line_inside_brackets(struct lexer *lx);
void lexer_open_bracket(struct lexer *lx, enum token_kind kind, uint32_t at);
void lexer_close_bracket(struct lexer *lx, enum token_kind kind, uint32_t at);
void lexer_start_line(struct lexer *lx);
void lexer_end_line(struct lexer *lx);
void lexer_skip_comment(struct lexer *lx);

#endif
