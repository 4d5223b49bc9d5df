// SPDX-License-Identifier: Apache-2.0
// Dependencies between groups. Groups are kept in topological order; two may be merged if a search
// between their positions finds no path through a third, and merging repairs the order there.
#include "graph/fuse/fuse.h"

enum { MAX_VISITS = 4096 };

static void add_edge(struct fuser *f, struct group *from, struct group *to) {
  if (!from || from == to)
    return;
  if (to->before.len && vec_last(&to->before) == from)
    return;
  vec_push(f->arena, &from->after, to);
  vec_push(f->arena, &to->before, from);
}

// The buffer's writers precede the group.
static void add_writers_before(struct fuser *f, const struct buffer *b, struct group *g) {
  add_edge(f, f->uses[b->id].writer, g);
  for (size_t i = 0; i < b->parts.len; i++)
    add_writers_before(f, b->parts.at[i], g);
}

struct reader {
  struct fuser *f;
  struct group *g;
};

static void add_reader(void *user, const struct scalar *v) {
  struct reader *r = user;
  if (v->kind != SCALAR_LOAD || !v->buffer)
    return;
  struct buffer_use *u = &r->f->uses[v->buffer->id];
  if (u->readers.len && vec_last(&u->readers) == r->g)
    return;
  add_writers_before(r->f, v->buffer, r->g);
  vec_push(r->f->arena, &u->readers, r->g);
}

// Write after read and write after write.
static void add_writer(struct fuser *f, struct group *g, struct buffer *b) {
  struct buffer_use *u = &f->uses[b->id];
  add_edge(f, u->writer, g);
  for (size_t i = 0; i < u->readers.len; i++)
    add_edge(f, u->readers.at[i], g);
  u->writer = g;
}

void order_create(struct fuser *f) {
  for (size_t i = 0; i < f->order.len; i++) {
    struct group *g = f->order.at[i];
    const struct stage *s = g->members.at[0]->stage;
    struct reader r = {f, g};
    stage_scalar_exprs(f, s, add_reader, &r);
    add_writer(f, g, s->out);
    if (s->attention && s->attention->lse)
      add_writer(f, g, s->attention->lse);
    for (uint32_t k = 0; s->call && k < s->call->node->result_count; k++)
      if (s->call->results[k] && s->call->results[k] != s->out)
        add_writer(f, g, s->call->results[k]);
  }
}

// ---- searching ----

struct search {
  struct fuser *f;
  struct group *from, *to;
  VEC(struct group *) open;
};

// The direct successors of g up to `to`, each once; true if `to` is one of them.
static bool visit(struct search *s, struct group *g) {
  bool found = false;
  for (size_t i = 0; i < g->after.len; i++) {
    struct group *next = group_alive(g->after.at[i]);
    g->after.at[i] = next;
    found |= next == s->to;
    if (next == s->to || next == s->from || next->stamp == s->f->stamp ||
        next->position > s->to->position)
      continue;
    next->stamp = s->f->stamp;
    vec_push(s->f->arena, &s->open, next);
  }
  return found;
}

// Marks with f->stamp all successors of `from` before `to`; true if one of them leads to `to`.
static bool search(struct search *s) {
  s->f->stamp++;
  visit(s, s->from);
  for (size_t i = 0; i < s->open.len; i++)
    if (i > MAX_VISITS || visit(s, s->open.at[i]))
      return true;
  return false;
}

bool order_has_detour(struct fuser *f, struct group *a, struct group *b) {
  struct group *first = a->position < b->position ? a : b;
  struct search s = {.f = f, .from = first, .to = first == a ? b : a};
  struct arena_mark mark = arena_mark(f->arena);
  bool found = search(&s);
  arena_release(f->arena, mark);
  return found;
}

// ---- merging ----

static void take_edges(struct fuser *f, struct group *kept, const struct group *dead) {
  for (size_t i = 0; i < dead->after.len; i++)
    if (group_alive(dead->after.at[i]) != kept)
      vec_push(f->arena, &kept->after, group_alive(dead->after.at[i]));
  for (size_t i = 0; i < dead->before.len; i++)
    if (group_alive(dead->before.at[i]) != kept)
      vec_push(f->arena, &kept->before, group_alive(dead->before.at[i]));
}

// Between the two: first the groups that do not depend on the first, then the merged group, then
// those that do.
void order_merge(struct fuser *f, struct group *kept, struct group *dead) {
  struct group *first = kept->position < dead->position ? kept : dead;
  struct group *last = first == kept ? dead : kept;
  struct search s = {.f = f, .from = first, .to = last};
  search(&s);
  VEC(struct group *) behind = {0};
  uint32_t begin = first->position, end = last->position, at = begin;
  for (uint32_t i = begin; i <= end; i++) {
    struct group *g = f->order.at[i];
    if (g == first || g == last || g->into)
      continue;
    if (g->stamp == f->stamp) {
      vec_push(f->arena, &behind, g);
      continue;
    }
    g->position = at;
    f->order.at[at++] = g;
  }
  kept->position = at;
  f->order.at[at++] = kept;
  for (size_t i = 0; i < behind.len; i++) {
    behind.at[i]->position = at;
    f->order.at[at++] = behind.at[i];
  }
  for (; at <= end; at++) { // slots of merged groups
    f->order.at[at] = dead;
  }
  dead->into = kept;
  dead->position = end;
  kept->version++;
  take_edges(f, kept, dead);
}
