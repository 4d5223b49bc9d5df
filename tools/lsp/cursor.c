// SPDX-License-Identifier: Apache-2.0
// Reads the tokens before a cursor backwards.
#include "tools/lsp/cursor.h"

#include "lang/syntax/lexer.h"

struct tokens {
  struct arena *a;
  const struct source *source;
  const struct token *at;
  size_t len; // those that begin before the cursor
};

static struct str text_of(const struct tokens *t, size_t i) {
  return (struct str){t->source->text.ptr + t->at[i].begin, t->at[i].end - t->at[i].begin};
}

static bool is_layout(enum token_kind k) {
  return k == TOK_NEWLINE || k == TOK_INDENT || k == TOK_DEDENT || k == TOK_EOF;
}

static bool is_word(enum token_kind k) { return k == TOK_NAME || token_kind_is_keyword(k); }

// The dotted name that ends with token `end` (not included); NULL: another expression.
static const char *dotted_before(const struct tokens *t, size_t end) {
  size_t begin = end;
  while (begin > 0 && t->at[begin - 1].kind == TOK_NAME) {
    begin--;
    if (begin == 0 || t->at[begin - 1].kind != TOK_DOT)
      break;
    begin--;
  }
  if (begin >= end || t->at[begin].kind != TOK_NAME)
    return NULL;
  uint32_t from = t->at[begin].begin, to = t->at[end - 1].end;
  return arena_strndup(t->a, t->source->text.ptr + from, to - from);
}

// Tokens in brackets behind `i` are closed: counts the commas up to the bracket that is not.
static void find_call(const struct tokens *t, size_t i, struct cursor *c) {
  unsigned depth = 0, commas = 0;
  size_t first = i; // of the argument with the cursor
  bool in_argument = true;
  while (i > 0) {
    enum token_kind k = t->at[--i].kind;
    if (k == TOK_RPAREN || k == TOK_RBRACKET || k == TOK_RBRACE) {
      depth++;
    } else if (k == TOK_LPAREN || k == TOK_LBRACKET || k == TOK_LBRACE) {
      if (depth == 0)
        break;
      depth--;
    } else if (k == TOK_COMMA && depth == 0) {
      commas++;
      in_argument = false;
    } else if (k == TOK_NEWLINE && depth == 0) {
      return;
    }
    if (in_argument)
      first = i;
    if (i == 0)
      return;
  }
  if (t->at[i].kind != TOK_LPAREN) {
    if (i > 0 && depth == 0)
      find_call(t, i, c); // `f(x[...`: the call is further out
    return;
  }
  const char *name = i > 0 && t->at[i - 1].kind == TOK_NAME ? dotted_before(t, i) : NULL;
  if (!name || (i > 1 && t->at[i - 2].kind == TOK_DEF)) {
    if (!name && i > 0)
      find_call(t, i, c); // a bracket around an expression
    return;
  }
  const char *dot = strrchr(name, '.');
  c->callee = dot ? dot + 1 : name;
  c->callee_base = dot ? arena_strndup(t->a, name, (size_t)(dot - name)) : NULL;
  c->argument = commas;
  if (first + 1 < t->len && t->at[first].kind == TOK_NAME && t->at[first + 1].kind == TOK_ASSIGN) {
    struct str word = text_of(t, first);
    c->keyword = arena_strndup(t->a, word.ptr, word.len);
  }
}

// Whether a comment begins between the last token and the cursor.
static bool in_comment(const struct tokens *t, uint32_t offset) {
  uint32_t at = offset;
  struct str text = t->source->text;
  uint32_t stop = t->len ? t->at[t->len - 1].end : 0;
  for (; at > stop && text.ptr[at - 1] != '\n'; at--)
    if (text.ptr[at - 1] == '#')
      return true;
  return false;
}

struct cursor cursor_at(struct arena *a, const struct source *source, uint32_t offset) {
  struct cursor c = {.word = {source->text.ptr + offset, 0}};
  struct token_list all;
  if (!lexer_run(a, diag_engine_create(a), source, &all))
    return c;
  struct tokens t = {a, source, all.at, 0};
  while (t.len < all.len && all.at[t.len].kind != TOK_EOF && all.at[t.len].begin < offset)
    t.len++;
  while (t.len > 0 && is_layout(t.at[t.len - 1].kind) && t.at[t.len - 1].end > offset)
    t.len--;
  if (in_comment(&t, offset))
    return c;
  const struct token *last = t.len ? &t.at[t.len - 1] : NULL;
  if (last && (last->kind == TOK_STRING || last->kind == TOK_FSTRING) && offset < last->end)
    return c;
  c.is_code = true;
  size_t end = t.len;
  if (last && is_word(last->kind) && last->end >= offset) {
    c.word = (struct str){source->text.ptr + last->begin, offset - last->begin};
    end--;
  }
  while (end > 0 && t.at[end - 1].kind == TOK_ERROR && t.at[end - 1].begin == t.at[end - 1].end)
    end--;
  c.after_dot = end > 0 && t.at[end - 1].kind == TOK_DOT;
  if (c.after_dot)
    c.base = dotted_before(&t, end - 1);
  find_call(&t, end, &c);
  return c;
}
