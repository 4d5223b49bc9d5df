// SPDX-License-Identifier: Apache-2.0
// Enumerates the children of nodes of the syntax tree.
#include "lang/syntax/ast_visit.h"

#include <assert.h>

// ---- Expressions ----

static void one(const struct ast_visitor *v, const struct expr *e) {
  if (e)
    v->expr(v->user, e);
}

static void three(const struct ast_visitor *v, const struct expr *a, const struct expr *b,
                  const struct expr *c) {
  one(v, a);
  one(v, b);
  one(v, c);
}

static void list(const struct ast_visitor *v, struct expr_list items) {
  for (size_t i = 0; i < items.len; i++)
    one(v, items.at[i]);
}

static void call(const struct ast_visitor *v, const struct expr *e) {
  one(v, e->call.callee);
  for (size_t i = 0; i < e->call.arg_count; i++)
    one(v, e->call.args[i].value);
}

static void dict(const struct ast_visitor *v, const struct expr *e) {
  for (size_t i = 0; i < e->dict.count; i++)
    three(v, e->dict.items[i].key, e->dict.items[i].value, NULL);
}

static void comprehension(const struct ast_visitor *v, const struct expr *e) {
  three(v, e->comprehension.key, e->comprehension.element, NULL);
  for (size_t i = 0; i < e->comprehension.clause_count; i++) {
    one(v, e->comprehension.clauses[i].iter);
    list(v, e->comprehension.clauses[i].conditions);
  }
}

static void parts(const struct ast_visitor *v, const struct fstring_part *p, size_t count) {
  for (size_t i = 0; i < count; i++) {
    one(v, p[i].value);
    parts(v, p[i].format, p[i].format_count);
  }
}

// A new kind of node belongs here or into the switch below.
static bool is_leaf(enum expr_kind k) {
  return k == EXPR_NAME || k == EXPR_INT || k == EXPR_FLOAT || k == EXPR_IMAGINARY ||
         k == EXPR_STRING || k == EXPR_BOOL || k == EXPR_NONE || k == EXPR_ELLIPSIS ||
         k == EXPR_ERROR;
}

void ast_visit_expr(const struct ast_visitor *v, const struct expr *e) {
  switch (e->kind) {
  case EXPR_UNARY: one(v, e->unary.operand); break;
  case EXPR_BINARY: three(v, e->binary.left, e->binary.right, NULL); break;
  case EXPR_LOGIC: list(v, e->logic.operands); break;
  case EXPR_COMPARE: list(v, e->compare.operands); break;
  case EXPR_CALL: call(v, e); break;
  case EXPR_ATTRIBUTE: one(v, e->attribute.object); break;
  case EXPR_SUBSCRIPT:
    one(v, e->subscript.object);
    list(v, e->subscript.items);
    break;
  case EXPR_TUPLE:
  case EXPR_LIST:
  case EXPR_SET: list(v, e->items); break;
  case EXPR_DICT: dict(v, e); break;
  case EXPR_TERNARY: three(v, e->ternary.condition, e->ternary.then, e->ternary.otherwise); break;
  case EXPR_LAMBDA: one(v, e->lambda.body); break;
  case EXPR_COMPREHENSION: comprehension(v, e); break;
  case EXPR_WALRUS: one(v, e->walrus.value); break;
  case EXPR_STARRED:
  case EXPR_AWAIT:
  case EXPR_YIELD: one(v, e->inner); break;
  case EXPR_FSTRING: parts(v, e->fstring.parts, e->fstring.count); break;
  case EXPR_SLICE: three(v, e->slice.lo, e->slice.hi, e->slice.step); break;
  default: assert(is_leaf(e->kind));
  }
}

// ---- Statements ----

static void target(const struct ast_visitor *v, const struct expr *e) {
  if (e)
    v->target(v->user, e);
}

static void body(const struct ast_visitor *v, const struct stmt_list *b) { v->body(v->user, b); }

static void with(const struct ast_visitor *v, const struct stmt *s) {
  for (size_t i = 0; i < s->with_stmt.count; i++) {
    one(v, s->with_stmt.items[i].context);
    target(v, s->with_stmt.items[i].target);
  }
  body(v, &s->with_stmt.body);
}

static void attempt(const struct ast_visitor *v, const struct stmt *s) {
  body(v, &s->try_stmt.body);
  for (size_t i = 0; i < s->try_stmt.count; i++)
    body(v, &s->try_stmt.handlers[i].body);
  body(v, &s->try_stmt.orelse);
  body(v, &s->try_stmt.last);
}

static void compound(const struct ast_visitor *v, const struct expr *head,
                     const struct stmt_list *then, const struct stmt_list *orelse) {
  one(v, head);
  body(v, then);
  body(v, orelse);
}

static bool is_childless(enum stmt_kind k) {
  return k == STMT_PASS || k == STMT_BREAK || k == STMT_CONTINUE || k == STMT_IMPORT ||
         k == STMT_ERROR;
}

void ast_visit_stmt(const struct ast_visitor *v, const struct stmt *s) {
  switch (s->kind) {
  case STMT_EXPR: one(v, s->expr); break;
  case STMT_ASSIGN:
    for (size_t i = 0; i < s->assign.targets.len; i++)
      target(v, s->assign.targets.at[i]);
    one(v, s->assign.value);
    break;
  case STMT_AUG_ASSIGN:
    target(v, s->aug_assign.target);
    one(v, s->aug_assign.value);
    break;
  case STMT_ANN_ASSIGN:
    target(v, s->ann_assign.target);
    one(v, s->ann_assign.value);
    break;
  case STMT_IF: compound(v, s->if_stmt.condition, &s->if_stmt.body, &s->if_stmt.orelse); break;
  case STMT_FOR:
    target(v, s->for_stmt.target);
    compound(v, s->for_stmt.iter, &s->for_stmt.body, &s->for_stmt.orelse);
    break;
  case STMT_WHILE:
    compound(v, s->while_stmt.condition, &s->while_stmt.body, &s->while_stmt.orelse);
    break;
  case STMT_RETURN: one(v, s->value); break;
  case STMT_ASSERT: three(v, s->assert_stmt.condition, s->assert_stmt.message, NULL); break;
  case STMT_WITH: with(v, s); break;
  case STMT_DEF: body(v, &s->def->body); break;
  case STMT_TRY: attempt(v, s); break;
  default: assert(is_childless(s->kind));
  }
}
