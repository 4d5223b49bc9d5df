// SPDX-License-Identifier: Apache-2.0
// Primary expressions: names, literals, bracketed forms, comprehensions, call
// arguments, subscripts, and the parameter lists that `def` and `lambda` share.
//
// Recursion is the algorithm: recursive descent.
#include "lang/syntax/parser.h"

// ---- Comprehensions ----

// clauses = { ["async"] "for" targets "in" disjunction { "if" disjunction } }
struct expr *parse_comprehension(struct parser *p, enum comprehension_kind kind, size_t first,
                                 struct expr *key, struct expr *element) {
  struct expr *e = expr_new(p, EXPR_COMPREHENSION, first);
  VEC(struct comprehension_clause) clauses = {0};
  e->comprehension.kind = kind;
  e->comprehension.key = key;
  e->comprehension.element = element;
  expr_adopt(p, e, key);
  expr_adopt(p, e, element);
  while (!p->panic && (parser_peek(p) == TOK_FOR || parser_peek(p) == TOK_ASYNC)) {
    size_t clause_first = p->pos;
    struct comprehension_clause c = {0};
    expr_vec conditions = {0};
    parser_accept(p, TOK_ASYNC);
    parser_expect(p, TOK_FOR);
    c.target = parse_targets(p);
    parser_expect(p, TOK_IN);
    c.iter = parse_binary(p, PREC_OR);
    expr_adopt(p, e, c.iter);
    while (parser_accept(p, TOK_IF)) {
      struct expr *condition = parse_binary(p, PREC_OR);
      vec_push(p->arena, &conditions, condition);
      expr_adopt(p, e, condition);
    }
    c.conditions = (struct expr_list){conditions.at, conditions.len};
    c.span = parser_span_from(p, clause_first);
    vec_push(p->arena, &clauses, c);
  }
  e->comprehension.clauses = clauses.at;
  e->comprehension.clause_count = clauses.len;
  return expr_finish(p, e, first);
}

static bool at_comprehension(const struct parser *p) {
  return parser_peek(p) == TOK_FOR ||
         (parser_peek(p) == TOK_ASYNC && parser_peek_at(p, 1) == TOK_FOR);
}

// ---- Bracketed forms ----

static void finish_items(struct parser *p, struct expr *e, const expr_vec *items) {
  e->items = (struct expr_list){items->at, items->len};
  for (size_t i = 0; i < items->len; i++)
    expr_adopt(p, e, items->at[i]);
}

// Items separated by commas up to `end`; the first one is already there.
static void parse_more_items(struct parser *p, expr_vec *items, enum token_kind end) {
  while (parser_accept(p, TOK_COMMA) && parser_peek(p) != end)
    vec_push(p->arena, items, parse_item(p));
}

// parens = "(" [ yield | item comprehension | item {"," item} [","] ] ")"
static struct expr *parse_parens(struct parser *p) {
  size_t open = p->pos;
  parser_accept(p, TOK_LPAREN);
  expr_vec items = {0};
  struct expr *e = NULL;
  if (parser_peek(p) == TOK_YIELD) {
    e = parse_exprs(p);
  } else if (parser_peek(p) != TOK_RPAREN) {
    e = parse_item(p);
    if (at_comprehension(p)) {
      e = parse_comprehension(p, COMPREHENSION_GENERATOR, open, NULL, e);
    } else if (parser_peek(p) == TOK_COMMA) {
      vec_push(p->arena, &items, e);
      parse_more_items(p, &items, TOK_RPAREN);
      e = NULL;
    }
  }
  parser_close(p, TOK_RPAREN, open);
  if (!e) {
    e = expr_new(p, EXPR_TUPLE, open);
    finish_items(p, e, &items);
  } else if (e->kind == EXPR_STARRED) {
    diag_help(parser_report(p, e->span, E0115,
                            "a starred expression needs a tuple, a list or a call around it"),
              "write a tuple, `(*x,)`, or leave out the `*`");
  } else if (e->kind == EXPR_COMPREHENSION) {
    expr_finish(p, e, open);
  }
  e->in_parens = true;
  return e;
}

