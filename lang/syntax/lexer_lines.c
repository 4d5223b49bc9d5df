// SPDX-License-Identifier: Apache-2.0
// Lines: indentation, brackets across lines, and where an unclosed bracket ends (decision 2 of
// lexer.c).
#include "base/utf8.h"
#include "lang/syntax/lexer_state.h"

#define TAB_WIDTH 8
#define MAX_REWINDS 64

static const struct {
  const char *text;
  uint8_t len;
  enum token_kind kind;
} keywords[] = {
#define TOKEN(id, spelling)
#define PUNCT(id, spelling)
#define KEYWORD(id, spelling) {spelling, sizeof(spelling) - 1, TOK_##id},
#include "lang/syntax/tokens.def"
#undef TOKEN
#undef PUNCT
#undef KEYWORD
};

void lexer_skip_comment(struct lexer *lx) {
  while (!at_end(lx) && lx->text.ptr[lx->pos] != '\n')
    lx->pos++;
  if (lx->pos > 0 && char_at(lx, lx->pos - 1) == '\r' && !at_end(lx))
    lx->pos--;
}

static struct indent measure_indent(struct lexer *lx) {
  struct indent in = {0, 0};
  for (;; lx->pos++) {
    char c = char_at(lx, lx->pos);
    if (c == ' ') {
      in.width++;
      in.narrow++;
    } else if (c == '\t') {
      in.width = (in.width / TAB_WIDTH + 1) * TAB_WIDTH;
      in.narrow++;
    } else if (c == '\f') {
      in = (struct indent){0, 0};
    } else {
      return in;
    }
  }
}

// ---- Unclosed brackets (decision 2) ----

// Keywords that begin a statement and cannot occur inside an expression.
static bool starts_statement(enum token_kind kind) {
  switch (kind) {
  case TOK_ASSERT:
  case TOK_BREAK:
  case TOK_CLASS:
  case TOK_CONTINUE:
  case TOK_DEF:
  case TOK_DEL:
  case TOK_EXCEPT:
  case TOK_FINALLY:
  case TOK_GLOBAL:
  case TOK_IMPORT:
  case TOK_NONLOCAL:
  case TOK_PASS:
  case TOK_RAISE:
  case TOK_RETURN:
  case TOK_TRY:
  case TOK_WHILE:
  case TOK_WITH: return true;
  default: return false;
  }
}

enum token_kind lexer_keyword(const struct lexer *lx, uint32_t begin, uint32_t end) {
  struct str name = {lx->text.ptr + begin, end - begin};
  for (size_t i = 0; i < COUNT_OF(keywords); i++)
    if (keywords[i].len == name.len && keywords[i].text[0] == name.ptr[0] &&
        memcmp(keywords[i].text, name.ptr, name.len) == 0)
      return keywords[i].kind;
  return TOK_NAME;
}

uint32_t lexer_name_end(const struct lexer *lx, uint32_t at) {
  while (at < lx->text.len) {
    char c = lx->text.ptr[at];
    uint32_t code;
    if (is_name_start(c) || is_digit(c)) {
      at++;
    } else if ((unsigned char)c >= 0x80) {
      size_t n = utf8_decode(lx->text.ptr + at, lx->text.len - at, &code);
      if (n == 0 || !unicode_is_name(code))
        break;
      at += (uint32_t)n;
    } else {
      break;
    }
  }
  return at;
}

static void report_unclosed(struct lexer *lx, const struct bracket *b) {
  struct diag *d = diag_error(lx->diag, span_of(lx, b->offset, b->offset + 1), E0103,
                              "`%s` is never closed", token_kind_text(b->kind));
  diag_help(d, "close it with `%s` where the expression ends",
            b->kind == TOK_LPAREN     ? ")"
            : b->kind == TOK_LBRACKET ? "]"
                                      : "}");
  diag_primary_label(d, "opened here");
}

// Ends the statement with the unclosed bracket at its most likely end.
void lexer_close_unclosed(struct lexer *lx) {
  struct bracket b = lx->brackets[lx->depth - 1];
  report_unclosed(lx, &b);
  if (b.can_resume && lx->rewinds < MAX_REWINDS) {
    lx->rewinds++;
    lx->pos = b.resume.offset;
    lx->tokens.len = b.resume.token_count;
  }
  lx->depth = 0;
  push_error(lx, lx->pos);
  push(lx, TOK_NEWLINE, lx->pos, lx->pos);
}

// `def f(x:` at the end of a line: most likely the header ends here and a block follows.
static bool after_header(const struct lexer *lx) {
  if (lx->statement_token >= lx->tokens.len || last_kind(lx) != TOK_COLON)
    return false;
  switch (lx->tokens.at[lx->statement_token].kind) {
  case TOK_DEF:
  case TOK_IF:
  case TOK_ELIF:
  case TOK_ELSE:
  case TOK_FOR:
  case TOK_WHILE:
  case TOK_WITH:
  case TOK_CLASS: return true;
  default: return false;
  }
}

