// SPDX-License-Identifier: Apache-2.0
// The lexer: one pass over the text into an array of tokens, with Python's rules for indentation,
// line joining and literals. Three design decisions:
//
// 1. Host code is tokenised like kernels but must never cause an error. So whatever can be checked
// later is
//    left to the parser: the value of a number, escapes, characters of other languages.
// 2. A bracket that is never closed would swallow the rest of the file. It is detected at the end
// of
//    the file, or earlier at a keyword that cannot stand inside brackets; the lexer then goes back
//    to the first line that is not indented more than the statement, and reads on from there as if
//    the statement had ended. One error, and the rest of the file is still checked.
// 3. Every reported error leaves a TOK_ERROR, on which the parser gives up the statement silently.
#include "base/utf8.h"
#include "lang/syntax/lexer_state.h"

#define MAX_BIDI_WARNINGS 8
#define MAX_ERRORS 100

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

// ---- Tokens ----

static void lex_name(struct lexer *lx) {
  uint32_t begin = lx->pos;
  lx->pos = lexer_name_end(lx, begin);
  push(lx, lexer_keyword(lx, begin, lx->pos), begin, lx->pos);
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
    // The rest of the line was lost with the string, and so were the brackets that close on it.
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
    lexer_close_bracket(lx, kind, begin);
  push(lx, kind, begin, lx->pos);
  if (kind == TOK_LPAREN || kind == TOK_LBRACKET || kind == TOK_LBRACE)
    lexer_open_bracket(lx, kind, begin);
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
    lexer_skip_comment(lx);
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
    lexer_end_line(lx);
  skip_line_break(lx);
  if (joined) {
    if (lexer_line_inside_brackets(lx)) {
      lexer_close_unclosed(lx);
      lexer_start_line(lx);
    }
  } else if (!lx->is_field) {
    lexer_start_line(lx);
  }
}

static void lex_all(struct lexer *lx) {
  if (!lx->is_field)
    lexer_start_line(lx);
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
    lexer_close_unclosed(lx);
    if (!lx->is_field)
      lexer_start_line(lx);
  }
  if (!lx->is_field) {
    lexer_end_line(lx);
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
      diag_help(diag_error(lx->diag, span_of(lx, at, at + 1), E0001,
                           "byte 0x%02x at offset %u is not valid UTF-8",
                           (unsigned char)lx->text.ptr[at], at),
                "save the file as UTF-8");
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
