// SPDX-License-Identifier: Apache-2.0
// Simple statements and lines of them; errors where a statement does not end; recovery at the next
// line.
//
// Recursion is the algorithm: recursive descent.
#include "lang/syntax/guards.h"
#include "lang/syntax/parser.h"

struct stmt *stmt_new(struct parser *p, enum stmt_kind kind, size_t first) {
  struct stmt *s = arena_new(p->arena, struct stmt);
  s->kind = kind;
  s->span = parser_span_from(p, first);
  return s;
}

// ---- Statements that do not end ----

static const char *const statement_keywords[] = {"if",     "elif", "else",   "for",   "while",
                                                 "return", "def",  "assert", "break", "continue",
                                                 "import", "with", "pass",   "from"};

// The keyword that the word misspells, or that other languages spell like this.
static const char *meant_keyword(struct str word) {
  static const struct {
    const char *word, *meant;
  } foreign[] = {{"elseif", "elif"}, {"elsif", "elif"},  {"function", "def"}, {"func", "def"},
                 {"fn", "def"},      {"foreach", "for"}, {"until", "while"}};
  for (size_t i = 0; i < COUNT_OF(foreign); i++)
    if (str_is(word, foreign[i].word))
      return foreign[i].meant;
  return str_nearest(word, statement_keywords, COUNT_OF(statement_keywords));
}

static bool is_declaration_word(struct str word) {
  static const char *const words[] = {"int",  "float",    "double", "bool", "auto",
                                      "var",  "let",      "const",  "char", "short",
                                      "long", "unsigned", "half",   "void", "val"};
  for (size_t i = 0; i < COUNT_OF(words); i++)
    if (str_is(word, words[i]))
      return true;
  return false;
}

// The statement `word`, a lone name, is followed by the start of an expression.
static void statement_after_word(struct parser *p, struct str word, struct span at) {
  struct span here = parser_token_span(p);
  const char *meant = meant_keyword(word);
  struct diag *d;
  if (str_is(word, "print") || str_is(word, "exec")) {
    d = parser_error(p, here, E0110, "`%.*s` is a function", STR_ARG(word));
    diag_help(d, "put its arguments in parentheses: `%.*s(...)`", STR_ARG(word));
  } else if (is_declaration_word(word) && parser_peek(p) == TOK_NAME) {
    struct str variable = parser_token_text(p);
    d = parser_error(p, at, E0110, "variables are not declared");
    diag_help(d, "assign a value: `%.*s = ...`", STR_ARG(variable));
  } else if (meant) {
    d = parser_error(p, at, E0114, "`%.*s` is not a statement", STR_ARG(word));
    diag_help(d, "did you mean `%s`?", meant);
    diag_fixit(d, at, meant);
  } else {
    d = parser_error(p, here, E0114, "expected the end of the statement, found `%.*s`",
                     STR_ARG(parser_token_text(p)));
    diag_help(d, "one statement a line; or an operator or a comma is missing before this");
  }
}

// `(float) v` of C: the tokens in front are a word in parentheses.
static bool is_cast(struct parser *p) {
  if (p->pos < 3 || parser_peek(p) != TOK_NAME)
    return false;
  const struct token *t = p->tokens.at + p->pos;
  return t[-1].kind == TOK_RPAREN && t[-2].kind == TOK_NAME && t[-3].kind == TOK_LPAREN;
}

static void statement_goes_on(struct parser *p, const struct stmt *last) {
  enum token_kind kind = parser_peek(p);
  if (kind == TOK_ERROR || kind == TOK_UNKNOWN || kind == TOK_BANG || kind == TOK_QUESTION) {
    parser_unexpected(p, "the end of the statement");
    return;
  }
  bool is_word = last->kind == STMT_EXPR && last->expr->kind == EXPR_NAME;
  if (is_word && (parser_starts_expression(kind) || kind == TOK_COLON)) {
    statement_after_word(p, str_from(last->expr->name), last->expr->span);
    return;
  }
  if (kind == TOK_ASSIGN) {
    diag_help(parser_error(p, parser_token_span(p), E0106, "`=` cannot follow here"),
              "write `==` to compare; a name, `x.name` or `x[i]` alone stands in front of `=`");
    return;
  }
  if (kind == TOK_COLON && parser_peek_at(p, 1) == TOK_NEWLINE) {
    diag_help(
        parser_error(p, last->span, E0114, "this line ends like a header, but has no keyword"),
        "begin it with `if`, `for` or `while`");
    return;
  }
  if (parser_starts_expression(kind)) {
    diag_help(
        parser_error(p, parser_token_span(p), E0114, "expected the end of the statement, found %s",
                     arena_printf(p->arena, "`%.*s`", STR_ARG(parser_token_text(p)))),
        is_cast(p) ? "a value is converted by `.to`: `x.to(tl.float32)`"
                   : "one statement a line; or an operator or a comma is missing before this");
    return;
  }
  parser_unexpected(p, "the end of the statement");
}

