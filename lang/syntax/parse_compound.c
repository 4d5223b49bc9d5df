// SPDX-License-Identifier: Apache-2.0
// Compound statements: a header that ends with a colon, and blocks. A broken header does not hide
// its block from checking.
//
// Recursion is the algorithm: recursive descent.
#include "lang/syntax/guards.h"
#include "lang/syntax/parser.h"

// ---- Headers and blocks ----

// Takes the `:` at the end of a header. A missing one is reported, and parsing goes on as if it
// were there.
static void parse_colon(struct parser *p, const char *owner) {
  if (p->panic || parser_accept(p, TOK_COLON))
    return;
  struct span at = parser_end_span(p);
  enum token_kind kind = parser_peek(p);
  if (kind == TOK_NEWLINE) {
    struct diag *d = parser_report(p, at, E0101, "missing `:` at the end of the `%s` line", owner);
    diag_fixit(d, at, ":");
  } else if (kind == TOK_ASSIGN && (p->pos == 0 || (p->tokens.at[p->pos - 1].kind != TOK_EQ &&
                                                    p->tokens.at[p->pos - 1].kind != TOK_NE))) {
    struct span assign = parser_token_span(p);
    struct diag *d = parser_error(p, assign, E0106, "`=` assigns and has no value");
    diag_help(d, "did you mean `==`?");
    diag_fixit(d, assign, "==");
  } else if (kind == TOK_LBRACE) {
    struct diag *d = parser_error(p, parser_token_span(p), E0101,
                                  "missing `:` at the end of the `%s` line", owner);
    diag_help(d, "blocks are indented lines after a `:`, without braces");
  } else {
    parser_unexpected(p, "`:`");
  }
}

static void missing_block(struct parser *p, const char *owner, struct span header) {
  bool is_last = parser_peek(p) == TOK_DEDENT || parser_peek(p) == TOK_EOF;
  struct span at = is_last ? parser_end_span(p) : parser_token_span(p);
  struct diag *d = parser_report(p, at, E0105, "expected an indented block after `%s`", owner);
  if (!is_last)
    diag_label(d, header, "the block of this line");
  diag_help(d, "write `pass` in a block that does nothing");
}

// On the line of the header: `if a: b = 1`.
static void parse_inline_block(struct parser *p, stmt_vec *body) {
  if (!at_compound(p)) {
    parse_simple_line(p, body);
    return;
  }
  diag_help(parser_report(p, parser_token_span(p), E0114, "`%s` needs a line of its own",
                          token_kind_text(parser_peek(p))),
            "begin a new line in front of it");
  if (!parser_enter(p)) {
    p->panic = false;
    parser_accept(p, TOK_NEWLINE);
    return;
  }
  parse_compound(p, body);
  parser_leave(p);
}

// block = ":" ( simple_line | NEWLINE INDENT statement {statement} DEDENT )
void parse_block(struct parser *p, const char *owner, struct span header, struct stmt_list *ret) {
  stmt_vec body = {0};
  parse_colon(p, owner);
  bool broken = p->panic;
  p->panic = false;
  if (!parser_accept(p, TOK_NEWLINE)) {
    parse_inline_block(p, &body);
  } else if (parser_accept(p, TOK_INDENT)) {
    while (parser_peek(p) != TOK_DEDENT && parser_peek(p) != TOK_EOF)
      parse_statement(p, &body);
    parser_accept(p, TOK_DEDENT);
  } else if (!broken && parser_peek(p) != TOK_ERROR) {
    missing_block(p, owner, header);
  }
  *ret = (struct stmt_list){body.at, body.len};
}

static void parse_loop_body(struct parser *p, const char *owner, struct span header,
                            struct stmt_list *ret) {
  p->loop_depth++;
  parse_block(p, owner, header, ret);
  p->loop_depth--;
}

// ---- if ----

