// SPDX-License-Identifier: Apache-2.0
// Walks and rewrites the expression trees of stages, for fusion.
#include "graph/fuse/fuse.h"
#include "graph/loops/scalar_expr_internal.h"

static const struct scalar *change(struct fuser *f, const struct scalar *v, size_t count,
                                   const struct expr *const *from, const struct expr *const *to) {
  return v ? scalar_substitute(f->s, v, count, from, to) : NULL;
}

void stage_substitute(struct fuser *f, struct stage *s, size_t count,
                      const struct expr *const *from, const struct expr *const *to) {
  s->body = change(f, s->body, count, from, to);
  s->a = change(f, s->a, count, from, to);
  s->b = change(f, s->b, count, from, to);
  s->predicate = change(f, s->predicate, count, from, to);
  s->offset = index_substitute(f->s, s->offset, count, from, to);
  if (!s->attention)
    return;
  struct attention *old = s->attention, *new = arena_new(f->arena, struct attention);
  *new = *old;
  new->q = change(f, old->q, count, from, to);
  new->k = change(f, old->k, count, from, to);
  new->v = change(f, old->v, count, from, to);
  new->score = change(f, old->score, count, from, to);
  new->kept = change(f, old->kept, count, from, to);
  new->product = change(f, old->product, count, from, to);
  new->key = expr_substitute(f->x, old->key, count, from, to);
  new->depth = expr_substitute(f->x, old->depth, count, from, to);
  if (old->first)
    new->first = index_substitute(f->s, old->first, count, from, to);
  if (old->end)
    new->end = index_substitute(f->s, old->end, count, from, to);
  if (old->lse)
    new->lse_offset = index_substitute(f->s, old->lse_offset, count, from, to);
  s->attention = new;
}

// ---- walking ----

struct walk {
  struct scalars *s;
  uint32_t number;
  scalar_expr_fn fn; // may not start another walk
  void *user;
};

static void walk_scalar_expr(struct walk *w, const struct scalar *v);

// Visits the loaded indices of an offset.
static void walk_offset(struct walk *w, const struct expr *e) {
  if (e->kind == EXPR_SYMBOL && e->symbol->indirect)
    walk_scalar_expr(w, e->symbol->indirect);
  for (uint32_t i = 0; i < e->count; i++)
    walk_offset(w, e->in[i]);
}

static void walk_scalar_expr(struct walk *w, const struct scalar *v) {
  if (!v || !scalar_expr_enter(w->s, w->number, v))
    return;
  for (unsigned i = 0; i < 3; i++)
    walk_scalar_expr(w, v->in[i]);
  if (v->index)
    walk_offset(w, v->index);
  w->fn(w->user, v);
}

void stage_scalar_exprs(struct fuser *f, const struct stage *s, scalar_expr_fn fn, void *user) {
  struct walk w = {.s = f->s, .number = scalar_expr_walk(f->s), .fn = fn, .user = user};
  walk_scalar_expr(&w, s->body);
  walk_scalar_expr(&w, s->a);
  walk_scalar_expr(&w, s->b);
  walk_scalar_expr(&w, s->groups ? s->groups->end : NULL);
  walk_scalar_expr(&w, s->predicate);
  walk_offset(&w, s->offset);
  if (s->attention) {
    walk_scalar_expr(&w, s->attention->q);
    walk_scalar_expr(&w, s->attention->k);
    walk_scalar_expr(&w, s->attention->v);
    walk_scalar_expr(&w, s->attention->score);
    walk_scalar_expr(&w, s->attention->kept);
  }
  for (size_t i = 0; s->call && i < s->call->operand_count; i++)
    walk_scalar_expr(&w, s->call->operands[i]);
}

// ---- offsets ----

bool offset_has_axis(struct fuser *f, const struct expr *e, const struct expr *axis) {
  if (e->kind == EXPR_CONST)
    return false;
  if (e->kind == EXPR_SYMBOL)
    return e == axis || (e->symbol->indirect && scalar_has_axis(e->symbol->indirect, axis));
  for (uint32_t i = 0; i < e->count; i++)
    if (offset_has_axis(f, e->in[i], axis))
      return true;
  return false;
}

const struct expr *offset_stride(struct fuser *f, const struct expr *e, const struct expr *axis) {
  if (!offset_has_axis(f, e, axis))
    return expr_const(f->x, 0);
  const struct expr *stride, *rest;
  if (!expr_linear(f->x, e, axis, &stride, &rest) || offset_has_axis(f, rest, axis) ||
      offset_has_axis(f, stride, axis))
    return NULL;
  return stride;
}

struct find {
  struct fuser *f;
  struct group *g;
  struct member *m;
  size_t begin; // the first access of the member
};

static void add_access(struct find *c, struct buffer *b, const struct expr *offset, bool is_store) {
  struct group *g = c->g;
  for (size_t i = c->begin; i < g->accesses.len; i++)
    if (g->accesses.at[i].buffer == b && g->accesses.at[i].offset == offset &&
        g->accesses.at[i].is_store == is_store)
      return;
  struct access a = {.buffer = b, .offset = offset, .member = c->m, .is_store = is_store};
  vec_push(c->f->arena, &g->accesses, a);
}

static void add_load(void *user, const struct scalar *v) {
  struct find *c = user;
  if (v->kind == SCALAR_LOAD && v->buffer)
    add_access(c, v->buffer, v->index, false);
}

void group_find_accesses(struct fuser *f, struct group *g) {
  g->accesses.len = 0;
  for (size_t i = 0; i < g->members.len; i++) {
    struct find c = {f, g, g->members.at[i], g->accesses.len};
    const struct stage *s = c.m->stage;
    stage_scalar_exprs(f, s, add_load, &c);
    add_access(&c, s->out, s->offset, true);
    if (s->attention && s->attention->lse)
      add_access(&c, s->attention->lse, s->attention->lse_offset, true);
    for (uint32_t k = 0; s->call && k < s->call->node->result_count; k++)
      if (s->call->results[k])
        add_access(&c, s->call->results[k], s->offset, true);
  }
}
