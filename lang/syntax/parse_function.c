// SPDX-License-Identifier: Apache-2.0
// Functions: decorators, parameter lists (shared with lambda), headers and bodies.
//
// Recursion is the algorithm: recursive descent.
#include "lang/syntax/parser.h"

#include <ctype.h>

// ---- Parameters ----

struct param_state {
  bool seen_slash, seen_star, needs_keyword, seen_double_star;
  struct span default_before; // of the first parameter with a default
};

typedef VEC(struct ast_param) param_vec;

static void check_param(struct parser *p, const param_vec *before, const struct ast_param *param,
                        struct param_state *state) {
  for (size_t i = 0; i < before->len && i < LIMIT_PARAMETERS; i++) {
    if (before->at[i].name == param->name) {
      struct diag *d =
          parser_report(p, param->name_span, E0109, "parameter `%s` is there twice", param->name);
      diag_help(d, "give one of them another name");
      diag_label(d, before->at[i].name_span, "first here");
    }
  }
  if (param->kind != PARAM_NORMAL)
    return;
  if (param->default_value && !state->default_before.source)
    state->default_before = param->span;
  if (!param->default_value && state->default_before.source) {
    struct diag *d =
        parser_report(p, param->name_span, E0109,
                      "parameter `%s` without a default behind one that has it", param->name);
    diag_help(d, "move it in front of those with defaults, or give it one");
    diag_label(d, state->default_before, "has a default");
  }
}

// Takes `*`, `**` or `/`. Returns false if that was the whole parameter.
static bool parse_param_mark(struct parser *p, param_vec *params, struct ast_param *param,
                             struct param_state *state) {
  struct span at = parser_token_span(p);
  enum token_kind next = parser_peek_at(p, 1);
  if (state->seen_double_star)
    diag_help(parser_error(p, at, E0109, "no parameter can follow `**`"),
              "move it in front of `**`");
  if (parser_accept(p, TOK_DOUBLE_STAR)) {
    param->kind = PARAM_DOUBLE_STAR;
    state->seen_double_star = true;
  } else if (parser_peek(p) == TOK_STAR) {
    if (state->seen_star)
      diag_help(parser_error(p, at, E0109, "only one `*` can be in a parameter list"),
                "remove one of them");
    parser_accept(p, TOK_STAR);
    state->seen_star = true;
    param->kind = PARAM_STAR;
    if (next == TOK_NAME)
      return true;
    if (next != TOK_COMMA)
      diag_help(parser_error(p, at, E0109, "a name must follow `*`, here or behind a comma"),
                "name the parameters that are given by name, or remove the `*`");
    return false;
  } else if (parser_peek(p) == TOK_SLASH) {
    if (state->seen_slash || state->seen_star || params->len == 0)
      diag_help(parser_error(p, at, E0109, "`/` stands once, behind a parameter and before `*`"),
                "move it, or remove it");
    parser_accept(p, TOK_SLASH);
    state->seen_slash = true;
    for (size_t i = 0; i < params->len; i++)
      params->at[i].kind = PARAM_POSITIONAL_ONLY;
    return false;
  } else if (state->seen_star) {
    param->kind = PARAM_KEYWORD_ONLY;
  }
  return true;
}

// A quoted annotation of names and dots means the same without the quotes: `BLOCK: "tl.constexpr"`.
// Others are left as they are, and say nothing.
static struct expr *unquoted(struct parser *p, struct expr *e, size_t first) {
  if (e->kind != EXPR_STRING)
    return e;
  struct expr *out = NULL;
  for (size_t i = 0, end; i <= e->string.value.len; i = end + 1) {
    for (end = i; end < e->string.value.len && e->string.value.ptr[end] != '.'; end++)
      if (!isalnum((unsigned char)e->string.value.ptr[end]) && e->string.value.ptr[end] != '_')
        return e;
    if (end == i || isdigit((unsigned char)e->string.value.ptr[i]))
      return e;
    struct expr *x = expr_new(p, out ? EXPR_ATTRIBUTE : EXPR_NAME, first);
    const char *name = arena_strndup(p->arena, e->string.value.ptr + i, end - i);
    x->span = e->span;
    if (out) {
      x->attribute.object = out;
      x->attribute.name = name;
      x->attribute.name_span = e->span;
      expr_adopt(p, x, out);
    } else {
      x->name = name;
    }
    out = x;
  }
  return out;
}

