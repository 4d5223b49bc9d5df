// SPDX-License-Identifier: Apache-2.0
// What can be read off the text of a statement before it is emitted: the names it may assign, and
// whether it may leave the loop or function around it.
#include "lang/eval/eval.h"

static void add(struct eval *e, struct name_list *l, const char *name) {
  for (size_t i = 0; i < l->len; i++)
    if (l->at[i] == name)
      return;
  vec_push(e->a, l, name);
}

static void names_of_args(struct eval *e, const struct expr *x, struct name_list *l) {
  names_of_expr(e, x->call.callee, l);
  for (size_t i = 0; i < x->call.arg_count; i++)
    names_of_expr(e, x->call.args[i].value, l);
}

static void names_of_list(struct eval *e, const struct expr_list *xs, struct name_list *l) {
  for (size_t i = 0; i < xs->len; i++)
    names_of_expr(e, xs->at[i], l);
}

// Names that walruses inside the expression assign.
void names_of_expr(struct eval *e, const struct expr *x, struct name_list *l) {
  if (!x)
    return;
  switch (x->kind) {
  case EXPR_WALRUS:
    add(e, l, x->walrus.name);
    names_of_expr(e, x->walrus.value, l);
    return;
  case EXPR_UNARY: names_of_expr(e, x->unary.operand, l); return;
  case EXPR_BINARY:
    names_of_expr(e, x->binary.left, l);
    names_of_expr(e, x->binary.right, l);
    return;
  case EXPR_LOGIC: names_of_list(e, &x->logic.operands, l); return;
  case EXPR_COMPARE: names_of_list(e, &x->compare.operands, l); return;
  case EXPR_CALL: names_of_args(e, x, l); return;
  case EXPR_ATTRIBUTE: names_of_expr(e, x->attribute.object, l); return;
  case EXPR_SUBSCRIPT:
    names_of_expr(e, x->subscript.object, l);
    names_of_list(e, &x->subscript.items, l);
    return;
  case EXPR_TUPLE:
  case EXPR_LIST:
  case EXPR_SET: names_of_list(e, &x->items, l); return;
  case EXPR_TERNARY:
    names_of_expr(e, x->ternary.condition, l);
    names_of_expr(e, x->ternary.then, l);
    names_of_expr(e, x->ternary.otherwise, l);
    return;
  case EXPR_STARRED: names_of_expr(e, x->inner, l); return;
  case EXPR_NAME:
  case EXPR_INT:
  case EXPR_FLOAT:
  case EXPR_IMAGINARY:
  case EXPR_STRING:
  case EXPR_FSTRING:
  case EXPR_BOOL:
  case EXPR_NONE:
  case EXPR_ELLIPSIS:
  case EXPR_DICT:
  case EXPR_LAMBDA:
  case EXPR_COMPREHENSION:
  case EXPR_SLICE:
  case EXPR_AWAIT:
  case EXPR_YIELD:
  case EXPR_ERROR:
  case EXPR_KIND_COUNT: return;
  }
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

static void names_of_stmt(struct eval *e, const struct stmt *s, struct name_list *l) {
  switch (s->kind) {
  case STMT_EXPR: names_of_expr(e, s->expr, l); return;
  case STMT_ASSIGN:
    for (size_t i = 0; i < s->assign.targets.len; i++)
      names_of_target(e, s->assign.targets.at[i], l);
    names_of_expr(e, s->assign.value, l);
    return;
  case STMT_AUG_ASSIGN:
    names_of_target(e, s->aug_assign.target, l);
    names_of_expr(e, s->aug_assign.value, l);
    return;
  case STMT_ANN_ASSIGN:
    if (s->ann_assign.value)
      names_of_target(e, s->ann_assign.target, l);
    names_of_expr(e, s->ann_assign.value, l);
    return;
  case STMT_IF:
    names_of_expr(e, s->if_stmt.condition, l);
    names_of_stmts(e, &s->if_stmt.body, l);
    names_of_stmts(e, &s->if_stmt.orelse, l);
    return;
  case STMT_FOR:
    names_of_target(e, s->for_stmt.target, l);
    names_of_expr(e, s->for_stmt.iter, l);
    names_of_stmts(e, &s->for_stmt.body, l);
    names_of_stmts(e, &s->for_stmt.orelse, l);
    return;
  case STMT_WHILE:
    names_of_expr(e, s->while_stmt.condition, l);
    names_of_stmts(e, &s->while_stmt.body, l);
    names_of_stmts(e, &s->while_stmt.orelse, l);
    return;
  case STMT_WITH:
    for (size_t i = 0; i < s->with_stmt.count; i++)
      if (s->with_stmt.items[i].target)
        names_of_target(e, s->with_stmt.items[i].target, l);
    names_of_stmts(e, &s->with_stmt.body, l);
    return;
  case STMT_DEF: add(e, l, s->def->name); return;
  case STMT_RETURN: names_of_expr(e, s->value, l); return;
  case STMT_ASSERT: names_of_expr(e, s->assert_stmt.condition, l); return;
  case STMT_PASS:
  case STMT_BREAK:
  case STMT_CONTINUE:
  case STMT_IMPORT:
  case STMT_ERROR:
  case STMT_KIND_COUNT: return;
  }
}

// Remembered for compound statements, so that nested loops are not walked once a level.
static void names_of_stmts(struct eval *e, const struct stmt_list *s, struct name_list *l) {
  for (size_t i = 0; i < s->len; i++) {
    const struct stmt *st = s->at[i];
    if (st->kind != STMT_IF && st->kind != STMT_FOR && st->kind != STMT_WHILE) {
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

static bool may_exit(const struct stmt_list *l, bool in_loop) {
  for (size_t i = 0; i < l->len; i++) {
    const struct stmt *s = l->at[i];
    switch (s->kind) {
    case STMT_RETURN: return true;
    case STMT_BREAK:
    case STMT_CONTINUE:
      if (!in_loop)
        return true;
      break;
    case STMT_IF:
      if (may_exit(&s->if_stmt.body, in_loop) || may_exit(&s->if_stmt.orelse, in_loop))
        return true;
      break;
    case STMT_FOR:
      if (may_exit(&s->for_stmt.body, true))
        return true;
      break;
    case STMT_WHILE:
      if (may_exit(&s->while_stmt.body, true))
        return true;
      break;
    case STMT_WITH:
      if (may_exit(&s->with_stmt.body, in_loop))
        return true;
      break;
    case STMT_EXPR:
    case STMT_ASSIGN:
    case STMT_AUG_ASSIGN:
    case STMT_ANN_ASSIGN:
    case STMT_PASS:
    case STMT_ASSERT:
    case STMT_DEF:
    case STMT_IMPORT:
    case STMT_ERROR:
    case STMT_KIND_COUNT: break;
    }
  }
  return false;
}

bool stmt_may_exit(const struct stmt *s) {
  struct stmt *one[1] = {(struct stmt *)(uintptr_t)s};
  struct stmt_list l = {one, 1};
  return may_exit(&l, false);
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
