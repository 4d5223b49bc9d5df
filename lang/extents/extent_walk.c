// SPDX-License-Identifier: Apache-2.0
// Abstract evaluation of expressions and statements (extent_walk.h).
//
// Recursion is the algorithm: a walk over the tree.
#include "lang/extents/extent_walk.h"

#define MAX_DEPTH 1500 // of expressions and statements, calls included: fits a small stack

// ---- Expressions ----

static const struct guess *guess_name(struct extents_walk *w, const char *name) {
  const struct guess *g = map_get(w->names, str_from(name));
  if (g)
    return g;
  const struct ast_constant *c = ast_find_constant(w->m, name);
  if (c && c->value && c->value->kind == EXPR_INT)
    return guess_expr(w, c->value);
  return guess_new(w);
}

static const struct guess *guess_items(struct extents_walk *w, struct expr_list list) {
  struct guess **items = arena_array(w->a, struct guess *, list.len + 1);
  for (size_t i = 0; i < list.len; i++) {
    items[i] = guess_new(w);
    *items[i] = *guess_expr(w, list.at[i]);
  }
  return guess_tuple(w, items, list.len);
}

static const struct guess *guess_compare(struct extents_walk *w, const struct expr *e) {
  const struct guess *x = guess_expr(w, e->compare.operands.at[0]);
  struct guess *all = guess_both(w, x, x);
  for (size_t i = 1; i < e->compare.operands.len; i++) {
    const struct guess *y = guess_expr(w, e->compare.operands.at[i]);
    guess_bound(w, x, y);
    guess_bound(w, y, x);
    all = guess_both(w, all, y);
    x = y;
  }
  all->is_index = false;
  all->programs = all->iterations = 0;
  return all;
}

static const struct guess *guess_logic(struct extents_walk *w, struct expr_list operands) {
  const struct guess *all = guess_expr(w, operands.at[0]);
  for (size_t i = 1; i < operands.len; i++)
    all = guess_both(w, all, guess_expr(w, operands.at[i]));
  return all;
}

// x[:, None], x.shape[1]
static const struct guess *guess_subscript(struct extents_walk *w, const struct expr *e) {
  const struct guess *x = guess_expr(w, e->subscript.object);
  struct expr_list items = e->subscript.items;
  if (x->items) {
    const struct guess *i = items.len == 1 ? guess_expr(w, items.at[0]) : NULL;
    if (i && i->is_known && i->number >= 0 && (size_t)i->number < x->item_count)
      return x->items[i->number];
    const struct guess *all = NULL; // any of them
    for (size_t k = 0; k < x->item_count; k++)
      all = guess_join(w, all, x->items[k]);
    return all ? all : guess_new(w);
  }
  struct guess *g = guess_both(w, x, x);
  g->rank = 0;
  unsigned axis = 0;
  for (size_t i = 0; i < items.len && g->rank < LANG_TILE_RANK; i++) {
    if (items.at[i]->kind == EXPR_NONE)
      g->axes[g->rank++] = (struct lang_tile_axis){-1, 1};
    else if (axis < x->rank)
      g->axes[g->rank++] = x->axes[axis++];
  }
  while (axis < x->rank && g->rank < LANG_TILE_RANK)
    g->axes[g->rank++] = x->axes[axis++];
  return g;
}

static const struct guess *guess_attribute(struct extents_walk *w, const struct expr *e) {
  const struct guess *x = guess_expr(w, e->attribute.object);
  if (strcmp(e->attribute.name, "T") == 0 && x->rank > 1) {
    struct guess *g = guess_both(w, x, x);
    for (unsigned i = 0; i < x->rank; i++)
      g->axes[i] = x->axes[x->rank - 1 - i];
    return g;
  }
  if (strcmp(e->attribute.name, "shape") != 0)
    return guess_new(w);
  struct guess **items = arena_array(w->a, struct guess *, LANG_TILE_RANK);
  for (unsigned i = 0; i < x->rank; i++) {
    items[i] = guess_new(w);
    items[i]->exact = x->axes[i].param;
    items[i]->from = param_bit(x->axes[i].param);
    items[i]->is_known = x->axes[i].param < 0 && x->axes[i].length > 0;
    items[i]->number = (int64_t)x->axes[i].length;
  }
  return guess_tuple(w, items, x->rank);
}

// The parameters of a condition decide what is computed.
static void guess_condition(struct extents_walk *w, const struct expr *e) {
  param_set from = guess_expr(w, e)->from;
  for (size_t p = 0; p < w->param_count; p++)
    if (from & param_bit((int)p))
      w->facts[p].decides = true;
}

