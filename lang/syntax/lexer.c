// SPDX-License-Identifier: Apache-2.0
// The lexer: one pass over the text into an array of tokens, with Python's rules for indentation,
// line joining and literals. Three decisions shape it.
//
// 1. Host code is tokenised like kernels but must never be an error. So everything that can wait is
//    left to the parser: the value of a number, escapes, characters of other languages.
// 2. A bracket that is never closed would swallow the rest of the file. It is noticed at the end of
//    the file, or earlier at a keyword that cannot stand inside brackets; the lexer then goes back
//    to the first line that is not indented more than the statement, and reads on from there as if
//    the statement had ended. One error, and the rest of the file is still checked.
// 3. Every reported error leaves a TOK_ERROR, on which the parser gives up the statement silently.
#include "lang/syntax/lexer.h"

#include "base/utf8.h"
#include "base/vec.h"

#define TAB_WIDTH 8
#define MAX_REWINDS 64
#define MAX_BIDI_WARNINGS 8
#define MAX_ERRORS 100

// A place to resume from if a bracket turns out to be unclosed.
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
  bool stopped;  // a limit was passed
};

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

static const struct {
  const char *text;
  uint8_t len;
  enum token_kind kind;
} puncts[] = {
#define TOKEN(id, spelling)
#define PUNCT(id, spelling) {spelling, sizeof(spelling) - 1, TOK_##id},
#define KEYWORD(id, spelling)
#include "lang/syntax/tokens.def"
#undef TOKEN
#undef PUNCT
#undef KEYWORD
};

const char *token_kind_text(enum token_kind kind) {
  static const char *const texts[] = {
#define TOKEN(id, text) text,
#define PUNCT(id, text) text,
#define KEYWORD(id, text) text,
#include "lang/syntax/tokens.def"
#undef TOKEN
#undef PUNCT
#undef KEYWORD
  };
  return texts[kind];
}