static void parse_branch(struct parser *p, const char *owner, struct span header,
                         struct stmt_list *ret) {
  p->if_depth++;
  parse_block(p, owner, header, ret);
  p->if_depth--;
}

// branch = "elif" named block | "else" block. `else if` is understood and reported.
static bool at_else_if(const struct parser *p) {
  return parser_peek(p) == TOK_ELSE && parser_peek_at(p, 1) == TOK_IF;
}

static void parse_else(struct parser *p, struct stmt_list *ret) {
  size_t first = p->pos;
  if (parser_peek(p) != TOK_ELSE)
    return;
  parser_accept(p, TOK_ELSE);
  parse_block(p, "else", parser_span_from(p, first), ret);
}

// Takes `elif` or `else if`.
static bool accept_elif(struct parser *p) {
  if (parser_accept(p, TOK_ELIF))
    return true;
  if (!at_else_if(p))
    return false;
  size_t first = p->pos;
  parser_accept(p, TOK_ELSE);
  parser_accept(p, TOK_IF);
  struct span at = parser_span_from(p, first);
  struct diag *d = parser_report(p, at, E0110, "`else if` is one word");
  diag_help(d, "write `elif`");
  diag_fixit(d, at, "elif");
  return true;
}

// if = "if" named block {"elif" named block} ["else" block]
static struct stmt *parse_if(struct parser *p) {
  struct stmt *outer = NULL, *inner = NULL;
  size_t first = p->pos;
  parser_accept(p, TOK_IF);
  for (unsigned branches = 0;; branches++) {
    struct stmt *s = stmt_new(p, STMT_IF, first);
    s->if_stmt.condition = parse_named(p);
    s->span = parser_span_from(p, first);
    parse_branch(p, inner ? "elif" : "if", s->span, &s->if_stmt.body);
    if (inner) {
      inner->if_stmt.orelse.at = arena_dup(p->arena, &s, sizeof s, _Alignof(struct stmt *));
      inner->if_stmt.orelse.len = 1;
    } else {
      outer = s;
    }
    inner = s;
    first = p->pos;
    if (branches == PARSER_MAX_BRANCHES && parser_peek(p) == TOK_ELIF) {
      parser_report(p, parser_token_span(p), E0902, "more than %d branches", PARSER_MAX_BRANCHES);
      while (parser_peek(p) == TOK_ELIF)
        parser_skip_statement(p);
    }
    if (!accept_elif(p))
      break;
  }
  p->if_depth++;
  parse_else(p, &inner->if_stmt.orelse);
  p->if_depth--;
  return outer;
}

// ---- Loops ----

// for = "for" targets "in" exprs block ["else" block]
static struct stmt *parse_for(struct parser *p) {
  size_t first = p->pos;
  parser_accept(p, TOK_FOR);
  struct stmt *s = stmt_new(p, STMT_FOR, first);
  s->for_stmt.target = parse_targets(p);
  if (parser_peek(p) == TOK_ASSIGN && !p->panic) {
    struct diag *d = parser_error(p, parser_token_span(p), E0102, "expected `in`, found `=`");
    diag_help(d, "a loop that counts is `for i in range(start, end):`");
    s->for_stmt.iter = expr_error(p);
  } else {
    parser_expect(p, TOK_IN);
    s->for_stmt.iter = parse_exprs(p);
  }
  s->span = parser_span_from(p, first);
  parse_loop_body(p, "for", s->span, &s->for_stmt.body);
  parse_else(p, &s->for_stmt.orelse);
  return s;
}

// while = "while" named block ["else" block]
static struct stmt *parse_while(struct parser *p) {
  size_t first = p->pos;
  parser_accept(p, TOK_WHILE);
  struct stmt *s = stmt_new(p, STMT_WHILE, first);
  s->while_stmt.condition = parse_named(p);
  s->span = parser_span_from(p, first);
  parse_loop_body(p, "while", s->span, &s->while_stmt.body);
  parse_else(p, &s->while_stmt.orelse);
  return s;
}

