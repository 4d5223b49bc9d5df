// SPDX-License-Identifier: Apache-2.0
// Walks over expression trees: replaces axes and subtrees, collects loads. Trees share subtrees;
// each is visited once.
// Recursion is the algorithm: the operands of a tree are trees, and each is simplified when it is
// built.
#include "graph/loops/scalar_expr_internal.h"

uint32_t scalar_expr_walk(struct scalars *s) { return ++s->walk; }

static size_t cap_for(size_t cap, uint32_t id) {
  cap = cap ? cap : 256;
  while (cap <= id)
    cap *= 2;
  return cap;
}

bool scalar_expr_enter(struct scalars *s, uint32_t walk, const struct scalar *v) {
  if (v->id >= s->seen_cap) {
    size_t cap = cap_for(s->seen_cap, v->id);
    uint32_t *more = arena_array(s->arena, uint32_t, cap);
    if (s->seen_cap)
      memcpy(more, s->seen, s->seen_cap * sizeof *more);
    s->seen = more;
    s->seen_cap = cap;
  }
  if (s->seen[v->id] == walk)
    return false;
  s->seen[v->id] = walk;
  return true;
}

const struct scalar *scalar_expr_made(const struct scalars *s, uint32_t walk,
                                      const struct scalar *v) {
  return v->id < s->memo_cap && s->memo[v->id].walk == walk ? s->memo[v->id].now : NULL;
}

void scalar_expr_note(struct scalars *s, uint32_t walk, const struct scalar *v,
                      const struct scalar *now) {
  if (v->id >= s->memo_cap) {
    size_t cap = cap_for(s->memo_cap, v->id);
    struct scalar_expr_memo *more = arena_array(s->arena, struct scalar_expr_memo, cap);
    if (s->memo_cap)
      memcpy(more, s->memo, s->memo_cap * sizeof *more);
    s->memo = more;
    s->memo_cap = cap;
  }
  s->memo[v->id] = (struct scalar_expr_memo){walk, now};
}

void scalar_expr_symbols(const struct expr *e, void (*f)(void *user, const struct expr *symbol),
                         void *user) {
  if (e->kind == EXPR_SYMBOL)
    f(user, e);
  for (uint32_t i = 0; i < e->count; i++)
    scalar_expr_symbols(e->in[i], f, user);
}

// ---- replacing ----

struct change {
  struct scalars *s;
  size_t count;
  const struct expr *const *from, *const *to; // axes
  size_t parts;
  const struct scalar *const *part, *const *with;
  uint32_t walk;
};

static const struct scalar *change(struct change *c, const struct scalar *v);

struct symbol_list {
  struct scalars *s;
  VEC(const struct expr *) list;
};

static void note_symbol(void *user, const struct expr *symbol) {
  struct symbol_list *l = user;
  if (!symbol->symbol->indirect)
    return;
  for (size_t i = 0; i < l->list.len; i++)
    if (l->list.at[i] == symbol)
      return;
  vec_push(l->s->arena, &l->list, symbol);
}

static const struct expr *change_index(struct change *c, const struct expr *e) {
  struct symbol_list l = {.s = c->s};
  scalar_expr_symbols(e, note_symbol, &l);
  if (l.list.len == 0)
    return c->count ? expr_substitute(c->s->exprs, e, c->count, c->from, c->to) : e;
  size_t most = c->count + l.list.len, n = 0;
  const struct expr **from = arena_array(c->s->arena, const struct expr *, most);
  const struct expr **to = arena_array(c->s->arena, const struct expr *, most);
  for (; n < c->count; n++) {
    from[n] = c->from[n];
    to[n] = c->to[n];
  }
  for (size_t i = 0; i < l.list.len; i++) {
    const struct symbol *symbol = l.list.at[i]->symbol;
    const struct scalar *now = change(c, symbol->indirect);
    if (now == symbol->indirect)
      continue;
    from[n] = l.list.at[i];
    to[n++] = scalar_indirect(c->s, now, symbol->limit);
  }
  return n ? expr_substitute(c->s->exprs, e, n, from, to) : e;
}

