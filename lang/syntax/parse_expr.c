// SPDX-License-Identifier: Apache-2.0
// Expressions above the atoms: operators by precedence climbing over one table, comparison chains,
// ternaries, lambdas, assignment expressions, tuples and assignment targets.
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

// ---- Operators ----

struct operator_row {
  enum token_kind token;
  enum precedence precedence;
  enum ast_op op;
};

// All are left associative; `**` binds tighter than the unary operators and is in parse_power.
static const struct operator_row operators[] = {
    {TOK_OR, PREC_OR, OP_OR},
    {TOK_AND, PREC_AND, OP_AND},
    {TOK_LT, PREC_COMPARE, OP_LT},
    {TOK_LE, PREC_COMPARE, OP_LE},
    {TOK_GT, PREC_COMPARE, OP_GT},
    {TOK_GE, PREC_COMPARE, OP_GE},
    {TOK_EQ, PREC_COMPARE, OP_EQ},
    {TOK_NE, PREC_COMPARE, OP_NE},
    {TOK_IS, PREC_COMPARE, OP_IS},
    {TOK_IN, PREC_COMPARE, OP_IN},
    {TOK_NOT, PREC_COMPARE, OP_NOT_IN},
    {TOK_PIPE, PREC_BIT_OR, OP_BIT_OR},
    {TOK_CARET, PREC_BIT_XOR, OP_BIT_XOR},
    {TOK_AMP, PREC_BIT_AND, OP_BIT_AND},
    {TOK_SHL, PREC_SHIFT, OP_SHL},
    {TOK_SHR, PREC_SHIFT, OP_SHR},
    {TOK_PLUS, PREC_SUM, OP_ADD},
    {TOK_MINUS, PREC_SUM, OP_SUB},
    {TOK_STAR, PREC_TERM, OP_MUL},
    {TOK_AT, PREC_TERM, OP_MATMUL},
    {TOK_SLASH, PREC_TERM, OP_DIV},
    {TOK_DOUBLE_SLASH, PREC_TERM, OP_FLOORDIV},
    {TOK_PERCENT, PREC_TERM, OP_MOD},
};

static const struct operator_row *operator_at(const struct parser *p) {
  enum token_kind kind = parser_peek(p);
  if (kind == TOK_NOT && parser_peek_at(p, 1) != TOK_IN)
    return NULL;
  for (size_t i = 0; i < COUNT_OF(operators); i++)
    if (operators[i].token == kind)
      return &operators[i];
  return NULL;
}

static struct expr *binary_node(struct parser *p, enum ast_op op, struct span op_span,
                                struct expr *left, struct expr *right, size_t first) {
  struct expr *e = expr_new(p, EXPR_BINARY, first);
  e->binary.op = op;
  e->binary.op_span = op_span;
  e->binary.left = left;
  e->binary.right = right;
  expr_adopt(p, e, left);
  expr_adopt(p, e, right);
  return e;
}

static struct expr *parse_unary(struct parser *p);

// power = ["await"] postfix ["**" unary]
// postfix = atom { "." NAME | call | subscript }
static struct expr *parse_power(struct parser *p) {
  size_t first = p->pos;
  bool is_await = parser_accept(p, TOK_AWAIT);
  struct expr *e = parse_atom(p);
  for (;;) {
    size_t dot = p->pos;
    if (parser_accept(p, TOK_DOT)) {
      struct span name_span = parser_token_span(p);
      const char *name = parser_name(p, "an attribute");
      struct expr *object = e;
      e = expr_new(p, name ? EXPR_ATTRIBUTE : EXPR_ERROR, first);
      e->attribute.object = object;
      e->attribute.name = name;
      e->attribute.name_span = name_span;
      expr_adopt(p, e, object);
    } else if (parser_peek(p) == TOK_LPAREN) {
      e = parse_call(p, e, first);
    } else if (parser_peek(p) == TOK_LBRACKET) {
      e = parse_subscript(p, e, first);
    }
    if (p->pos == dot || p->panic)
      break;
  }
  if (is_await) {
    struct expr *inner = e;
    e = expr_new(p, EXPR_AWAIT, first);
    e->inner = inner;
    expr_adopt(p, e, inner);
  }
  struct span op_span = parser_token_span(p);
  if (parser_peek(p) == TOK_DOUBLE_STAR && parser_enter(p)) {
    parser_accept(p, TOK_DOUBLE_STAR);
    struct expr *exponent = parse_unary(p);
    parser_leave(p);
    e = binary_node(p, OP_POW, op_span, e, exponent, first);
  }
  return e;
}

static struct expr *unary_node(struct parser *p, enum ast_op op, struct expr *operand,
                               size_t first) {
  struct expr *e = expr_new(p, EXPR_UNARY, first);
  e->unary.op = op;
  e->unary.operand = operand;
  expr_adopt(p, e, operand);
  return e;
}