// ---- with ----

// Whether the parentheses at the current token hold the items, as in `with (a as b, c as d):`.
static bool at_with_parens(const struct parser *p) {
  if (parser_peek(p) != TOK_LPAREN)
    return false;
  int depth = 0;
  bool has_as = false;
  for (size_t i = p->pos; i < p->tokens.len; i++) {
    switch (p->tokens.at[i].kind) {
    case TOK_LPAREN:
    case TOK_LBRACKET:
    case TOK_LBRACE: depth++; break;
    case TOK_RPAREN:
    case TOK_RBRACKET:
    case TOK_RBRACE:
      if (--depth == 0)
        return has_as && p->tokens.at[i + 1].kind == TOK_COLON;
      break;
    case TOK_AS: has_as |= depth == 1; break;
    case TOK_NEWLINE:
    case TOK_EOF: return false;
    default: break;
    }
  }
  return false;
}

// with = "with" ( items | "(" items [","] ")" ) block;  items = expr ["as" target] {"," ...}
static struct stmt *parse_with(struct parser *p) {
  size_t first = p->pos;
  parser_accept(p, TOK_WITH);
  struct stmt *s = stmt_new(p, STMT_WITH, first);
  VEC(struct with_item) items = {0};
  size_t open = p->pos;
  bool parens = at_with_parens(p) && parser_accept(p, TOK_LPAREN);
  do {
    if (parens && parser_peek(p) == TOK_RPAREN)
      break;
    struct with_item item = {.context = parse_expr(p)};
    if (parser_accept(p, TOK_AS)) {
      item.target = parse_binary(p, PREC_BIT_OR);
      check_target(p, item.target, "assign to");
    }
    vec_push(p->arena, &items, item);
  } while (parser_accept(p, TOK_COMMA));
  if (parens)
    parser_close(p, TOK_RPAREN, open);
  s->with_stmt.items = items.at;
  s->with_stmt.count = items.len;
  s->span = parser_span_from(p, first);
  parse_block(p, "with", s->span, &s->with_stmt.body);
  return s;
}

// ---- What kernels do not have ----

// `match x:` is a statement although `match` is a name elsewhere.
bool at_match(const struct parser *p) {
  if (!parser_at_word(p, "match"))
    return false;
  enum token_kind next = parser_peek_at(p, 1);
  bool subject = next == TOK_NAME || next == TOK_INT || next == TOK_STRING || next == TOK_LPAREN ||
                 next == TOK_LBRACKET;
  if (!subject)
    return false;
  size_t i = p->pos;
  while (p->tokens.at[i].kind != TOK_NEWLINE && p->tokens.at[i].kind != TOK_EOF)
    i++;
  return p->tokens.at[i - 1].kind == TOK_COLON && p->tokens.at[i].kind == TOK_NEWLINE &&
         p->tokens.at[i + 1].kind == TOK_INDENT;
}

static struct stmt *skip_forbidden(struct parser *p) {
  bool has_else = parser_peek(p) == TOK_ASYNC;
  struct stmt *s = stmt_unsupported(p, p->pos);
  parser_skip_statement(p);
  while (parser_peek(p) == TOK_EXCEPT || parser_peek(p) == TOK_FINALLY ||
         (has_else && parser_peek(p) == TOK_ELSE))
    parser_skip_statement(p);
  return s;
}

static void parse_handlers(struct parser *p, struct stmt *s) {
  VEC(struct try_handler) handlers = {0};
  while (parser_peek(p) == TOK_EXCEPT) {
    struct try_handler h;
    struct span header = parser_token_span(p);
    h.catches = guards_read_handler(p, &h.name);
    parse_block(p, "except", header, &h.body);
    vec_push(p->arena, &handlers, h);
  }
  s->try_stmt.handlers = handlers.at;
  s->try_stmt.count = handlers.len;
}