// list = "[" [ item comprehension | item {"," item} [","] ] "]"
static struct expr *parse_list(struct parser *p) {
  size_t open = p->pos;
  parser_accept(p, TOK_LBRACKET);
  expr_vec items = {0};
  struct expr *e = NULL;
  if (parser_peek(p) != TOK_RBRACKET) {
    struct expr *item = parse_item(p);
    if (at_comprehension(p)) {
      e = parse_comprehension(p, COMPREHENSION_LIST, open, NULL, item);
    } else {
      vec_push(p->arena, &items, item);
      parse_more_items(p, &items, TOK_RBRACKET);
    }
  }
  parser_close(p, TOK_RBRACKET, open);
  if (!e) {
    e = expr_new(p, EXPR_LIST, open);
    finish_items(p, e, &items);
  }
  return expr_finish(p, e, open);
}

// dict_item = "**" bit_or | expr ":" expr
static struct dict_item parse_dict_item(struct parser *p) {
  struct dict_item item = {0};
  if (parser_accept(p, TOK_DOUBLE_STAR)) {
    item.value = parse_binary(p, PREC_BIT_OR);
    return item;
  }
  item.key = parse_expr(p);
  parser_expect(p, TOK_COLON);
  item.value = parse_expr(p);
  return item;
}

// dict = "{" [ dict_item {"," dict_item} [","] | expr ":" expr comprehension ] "}"
static struct expr *parse_dict(struct parser *p, size_t open, struct dict_item first) {
  if (first.key && at_comprehension(p)) {
    struct expr *e = parse_comprehension(p, COMPREHENSION_DICT, open, first.key, first.value);
    parser_close(p, TOK_RBRACE, open);
    return expr_finish(p, e, open);
  }
  VEC(struct dict_item) items = {0};
  struct expr *e = expr_new(p, EXPR_DICT, open);
  if (first.value) {
    vec_push(p->arena, &items, first);
    while (parser_accept(p, TOK_COMMA) && parser_peek(p) != TOK_RBRACE)
      vec_push(p->arena, &items, parse_dict_item(p));
  }
  parser_close(p, TOK_RBRACE, open);
  for (size_t i = 0; i < items.len; i++) {
    expr_adopt(p, e, items.at[i].key);
    expr_adopt(p, e, items.at[i].value);
  }
  e->dict.items = items.at;
  e->dict.count = items.len;
  return expr_finish(p, e, open);
}

// set = "{" ( item comprehension | item {"," item} [","] ) "}"
static struct expr *parse_set(struct parser *p, size_t open, struct expr *first) {
  struct expr *e;
  if (at_comprehension(p)) {
    e = parse_comprehension(p, COMPREHENSION_SET, open, NULL, first);
  } else {
    expr_vec items = {0};
    vec_push(p->arena, &items, first);
    parse_more_items(p, &items, TOK_RBRACE);
    e = expr_new(p, EXPR_SET, open);
    finish_items(p, e, &items);
  }
  parser_close(p, TOK_RBRACE, open);
  return expr_finish(p, e, open);
}

static struct expr *parse_braces(struct parser *p) {
  size_t open = p->pos;
  parser_accept(p, TOK_LBRACE);
  if (parser_peek(p) == TOK_RBRACE)
    return parse_dict(p, open, (struct dict_item){0});
  if (parser_peek(p) == TOK_DOUBLE_STAR)
    return parse_dict(p, open, parse_dict_item(p));
  struct expr *e = parse_item(p);
  if (!parser_accept(p, TOK_COLON))
    return parse_set(p, open, e);
  return parse_dict(p, open, (struct dict_item){.key = e, .value = parse_expr(p)});
}

// ---- primary expressions ----

// The length of a decimal number before a suffix of C, as in `1.0f` and `10UL`; 0: there is none.
static size_t without_suffix(struct str text) {
  size_t n = text.len;
  while (n && strchr("fFlLuU", text.ptr[n - 1]))
    n--;
  struct str digits = {text.ptr, n};
  bool is_prefixed = n > 1 && text.ptr[0] == '0' && strchr("xXbBoO", text.ptr[1]);
  return n && n < text.len && text.len - n <= 3 && !is_prefixed && !literal_number_error(digits)
             ? n
             : 0;
}

