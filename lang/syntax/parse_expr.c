// SPDX-License-Identifier: Apache-2.0
// Expressions above the operators: ternaries, lambdas, assignment expressions, tuples and
// assignment targets; making of nodes.
//
// Recursion is the algorithm: recursive descent.
#include "lang/syntax/parser.h"

// ---- Nodes ----

struct expr *expr_new(struct parser *p, enum expr_kind kind, size_t first) {
  struct expr *e = arena_new(p->arena, struct expr);
  e->kind = kind;
  e->span = parser_span_from(p, first);
  return e;
}

struct expr *expr_error(struct parser *p) {
  return expr_new(p, EXPR_ERROR, p->pos);
}

struct expr *expr_finish(struct parser *p, struct expr *e, size_t first) {
  e->span = parser_span_from(p, first);
  return e;
}

void expr_adopt(struct parser *p, struct expr *e, const struct expr *child) {
  if (!child || child->height < e->height)
    return;
  if (child->height == AST_MAX_HEIGHT) {
    diag_help(parser_error(p, child->span, E0902, "this expression has more than %d levels",
                           AST_MAX_HEIGHT),
              "name intermediate results");
    e->height = AST_MAX_HEIGHT;
    return;
  }
  e->height = (uint16_t)(child->height + 1);
}

const char *expr_kind_text(const struct expr *e) {
  switch (e->kind) {
  case EXPR_NAME: return "a name";
  case EXPR_INT:
  case EXPR_FLOAT:
  case EXPR_IMAGINARY: return "a number";
  case EXPR_STRING:
  case EXPR_FSTRING: return "a string";
  case EXPR_BOOL: return e->boolean ? "`True`" : "`False`";
  case EXPR_NONE: return "`None`";
  case EXPR_ELLIPSIS: return "`...`";
  case EXPR_UNARY:
  case EXPR_BINARY:
  case EXPR_LOGIC: return "the result of an operator";
  case EXPR_COMPARE: return "a comparison";
  case EXPR_CALL: return "the result of a call";
  case EXPR_ATTRIBUTE: return "an attribute";
  case EXPR_SUBSCRIPT: return "a subscript";
  case EXPR_TUPLE: return "a tuple";
  case EXPR_LIST: return "a list";
  case EXPR_SET: return "a set";
  case EXPR_DICT: return "a dictionary";
  case EXPR_TERNARY: return "a conditional expression";
  case EXPR_LAMBDA: return "a lambda";
  case EXPR_COMPREHENSION: return "a comprehension";
  case EXPR_WALRUS: return "an assignment expression";
  case EXPR_STARRED: return "a starred expression";
  case EXPR_SLICE: return "a slice";
  case EXPR_AWAIT: return "`await`";
  case EXPR_YIELD: return "`yield`";
  case EXPR_ERROR:
  case EXPR_KIND_COUNT: break;
  }
  return "an expression";
}

// ---- Expressions ----

// lambda = "lambda" [params] ":" expr
static struct expr *parse_lambda(struct parser *p) {
  size_t first = p->pos;
  parser_accept(p, TOK_LAMBDA);
  struct expr *e = expr_new(p, EXPR_LAMBDA, first);
  parse_params(p, TOK_COLON, &e->lambda.params, &e->lambda.param_count);
  parser_expect(p, TOK_COLON);
  e->lambda.body = parse_expr(p);
  expr_adopt(p, e, e->lambda.body);
  for (size_t i = 0; i < e->lambda.param_count; i++)
    expr_adopt(p, e, e->lambda.params[i].default_value);
  return expr_finish(p, e, first);
}

// expr = lambda | disjunction ["if" disjunction "else" expr]
struct expr *parse_expr(struct parser *p) {
  if (!parser_enter(p))
    return expr_error(p);
  size_t first = p->pos;
  struct expr *e;
  if (parser_peek(p) == TOK_LAMBDA) {
    e = parse_lambda(p);
  } else {
    e = parse_binary(p, PREC_OR);
    if (!p->panic && parser_accept(p, TOK_IF)) {
      struct expr *then = e;
      e = expr_new(p, EXPR_TERNARY, first);
      e->ternary.then = then;
      e->ternary.condition = parse_binary(p, PREC_OR);
      parser_expect(p, TOK_ELSE);
      e->ternary.otherwise = parse_expr(p);
      expr_adopt(p, e, then);
      expr_adopt(p, e, e->ternary.condition);
      expr_adopt(p, e, e->ternary.otherwise);
      expr_finish(p, e, first);
    }
  }
  parser_leave(p);
  return e;
}

