// SPDX-License-Identifier: Apache-2.0
// Parameters written as in C: `float *x`, `const float* x`, `x: float*`. Each is reported with its
// form here, and parsing goes on behind it.
//
// Recursion is the algorithm: recursive descent.
#include "base/diag.h"
#include "base/dtype.h"
#include "lang/syntax/parser.h"

// Words of C that say nothing about the type of an element.
static bool is_qualifier(struct str word) {
  static const char *const words[] = {"const",        "volatile",   "restrict", "__restrict__",
                                      "__restrict",   "__global__", "struct",   "signed",
                                      "__constant__", "__shared__"};
  for (size_t i = 0; i < COUNT_OF(words); i++)
    if (str_is(word, words[i]))
      return true;
  return false;
}

// What the words from token `from` to `end` say: the language's type of an element.
static const char *element_type(struct parser *p, size_t from, size_t end) {
  bool is_unsigned = false, is_long = false;
  struct str word = {NULL, 0};
  for (size_t i = from; i < end; i++) {
    if (p->tokens.at[i].kind != TOK_NAME)
      continue;
    struct str w = parser_text_of(p, p->tokens.at[i]);
    is_unsigned |= str_is(w, "unsigned");
    is_long |= str_is(w, "long");
    if (!is_qualifier(w) && !str_is(w, "unsigned") && !str_is(w, "long"))
      word = w;
  }
  bool is_integer = !word.len || str_is(word, "int");
  if (is_integer)
    return is_long ? (is_unsigned ? "u64" : "i64") : is_unsigned ? "u32" : "i32";
  enum dtype t;
  const char *other = dtype_of_other_language(word);
  if (!other && dtype_parse(word, &t))
    other = dtype_name(t);
  if (other && is_unsigned && other[0] == 'i') // `unsigned char`
    return arena_printf(p->arena, "u%s", other + 1);
  return other ? other : arena_strndup(p->arena, word.ptr, word.len);
}

// The tokens of a type from `at` on: words, then stars and qualifiers behind them.
struct foreign_type {
  size_t end; // behind it
  unsigned words, stars;
};

static struct foreign_type read_type(const struct parser *p, size_t at) {
  struct foreign_type t = {.end = at};
  while (p->tokens.at[t.end].kind == TOK_NAME)
    t.end++, t.words++;
  for (;;) {
    struct token x = p->tokens.at[t.end];
    bool is_star = x.kind == TOK_STAR || x.kind == TOK_DOUBLE_STAR;
    bool is_word = t.stars && x.kind == TOK_NAME && is_qualifier(parser_text_of(p, x));
    if (!is_star && !is_word)
      return t;
    t.stars += is_star;
    t.end++;
  }
}

static bool ends_param(enum token_kind k) {
  return k == TOK_COMMA || k == TOK_RPAREN || k == TOK_ASSIGN;
}

bool parse_foreign_annotation(struct parser *p, struct ast_param *param) {
  bool is_of_signature = parser_peek(p) == TOK_STAR && param->kind != PARAM_STAR; // `*fp32`
  struct foreign_type t = read_type(p, p->pos + is_of_signature);
  t.stars += is_of_signature;
  if (t.words == 0 || t.stars == 0 || !ends_param(p->tokens.at[t.end].kind))
    return false;
  size_t first = p->pos;
  p->pos = t.end;
  struct span at = parser_span_from(p, first);
  const char *type = arena_printf(p->arena, "ptr[%s]", element_type(p, first, t.end));
  struct diag *d = parser_report(p, at, E0109, "a pointer is written `%s`", type);
  diag_help(d, "write `%s: %s`", param->name, type);
  diag_fixit(d, at, type);
  param->annotation = expr_error(p);
  return true;
}

// `ptr<float> x`.
static bool parse_angle_brackets(struct parser *p, struct ast_param *param) {
  size_t first = p->pos, close = first + 2;
  if (p->tokens.at[first].kind != TOK_NAME || p->tokens.at[first + 1].kind != TOK_LT)
    return false;
  while (p->tokens.at[close].kind == TOK_NAME)
    close++;
  bool is_type = close > first + 2 && p->tokens.at[close].kind == TOK_GT;
  if (!is_type || p->tokens.at[close + 1].kind != TOK_NAME ||
      !ends_param(p->tokens.at[close + 2].kind))
    return false;
  const char *element = element_type(p, first + 2, close);
  p->pos = close + 1;
  param->name_span = parser_token_span(p);
  param->name = parser_name(p, "a parameter");
  struct span at = parser_span_from(p, first);
  const char *edit = arena_printf(p->arena, "%s: ptr[%s]", param->name, element);
  struct diag *d = parser_report(
      p, at, E0109,
      "the type follows the name of a parameter, and a pointer is written `ptr[...]`");
  diag_help(d, "write `%s`", edit);
  diag_fixit(d, at, edit);
  param->annotation = expr_error(p);
  return true;
}

bool parse_foreign_param(struct parser *p, struct ast_param *param) {
  if (parse_angle_brackets(p, param))
    return true;
  struct foreign_type t = read_type(p, p->pos);
  size_t name = t.stars ? t.end : t.end - 1; // without a star, the last word is the name
  bool is_type = t.stars ? t.words > 0 : t.words > 1;
  size_t end = name + 1;
  if (!is_type || p->tokens.at[name].kind != TOK_NAME || !ends_param(p->tokens.at[end].kind))
    return false;
  size_t first = p->pos;
  p->pos = name;
  const char *element = element_type(p, first, name);
  param->name_span = parser_token_span(p);
  param->name = parser_name(p, "a parameter");
  struct span at = parser_span_from(p, first);
  const char *edit = t.stars ? arena_printf(p->arena, "%s: ptr[%s]", param->name, element)
                             : arena_printf(p->arena, "%s: %s", param->name, element);
  struct diag *d = parser_report(p, at, E0109, "the type follows the name of a parameter%s",
                                 t.stars ? ", and a pointer is written `ptr[...]`" : "");
  diag_help(d, "write `%s`", edit);
  diag_fixit(d, at, edit);
  param->annotation = expr_error(p);
  return true;
}