// param = ["*" | "**"] NAME [":" expr] ["=" expr] | "*" | "/"
static void parse_param(struct parser *p, enum token_kind end, param_vec *params,
                        struct param_state *state) {
  size_t first = p->pos;
  struct ast_param param = {0};
  if (!parse_param_mark(p, params, &param, state) || p->panic)
    return;
  bool has_types = end == TOK_RPAREN; // those of a lambda have none
  bool is_foreign = has_types && parse_foreign_param(p, &param);
  if (!is_foreign) {
    param.name_span = parser_token_span(p);
    param.name = parser_name(p, "a parameter");
  }
  if (!param.name)
    return;
  bool is_annotated = !is_foreign && end != TOK_COLON && parser_accept(p, TOK_COLON);
  if (is_annotated && !(has_types && parse_foreign_annotation(p, &param))) {
    parser_accept(p, TOK_STAR); // *args: *Ts
    size_t type = p->pos;
    param.annotation = unquoted(p, parse_expr(p), type);
  }
  if (parser_accept(p, TOK_ASSIGN))
    param.default_value = parse_expr(p);
  param.span = parser_span_from(p, first);
  check_param(p, params, &param, state);
  vec_push(p->arena, params, param);
}

// params = [param {"," param} [","]]
void parse_params(struct parser *p, enum token_kind end, struct ast_param **ret_params,
                  size_t *ret_count) {
  param_vec params = {0};
  struct param_state state = {.default_before = SPAN_NONE};
  while (!p->panic && parser_peek(p) != end) {
    parse_param(p, end, &params, &state);
    if (!parser_accept(p, TOK_COMMA))
      break;
  }
  if (params.len > LIMIT_PARAMETERS)
    limit_error(p->diag, params.at[LIMIT_PARAMETERS].span, LIMIT_ID_PARAMETERS, params.len);
  *ret_params = params.at;
  *ret_count = params.len;
}

// ---- Functions ----

// decorators = { "@" named NEWLINE }
void parse_decorators(struct parser *p, expr_vec *out) {
  while (parser_accept(p, TOK_AT)) {
    struct expr *e = parse_named(p);
    if (!p->panic && parser_peek(p) != TOK_NEWLINE)
      parser_unexpected(p, "the end of the line");
    vec_push(p->arena, out, e);
    p->panic = false;
    parser_accept(p, TOK_NEWLINE);
  }
}

static void find_docstring(struct ast_function *f) {
  if (f->body.len == 0 || f->body.at[0]->kind != STMT_EXPR)
    return;
  const struct expr *e = f->body.at[0]->expr;
  if (e->kind == EXPR_STRING && !e->string.is_bytes)
    f->docstring = e->string.value;
}

// def = "def" NAME "(" params ")" ["->" expr] block
// The name is NULL where it is missing.
struct ast_function *parse_function(struct parser *p, const expr_vec *decorators) {
  size_t first = p->pos;
  struct ast_function *f = arena_new(p->arena, struct ast_function);
  f->decorators = (struct expr_list){decorators->at, decorators->len};
  parser_accept(p, TOK_DEF);
  f->name_span = parser_token_span(p);
  f->name = parser_name(p, "the function");
  size_t open = p->pos;
  if (!p->panic && parser_expect(p, TOK_LPAREN)) {
    parse_params(p, TOK_RPAREN, &f->params, &f->param_count);
    parser_close(p, TOK_RPAREN, open);
  }
  if (parser_accept(p, TOK_ARROW))
    f->returns = parse_expr(p);
  f->span = parser_span_from(p, first);
  unsigned loops = p->loop_depth, branches = p->if_depth;
  p->loop_depth = p->if_depth = 0;
  parse_block(p, "def", f->span, &f->body);
  p->loop_depth = loops;
  p->if_depth = branches;
  find_docstring(f);
  return f;
}
