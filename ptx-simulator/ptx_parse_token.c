// SPDX-License-Identifier: Apache-2.0
// Parses integers, names, types and state spaces; errors at a token or operand.
#include "ptx-simulator/ptx_parse.h"

bool parse_integer(struct parser *p, uint64_t *ret) {
  struct lexer *l = &p->lexer;
  if (l->token.kind != TOKEN_INTEGER)
    return lexer_error(l, l->token.line, l->token.column, "an integer was expected");
  *ret = l->token.value;
  lexer_next(l);
  return true;
}

struct str parse_name(struct parser *p) {
  struct token t = p->lexer.token;
  if (t.kind != TOKEN_WORD) {
    lexer_error(&p->lexer, t.line, t.column, "a name was expected");
    return STR("");
  }
  lexer_next(&p->lexer);
  return t.text;
}

void skip_line(struct parser *p) {
  unsigned line = p->lexer.token.line;
  while (p->lexer.token.kind != TOKEN_END && p->lexer.token.line == line)
    lexer_next(&p->lexer);
}

unsigned ptx_type_bits(struct str t) {
  static const struct {
    const char *name;
    unsigned bits;
  } types[] = {{".b8", 8},   {".u8", 8},   {".s8", 8},     {".b16", 16},    {".u16", 16},
               {".s16", 16}, {".f16", 16}, {".bf16", 16},  {".b32", 32},    {".u32", 32},
               {".s32", 32}, {".f32", 32}, {".f16x2", 32}, {".bf16x2", 32}, {".b64", 64},
               {".u64", 64}, {".s64", 64}, {".f64", 64},   {".b128", 128}};
  for (size_t i = 0; i < COUNT_OF(types); i++)
    if (str_is(t, types[i].name))
      return types[i].bits;
  return 0;
}

enum sim_space space_of_directive(struct str d) {
  return str_is(d, ".global")   ? SIM_GLOBAL
         : str_is(d, ".shared") ? SIM_SHARED
         : str_is(d, ".local")  ? SIM_LOCAL
         : str_is(d, ".param")  ? SIM_PARAM
         : str_is(d, ".const")  ? SIM_CONST
                                : SIM_NO_SPACE;
}

bool parse_unexpected(struct parser *p, const char *what) {
  const struct token *t = &p->lexer.token;
  return lexer_error(&p->lexer, t->line, t->column, "%s, found '%.*s'", what,
                     (int)(t->text.len < 64 ? t->text.len : 64), t->text.ptr);
}

bool parse_error_at(struct parser *p, const struct operand *at, const char *what) {
  int n = (int)(at->name.len < 100 ? at->name.len : 100);
  return lexer_error(&p->lexer, at->line, at->column, "'%.*s' %s", n, at->name.ptr, what);
}
