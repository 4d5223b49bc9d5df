// SPDX-License-Identifier: Apache-2.0
// Tokens of a graph's text, and errors at unexpected ones.
#include "graph/read/fx_reader.h"

#include <stdio.h>

bool fx_accept(struct reader *r, enum token_kind kind) {
  bool found = fx_peek(r) == kind;
  r->pos += found && kind != TOK_EOF;
  return found;
}

bool fx_accept_name(struct reader *r, const char *name) {
  bool found = fx_peek(r) == TOK_NAME && str_is(fx_text(r, r->pos), name);
  r->pos += found;
  return found;
}

struct diag *fx_error(struct reader *r, struct span at, enum diag_code code, const char *fmt, ...) {
  if (r->failed)
    return NULL;
  r->failed = true;
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(r->arena, fmt, ap);
  va_end(ap);
  return diag_error(r->diag, at, code, "%s", text);
}

bool fx_unexpected(struct reader *r, const char *what) {
  enum token_kind k = fx_peek(r);
  struct str text = fx_text(r, r->pos);
  if (k == TOK_ERROR) // reported by the lexer
    return r->failed = true, false;
  if (k == TOK_EOF || k == TOK_NEWLINE || k == TOK_INDENT || k == TOK_DEDENT || text.len > 40)
    diag_help(
        fx_error(r, fx_span(r, r->pos, r->pos + 1), E1001, "%s, not %s", what, token_kind_text(k)),
        "a graph is read as PyTorch prints it; export it again, or mend the line");
  else
    diag_help(
        fx_error(r, fx_span(r, r->pos, r->pos + 1), E1001, "%s, not `%.*s`", what, STR_ARG(text)),
        "a graph is read as PyTorch prints it; export it again, or mend the line");
  return false;
}

bool fx_expect(struct reader *r, enum token_kind kind) {
  if (fx_accept(r, kind))
    return true;
  char what[64];
  bool is_mark = kind >= TOK_LPAREN && kind <= TOK_QUESTION;
  const char *quote = is_mark || token_kind_is_keyword(kind) ? "`" : "";
  snprintf(what, sizeof what, "expected %s%s%s", quote, token_kind_text(kind), quote);
  return fx_unexpected(r, what);
}

const struct source *fx_without_colours(struct arena *a, const struct source *s) {
  if (!memchr(s->text.ptr, '\033', s->text.len))
    return s;
  char *out = arena_array(a, char, s->text.len + 1);
  size_t len = 0;
  for (size_t i = 0; i < s->text.len; i++) {
    const char *p = s->text.ptr + i;
    if (p[0] != '\033' || i + 1 == s->text.len || p[1] != '[') {
      out[len++] = *p;
      continue;
    }
    for (i += 2; i < s->text.len && !(s->text.ptr[i] >= '@' && s->text.ptr[i] <= '~'); i++)
      continue;
  }
  return source_create(a, s->name, (struct str){out, len});
}
