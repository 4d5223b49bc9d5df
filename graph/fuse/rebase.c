// SPDX-License-Identifier: Apache-2.0
// Regions that differ only in where they start to read get equal kernels: the common constant of
// the offsets moves from the kernel to the pointer that its launch passes.
//
//   step 5:  h5 = tanh(h4[x] + in[320 + x])   becomes   h5 = tanh(h4[x] + slice[x]), with the
//   slice of `in` that starts at 320; all steps of an unrolled loop share one kernel then.
#include "base/map.h"
#include "graph/fuse/region.h"

struct rebase {
  struct regions *r;
  struct arena *arena;
  struct exprs *x;
  struct scalars *s;
  VEC(const struct scalar *) loads, moved; // of the current region
  struct map slices;                       // by home and start
};

// ---- the start of an offset ----

// Does it depend on sizes only?
static bool is_size(const struct expr *e) {
  bool is = e->kind != EXPR_SYMBOL || (!e->symbol->limit && !e->symbol->indirect);
  for (uint32_t i = 0; is && i < e->count; i++)
    is = is_size(e->in[i]);
  return is;
}

// The terms of an offset that depend on no axis: a number, and the others.
static int64_t constant_of(struct exprs *x, const struct expr *e, const struct expr **ret_sizes) {
  int64_t n = 0, value;
  uint32_t count = e->kind == EXPR_ADD ? e->count : 1;
  const struct expr *const *terms = e->kind == EXPR_ADD ? e->in : &e;
  *ret_sizes = expr_const(x, 0);
  for (uint32_t i = 0; i < count; i++)
    if (expr_is_const(terms[i], &value))
      n += value;
    else if (is_size(terms[i]))
      *ret_sizes = expr_add(x, *ret_sizes, terms[i]);
  return n;
}

// The common start of the loads of `b`; NULL: 0 or none.
static const struct expr *start_of(struct rebase *w, const struct buffer *b) {
  const struct expr *common = NULL, *sizes;
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < w->loads.len; i++) {
    if (w->loads.at[i]->buffer != b)
      continue;
    int64_t n = constant_of(w->x, w->loads.at[i]->index, &sizes);
    if (common && sizes != common)
      return NULL;
    common = sizes;
    least = n < least ? n : least;
  }
  const struct expr *start = common ? expr_addi(w->x, common, least) : NULL;
  return start && !expr_is(start, 0) && start->lo >= 0 && least >= 0 ? start : NULL;
}

// ---- slices ----

// Elements from the start to the last one that is read, as far as ranges tell.
static const struct expr *span_of(struct rebase *w, const struct buffer *b,
                                  const struct expr *start) {
  int64_t last = 0;
  for (size_t i = 0; i < w->loads.len; i++) {
    const struct scalar *v = w->loads.at[i];
    if (v->buffer != b)
      continue;
    int64_t hi = expr_sub(w->x, v->index, start)->hi;
    last = hi > last ? hi : last;
  }
  const struct expr *rest = expr_sub(w->x, b->numel, start);
  return last == INT64_MAX ? rest : expr_min(w->x, rest, expr_const(w->x, last + 1));
}

static struct buffer *slice_at(struct rebase *w, struct buffer *b, const struct expr *start) {
  const struct expr *numel = span_of(w, b, start);
  char *key = arena_printf(w->arena, "%u %u %u", b->id, start->id, numel->id);
  struct buffer *slice = map_get(&w->slices, str_from(key));
  if (slice)
    return slice;
  struct loops *l = w->r->loops;
  slice = arena_new(w->arena, struct buffer);
  *slice =
      (struct buffer){.id = (uint32_t)l->buffers.len,
                      .name = b->name,
                      .dtype = b->dtype,
                      .role = BUFFER_SLICE,
                      .numel = numel,
                      .home = b->home,
                      .start = b->role == BUFFER_SLICE ? expr_add(w->x, b->start, start) : start};
  vec_push(w->arena, &slice->parts, b); // it is written as `b` is
  vec_push(w->arena, &l->buffers, slice);
  map_put(w->arena, &w->slices, str_from(key), slice);
  return slice;
}

static void move_loads(struct rebase *w, const struct buffer *b, struct buffer *slice,
                       const struct expr *start) {
  for (size_t i = 0; i < w->loads.len; i++) {
    const struct scalar *v = w->loads.at[i];
    if (v->buffer == b)
      w->moved.at[i] = scalar_load(w->s, slice, expr_sub(w->x, v->index, start));
  }
}

// ---- a region ----

static void note_load(void *user, const struct scalar *load) {
  struct rebase *w = user;
  vec_push(w->arena, &w->loads, load);
  vec_push(w->arena, &w->moved, load);
}

static void note_loads(struct rebase *w, const struct scalar *v) {
  if (v)
    scalar_loads(v, note_load, w);
}

static const struct scalar *moved_in(struct rebase *w, const struct scalar *v) {
  return v ? scalar_replace(w->s, v, w->loads.len, w->loads.at, w->moved.at) : NULL;
}

static void move_groups(struct rebase *w, struct stage *s) {
  if (!s->groups)
    return;
  struct groups *moved = arena_new(w->arena, struct groups);
  *moved = *s->groups;
  moved->end = moved_in(w, moved->end);
  s->groups = moved;
}

static bool writes(const struct region *r, const struct buffer *b) {
  for (size_t i = 0; i < r->stages.len; i++)
    if (r->stages.at[i]->out == b)
      return true;
  return false;
}

static void rebase(struct rebase *w, struct region *r) {
  bool moves = false;
  w->loads.len = w->moved.len = 0;
  for (size_t i = 0; i < r->stages.len; i++) {
    note_loads(w, r->stages.at[i]->body);
    note_loads(w, r->stages.at[i]->a);
    note_loads(w, r->stages.at[i]->b);
    note_loads(w, r->stages.at[i]->groups ? r->stages.at[i]->groups->end : NULL);
  }
  for (size_t i = 0; i < r->reads.len; i++) {
    struct buffer *b = r->reads.at[i];
    const struct expr *start = writes(r, b) ? NULL : start_of(w, b);
    if (!start)
      continue;
    r->reads.at[i] = slice_at(w, b, start);
    move_loads(w, b, r->reads.at[i], start);
    moves = true;
  }
  for (size_t i = 0; moves && i < r->stages.len; i++) {
    struct stage *s = r->stages.at[i];
    s->body = moved_in(w, s->body);
    s->a = moved_in(w, s->a);
    s->b = moved_in(w, s->b);
    move_groups(w, s);
  }
}

void regions_rebase(struct regions *r) {
  struct loops *l = r->loops;
  struct rebase w = {.r = r, .arena = l->arena, .x = l->exprs, .s = l->scalars};
  struct map count = {0}; // of regions by name
  for (size_t i = 0; i < r->list.len; i++) {
    struct str name = str_from(r->list.at[i]->name);
    map_put(w.arena, &count, name, (void *)((uintptr_t)map_get(&count, name) + 1));
  }
  for (size_t i = 0; i < r->list.len; i++) {
    struct region *g = r->list.at[i];
    bool is_alone = (uintptr_t)map_get(&count, str_from(g->name)) < 2;
    if (!is_alone && g->kind != REGION_SCATTER && g->kind != REGION_ATTENTION &&
        g->kind != REGION_CALL)
      rebase(&w, g);
  }
}