static struct expr *parse_number(struct parser *p) {
  size_t first = p->pos;
  struct str text = parser_token_text(p);
  enum token_kind kind = parser_peek(p);
  const char *wrong = literal_number_error(text);
  double value = 0;
  if (!wrong && kind == TOK_FLOAT && !literal_float(text, &value))
    wrong = "this number has too many digits";
  if (wrong) {
    struct diag *d = parser_report(p, parser_token_span(p), E0004, "malformed number `%.*s`",
                                   text.len > 40 ? 40 : (int)text.len, text.ptr);
    size_t digits = without_suffix(text);
    if (digits) {
      diag_help(d, "numbers have no suffix; a type is given by `tl.full` or `x.to(tl.float16)`");
      diag_fixit(d, parser_token_span(p), arena_strndup(p->arena, text.ptr, digits));
    } else {
      diag_help(d, "%s", wrong);
    }
    parser_accept(p, kind);
    return expr_new(p, EXPR_ERROR, first);
  }
  parser_accept(p, kind);
  struct expr *e = expr_new(p,
                            kind == TOK_INT     ? EXPR_INT
                            : kind == TOK_FLOAT ? EXPR_FLOAT
                                                : EXPR_IMAGINARY,
                            first);
  if (kind == TOK_INT) {
    e->integer.text = text;
    e->integer.overflow = !literal_int(text, &e->integer.value);
  } else if (kind == TOK_FLOAT) {
    e->floating.text = text;
    e->floating.value = value;
  }
  return e;
}

static struct expr *parse_word(struct parser *p, enum expr_kind kind) {
  size_t first = p->pos;
  bool is_true = parser_peek(p) == TOK_TRUE;
  const char *name = NULL;
  if (kind == EXPR_NAME)
    name = parser_name(p, "a value");
  else
    parser_accept(p, parser_peek(p));
  struct expr *e = expr_new(p, kind, first);
  if (kind == EXPR_NAME)
    e->name = name;
  else if (kind == EXPR_BOOL)
    e->boolean = is_true;
  return e;
}

// atom = NAME | number | string {string} | "True" | "False" | "None" | "..." | parens | list
//      | dict | set
struct expr *parse_atom(struct parser *p) {
  switch (parser_peek(p)) {
  case TOK_NAME: return parse_word(p, EXPR_NAME);
  case TOK_INT:
  case TOK_FLOAT:
  case TOK_IMAGINARY: return parse_number(p);
  case TOK_STRING:
  case TOK_FSTRING: return parse_strings(p);
  case TOK_TRUE:
  case TOK_FALSE: return parse_word(p, EXPR_BOOL);
  case TOK_NONE: return parse_word(p, EXPR_NONE);
  case TOK_ELLIPSIS: return parse_word(p, EXPR_ELLIPSIS);
  case TOK_LPAREN: return parse_parens(p);
  case TOK_LBRACKET: return parse_list(p);
  case TOK_LBRACE: return parse_braces(p);
  default: parser_unexpected(p, "an expression"); return expr_error(p);
  }
}

// ---- Calls ----

struct call_state {
  struct span keyword_before; // source NULL: none yet
};

// Whether this argument may follow the ones before.
static void check_argument(struct parser *p, const struct ast_arg *args, size_t count,
                           const struct ast_arg *arg, struct call_state *state) {
  if (arg->name) {
    for (size_t i = 0; i < count; i++) {
      if (args[i].name == arg->name) {
        struct diag *d =
            parser_report(p, arg->name_span, E0112, "argument `%s` is given twice", arg->name);
        diag_help(d, "remove one of them");
        diag_label(d, args[i].name_span, "first here");
      }
    }
    if (!state->keyword_before.source)
      state->keyword_before = arg->span;
  } else if (!arg->is_star && !arg->is_double_star && state->keyword_before.source) {
    struct diag *d =
        parser_report(p, arg->span, E0112, "positional argument behind a keyword argument");
    diag_help(d, "give it by its name too, or move it in front");
    diag_label(d, state->keyword_before, "keyword argument");
  }
}

