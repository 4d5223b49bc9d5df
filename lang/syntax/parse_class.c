// SPDX-License-Identifier: Apache-2.0
// Classes. Those that kernels use as records have the base NamedTuple or are aggregates; others are
// host code, from which lists of configurations take constants (Enum) and methods. Fields,
// constants and methods are kept as far as they can be parsed; everything else in a class is
// skipped.
//
// Recursion is the algorithm: recursive descent.
#include "lang/syntax/parser.h"

typedef VEC(struct ast_function *) method_vec;
typedef VEC(const char *) name_vec;
typedef VEC(struct ast_constant) constant_vec;

// The names of `(typing.NamedTuple, Base)` after the name at `at`.
static bool has_base(const struct parser *p, size_t at, const char *name) {
  const struct token *t = p->tokens.at;
  for (; t[at].kind != TOK_NEWLINE && t[at].kind != TOK_EOF && t[at].kind != TOK_COLON; at++) {
    struct str word = {p->source->text.ptr + t[at].begin, t[at].end - t[at].begin};
    if (t[at].kind == TOK_NAME && str_is(word, name))
      return true;
  }
  return false;
}

bool at_record_class(const struct parser *p) {
  return parser_peek(p) == TOK_CLASS && parser_peek_at(p, 1) == TOK_NAME &&
         (has_base(p, p->pos + 2, "NamedTuple") || has_base(p, p->pos + 2, "namedtuple"));
}

// `class P(namedtuple("P", "x y")):`: the fields of the call, which is passed over.
static bool parse_base_call(struct parser *p, name_vec *bases, field_vec *fields) {
  size_t first = p->pos;
  unsigned errors = p->error_count;
  bool quiet = p->quiet;
  p->quiet = true;
  const struct expr *x = parse_expr(p);
  p->quiet = quiet;
  bool ok = p->error_count == errors && x->kind == EXPR_CALL && named_tuple_fields(p, x, fields);
  if (!ok)
    p->error_count = errors, p->panic = false, p->pos = first;
  else
    vec_push(p->arena, bases, "NamedTuple");
  return ok;
}

static void parse_bases(struct parser *p, struct ast_class *c, field_vec *fields) {
  name_vec bases = {0};
  while (parser_peek(p) != TOK_COLON && parser_peek(p) != TOK_NEWLINE && parser_peek(p) != TOK_EOF)
    if (parser_peek(p) == TOK_NAME && parse_base_call(p, &bases, fields))
      continue;
    else if (parser_peek(p) == TOK_NAME)
      vec_push(p->arena, &bases, parser_name(p, "a base"));
    else
      p->pos++;
  c->bases = bases.at;
  c->base_count = bases.len;
}

// NAME ":" annotation ["=" value], NAME "=" value; anything else is host code.
static void parse_member(struct parser *p, field_vec *out, constant_vec *constants) {
  size_t first = p->pos;
  unsigned errors = p->error_count;
  stmt_vec line = {0};
  bool quiet = p->quiet;
  p->quiet = true;
  parse_simple_line(p, &line);
  p->quiet = quiet;
  bool ok = p->error_count == errors && line.len > 0;
  const struct stmt *s = ok ? line.at[0] : NULL;
  if (ok && s->kind == STMT_ANN_ASSIGN && s->ann_assign.target->kind == EXPR_NAME) {
    const struct expr *target = s->ann_assign.target;
    vec_push(p->arena, out,
             (struct ast_field){target->name, s->ann_assign.annotation, s->ann_assign.value,
                                target->span});
  } else if (ok && s->kind == STMT_ASSIGN && s->assign.targets.len == 1 &&
             s->assign.targets.at[0]->kind == EXPR_NAME) {
    const struct expr *target = s->assign.targets.at[0];
    vec_push(p->arena, constants,
             (struct ast_constant){
                 .name = target->name, .value = s->assign.value, .name_span = target->span});
  } else if (!ok) {
    p->error_count = errors;
    p->panic = false;
    p->pos = first;
    parser_skip_statement(p);
  }
}

static bool is_decorated(const struct expr_list *decorators, const char *name) {
  for (size_t i = 0; i < decorators->len; i++)
    if (decorators->at[i]->kind == EXPR_NAME && strcmp(decorators->at[i]->name, name) == 0)
      return true;
  return false;
}

// A method without `jit` is Python code, evaluated at compile time.
static void parse_method(struct parser *p, const expr_vec *decorators, bool is_jit,
                         method_vec *out) {
  size_t first = p->pos;
  unsigned errors = p->error_count;
  bool quiet = p->quiet;
  p->quiet = quiet || !is_jit;
  struct ast_function *f = parse_function(p, decorators);
  p->quiet = quiet;
  if ((quiet || !is_jit) && p->error_count != errors) {
    p->error_count = errors;
    p->panic = false;
    p->pos = first;
    parser_skip_statement(p);
    return;
  }
  f->is_jit = is_jit;
  f->is_constexpr_function = !is_jit;
  f->is_nested = true;
  f->is_property = is_decorated(&f->decorators, "property");
  f->is_static = is_decorated(&f->decorators, "staticmethod");
  f->is_class_method = is_decorated(&f->decorators, "classmethod");
  if (f->name)
    vec_push(p->arena, out, f);
}

// class = "class" NAME ["(" ... ")"] ":" block
struct ast_class *parse_class(struct parser *p) {
  struct ast_class *c = arena_new(p->arena, struct ast_class);
  field_vec fields = {0};
  method_vec methods = {0};
  constant_vec constants = {0};
  parser_accept(p, TOK_CLASS);
  c->name_span = parser_token_span(p);
  c->name = parser_name(p, "the class");
  if (!c->name)
    return NULL;
  parse_bases(p, c, &fields);
  parser_skip_line(p);
  parser_accept(p, TOK_NEWLINE);
  if (!parser_accept(p, TOK_INDENT))
    return c;
  while (parser_peek(p) != TOK_EOF && !parser_accept(p, TOK_DEDENT)) {
    expr_vec decorators = {0};
    bool is_jit = parse_method_decorators(p, &decorators);
    if (parser_peek(p) == TOK_DEF)
      parse_method(p, &decorators, is_jit, &methods);
    else if (parser_peek(p) == TOK_NAME &&
             (parser_peek_at(p, 1) == TOK_COLON || parser_peek_at(p, 1) == TOK_ASSIGN))
      parse_member(p, &fields, &constants);
    else if (!parser_accept(p, TOK_NEWLINE))
      parser_skip_statement(p);
  }
  c->fields = fields.at, c->field_count = fields.len;
  c->methods = methods.at, c->method_count = methods.len;
  c->constants = constants.at, c->constant_count = constants.len;
  return c;
}

struct ast_class *parse_host_class(struct parser *p) {
  unsigned errors = p->error_count;
  bool quiet = p->quiet, is_python = p->is_python;
  size_t first = p->pos;
  p->quiet = p->is_python = true;
  struct ast_class *c = parse_class(p);
  p->quiet = quiet;
  p->is_python = is_python;
  p->error_count = errors;
  p->panic = false;
  p->pos = first;
  if (c)
    c->is_host = true;
  return c;
}
