// SPDX-License-Identifier: Apache-2.0
// Headers of compound statements at module level, and the guards of their blocks.
//
// Recursion is the algorithm: recursive descent.
#include "lang/syntax/guards.h"

static struct ast_guard *guard_new(struct parser *p, struct ast_guard g) {
  struct ast_guard *r = arena_new(p->arena, struct ast_guard);
  *r = g;
  return r;
}

static struct ast_guard *if_guard(struct parser *p, const struct expr *condition, bool wanted,
                                  struct ast_guard *outer) {
  return guard_new(p, (struct ast_guard){.kind = GUARD_IF,
                                         .wanted = wanted,
                                         .condition = condition,
                                         .span = condition->span,
                                         .outer = outer});
}

static struct ast_guard *host_guard(struct parser *p, const char *what, struct span at,
                                    struct ast_guard *outer) {
  return guard_new(
      p, (struct ast_guard){.kind = GUARD_HOST, .what = what, .span = at, .outer = outer});
}

struct ast_guard *guards_now(struct parser *p, const struct guard_scope *scope) {
  const struct ast_try *t = scope->attempt;
  if (!t || t->step_count == 0)
    return scope->guard;
  return guard_new(p, (struct ast_guard){.kind = GUARD_TRY,
                                         .wanted = true,
                                         .attempt = scope->attempt,
                                         .steps = t->step_count,
                                         .span = t->steps[t->step_count - 1].span,
                                         .outer = scope->guard});
}

// ---- Steps of a `try` ----

void guards_step(struct parser *p, const struct guard_scope *scope, struct ast_step step) {
  struct ast_try *t = scope->attempt;
  if (!t)
    return;
  if (t->step_count == t->step_cap) {
    size_t cap = t->step_cap * 2 + 4;
    struct ast_step *steps = arena_array(p->arena, struct ast_step, cap);
    for (size_t i = 0; i < t->step_count; i++)
      steps[i] = t->steps[i];
    t->steps = steps;
    t->step_cap = cap;
  }
  step.guard = scope->guard;
  t->steps[t->step_count++] = step;
}

void guards_step_of(struct parser *p, const struct guard_scope *scope, const struct stmt *s) {
  struct ast_step step = {.kind = STEP_VALUE, .span = s->span};
  switch ((int)s->kind) {
  case STMT_PASS: return;
  case STMT_IMPORT:
    for (size_t i = 0; i < s->import.count; i++)
      guards_step(p, scope,
                  (struct ast_step){.kind = STEP_IMPORT,
                                    .import = &s->import.items[i],
                                    .span = s->import.items[i].span});
    return;
  case STMT_EXPR: step.value = s->expr; break;
  case STMT_ASSIGN: step.value = s->assign.value; break;
  case STMT_ANN_ASSIGN:
    if (!s->ann_assign.value)
      return;
    step.value = s->ann_assign.value;
    break;
  case STMT_ASSERT:
    step.kind = STEP_ASSERT;
    step.value = s->assert_stmt.condition;
    break;
  default: step.kind = STEP_HOST; break;
  }
  guards_step(p, scope, step);
}

// ---- Headers ----

// The colon that ends the header which begins here, or the end of the line if there is none.
static size_t header_end(const struct parser *p) {
  size_t depth = 0, lambdas = 0;
  for (size_t i = p->pos;; i++) {
    switch ((int)p->tokens.at[i].kind) {
    case TOK_EOF:
    case TOK_NEWLINE: return i;
    case TOK_LPAREN:
    case TOK_LBRACKET:
    case TOK_LBRACE: depth++; break;
    case TOK_RPAREN:
    case TOK_RBRACKET:
    case TOK_RBRACE: depth -= depth > 0; break;
    case TOK_LAMBDA: lambdas += depth == 0; break;
    case TOK_COLON:
      if (depth == 0 && lambdas == 0)
        return i;
      lambdas -= depth == 0;
    }
  }
}

// The condition up to token `end`; NULL if it cannot be parsed.
static const struct expr *read_condition(struct parser *p, size_t end) {
  unsigned errors = p->error_count;
  bool quiet = p->quiet;
  p->quiet = true;
  const struct expr *e = parse_named(p);
  bool ok = p->error_count == errors && p->pos == end;
  p->quiet = quiet;
  p->error_count = errors;
  p->panic = false;
  return ok ? e : NULL;
}

static void enter_if(struct parser *p, struct guard_scope *s, struct ast_guard *outer, size_t end) {
  struct span at = parser_token_span(p);
  parser_accept(p, parser_peek(p));
  const struct expr *condition = read_condition(p, end);
  s->chain->kind = CHAIN_IF;
  if (condition && !s->is_nested) {
    s->chain->rest = if_guard(p, condition, false, outer);
    s->guard = if_guard(p, condition, true, outer);
    return;
  }
  if (condition)
    at = condition->span;
  s->guard = s->chain->rest = host_guard(
      p, s->is_nested ? "a call of the function around decides this" : "not evaluated", at, outer);
}