static const struct guess *guess_kind(struct extents_walk *w, const struct expr *e) {
  switch (e->kind) {
  case EXPR_NAME: return guess_name(w, e->name);
  case EXPR_INT: {
    struct guess *g = guess_new(w);
    g->is_known = !e->integer.overflow && e->integer.value <= INT64_MAX;
    g->number = (int64_t)e->integer.value;
    return g;
  }
  case EXPR_UNARY: {
    const struct guess *x = guess_expr(w, e->unary.operand);
    return guess_both(w, x, x);
  }
  case EXPR_BINARY: {
    const struct guess *x = guess_expr(w, e->binary.left);
    return guess_binary(w, e->binary.op, x, guess_expr(w, e->binary.right));
  }
  case EXPR_LOGIC: return guess_logic(w, e->logic.operands);
  case EXPR_COMPARE: return guess_compare(w, e);
  case EXPR_CALL: return guess_call(w, e);
  case EXPR_ATTRIBUTE: return guess_attribute(w, e);
  case EXPR_SUBSCRIPT: return guess_subscript(w, e);
  case EXPR_TUPLE:
  case EXPR_LIST: return guess_items(w, e->items);
  case EXPR_TERNARY: {
    guess_condition(w, e->ternary.condition);
    const struct guess *then = guess_expr(w, e->ternary.then);
    return guess_join(w, then, guess_expr(w, e->ternary.otherwise));
  }
  case EXPR_WALRUS: {
    const struct guess *g = guess_expr(w, e->walrus.value);
    map_put(w->a, w->names, str_from(e->walrus.name), arena_dup(w->a, g, sizeof *g, 8));
    return g;
  }
  default: return guess_new(w);
  }
}

const struct guess *guess_expr(struct extents_walk *w, const struct expr *e) {
  if (!e || w->budget == 0 || w->depth > MAX_DEPTH)
    return guess_new(w);
  w->budget--;
  w->depth++;
  const struct guess *g = guess_kind(w, e);
  w->depth--;
  return g;
}

// ---- Statements ----

static void assign(struct extents_walk *w, const struct expr *target, const struct guess *value) {
  if (target->kind == EXPR_TUPLE || target->kind == EXPR_LIST) {
    for (size_t i = 0; i < target->items.len; i++)
      assign(w, target->items.at[i],
             value->items && i < value->item_count ? value->items[i] : guess_new(w));
    return;
  }
  if (target->kind != EXPR_NAME)
    return;
  struct str name = str_from(target->name);
  if (w->conditions)
    value = guess_join(w, map_get(w->names, name), value);
  map_put(w->a, w->names, name, arena_dup(w->a, value, sizeof *value, _Alignof(struct guess)));
}

// `at += BLOCK` in a loop: an offset that each iteration advances.
static void aug_assign(struct extents_walk *w, const struct stmt *s) {
  const struct guess *x = guess_expr(w, s->aug_assign.target);
  const struct guess *y = guess_expr(w, s->aug_assign.value);
  struct guess *g = guess_new(w);
  *g = *guess_binary(w, s->aug_assign.op, x, y);
  param_set by = y->from & w->constants;
  if (w->loops && s->aug_assign.op == OP_ADD && y->rank == 0 && is_pow2(by)) {
    int p = (int)log2_floor(by);
    g->of_loop = true;
    if (x->rank == 0 && y->exact == p)
      g->iterations |= by;
    for (unsigned i = 0; i < x->rank; i++)
      if (x->axes[i].param == p)
        w->facts[p].is_step = true;
  }
  assign(w, s->aug_assign.target, g);
}

static void walk_for(struct extents_walk *w, const struct stmt *s) {
  unsigned loops = w->loops;
  const struct guess *variable = guess_range(w, s->for_stmt.iter);
  for (int round = 0; round < 2; round++) {
    assign(w, s->for_stmt.target, variable);
    guess_body(w, s->for_stmt.body);
  }
  w->loops = loops;
  guess_body(w, s->for_stmt.orelse);
}

static void walk_while(struct extents_walk *w, const struct stmt *s) {
  w->loops++;
  for (int round = 0; round < 2; round++) {
    guess_expr(w, s->while_stmt.condition);
    guess_body(w, s->while_stmt.body);
  }
  w->loops--;
  guess_body(w, s->while_stmt.orelse);
}

static void walk_stmt(struct extents_walk *w, const struct stmt *s) {
  switch (s->kind) {
  case STMT_EXPR: guess_expr(w, s->expr); break;
  case STMT_ASSIGN: {
    const struct guess *value = guess_expr(w, s->assign.value);
    for (size_t i = 0; i < s->assign.targets.len; i++)
      assign(w, s->assign.targets.at[i], value);
    break;
  }
  case STMT_AUG_ASSIGN: aug_assign(w, s); break;
  case STMT_ANN_ASSIGN:
    if (s->ann_assign.value)
      assign(w, s->ann_assign.target, guess_expr(w, s->ann_assign.value));
    break;
  case STMT_IF:
    guess_condition(w, s->if_stmt.condition);
    w->conditions++;
    guess_body(w, s->if_stmt.body);
    guess_body(w, s->if_stmt.orelse);
    w->conditions--;
    break;
  case STMT_FOR: walk_for(w, s); break;
  case STMT_WHILE: walk_while(w, s); break;
  case STMT_RETURN:
    if (s->value)
      w->returned = guess_join(w, w->returned, guess_expr(w, s->value));
    break;
  case STMT_WITH: guess_body(w, s->with_stmt.body); break;
  default: break;
  }
}

void guess_body(struct extents_walk *w, struct stmt_list body) {
  if (w->depth > MAX_DEPTH)
    return;
  w->depth++;
  for (size_t i = 0; i < body.len && w->budget > 0; i++) {
    w->budget--;
    walk_stmt(w, body.at[i]);
  }
  w->depth--;
}