// ---- Assignments ----

static const struct {
  enum token_kind token;
  enum ast_op op;
} augmented[] = {
    {TOK_PLUS_ASSIGN, OP_ADD},      {TOK_MINUS_ASSIGN, OP_SUB},
    {TOK_STAR_ASSIGN, OP_MUL},      {TOK_AT_ASSIGN, OP_MATMUL},
    {TOK_SLASH_ASSIGN, OP_DIV},     {TOK_DOUBLE_SLASH_ASSIGN, OP_FLOORDIV},
    {TOK_PERCENT_ASSIGN, OP_MOD},   {TOK_DOUBLE_STAR_ASSIGN, OP_POW},
    {TOK_SHL_ASSIGN, OP_SHL},       {TOK_SHR_ASSIGN, OP_SHR},
    {TOK_AMP_ASSIGN, OP_BIT_AND},   {TOK_PIPE_ASSIGN, OP_BIT_OR},
    {TOK_CARET_ASSIGN, OP_BIT_XOR},
};

static bool augmented_op(enum token_kind kind, enum ast_op *ret) {
  for (size_t i = 0; i < COUNT_OF(augmented); i++) {
    if (augmented[i].token == kind) {
      *ret = augmented[i].op;
      return true;
    }
  }
  return false;
}

// A colon after a name is an annotation, unless a keyword was meant: `esle:`.
static struct expr *parse_annotation(struct parser *p, const struct expr *target) {
  if (parser_peek(p) == TOK_NEWLINE && target->kind == EXPR_NAME) {
    const char *meant = meant_keyword(str_from(target->name));
    struct diag *d = parser_error(p, parser_token_span(p), E0102,
                                  "expected a type after `:`, found the end of the line");
    if (meant) {
      diag_help(d, "did you mean `%s:`?", meant);
      diag_fixit(d, target->span, meant);
    }
    return expr_error(p);
  }
  return parse_expr(p);
}

// ann_assign = target ":" expr ["=" exprs]
static struct stmt *parse_ann_assign(struct parser *p, struct expr *target, size_t first) {
  parser_accept(p, TOK_COLON);
  struct stmt *s = stmt_new(p, STMT_ANN_ASSIGN, first);
  s->ann_assign.target = target;
  s->ann_assign.annotation = parse_annotation(p, target);
  if (parser_accept(p, TOK_ASSIGN))
    s->ann_assign.value = parse_exprs(p);
  return s;
}

// aug_assign = target ("+=" | "-=" | ...) exprs
static struct stmt *parse_aug_assign(struct parser *p, struct expr *target, enum ast_op op,
                                     size_t first) {
  struct stmt *s = stmt_new(p, STMT_AUG_ASSIGN, first);
  if (target->kind == EXPR_TUPLE || target->kind == EXPR_LIST)
    diag_help(parser_report(p, target->span, E0108, "cannot assign to %s with an operator",
                            expr_kind_text(target)),
              "write one statement for each name");
  else
    check_target(p, target, "assign to");
  s->aug_assign.target = target;
  s->aug_assign.op = op;
  s->aug_assign.op_span = parser_token_span(p);
  parser_accept(p, parser_peek(p));
  s->aug_assign.value = parse_exprs(p);
  return s;
}

// assign = targets "=" { targets "=" } exprs
static struct stmt *parse_assign(struct parser *p, struct expr *target, size_t first) {
  struct stmt *s = stmt_new(p, STMT_ASSIGN, first);
  expr_vec targets = {0};
  struct expr *value = target;
  while (!p->panic && parser_accept(p, TOK_ASSIGN)) {
    check_target(p, value, "assign to");
    vec_push(p->arena, &targets, value);
    value = parse_exprs(p);
  }
  for (size_t i = 0; i < targets.len; i++)
    if (targets.at[i]->kind == EXPR_STARRED)
      diag_help(parser_report(p, targets.at[i]->span, E0115,
                              "`*` in front of the only name of an assignment"),
                "memory is written by `tl.store(pointer, value)`; `first, *rest = x` unpacks");
  s->assign.targets = (struct expr_list){targets.at, targets.len};
  s->assign.value = value;
  return s;
}

