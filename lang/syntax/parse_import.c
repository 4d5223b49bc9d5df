// SPDX-License-Identifier: Apache-2.0
// Imports, of the outer level and of functions.
#include "lang/syntax/parser.h"

// A dotted name, with leading dots: "a.b.c".
static const char *parse_module_name(struct parser *p) {
  size_t first = p->pos;
  while (parser_accept(p, TOK_DOT) || parser_accept(p, TOK_ELLIPSIS))
    continue;
  bool is_relative = p->pos > first;
  if (!is_relative || parser_peek(p) == TOK_NAME) {
    do {
      if (!parser_name(p, "a module"))
        return NULL;
    } while (parser_accept(p, TOK_DOT));
  }
  struct span s = parser_span_from(p, first);
  struct str text = {p->source->text.ptr + s.begin, s.end - s.begin};
  return parser_intern(p, text, s);
}

// The part of a dotted name before the first dot, which `import a.b` binds.
static const char *first_word(struct parser *p, const char *dotted) {
  struct str head;
  str_split(str_from(dotted), '.', &head);
  return parser_intern(p, head, SPAN_NONE);
}

// import = "import" module ["as" NAME] {"," module ["as" NAME]}
static void parse_plain_import(struct parser *p, import_vec *out) {
  do {
    size_t first = p->pos;
    struct ast_import i = {.module = parse_module_name(p)};
    if (!i.module)
      return;
    if (parser_accept(p, TOK_AS))
      i.bound = parser_name(p, "the module");
    else
      i.module = i.bound = first_word(p, i.module);
    i.span = parser_span_from(p, first);
    if (i.bound)
      vec_push(p->arena, out, i);
  } while (!p->panic && parser_accept(p, TOK_COMMA));
}

// from = "from" module "import" ( "*" | "(" names [","] ")" | names )
// names = NAME ["as" NAME] {"," NAME ["as" NAME]}
static void parse_from_import(struct parser *p, import_vec *out) {
  struct ast_import i = {.module = parse_module_name(p)};
  if (!i.module || !parser_expect(p, TOK_IMPORT))
    return;
  i.span = parser_token_span(p);
  if (parser_accept(p, TOK_STAR)) {
    i.name = parser_intern(p, STR("*"), SPAN_NONE);
    vec_push(p->arena, out, i);
    return;
  }
  size_t open = p->pos;
  bool parens = parser_accept(p, TOK_LPAREN);
  do {
    if (parens && parser_peek(p) == TOK_RPAREN)
      break;
    size_t first = p->pos;
    i.name = i.bound = parser_name(p, "what to import");
    if (parser_accept(p, TOK_AS))
      i.bound = parser_name(p, "what was imported");
    i.span = parser_span_from(p, first);
    if (i.name && i.bound)
      vec_push(p->arena, out, i);
  } while (!p->panic && parser_accept(p, TOK_COMMA));
  if (parens)
    parser_close(p, TOK_RPAREN, open);
}

bool parse_import(struct parser *p, struct stmt *s) {
  import_vec items = {0};
  if (parser_accept(p, TOK_IMPORT)) {
    parse_plain_import(p, &items);
  } else {
    parser_accept(p, TOK_FROM);
    parse_from_import(p, &items);
  }
  s->import.items = items.at;
  s->import.count = items.len;
  return !p->panic;
}