// named = [NAME ":="] expr
struct expr *parse_named(struct parser *p) {
  size_t first = p->pos;
  struct expr *e = parse_expr(p);
  if (parser_peek(p) != TOK_WALRUS)
    return e;
  if (e->kind != EXPR_NAME || e->in_parens) {
    diag_help(
        parser_error(p, e->span, E0115, "`:=` names a value, and %s is no name", expr_kind_text(e)),
        "name the value first, `v := ...`, and assign it in a statement of its own");
    return expr_error(p);
  }
  parser_accept(p, TOK_WALRUS);
  struct expr *walrus = expr_new(p, EXPR_WALRUS, first);
  walrus->walrus.name = e->name;
  walrus->walrus.name_span = e->span;
  walrus->walrus.value = parse_expr(p);
  expr_adopt(p, walrus, walrus->walrus.value);
  return expr_finish(p, walrus, first);
}

// item = "*" bit_or | named
struct expr *parse_item(struct parser *p) {
  size_t first = p->pos;
  if (!parser_accept(p, TOK_STAR))
    return parse_named(p);
  struct expr *e = expr_new(p, EXPR_STARRED, first);
  e->inner = parse_binary(p, PREC_BIT_OR);
  expr_adopt(p, e, e->inner);
  return expr_finish(p, e, first);
}

static struct expr *tuple_of(struct parser *p, const expr_vec *items, size_t first) {
  struct expr *e = expr_new(p, EXPR_TUPLE, first);
  e->items = (struct expr_list){items->at, items->len};
  for (size_t i = 0; i < items->len; i++)
    expr_adopt(p, e, items->at[i]);
  return e;
}

// yield = "yield" ["from" expr | exprs]
static struct expr *parse_yield(struct parser *p) {
  size_t first = p->pos;
  parser_accept(p, TOK_YIELD);
  parser_accept(p, TOK_FROM);
  struct expr *e = expr_new(p, EXPR_YIELD, first);
  if (parser_starts_expression(parser_peek(p)) || parser_peek(p) == TOK_STAR) {
    e->inner = parse_exprs(p);
    expr_adopt(p, e, e->inner);
  }
  return expr_finish(p, e, first);
}

// exprs = yield | item {"," item} [","]
struct expr *parse_exprs(struct parser *p) {
  size_t first = p->pos;
  if (parser_peek(p) == TOK_YIELD)
    return parse_yield(p);
  struct expr *e = parse_item(p);
  if (parser_peek(p) != TOK_COMMA)
    return e;
  expr_vec items = {0};
  vec_push(p->arena, &items, e);
  while (parser_accept(p, TOK_COMMA)) {
    if (!parser_starts_expression(parser_peek(p)) && parser_peek(p) != TOK_STAR)
      break;
    vec_push(p->arena, &items, parse_item(p));
  }
  return tuple_of(p, &items, first);
}

// ---- Targets ----

// target = ["*"] bit_or, which stops before `in`
static struct expr *parse_target(struct parser *p) {
  size_t first = p->pos;
  if (!parser_accept(p, TOK_STAR))
    return parse_binary(p, PREC_BIT_OR);
  struct expr *e = expr_new(p, EXPR_STARRED, first);
  e->inner = parse_binary(p, PREC_BIT_OR);
  expr_adopt(p, e, e->inner);
  return expr_finish(p, e, first);
}

// targets = target {"," target} [","]
struct expr *parse_targets(struct parser *p) {
  size_t first = p->pos;
  struct expr *e = parse_target(p);
  if (parser_peek(p) == TOK_COMMA) {
    expr_vec items = {0};
    vec_push(p->arena, &items, e);
    while (parser_accept(p, TOK_COMMA) && parser_peek(p) != TOK_IN)
      vec_push(p->arena, &items, parse_target(p));
    e = tuple_of(p, &items, first);
  }
  check_target(p, e, "assign to");
  return e;
}

void check_target(struct parser *p, const struct expr *e, const char *how) {
  switch (e->kind) {
  case EXPR_NAME:
  case EXPR_ATTRIBUTE:
  case EXPR_SUBSCRIPT:
  case EXPR_ERROR: return;
  case EXPR_TUPLE:
  case EXPR_LIST:
    for (size_t i = 0; i < e->items.len; i++)
      check_target(p, e->items.at[i], how);
    return;
  case EXPR_STARRED: check_target(p, e->inner, how); return;
  default: break;
  }
  struct diag *d = parser_report(p, e->span, E0108, "cannot %s %s", how, expr_kind_text(e));
  if (e->kind == EXPR_BINARY || e->kind == EXPR_COMPARE || e->kind == EXPR_CALL)
    diag_help(d, "to compare write `==`");
  else
    diag_help(d,
              "a name, `x.name` or `x[i]` stands on the left: turn the two sides round, or write "
              "`==`");
}
