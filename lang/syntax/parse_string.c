// SPDX-License-Identifier: Apache-2.0
// String literals: adjacent ones are joined; an f-string becomes a list of parts, whose expressions
// are lexed and parsed at their offset in the source, so that messages point into the string.
//
// Recursion is the algorithm: recursive descent.
#include "lang/syntax/parser.h"

struct piece {
  struct token token;
  struct string_form form;
};

static void check_length(struct parser *p, struct token t) {
  if (t.end - t.begin > LEXER_MAX_STRING)
    parser_report(p, (struct span){p->source, t.begin, t.begin + 1}, E0903,
                  "this string has %u bytes, the limit is %d", t.end - t.begin, LEXER_MAX_STRING);
}

// Text with escapes resolved.
static struct str unescape(struct parser *p, uint32_t begin, uint32_t end,
                           const struct string_form *form) {
  char *out = arena_array(p->arena, char, (size_t)(end - begin) + 1);
  const char *why;
  uint32_t bad_begin, bad_end;
  size_t n = literal_unescape(p->source->text, begin, end, form, out, &why, &bad_begin, &bad_end);
  if (why) {
    struct diag *d = parser_report(p, (struct span){p->source, bad_begin, bad_end}, E0007,
                                   "malformed escape in a string");
    diag_help(d, "%s", why);
  }
  return (struct str){out, n};
}

// ---- Replacement fields ----

typedef VEC(struct fstring_part) part_vec;

static void parse_parts(struct parser *p, uint32_t begin, uint32_t end,
                        const struct string_form *form, bool in_format, part_vec *out,
                        struct expr *owner);

// The expression of a field, by a parser of its own over the field's tokens.
static struct expr *parse_field_expr(struct parser *p, uint32_t begin, uint32_t end) {
  struct parser field = *p;
  field.pos = 0;
  field.panic = false;
  field.in_field = true;
  field.line_first = field.line_end = 0;
  field.error_count = 0;
  struct expr *e;
  unsigned errors = diag_error_count(p->diag);
  if (lexer_run_field(p->arena, p->diag, p->source, begin, end, &field.tokens)) {
    if (field.tokens.len == 1) {
      diag_help(parser_report(&field, (struct span){p->source, begin - 1, end + 1}, E0010,
                              "this replacement field is empty"),
                "name a value in it, `{x}`; a brace that is text is written twice: `{{}}`");
      e = NULL;
    } else {
      e = parse_exprs(&field);
      if (!field.panic && parser_peek(&field) != TOK_EOF)
        parser_unexpected(&field, "`}`");
    }
  } else {
    field.error_count++;
    e = NULL;
  }
  p->error_count += field.error_count + (diag_error_count(p->diag) > errors);
  return e && field.error_count == 0 ? e : expr_error(p);
}

// ["!" ("r" | "s" | "a")]: gives the offset after it.
static uint32_t parse_conversion(struct parser *p, uint32_t at, uint32_t close, struct span all,
                                 char *ret) {
  const char *text = p->source->text.ptr;
  *ret = text[at + 1];
  bool known = *ret == 'r' || *ret == 's' || *ret == 'a';
  for (at += known ? 2 : 1; known && text[at] == ' ';)
    at++;
  if (known && (text[at] == ':' || text[at] == '}'))
    return at;
  diag_help(parser_report(p, all, E0010, "the conversion after `!` is `r`, `s` or `a`"),
            "leave it out, or write `!r` to print a text with its quotes");
  return close;
}

// field = "{" exprs ["="] ["!" ("r" | "s" | "a")] [":" format] "}"
static uint32_t parse_field(struct parser *p, uint32_t open, const struct string_form *form,
                            part_vec *out, struct expr *owner) {
  struct str text = p->source->text;
  uint32_t expr_end = 0, close = literal_scan_field(text, open, form, &expr_end);
  if (close == UINT32_MAX || close >= form->body_end) {
    diag_help(parser_report(p, (struct span){p->source, open, open + 1}, E0010,
                            "this `{` of the f-string is never closed"),
              "close it with `}`; a brace that is text is written twice: `{{`");
    return form->body_end;
  }
  struct fstring_part part = {.span = {p->source, open, close + 1}};
  part.value = parse_field_expr(p, open + 1, expr_end);
  expr_adopt(p, owner, part.value);
  uint32_t at = expr_end;
  if (text.ptr[at] == '=') {
    do
      at++;
    while (text.ptr[at] == ' ');
    part.text = (struct str){text.ptr + open + 1, at - open - 1};
  }
  if (text.ptr[at] == '!')
    at =
        parse_conversion(p, at, close, (struct span){p->source, expr_end, close}, &part.conversion);
  if (text.ptr[at] == ':') {
    part_vec format = {0};
    parse_parts(p, at + 1, close, form, true, &format, owner);
    part.format = format.at;
    part.format_count = format.len;
  }
  vec_push(p->arena, out, part);
  return close + 1;
}