static bool can_be_annotated(const struct expr *e) {
  return e->kind == EXPR_NAME || e->kind == EXPR_ATTRIBUTE || e->kind == EXPR_SUBSCRIPT;
}

// expression_statement = exprs | assign | ann_assign | aug_assign
static struct stmt *parse_expression_statement(struct parser *p) {
  size_t first = p->pos;
  enum ast_op op;
  struct expr *e = parse_exprs(p);
  struct stmt *s;
  if (!p->panic && parser_peek(p) == TOK_ASSIGN) {
    s = parse_assign(p, e, first);
  } else if (augmented_op(parser_peek(p), &op)) {
    s = parse_aug_assign(p, e, op, first);
  } else if (parser_peek(p) == TOK_COLON && can_be_annotated(e)) {
    s = parse_ann_assign(p, e, first);
  } else {
    s = stmt_new(p, STMT_EXPR, first);
    s->expr = e;
    if (e->kind == EXPR_WALRUS && !e->in_parens)
      diag_help(parser_report(p, e->span, E0115, "`:=` is allowed only inside expressions"),
                "write `%s = ...`", e->walrus.name);
    else if (e->kind == EXPR_YIELD || e->kind == EXPR_AWAIT)
      diag_help(
          parser_report(p, e->span, E0111, "%s is not part of the language", expr_kind_text(e)),
          "a function returns what it computes; a tuple holds several values");
  }
  s->span = parser_span_from(p, first);
  return s;
}

// ---- Other simple statements ----

static struct stmt *parse_loop_exit(struct parser *p, enum stmt_kind kind) {
  size_t first = p->pos;
  const char *text = token_kind_text(parser_peek(p));
  parser_accept(p, parser_peek(p));
  struct stmt *s = stmt_new(p, kind, first);
  if (p->loop_depth == 0)
    diag_help(parser_report(p, s->span, E0107, "`%s` outside a loop", text),
              "it ends or goes on with the `for` or `while` around it; leave a kernel by `return`");
  return s;
}

// return = "return" [exprs]
static struct stmt *parse_return(struct parser *p) {
  size_t first = p->pos;
  parser_accept(p, TOK_RETURN);
  struct stmt *s = stmt_new(p, STMT_RETURN, first);
  if (parser_peek(p) != TOK_NEWLINE && parser_peek(p) != TOK_SEMICOLON)
    s->value = parse_exprs(p);
  s->span = parser_span_from(p, first);
  return s;
}

// assert = "assert" expr ["," expr]
static struct stmt *parse_assert(struct parser *p) {
  size_t first = p->pos;
  parser_accept(p, TOK_ASSERT);
  struct stmt *s = stmt_new(p, STMT_ASSERT, first);
  s->assert_stmt.condition = parse_expr(p);
  if (parser_peek(p) == TOK_ASSIGN && !p->panic) {
    diag_help(parser_error(p, parser_token_span(p), E0106, "`=` assigns and has no value"),
              "write `==` to compare");
  }
  if (parser_accept(p, TOK_COMMA))
    s->assert_stmt.message = parse_expr(p);
  s->span = parser_span_from(p, first);
  return s;
}

const char *ast_unsupported_help(const char *word) {
  static const char *const rows[][2] = {
      {"try", "kernels have no exceptions: test the condition with `if`, or mask the access"},
      {"raise", "`tl.device_assert(condition, \"text\")` stops a kernel"},
      {"with", "a kernel holds no resources: write the statements of the block without it"},
      {"del", "a variable ends with its function: leave it out"},
      {"global",
       "a function returns what it computes; constants of the file are read without this"},
      {"nonlocal", "a function returns what it computes: `y = f(y)`"},
      {"class", "pass the values as arguments, or return them as a tuple"},
      {"async", "a kernel runs without waiting; streams order launches"},
      {"match", "write `if` and `elif`"},
      {"import", "imports stand at the top of the file"},
      {"from", "imports stand at the top of the file"}};
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    if (strcmp(rows[i][0], word) == 0)
      return rows[i][1];
  return "a kernel has assignments, calls, `if`, `for`, `while`, `return` and nested functions";
}

