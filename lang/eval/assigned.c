// SPDX-License-Identifier: Apache-2.0
// Facts of a statement before it is emitted: the names it may assign, and whether it may leave the
// enclosing loop or function.
#include "lang/eval/eval.h"
#include "lang/syntax/ast_visit.h"

static void add(struct eval *e, struct name_list *l, const char *name) {
  for (size_t i = 0; i < l->len; i++)
    if (l->at[i] == name)
      return;
  vec_push(e->a, l, name);
}

struct collector {
  struct eval *e;
  struct name_list *names;
};

static struct ast_visitor visitor(struct collector *c);

static void visit_expr(void *user, const struct expr *x) {
  struct collector *c = user;
  struct ast_visitor v = visitor(c);
  if (x->kind == EXPR_LAMBDA)
    return; // a scope of its own
  if (x->kind == EXPR_WALRUS)
    add(c->e, c->names, x->walrus.name);
  ast_visit_expr(&v, x);
}

// Collects the names that walruses inside the expression assign.
void names_of_expr(struct eval *e, const struct expr *x, struct name_list *l) {
  struct collector c = {e, l};
  if (x)
    visit_expr(&c, x);
}

static void names_of_target(struct eval *e, const struct expr *t, struct name_list *l) {
  if (t->kind == EXPR_NAME)
    add(e, l, t->name);
  else if (t->kind == EXPR_TUPLE || t->kind == EXPR_LIST)
    for (size_t i = 0; i < t->items.len; i++)
      names_of_target(e, t->items.at[i], l);
  else if (t->kind == EXPR_STARRED)
    names_of_target(e, t->inner, l);
  else if (t->kind == EXPR_ATTRIBUTE && t->attribute.object->kind == EXPR_NAME)
    add(e, l, t->attribute.object->name); // self.x = ...
}

static void names_of_stmts(struct eval *e, const struct stmt_list *s, struct name_list *l);

static void visit_target(void *user, const struct expr *t) {
  struct collector *c = user;
  names_of_target(c->e, t, c->names);
}

static void visit_body(void *user, const struct stmt_list *body) {
  struct collector *c = user;
  names_of_stmts(c->e, body, c->names);
}

static struct ast_visitor visitor(struct collector *c) {
  return (struct ast_visitor){visit_expr, visit_target, visit_body, c};
}

static void names_of_stmt(struct eval *e, const struct stmt *s, struct name_list *l) {
  struct collector c = {e, l};
  struct ast_visitor v = visitor(&c);
  if (s->kind == STMT_DEF)
    add(e, l, s->def->name);
  else if (s->kind != STMT_ANN_ASSIGN || s->ann_assign.value) // else a declaration only
    ast_visit_stmt(&v, s);
}

// Cached for compound statements, so that nested loops are not walked once per level.
static void names_of_stmts(struct eval *e, const struct stmt_list *s, struct name_list *l) {
  for (size_t i = 0; i < s->len; i++) {
    const struct stmt *st = s->at[i];
    if (st->kind != STMT_IF && st->kind != STMT_FOR && st->kind != STMT_WHILE &&
        st->kind != STMT_TRY) {
      names_of_stmt(e, st, l);
      continue;
    }
    struct name_list *known = ptrmap_get(&e->assigned, st);
    if (!known) {
      known = arena_new(e->a, struct name_list);
      names_of_stmt(e, st, known);
      ptrmap_put(e->a, &e->assigned, st, known);
    }
    for (size_t k = 0; k < known->len; k++)
      add(e, l, known->at[k]);
  }
}

void names_of_seq(struct eval *e, const struct seq *s, struct name_list *l) {
  for (; s; s = s->next) {
    if (s->kind != SEQ_STATEMENTS || s->from >= s->list->len)
      continue;
    struct stmt_list rest = {s->list->at + s->from, s->list->len - s->from};
    names_of_stmts(e, &rest, l);
  }
}

static bool may_exit(const struct stmt *s, bool in_loop);

static bool list_may_exit(const struct stmt_list *l, bool in_loop) {
  for (size_t i = 0; i < l->len; i++)
    if (may_exit(l->at[i], in_loop))
      return true;
  return false;
}

// In any of its blocks.
static bool try_has(const struct stmt *s, bool (*has)(const struct stmt_list *l, bool in_loop),
                    bool in_loop) {
  bool found = has(&s->try_stmt.body, in_loop) || has(&s->try_stmt.orelse, in_loop) ||
               has(&s->try_stmt.last, in_loop);
  for (size_t i = 0; i < s->try_stmt.count && !found; i++)
    found = has(&s->try_stmt.handlers[i].body, in_loop);
  return found;
}

static bool may_exit(const struct stmt *s, bool in_loop) {
  switch ((int)s->kind) {
  case STMT_RETURN: return true;
  case STMT_BREAK:
  case STMT_CONTINUE: return !in_loop;
  case STMT_IF:
    return list_may_exit(&s->if_stmt.body, in_loop) || list_may_exit(&s->if_stmt.orelse, in_loop);
  case STMT_FOR: return list_may_exit(&s->for_stmt.body, true);
  case STMT_WHILE: return list_may_exit(&s->while_stmt.body, true);
  case STMT_WITH: return list_may_exit(&s->with_stmt.body, in_loop);
  case STMT_TRY: return try_has(s, list_may_exit, in_loop);
  }
  return false;
}

bool stmt_may_exit(const struct stmt *s) { return may_exit(s, false); }

static bool may_break(const struct stmt_list *l, bool in_loop) {
  (void)in_loop;
  return list_may_break(l);
}

bool list_may_break(const struct stmt_list *l) {
  for (size_t i = 0; i < l->len; i++) {
    const struct stmt *s = l->at[i];
    if (s->kind == STMT_BREAK)
      return true;
    if (s->kind == STMT_IF &&
        (list_may_break(&s->if_stmt.body) || list_may_break(&s->if_stmt.orelse)))
      return true;
    if (s->kind == STMT_WITH && list_may_break(&s->with_stmt.body))
      return true;
    if (s->kind == STMT_TRY && try_has(s, may_break, true))
      return true;
  }
  return false;
}

bool list_always_exits(const struct stmt_list *l) {
  if (l->len == 0)
    return false;
  const struct stmt *last = l->at[l->len - 1];
  if (last->kind == STMT_RETURN || last->kind == STMT_BREAK || last->kind == STMT_CONTINUE)
    return true;
  return last->kind == STMT_IF && list_always_exits(&last->if_stmt.body) &&
         list_always_exits(&last->if_stmt.orelse);
}