// arg = "*" expr | "**" expr | NAME "=" expr | named [comprehension]
static struct ast_arg parse_argument(struct parser *p) {
  struct ast_arg arg = {0};
  size_t first = p->pos;
  arg.is_star = parser_accept(p, TOK_STAR);
  arg.is_double_star = !arg.is_star && parser_accept(p, TOK_DOUBLE_STAR);
  if (arg.is_star || arg.is_double_star) {
    arg.value = parse_expr(p);
  } else if (parser_peek(p) == TOK_NAME && parser_peek_at(p, 1) == TOK_ASSIGN) {
    arg.name_span = parser_token_span(p);
    arg.name = parser_name(p, "an argument");
    parser_accept(p, TOK_ASSIGN);
    arg.value = parse_expr(p);
  } else {
    arg.value = parse_named(p);
    if (at_comprehension(p)) {
      arg.value = parse_comprehension(p, COMPREHENSION_GENERATOR, first, NULL, arg.value);
    } else if (parser_peek(p) == TOK_ASSIGN && !p->panic) {
      struct diag *d =
          parser_error(p, arg.value->span, E0112, "the keyword of an argument is a name, not %s",
                       expr_kind_text(arg.value));
      diag_help(d, "to compare write `==`");
    }
  }
  arg.span = parser_span_from(p, first);
  return arg;
}

// call = "(" [arg {"," arg} [","]] ")"
struct expr *parse_call(struct parser *p, struct expr *callee, size_t first) {
  size_t open = p->pos;
  parser_accept(p, TOK_LPAREN);
  VEC(struct ast_arg) args = {0};
  struct call_state state = {SPAN_NONE};
  while (parser_peek(p) != TOK_RPAREN) {
    struct ast_arg arg = parse_argument(p);
    if (parser_peek(p) == TOK_COMMA || parser_peek(p) == TOK_RPAREN)
      check_argument(p, args.at, args.len, &arg, &state);
    vec_push(p->arena, &args, arg);
    if (!parser_accept(p, TOK_COMMA))
      break;
  }
  parser_close(p, TOK_RPAREN, open);
  struct expr *e = expr_new(p, EXPR_CALL, first);
  e->call.callee = callee;
  e->call.args = args.at;
  e->call.arg_count = args.len;
  expr_adopt(p, e, callee);
  for (size_t i = 0; i < args.len; i++)
    expr_adopt(p, e, args.at[i].value);
  return e;
}

// ---- Subscripts ----

static bool ends_slice_part(const struct parser *p) {
  enum token_kind kind = parser_peek(p);
  return kind == TOK_COLON || kind == TOK_COMMA || kind == TOK_RBRACKET;
}

// subscript_item = item | [expr] ":" [expr] [":" [expr]]
static struct expr *parse_subscript_item(struct parser *p) {
  size_t first = p->pos;
  struct expr *lo = parser_peek(p) == TOK_COLON ? NULL : parse_item(p);
  if (p->panic || parser_peek(p) != TOK_COLON)
    return lo ? lo : expr_error(p);
  parser_accept(p, TOK_COLON);
  struct expr *e = expr_new(p, EXPR_SLICE, first);
  e->slice.lo = lo;
  e->slice.hi = ends_slice_part(p) ? NULL : parse_expr(p);
  if (parser_accept(p, TOK_COLON))
    e->slice.step = ends_slice_part(p) ? NULL : parse_expr(p);
  expr_adopt(p, e, e->slice.lo);
  expr_adopt(p, e, e->slice.hi);
  expr_adopt(p, e, e->slice.step);
  return expr_finish(p, e, first);
}

// subscript = "[" subscript_item {"," subscript_item} [","] "]"
struct expr *parse_subscript(struct parser *p, struct expr *object, size_t first) {
  size_t open = p->pos;
  parser_accept(p, TOK_LBRACKET);
  struct expr *e = expr_new(p, EXPR_SUBSCRIPT, first);
  expr_vec items = {0};
  do {
    e->subscript.trailing_comma = items.len > 0 && parser_peek(p) == TOK_RBRACKET;
    if (e->subscript.trailing_comma)
      break;
    vec_push(p->arena, &items, parse_subscript_item(p));
  } while (parser_accept(p, TOK_COMMA));
  parser_close(p, TOK_RBRACKET, open);
  e->subscript.object = object;
  e->subscript.items = (struct expr_list){items.at, items.len};
  expr_adopt(p, e, object);
  for (size_t i = 0; i < items.len; i++)
    expr_adopt(p, e, items.at[i]);
  return expr_finish(p, e, first);
}