// A new line inside brackets: records it as a point to resume from if it is not indented more than
// the statement. True if the line shows that a bracket was left open.
bool lexer_line_inside_brackets(struct lexer *lx) {
  uint32_t line = lx->pos;
  struct indent in = measure_indent(lx);
  char c = char_at(lx, lx->pos);
  bool is_blank = at_end(lx) || c == '#' || at_line_break(lx);
  if (is_blank || lx->is_field)
    return false;
  bool is_outside = in.width <= lx->statement.width;
  if ((is_outside && c != ')' && c != ']' && c != '}') || after_header(lx)) {
    for (unsigned i = lx->depth; i > 0 && !lx->brackets[i - 1].can_resume; i--) {
      lx->brackets[i - 1].can_resume = true;
      lx->brackets[i - 1].resume = (struct resume){line, lx->tokens.len};
    }
  }
  if (c == '@' && is_outside)
    return true;
  if (!is_name_start(c))
    return false;
  if (!starts_statement(lexer_keyword(lx, lx->pos, lexer_name_end(lx, lx->pos))))
    return false;
  // The line itself is outside the bracket, whatever its indentation.
  struct bracket *top = &lx->brackets[lx->depth - 1];
  if (!top->can_resume) {
    top->can_resume = true;
    top->resume = (struct resume){line, lx->tokens.len};
  }
  return true;
}

void lexer_open_bracket(struct lexer *lx, enum token_kind kind, uint32_t at) {
  if (lx->depth == LEXER_MAX_NESTING) {
    diag_help(diag_error(lx->diag, span_of(lx, at, at + 1), E0902, "more than %d nested brackets",
                         LEXER_MAX_NESTING),
              "name intermediate results, and write functions");
    lx->stopped = true;
    return;
  }
  lx->brackets[lx->depth++] = (struct bracket){.kind = kind, .offset = at};
}

static bool brackets_match(enum token_kind open, enum token_kind close) {
  return (open == TOK_LPAREN && close == TOK_RPAREN) ||
         (open == TOK_LBRACKET && close == TOK_RBRACKET) ||
         (open == TOK_LBRACE && close == TOK_RBRACE);
}

void lexer_close_bracket(struct lexer *lx, enum token_kind kind, uint32_t at) {
  if (lx->depth == 0) {
    diag_help(diag_error(lx->diag, span_of(lx, at, at + 1), E0103, "unmatched `%s`",
                         token_kind_text(kind)),
              "remove it, or open a bracket for it before");
    push_error(lx, at);
    return;
  }
  const struct bracket *top = &lx->brackets[lx->depth - 1];
  if (!brackets_match(top->kind, kind)) {
    struct diag *d =
        diag_error(lx->diag, span_of(lx, at, at + 1), E0103, "`%s` does not close `%s`",
                   token_kind_text(kind), token_kind_text(top->kind));
    diag_help(d, "close each bracket with its own kind, the last one opened first");
    diag_label(d, span_of(lx, top->offset, top->offset + 1), "opened here");
    push_error(lx, at);
  }
  // Closes the nearest bracket of its own kind, or is taken for the right one.
  unsigned depth = lx->depth;
  while (depth > 0 && !brackets_match(lx->brackets[depth - 1].kind, kind))
    depth--;
  lx->depth = depth > 0 ? depth - 1 : lx->depth - 1;
}

// ---- Lines and indentation ----

static void open_block(struct lexer *lx, struct indent in) {
  if (lx->level + 1 == LEXER_MAX_NESTING) {
    diag_error(lx->diag, span_of(lx, lx->pos, lx->pos), E0902, "more than %d levels of indentation",
               LEXER_MAX_NESTING);
    lx->stopped = true;
    return;
  }
  lx->indents[++lx->level] = in;
  push(lx, TOK_INDENT, lx->pos, lx->pos);
}

static void close_blocks(struct lexer *lx, struct indent in) {
  while (lx->level > 0 && lx->indents[lx->level].width > in.width) {
    // Between two levels: most likely it was meant to be the inner one.
    if (lx->indents[lx->level - 1].width < in.width) {
      struct diag *d = diag_error(lx->diag, span_of(lx, lx->pos, lx->pos + 1), E0006,
                                  "this line is indented like no line before it");
      diag_help(d, "indent by %u spaces to stay in the block, or by %u to leave it",
                lx->indents[lx->level].width, lx->indents[lx->level - 1].width);
      lx->indents[lx->level] = in;
      return;
    }
    lx->level--;
    push(lx, TOK_DEDENT, lx->pos, lx->pos);
  }
}

// At the start of a logical line: skips blank lines, then indents or dedents.
void lexer_start_line(struct lexer *lx) {
  struct indent in;
  for (;;) {
    in = measure_indent(lx);
    if (char_at(lx, lx->pos) == '#' && !at_end(lx))
      lexer_skip_comment(lx);
    if (at_end(lx))
      return;
    if (!at_line_break(lx))
      break;
    skip_line_break(lx);
  }
  lx->statement = in;
  lx->statement_token = SIZE_MAX;
  struct indent current = lx->indents[lx->level];
  bool wider = in.width > current.width, narrower = in.width < current.width;
  bool consistent = wider      ? in.narrow > current.narrow
                    : narrower ? in.narrow < current.narrow
                               : in.narrow == current.narrow;
  if (!consistent) {
    struct diag *d = diag_error(lx->diag, span_of(lx, lx->pos, lx->pos + 1), E0005,
                                "tabs and spaces are mixed so that the indentation is ambiguous");
    diag_help(d, "indent with spaces only");
    in.narrow = in.width;
    lx->indents[lx->level].narrow = current.width;
  }
  if (wider)
    open_block(lx, in);
  else
    close_blocks(lx, in);
  if (!consistent)
    push_error(lx, lx->pos);
  lx->statement_token = lx->tokens.len;
}

void lexer_end_line(struct lexer *lx) {
  if (last_kind(lx) != TOK_NEWLINE)
    push(lx, TOK_NEWLINE, lx->pos, lx->pos);
}
