// SPDX-License-Identifier: Apache-2.0
// Operators, by precedence climbing over one table; comparison chains, powers, attributes, calls
// and subscripts.
//
// Recursion is the algorithm: recursive descent.
#include "lang/syntax/parser.h"
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