// A statement that the language lacks. Under an `if` decided at compile time (`else: raise`) it is
// an error only when it is reached.
struct stmt *stmt_unsupported(struct parser *p, size_t first) {
  struct str word = parser_token_text(p);
  struct stmt *s = stmt_new(p, STMT_ERROR, first);
  s->span = parser_token_span(p);
  const char *name = parser_intern(p, word, s->span);
  if (p->if_depth > 0 || p->is_python)
    s->unsupported = name;
  else
    diag_help(parser_report(p, s->span, E0111, "`%s` is not part of the language", name), "%s",
              ast_unsupported_help(name));
  return s;
}

static struct stmt *parse_forbidden(struct parser *p) {
  const char *exception = parser_peek(p) == TOK_RAISE ? guards_raised(p) : NULL;
  struct stmt *s = stmt_unsupported(p, p->pos);
  s->exception = exception;
  while (parser_peek(p) != TOK_NEWLINE && parser_peek(p) != TOK_SEMICOLON &&
         parser_peek(p) != TOK_EOF)
    p->pos++;
  return s;
}

// simple = "pass" | "break" | "continue" | return | assert | import | expression_statement
static struct stmt *parse_simple(struct parser *p) {
  size_t first = p->pos;
  struct stmt *s;
  switch (parser_peek(p)) {
  case TOK_PASS: parser_accept(p, TOK_PASS); return stmt_new(p, STMT_PASS, first);
  case TOK_BREAK: return parse_loop_exit(p, STMT_BREAK);
  case TOK_CONTINUE: return parse_loop_exit(p, STMT_CONTINUE);
  case TOK_RETURN: return parse_return(p);
  case TOK_ASSERT: return parse_assert(p);
  case TOK_IMPORT:
  case TOK_FROM:
    s = stmt_new(p, STMT_IMPORT, first);
    parse_import(p, s);
    s->span = parser_span_from(p, first);
    return s;
  case TOK_GLOBAL:
  case TOK_NONLOCAL:
    s = parse_forbidden(p);
    if (p->is_python) // host code works without it
      s->kind = STMT_PASS;
    return s;
  case TOK_DEL:
  case TOK_RAISE: return parse_forbidden(p);
  default: return parse_expression_statement(p);
  }
}

// After an error: skips to the next line. A block under the broken line is still checked, then
// dropped.
static void recover(struct parser *p) {
  p->panic = false;
  parser_accept(p, TOK_NEWLINE);
  if (!parser_accept(p, TOK_INDENT))
    return;
  stmt_vec dropped = {0};
  p->loop_depth++;
  while (parser_peek(p) != TOK_DEDENT && parser_peek(p) != TOK_EOF)
    parse_statement(p, &dropped);
  p->loop_depth--;
  parser_accept(p, TOK_DEDENT);
  p->after_broken = true;
}

// simple_line = simple {";" simple} [";"] NEWLINE
void parse_simple_line(struct parser *p, stmt_vec *out) {
  for (;;) {
    size_t first = p->pos;
    unsigned errors = p->error_count;
    struct stmt *s = parse_simple(p);
    if (!p->panic && parser_peek(p) != TOK_NEWLINE && parser_peek(p) != TOK_SEMICOLON &&
        parser_peek(p) != TOK_EOF)
      statement_goes_on(p, s);
    if (p->error_count != errors)
      s = stmt_new(p, STMT_ERROR, first);
    vec_push(p->arena, out, s);
    if (p->panic) {
      recover(p);
      return;
    }
    if (parser_accept(p, TOK_SEMICOLON) && parser_peek(p) != TOK_NEWLINE)
      continue;
    parser_accept(p, TOK_NEWLINE);
    return;
  }
}

// statement = compound | simple_line
void parse_statement(struct parser *p, stmt_vec *out) {
  if (parser_peek(p) != TOK_ELIF && parser_peek(p) != TOK_ELSE)
    p->after_broken = false;
  if (parser_peek(p) == TOK_INDENT) {
    struct diag *d = parser_report(p, parser_token_span(p), E0104,
                                   "this line is indented, but no block begins here");
    diag_help(d, "align it with the line before, or end that one with `:` if it is a header");
    parser_accept(p, TOK_INDENT);
    while (parser_peek(p) != TOK_DEDENT && parser_peek(p) != TOK_EOF)
      parse_statement(p, out);
    parser_accept(p, TOK_DEDENT);
  } else if (at_compound(p)) {
    parse_compound(p, out);
  } else {
    parse_simple_line(p, out);
  }
}