static const struct scalar *change_operands(struct change *c, const struct scalar *v) {
  const struct scalar *in[3] = {NULL, NULL, NULL};
  bool same = true;
  for (unsigned i = 0, n = scalar_arity(v); i < n; i++) {
    in[i] = change(c, v->in[i]);
    same = same && in[i] == v->in[i];
  }
  if (same)
    return v;
  switch (v->kind) {
  case SCALAR_APPLY: return scalar_apply(c->s, v->op, v->dtype, in);
  case SCALAR_CONVERT: return scalar_convert(c->s, in[0], v->dtype);
  default: return scalar_masked(c->s, in[0], in[1], in[2]);
  }
}

static const struct scalar *change_leaf(struct change *c, const struct scalar *v) {
  const struct expr *e = change_index(c, v->index);
  if (e == v->index)
    return v;
  switch (v->kind) {
  case SCALAR_INDEX: return scalar_index(c->s, e);
  case SCALAR_RANDOM: return scalar_random(c->s, v->which, e);
  default: return scalar_load(c->s, v->buffer, e);
  }
}

static const struct scalar *change(struct change *c, const struct scalar *v) {
  for (size_t i = 0; i < c->parts; i++)
    if (c->part[i] == v)
      return c->with[i];
  if (v->kind == SCALAR_CONST)
    return v;
  const struct scalar *now = scalar_expr_made(c->s, c->walk, v);
  if (now)
    return now;
  now = v->index ? change_leaf(c, v) : change_operands(c, v);
  scalar_expr_note(c->s, c->walk, v, now);
  return now;
}

const struct scalar *scalar_substitute(struct scalars *s, const struct scalar *v, size_t count,
                                       const struct expr *const *from,
                                       const struct expr *const *to) {
  struct change c = {.s = s, .count = count, .from = from, .to = to, .walk = scalar_expr_walk(s)};
  return count ? change(&c, v) : v;
}

const struct expr *index_substitute(struct scalars *s, const struct expr *e, size_t count,
                                    const struct expr *const *from, const struct expr *const *to) {
  struct change c = {.s = s, .count = count, .from = from, .to = to, .walk = scalar_expr_walk(s)};
  return count ? change_index(&c, e) : e;
}

const struct scalar *scalar_replace(struct scalars *s, const struct scalar *v, size_t count,
                                    const struct scalar *const *from,
                                    const struct scalar *const *to) {
  struct change c = {.s = s, .parts = count, .part = from, .with = to, .walk = scalar_expr_walk(s)};
  return count ? change(&c, v) : v;
}

const struct expr *index_replace(struct scalars *s, const struct expr *e, size_t count,
                                 const struct scalar *const *from, const struct scalar *const *to) {
  struct change c = {.s = s, .parts = count, .part = from, .with = to, .walk = scalar_expr_walk(s)};
  return count ? change_index(&c, e) : e;
}

// ---- queries ----

struct visit {
  struct scalars *s;
  uint32_t walk;
  const struct expr *axis;
  bool has_axis;
  unsigned cost;
  VEC(const struct scalar *) loads;
};

static void visit(struct visit *w, const struct scalar *v);

static void visit_symbol(void *user, const struct expr *symbol) {
  struct visit *w = user;
  w->has_axis = w->has_axis || symbol == w->axis;
  if (symbol->symbol->indirect)
    visit(w, symbol->symbol->indirect);
}

static void visit(struct visit *w, const struct scalar *v) {
  if (!scalar_expr_enter(w->s, w->walk, v))
    return;
  unsigned arity = scalar_arity(v);
  for (unsigned i = 0; i < arity; i++)
    visit(w, v->in[i]);
  if (v->index)
    scalar_expr_symbols(v->index, visit_symbol, w);
  if (v->kind == SCALAR_LOAD)
    vec_push(w->s->arena, &w->loads, v);
  else if (arity > 0 || v->kind == SCALAR_RANDOM)
    w->cost++;
}

static struct visit visit_all(const struct scalar *v, const struct expr *axis) {
  struct visit w = {.s = v->set, .walk = scalar_expr_walk(v->set), .axis = axis};
  visit(&w, v);
  return w;
}

bool scalar_has_axis(const struct scalar *v, const struct expr *axis) {
  return visit_all(v, axis).has_axis;
}

void scalar_loads(const struct scalar *v, void (*f)(void *user, const struct scalar *load),
                  void *user) {
  struct visit w = visit_all(v, NULL);
  for (size_t i = 0; i < w.loads.len; i++)
    f(user, w.loads.at[i]);
}

unsigned scalar_cost(const struct scalar *v) { return visit_all(v, NULL).cost; }