static void push_text(struct parser *p, uint32_t begin, uint32_t end,
                      const struct string_form *form, part_vec *out) {
  if (begin == end)
    return;
  struct fstring_part part = {.text = unescape(p, begin, end, form),
                              .span = {p->source, begin, end}};
  vec_push(p->arena, out, part);
}

// Skips `\N{...}`, whose braces do not open a field.
static uint32_t skip_backslash(struct str text, uint32_t at, uint32_t end,
                               const struct string_form *form) {
  if (!form->is_raw && at + 2 < end && text.ptr[at + 1] == 'N' && text.ptr[at + 2] == '{') {
    while (at < end && text.ptr[at] != '}')
      at++;
    return at < end ? at + 1 : end;
  }
  bool before_brace = at + 1 < end && (text.ptr[at + 1] == '{' || text.ptr[at + 1] == '}');
  return at + 2 <= end && !before_brace ? at + 2 : at + 1;
}

static void parse_parts(struct parser *p, uint32_t begin, uint32_t end,
                        const struct string_form *form, bool in_format, part_vec *out,
                        struct expr *owner) {
  struct str text = p->source->text;
  uint32_t literal = begin, at = begin;
  if (!parser_enter(p))
    return;
  while (at < end) {
    char c = text.ptr[at], next = at + 1 < end ? text.ptr[at + 1] : '\0';
    if (c == '\\') {
      at = skip_backslash(text, at, end, form);
    } else if ((c == '{' || c == '}') && next == c && !in_format) {
      at += 2;
    } else if (c == '{') {
      push_text(p, literal, at, form, out);
      literal = at = parse_field(p, at, form, out, owner);
    } else {
      if (c == '}')
        diag_help(parser_report(p, (struct span){p->source, at, at + 1}, E0010,
                                "single `}` in an f-string"),
                  "write `}}` for a brace that is text");
      at++;
    }
  }
  push_text(p, literal < end ? literal : end, end, form, out);
  parser_leave(p);
}

// ---- Whole literals ----

static struct expr *join_plain(struct parser *p, const struct piece *pieces, size_t count,
                               size_t first) {
  struct expr *e = expr_new(p, EXPR_STRING, first);
  e->string.is_bytes = pieces[0].form.is_bytes;
  size_t total = 1;
  for (size_t i = 0; i < count; i++)
    total += pieces[i].form.body_end - pieces[i].form.body_begin;
  char *text = arena_array(p->arena, char, total);
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    struct str s = unescape(p, pieces[i].form.body_begin, pieces[i].form.body_end, &pieces[i].form);
    memcpy(text + n, s.ptr, s.len);
    n += s.len;
  }
  e->string.value = (struct str){text, n};
  return e;
}

static struct expr *join_format(struct parser *p, const struct piece *pieces, size_t count,
                                size_t first) {
  struct expr *e = expr_new(p, EXPR_FSTRING, first);
  part_vec parts = {0};
  for (size_t i = 0; i < count; i++) {
    const struct string_form *f = &pieces[i].form;
    if (f->is_format)
      parse_parts(p, f->body_begin, f->body_end, f, false, &parts, e);
    else
      push_text(p, f->body_begin, f->body_end, f, &parts);
  }
  e->fstring.parts = parts.at;
  e->fstring.count = parts.len;
  return e;
}

// strings = (STRING | FSTRING) { STRING | FSTRING }
struct expr *parse_strings(struct parser *p) {
  size_t first = p->pos;
  VEC(struct piece) pieces = {0};
  bool is_format = false, is_bytes = false, is_text = false;
  while (parser_peek(p) == TOK_STRING || parser_peek(p) == TOK_FSTRING) {
    struct piece piece = {.token = parser_token(p)};
    piece.form = literal_string_form(p->source->text, piece.token.begin, piece.token.end);
    check_length(p, piece.token);
    is_format |= piece.form.is_format;
    is_bytes |= piece.form.is_bytes;
    is_text |= !piece.form.is_bytes;
    vec_push(p->arena, &pieces, piece);
    parser_accept(p, parser_peek(p));
  }
  if (is_bytes && is_text) {
    diag_help(
        parser_report(p, parser_span_from(p, first), E0115, "text and bytes cannot be joined"),
        "leave out the `b`");
    return expr_new(p, EXPR_ERROR, first);
  }
  if (is_format)
    return join_format(p, pieces.at, pieces.len, first);
  return join_plain(p, pieces.at, pieces.len, first);
}
