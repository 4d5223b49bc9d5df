// SPDX-License-Identifier: Apache-2.0
// Decorators: which functions they mark, read from the tokens, and their expressions. A decorator
// that cannot be parsed is host code, not an error.
//
// Recursion is the algorithm: recursive descent.
#include "lang/syntax/parser.h"

// The dotted name after the `@` at token `at`: its first and last word.
static bool decorator_words(const struct parser *p, size_t at, struct str *ret_first,
                            struct str *ret_last) {
  const struct token *t = p->tokens.at;
  if (t[at].kind != TOK_AT || t[at + 1].kind != TOK_NAME)
    return false;
  size_t last = at + 1;
  while (t[last + 1].kind == TOK_DOT && t[last + 2].kind == TOK_NAME)
    last += 2;
  const char *text = p->source->text.ptr;
  *ret_first = (struct str){text + t[at + 1].begin, t[at + 1].end - t[at + 1].begin};
  *ret_last = (struct str){text + t[last].begin, t[last].end - t[last].begin};
  return true;
}

// `jit`, or a name that the file gives it.
static bool is_jit_name(const struct parser *p, struct str name) {
  return str_is(name, "jit") || map_get(&p->jit_names, name);
}

// `@jit`, `@triton.jit`, `@tl.jit(...)`; not the jit of other libraries.
bool at_jit_decorator(const struct parser *p, size_t at) {
  static const char *const others[] = {"numba", "nb", "jax", "torch", "cupy", "cupyx", "taichi"};
  struct str first, last;
  if (!decorator_words(p, at, &first, &last))
    return false;
  if (!str_is(last, "jit"))
    return first.ptr == last.ptr && is_jit_name(p, last);
  for (size_t i = 0; i < COUNT_OF(others); i++)
    if (str_is(first, others[i]))
      return false;
  return true;
}

static bool is_named_decorator(const struct parser *p, size_t at, const char *name) {
  struct str first, last;
  return decorator_words(p, at, &first, &last) && str_is(last, name);
}

static bool starts_line(const struct parser *p, size_t at) {
  if (at == 0)
    return true;
  enum token_kind before = p->tokens.at[at - 1].kind;
  return before == TOK_NEWLINE || before == TOK_INDENT || before == TOK_DEDENT;
}

// from triton import jit as NAME, NAME = triton . jit
void parser_find_jit_names(struct parser *p) {
  const struct token *t = p->tokens.at;
  bool is_triton = false; // the line begins with `from triton`
  for (size_t i = 0; i + 3 < p->tokens.len; i++) {
    if (starts_line(p, i))
      is_triton = t[i].kind == TOK_FROM && str_is(parser_text_of(p, t[i + 1]), "triton");
    bool is_import = is_triton && t[i + 1].kind == TOK_AS && t[i + 2].kind == TOK_NAME &&
                     str_is(parser_text_of(p, t[i]), "jit");
    bool is_assignment =
        i + 5 < p->tokens.len && t[i].kind == TOK_NAME && t[i + 1].kind == TOK_ASSIGN &&
        t[i + 3].kind == TOK_DOT && t[i + 5].kind == TOK_NEWLINE && starts_line(p, i) &&
        str_is(parser_text_of(p, t[i + 2]), "triton") && str_is(parser_text_of(p, t[i + 4]), "jit");
    if (is_import || is_assignment)
      map_put(p->arena, &p->jit_names, parser_text_of(p, t[is_import ? i + 2 : i]), p);
  }
}

// jit ( NAME , or jit ( NAME )
void parser_find_jitted(struct parser *p) {
  const struct token *t = p->tokens.at;
  for (size_t i = 0; i + 3 < p->tokens.len; i++) {
    bool is_call = t[i].kind == TOK_NAME && t[i + 1].kind == TOK_LPAREN &&
                   t[i + 2].kind == TOK_NAME &&
                   (t[i + 3].kind == TOK_COMMA || t[i + 3].kind == TOK_RPAREN);
    if (is_call && is_jit_name(p, parser_text_of(p, t[i])))
      map_put(p->arena, &p->jitted, parser_text_of(p, t[i + 2]), p);
  }
}

bool is_jit_call(const struct parser *p, const struct expr *e, struct expr **ret) {
  if (e->kind != EXPR_CALL || e->call.arg_count == 0 || e->call.args[0].name ||
      e->call.args[0].value->kind != EXPR_NAME)
    return false;
  const struct expr *f = e->call.callee;
  bool is_jit =
      (f->kind == EXPR_NAME && is_jit_name(p, str_from(f->name))) ||
      (f->kind == EXPR_ATTRIBUTE && strcmp(f->attribute.name, "jit") == 0 &&
       f->attribute.object->kind == EXPR_NAME && strcmp(f->attribute.object->name, "triton") == 0);
  *ret = e->call.args[0].value;
  return is_jit;
}

bool parser_has_jit(const struct parser *p) {
  for (size_t i = 0; i < p->tokens.len; i++)
    if (p->tokens.at[i].kind == TOK_AT && starts_line(p, i) && at_jit_decorator(p, i))
      return true;
  return false;
}

static bool has_true_keyword(const struct expr *e, const char *keyword) {
  if (e->kind != EXPR_CALL)
    return false;
  for (size_t i = 0; i < e->call.arg_count; i++) {
    const struct ast_arg *arg = &e->call.args[i];
    if (arg->name && strcmp(arg->name, keyword) == 0 && arg->value->kind == EXPR_BOOL)
      return arg->value->boolean;
  }
  return false;
}

// Runs of `@...` lines. A decorator that cannot be parsed is host code: no error.
void parse_decoration(struct parser *p, struct decoration *d) {
  bool quiet = p->quiet;
  p->quiet = true;
  while (parser_peek(p) == TOK_AT) {
    bool is_jit = at_jit_decorator(p, p->pos);
    bool is_constexpr = is_named_decorator(p, p->pos, "constexpr_function") ||
                        is_named_decorator(p, p->pos, "constexpr");
    d->is_jit |= is_jit;
    d->is_constexpr_function |= is_constexpr;
    d->is_aggregate |=
        is_named_decorator(p, p->pos, "_aggregate") || is_named_decorator(p, p->pos, "aggregate");
    bool is_commutative = is_named_decorator(p, p->pos, "commutative");
    d->is_commutative |= is_commutative;
    d->is_other |= !is_jit && !is_commutative && !is_named_decorator(p, p->pos, "autotune") &&
                   !is_named_decorator(p, p->pos, "heuristics");
    parser_accept(p, TOK_AT);
    struct expr *e = parse_named(p);
    bool broken = p->panic || parser_peek(p) != TOK_NEWLINE;
    p->panic = false;
    if (broken)
      e = expr_error(p);
    vec_push(p->arena, &d->exprs, e);
    d->is_noinline |= is_jit && has_true_keyword(e, "noinline");
    parser_skip_line(p);
    parser_accept(p, TOK_NEWLINE);
  }
  p->quiet = quiet;
}

bool parse_method_decorators(struct parser *p, expr_vec *out) {
  struct decoration d = {0};
  parse_decoration(p, &d);
  *out = d.exprs;
  return d.is_jit;
}