// Kernels have no `try`. Its statements are checked all the same; under an `if` that is decided at
// compile time it is an error only when it is reached.
static struct stmt *parse_try(struct parser *p) {
  struct stmt *s = stmt_new(p, STMT_TRY, p->pos);
  s->span = parser_token_span(p);
  s->try_stmt.is_refused = !p->is_python && p->if_depth > 0;
  if (!p->is_python && p->if_depth == 0) {
    struct diag *d = parser_report(p, s->span, E0111, "`try` is not part of the language");
    diag_help(d, "%s", ast_unsupported_help("try"));
    p->module->readable_errors += d != NULL;
    s->try_stmt.is_reported = true;
  }
  parser_accept(p, TOK_TRY);
  parse_block(p, "try", s->span, &s->try_stmt.body);
  parse_handlers(p, s);
  parse_else(p, &s->try_stmt.orelse);
  if (parser_accept(p, TOK_FINALLY))
    parse_block(p, "finally", s->span, &s->try_stmt.last);
  return s;
}

// `elif` or `else` without an `if`; its block is checked all the same.
static struct stmt *parse_stray_branch(struct parser *p) {
  size_t first = p->pos;
  enum token_kind kind = parser_peek(p);
  const char *text = token_kind_text(kind);
  if (!p->after_broken) {
    struct diag *d =
        parser_report(p, parser_token_span(p), E0113, "`%s` without an `if` before it", text);
    diag_help(d, "indent it like the `if` it belongs to");
  }
  struct stmt_list dropped;
  if (accept_elif(p))
    parse_named(p);
  else
    parser_accept(p, kind);
  parse_block(p, text, parser_span_from(p, first), &dropped);
  p->after_broken = true;
  return stmt_new(p, STMT_ERROR, first);
}

static struct stmt *parse_nested_function(struct parser *p) {
  size_t first = p->pos;
  expr_vec decorators = {0};
  parse_decorators(p, &decorators);
  if (parser_peek(p) == TOK_CLASS || parser_peek(p) == TOK_ASYNC)
    return skip_forbidden(p);
  if (parser_peek(p) != TOK_DEF) {
    diag_help(
        parser_report(p, parser_span_from(p, first), E0116, "no function follows this decorator"),
        "write its `def` on the next line, or remove the decorator");
    return stmt_new(p, STMT_ERROR, first);
  }
  struct stmt *s = stmt_new(p, STMT_DEF, first);
  s->def = parse_function(p, &decorators);
  s->span = s->def->span;
  if (!s->def->name)
    s->kind = STMT_ERROR;
  return s;
}

bool at_compound(const struct parser *p) {
  switch (parser_peek(p)) {
  case TOK_IF:
  case TOK_ELIF:
  case TOK_ELSE:
  case TOK_FOR:
  case TOK_WHILE:
  case TOK_WITH:
  case TOK_DEF:
  case TOK_AT:
  case TOK_CLASS:
  case TOK_TRY:
  case TOK_EXCEPT:
  case TOK_FINALLY:
  case TOK_ASYNC: return true;
  default: return at_match(p);
  }
}

// compound = if | for | while | with | [decorators] def
void parse_compound(struct parser *p, stmt_vec *out) {
  struct stmt *s;
  switch (parser_peek(p)) {
  case TOK_IF: s = parse_if(p); break;
  case TOK_FOR: s = parse_for(p); break;
  case TOK_WHILE: s = parse_while(p); break;
  case TOK_WITH: s = parse_with(p); break;
  case TOK_DEF:
  case TOK_AT: s = parse_nested_function(p); break;
  case TOK_TRY: s = parse_try(p); break;
  case TOK_ELIF:
  case TOK_ELSE: s = parse_stray_branch(p); break;
  default: s = skip_forbidden(p); break;
  }
  vec_push(p->arena, out, s);
}