static void add_handler(struct parser *p, struct ast_try *t, struct ast_handler h) {
  if (t->handler_count == t->handler_cap) {
    size_t cap = t->handler_cap * 2 + 2;
    struct ast_handler *handlers = arena_array(p->arena, struct ast_handler, cap);
    for (size_t i = 0; i < t->handler_count; i++)
      handlers[i] = t->handlers[i];
    t->handlers = handlers;
    t->handler_cap = cap;
  }
  t->handlers[t->handler_count++] = h;
}

static const char *word_at(struct parser *p, size_t i) {
  struct token t = p->tokens.at[i];
  struct str name = {p->source->text.ptr + t.begin, t.end - t.begin};
  return parser_intern(p, name, SPAN_NONE);
}

// The last words of the names in `except (a.B, C) as x`.
struct ast_handler guards_read_handler(struct parser *p, const char **ret_name) {
  VEC(const char *) names = {0};
  size_t end = header_end(p), i = p->pos + 1;
  for (; i < end && p->tokens.at[i].kind != TOK_AS; i++)
    if (p->tokens.at[i].kind == TOK_NAME && p->tokens.at[i + 1].kind != TOK_DOT)
      vec_push(p->arena, &names, word_at(p, i));
  *ret_name = i + 1 < end && p->tokens.at[i + 1].kind == TOK_NAME ? word_at(p, i + 1) : NULL;
  p->pos = end;
  return (struct ast_handler){names.at, names.len};
}

const char *guards_raised(struct parser *p) {
  const char *name = NULL;
  for (size_t i = p->pos + 1; p->tokens.at[i].kind == TOK_NAME; i += 2) {
    name = word_at(p, i);
    if (p->tokens.at[i + 1].kind != TOK_DOT)
      break;
  }
  return name;
}

static struct ast_guard *try_guard(struct parser *p, struct ast_try *t, bool wanted,
                                   struct ast_guard *outer) {
  return guard_new(p, (struct ast_guard){.kind = GUARD_TRY,
                                         .wanted = wanted,
                                         .attempt = t,
                                         .steps = t->step_count,
                                         .handler = t->handler_count,
                                         .span = parser_token_span(p),
                                         .outer = outer});
}

static void enter_handler(struct parser *p, struct guard_scope *s) {
  if (s->chain->kind != CHAIN_TRY)
    return;
  struct ast_try *t = s->chain->attempt;
  const char *name;
  s->guard = try_guard(p, t, false, s->chain->rest);
  add_handler(p, t, guards_read_handler(p, &name));
}

static void enter_else(struct parser *p, struct guard_scope *s) {
  struct guard_chain c = *s->chain;
  *s->chain = (struct guard_chain){0};
  if (c.kind == CHAIN_IF)
    s->guard = c.rest;
  else if (c.kind == CHAIN_TRY)
    s->guard = try_guard(p, c.attempt, true, c.rest);
  else
    s->guard = host_guard(p, "a loop decides this", parser_token_span(p), guards_now(p, s));
  if (c.kind == CHAIN_TRY) // `finally` may follow
    *s->chain = c;
}

static void enter_loop(struct parser *p, struct guard_scope *s) {
  guards_step(p, s, (struct ast_step){.kind = STEP_HOST, .span = parser_token_span(p)});
  s->guard = host_guard(p, "statements of a loop are not evaluated", parser_token_span(p),
                        guards_now(p, s));
  s->guard->is_loop = true;
  *s->chain = (struct guard_chain){.kind = CHAIN_LOOP};
}

void guards_enter(struct parser *p, struct guard_scope *s) {
  size_t end = header_end(p);
  enum token_kind kind = parser_peek(p);
  switch ((int)kind) {
  case TOK_IF: enter_if(p, s, guards_now(p, s), end); break;
  case TOK_ELIF: {
    struct ast_guard *rest = s->chain->kind == CHAIN_IF ? s->chain->rest : s->guard;
    enter_if(p, s, rest, end);
    break;
  }
  case TOK_ELSE: enter_else(p, s); break;
  case TOK_TRY: {
    struct ast_try *t = arena_new(p->arena, struct ast_try);
    *s->chain = (struct guard_chain){CHAIN_TRY, guards_now(p, s), t};
    s->guard = s->chain->rest;
    s->attempt = s->is_nested ? NULL : t;
    break;
  }
  case TOK_EXCEPT: enter_handler(p, s); break;
  case TOK_FINALLY:
    if (s->chain->kind == CHAIN_TRY)
      s->guard = s->chain->rest;
    break;
  case TOK_FOR:
  case TOK_WHILE: enter_loop(p, s); break;
  case TOK_WITH:
    guards_step(p, s, (struct ast_step){.kind = STEP_HOST, .span = parser_token_span(p)});
    s->guard = guards_now(p, s);
    break;
  default: // `match` and its cases
    s->guard = host_guard(p, "a `match` decides this", parser_token_span(p), guards_now(p, s));
    break;
  }
  p->pos = end;
  parser_accept(p, TOK_COLON);
}