// unary = ("+" | "-" | "~") unary | power
static struct expr *parse_unary(struct parser *p) {
  enum token_kind kind = parser_peek(p);
  if (kind != TOK_PLUS && kind != TOK_MINUS && kind != TOK_TILDE)
    return parse_power(p);
  size_t first = p->pos;
  if (!parser_enter(p))
    return expr_error(p);
  parser_accept(p, kind);
  struct expr *operand = parse_unary(p);
  parser_leave(p);
  enum ast_op op = kind == TOK_PLUS ? OP_POS : kind == TOK_MINUS ? OP_NEG : OP_INVERT;
  return unary_node(p, op, operand, first);
}

// The operator's tokens, one or two; `is` may become `is not`.
static enum ast_op take_operator(struct parser *p, enum ast_op op, struct span *ret_span) {
  size_t first = p->pos;
  parser_accept(p, parser_peek(p));
  if (op == OP_NOT_IN)
    parser_accept(p, TOK_IN);
  if (op == OP_IS && parser_accept(p, TOK_NOT))
    op = OP_IS_NOT;
  *ret_span = parser_span_from(p, first);
  return op;
}

// Comparisons, `and` and `or` have all their operands in one node.
static void check_chain(struct parser *p, const expr_vec *operands, size_t first) {
  if (operands->len > AST_MAX_HEIGHT && !p->panic)
    diag_help(parser_error(p, parser_span_from(p, first), E0902,
                           "a chain of %zu operands; at most %d are possible", operands->len,
                           AST_MAX_HEIGHT),
              "name intermediate results");
}

// comparison = bit_or { ("<" | "<=" | ... | "is" ["not"] | ["not"] "in") bit_or }
static struct expr *parse_compare(struct parser *p, struct expr *left, size_t first) {
  VEC(enum ast_op) ops = {0};
  VEC(struct span) spans = {0};
  expr_vec operands = {0};
  vec_push(p->arena, &operands, left);
  const struct operator_row *row;
  while (!p->panic && (row = operator_at(p)) && row->precedence == PREC_COMPARE) {
    struct span span;
    vec_push(p->arena, &ops, take_operator(p, row->op, &span));
    vec_push(p->arena, &spans, span);
    vec_push(p->arena, &operands, parse_binary(p, PREC_BIT_OR));
  }
  check_chain(p, &operands, first);
  struct expr *e = expr_new(p, EXPR_COMPARE, first);
  e->compare.ops = ops.at;
  e->compare.op_spans = spans.at;
  e->compare.operands = (struct expr_list){operands.at, operands.len};
  for (size_t i = 0; i < operands.len; i++)
    expr_adopt(p, e, operands.at[i]);
  return e;
}

// disjunction = conjunction { "or" conjunction };  conjunction = inversion { "and" inversion }
static struct expr *parse_logic(struct parser *p, const struct operator_row *row, struct expr *left,
                                size_t first) {
  expr_vec operands = {0};
  vec_push(p->arena, &operands, left);
  while (!p->panic && parser_accept(p, row->token))
    vec_push(p->arena, &operands, parse_binary(p, row->precedence + 1));
  check_chain(p, &operands, first);
  struct expr *e = expr_new(p, EXPR_LOGIC, first);
  e->logic.op = row->op;
  e->logic.operands = (struct expr_list){operands.at, operands.len};
  for (size_t i = 0; i < operands.len; i++)
    expr_adopt(p, e, operands.at[i]);
  return e;
}

// inversion = "not" inversion | comparison
static struct expr *parse_not(struct parser *p, enum precedence min) {
  size_t first = p->pos;
  if (min > PREC_NOT) {
    diag_help(parser_error(p, parser_token_span(p), E0102, "`not` cannot follow this operator"),
              "put `not x` in parentheses");
    return expr_error(p);
  }
  if (!parser_enter(p))
    return expr_error(p);
  parser_accept(p, TOK_NOT);
  struct expr *operand = parse_binary(p, PREC_NOT);
  parser_leave(p);
  return unary_node(p, OP_NOT, operand, first);
}

// Operators of at least precedence `min`.
struct expr *parse_binary(struct parser *p, enum precedence min) {
  size_t first = p->pos;
  struct expr *left = parser_peek(p) == TOK_NOT ? parse_not(p, min) : parse_unary(p);
  const struct operator_row *row;
  while (!p->panic && (row = operator_at(p)) && row->precedence >= min) {
    if (row->precedence == PREC_COMPARE) {
      left = parse_compare(p, left, first);
    } else if (row->precedence <= PREC_AND) {
      left = parse_logic(p, row, left, first);
    } else {
      struct span op_span;
      take_operator(p, row->op, &op_span);
      struct expr *right = parse_binary(p, row->precedence + 1);
      left = binary_node(p, row->op, op_span, left, right, first);
    }
  }
  return left;
}

// ---- Above the operators ----

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
    parser_error(p, e->span, E0115, "`:=` names a value, and %s is no name", expr_kind_text(e));
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
}