bool token_kind_is_keyword(enum token_kind kind) { return kind >= TOK_FALSE && kind <= TOK_YIELD; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static struct span span_of(const struct lexer *lx, uint32_t begin, uint32_t end) {
  return (struct span){lx->source, begin, end};
}

static char char_at(const struct lexer *lx, uint32_t at) {
  return at < lx->text.len ? lx->text.ptr[at] : '\0';
}

static bool at_end(const struct lexer *lx) { return lx->pos >= lx->text.len; }

static void push(struct lexer *lx, enum token_kind kind, uint32_t begin, uint32_t end) {
  vec_push(lx->arena, &lx->tokens, (struct token){kind, begin, end});
}

static void push_error(struct lexer *lx, uint32_t at) { push(lx, TOK_ERROR, at, at); }

static enum token_kind last_kind(const struct lexer *lx) {
  return lx->tokens.len ? vec_last(&lx->tokens).kind : TOK_NEWLINE;
}

static bool at_line_break(const struct lexer *lx) {
  char c = char_at(lx, lx->pos);
  return c == '\n' || (c == '\r' && char_at(lx, lx->pos + 1) == '\n');
}

static void skip_line_break(struct lexer *lx) { lx->pos += char_at(lx, lx->pos) == '\r' ? 2 : 1; }

static void skip_comment(struct lexer *lx) {
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

static enum token_kind keyword_at(const struct lexer *lx, uint32_t begin, uint32_t end) {
  struct str name = {lx->text.ptr + begin, end - begin};
  for (size_t i = 0; i < COUNT_OF(keywords); i++)
    if (keywords[i].len == name.len && keywords[i].text[0] == name.ptr[0] &&
        memcmp(keywords[i].text, name.ptr, name.len) == 0)
      return keywords[i].kind;
  return TOK_NAME;
}

static uint32_t name_end(const struct lexer *lx, uint32_t at) {
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
  diag_primary_label(d, "opened here");
}

// Ends the statement with the unclosed bracket where it probably should have ended.
static void close_unclosed(struct lexer *lx) {
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

// A new line inside brackets: remembers it as a place to resume from if it is not indented more
// than the statement. True if the line shows that a bracket was left open.
static bool line_inside_brackets(struct lexer *lx) {
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
  if (!starts_statement(keyword_at(lx, lx->pos, name_end(lx, lx->pos))))
    return false;
  // The line itself is outside, whatever its indentation.
  struct bracket *top = &lx->brackets[lx->depth - 1];
  if (!top->can_resume) {
    top->can_resume = true;
    top->resume = (struct resume){line, lx->tokens.len};
  }
  return true;
}

static void open_bracket(struct lexer *lx, enum token_kind kind, uint32_t at) {
  if (lx->depth == LEXER_MAX_NESTING) {
    diag_error(lx->diag, span_of(lx, at, at + 1), E0902, "more than %d nested brackets",
               LEXER_MAX_NESTING);
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

static void close_bracket(struct lexer *lx, enum token_kind kind, uint32_t at) {
  if (lx->depth == 0) {
    diag_error(lx->diag, span_of(lx, at, at + 1), E0103, "unmatched `%s`", token_kind_text(kind));
    push_error(lx, at);
    return;
  }
  const struct bracket *top = &lx->brackets[lx->depth - 1];
  if (!brackets_match(top->kind, kind)) {
    struct diag *d =
        diag_error(lx->diag, span_of(lx, at, at + 1), E0103, "`%s` does not close `%s`",
                   token_kind_text(kind), token_kind_text(top->kind));
    diag_label(d, span_of(lx, top->offset, top->offset + 1), "opened here");
    push_error(lx, at);
  }
  // Closes the nearest bracket of its own kind, or stands for the right one.
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
static void start_line(struct lexer *lx) {
  struct indent in;
  for (;;) {
    in = measure_indent(lx);
    if (char_at(lx, lx->pos) == '#' && !at_end(lx))
      skip_comment(lx);
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

static void end_line(struct lexer *lx) {
  if (last_kind(lx) != TOK_NEWLINE)
    push(lx, TOK_NEWLINE, lx->pos, lx->pos);
}

// ---- Tokens ----

static void lex_name(struct lexer *lx) {
  uint32_t begin = lx->pos;
  lx->pos = name_end(lx, begin);
  push(lx, keyword_at(lx, begin, lx->pos), begin, lx->pos);
}

static void lex_number(struct lexer *lx) {
  uint32_t begin = lx->pos;
  enum token_kind kind;
  lx->pos = literal_scan_number(lx->text, begin, &kind);
  push(lx, kind, begin, lx->pos);
}

static void report_open_string(struct lexer *lx, uint32_t begin, enum string_scan result) {
  uint32_t prefix = 0;
  literal_at_string(lx->text, begin, &prefix);
  uint32_t quote = begin + prefix;
  char q = char_at(lx, quote);
  bool triple = char_at(lx, quote + 1) == q && char_at(lx, quote + 2) == q;
  struct span at = span_of(lx, begin, quote + (triple ? 3 : 1));
  if (result == STRING_BAD_FIELD) {
    struct diag *d = diag_error(lx->diag, at, E0010, "a `{` in this f-string is never closed");
    diag_help(d, "write `{{` for a brace that is text");
    return;
  }
  struct diag *d = diag_error(lx->diag, at, E0003, "this string is never closed");
  diag_help(d, triple ? "close it with three quotes of the same kind"
                      : "close it on the same line, or use three quotes for text of several lines");
}

static void lex_string(struct lexer *lx, uint32_t prefix) {
  uint32_t begin = lx->pos;
  enum string_scan result = literal_scan_string(lx->text, begin, &lx->pos);
  if (result != STRING_CLOSED) {
    report_open_string(lx, begin, result);
    push_error(lx, begin);
    // The rest of the line went with the string, and the ends of the brackets opened on it.
    uint32_t line = begin;
    while (line > 0 && lx->text.ptr[line - 1] != '\n')
      line--;
    while (lx->depth > 0 && lx->brackets[lx->depth - 1].offset >= line)
      lx->depth--;
    return;
  }
  bool is_format = false;
  for (uint32_t i = 0; i < prefix; i++)
    is_format |= (lx->text.ptr[begin + i] | 0x20) == 'f';
  push(lx, is_format ? TOK_FSTRING : TOK_STRING, begin, lx->pos);
}

static void lex_backslash(struct lexer *lx) {
  uint32_t at = lx->pos++;
  if (at_line_break(lx)) {
    skip_line_break(lx);
    if (!at_end(lx))
      return;
  }
  struct diag *d =
      diag_error(lx->diag, span_of(lx, at, at + 1), E0009,
                 at_end(lx) ? "`\\` joins this line with the next one, but the file ends here"
                            : "`\\` joins lines and must be the last character of its line");
  if (!at_end(lx))
    diag_help(d, "remove what follows the backslash, blanks too");
  push_error(lx, at);
  while (!at_end(lx) && !at_line_break(lx))
    lx->pos++;
}

static void lex_punct(struct lexer *lx) {
  uint32_t begin = lx->pos;
  size_t best = COUNT_OF(puncts), best_len = 0;
  for (size_t i = 0; i < COUNT_OF(puncts); i++) {
    size_t n = puncts[i].len;
    if (n > best_len && n <= lx->text.len - begin && puncts[i].text[0] == lx->text.ptr[begin] &&
        memcmp(lx->text.ptr + begin, puncts[i].text, n) == 0) {
      best = i;
      best_len = n;
    }
  }
  if (best == COUNT_OF(puncts)) {
    uint32_t code;
    size_t n = utf8_decode(lx->text.ptr + begin, lx->text.len - begin, &code);
    lx->pos += n ? (uint32_t)n : 1;
    push(lx, TOK_UNKNOWN, begin, lx->pos);
    return;
  }
  lx->pos += (uint32_t)best_len;
  enum token_kind kind = puncts[best].kind;
  if (kind == TOK_RPAREN || kind == TOK_RBRACKET || kind == TOK_RBRACE)
    close_bracket(lx, kind, begin);
  push(lx, kind, begin, lx->pos);
  if (kind == TOK_LPAREN || kind == TOK_LBRACKET || kind == TOK_LBRACE)
    open_bracket(lx, kind, begin);
}

static bool at_name(const struct lexer *lx) {
  char c = char_at(lx, lx->pos);
  if ((unsigned char)c < 0x80)
    return is_name_start(c);
  uint32_t code;
  size_t n = utf8_decode(lx->text.ptr + lx->pos, lx->text.len - lx->pos, &code);
  return n > 0 && unicode_is_name(code);
}

static void lex_token(struct lexer *lx) {
  char c = char_at(lx, lx->pos);
  uint32_t prefix;
  if (c == ' ' || c == '\t' || c == '\f')
    lx->pos++;
  else if (c == '#' && !lx->is_field)
    skip_comment(lx);
  else if (c == '\\')
    lex_backslash(lx);
  else if (literal_at_string(lx->text, lx->pos, &prefix))
    lex_string(lx, prefix);
  else if (at_name(lx))
    lex_name(lx);
  else if (is_digit(c) || (c == '.' && is_digit(char_at(lx, lx->pos + 1))))
    lex_number(lx);
  else
    lex_punct(lx);
}

static void lex_line_break(struct lexer *lx) {
  bool joined = lx->depth > 0;
  if (!joined && !lx->is_field)
    end_line(lx);
  skip_line_break(lx);
  if (joined) {
    if (line_inside_brackets(lx)) {
      close_unclosed(lx);
      start_line(lx);
    }
  } else if (!lx->is_field) {
    start_line(lx);
  }
}

static void lex_all(struct lexer *lx) {
  if (!lx->is_field)
    start_line(lx);
  for (;;) {
    while (!at_end(lx) && !lx->stopped) {
      if (lx->tokens.len > LIMIT_TOKENS)
        lx->stopped = !limit_error(lx->diag, span_of(lx, lx->pos, lx->pos), LIMIT_ID_TOKENS, 0);
      else if (diag_error_count(lx->diag) > MAX_ERRORS) {
        lx->pos = (uint32_t)lx->text.len;
        lx->depth = 0;
      } else if (at_line_break(lx)) {
        lex_line_break(lx);
      } else {
        lex_token(lx);
      }
    }
    if (lx->stopped || lx->depth == 0)
      break;
    close_unclosed(lx);
    if (!lx->is_field)
      start_line(lx);
  }
  if (!lx->is_field) {
    end_line(lx);
    for (; lx->level > 0; lx->level--)
      push(lx, TOK_DEDENT, lx->pos, lx->pos);
  }
  push(lx, TOK_EOF, lx->pos, lx->pos);
}

// ---- The text as a whole ----

static bool check_utf8(struct lexer *lx) {
  unsigned warnings = 0;
  for (uint32_t at = 0; at < lx->text.len;) {
    if ((unsigned char)lx->text.ptr[at] < 0x80) {
      at++;
      continue;
    }
    uint32_t code;
    size_t n = utf8_decode(lx->text.ptr + at, lx->text.len - at, &code);
    if (n == 0) {
      diag_error(lx->diag, span_of(lx, at, at + 1), E0001,
                 "byte 0x%02x at offset %u is not valid UTF-8", (unsigned char)lx->text.ptr[at],
                 at);
      return false;
    }
    if (unicode_is_bidi_control(code) && warnings++ < MAX_BIDI_WARNINGS) {
      struct diag *d =
          diag_warning(lx->diag, span_of(lx, at, at + (uint32_t)n), E0008,
                       "invisible character U+%04X changes the direction of text", (unsigned)code);
      diag_help(d, "remove it: code may read differently from what it does");
    }
    at += (uint32_t)n;
  }
  return true;
}

static bool finish(struct lexer *lx, struct token_list *ret) {
  *ret = (struct token_list){lx->tokens.at, lx->tokens.len};
  return !lx->stopped;
}

static struct lexer *lexer_new(struct arena *a, struct diag_engine *diag,
                               const struct source *source) {
  struct lexer *lx = arena_new(a, struct lexer);
  lx->arena = a;
  lx->diag = diag;
  lx->source = source;
  lx->text = source->text;
  return lx;
}

bool lexer_run(struct arena *a, struct diag_engine *diag, const struct source *source,
               struct token_list *ret) {
  struct lexer *lx = lexer_new(a, diag, source);
  *ret = (struct token_list){NULL, 0};
  if (source->text.len > SOURCE_MAX_BYTES) {
    diag_error(diag, (struct span){source, 0, 0}, E0901, "source is larger than %u MiB",
               SOURCE_MAX_BYTES >> 20);
    return false;
  }
  if (!check_utf8(lx))
    return false;
  if (str_starts(lx->text, "\xEF\xBB\xBF"))
    lx->pos = 3;
  lex_all(lx);
  return finish(lx, ret);
}

bool lexer_run_field(struct arena *a, struct diag_engine *diag, const struct source *source,
                     uint32_t begin, uint32_t end, struct token_list *ret) {
  struct lexer *lx = lexer_new(a, diag, source);
  lx->text.len = end;
  lx->pos = begin;
  lx->is_field = true;
  lex_all(lx);
  return finish(lx, ret);
}
