// SPDX-License-Identifier: Apache-2.0
// Lifetimes of buffers, and in-place outputs: a sum in the memory of one of its operands.
#include "base/map.h"
#include "graph/plan/memory_plan.h"

#include <assert.h>

struct search {
  struct arena *a;
  const struct buffer *counters;
  size_t end; // number of launches
  struct exprs *x;
  struct map by_buffer; // to struct life
  VEC(struct life *) lives;
  VEC(struct in_place) taken;
};

static const struct expr *size_of(struct exprs *x, const struct buffer *b) {
  const struct expr *bytes = expr_muli(x, b->numel, dtype_bytes(b->dtype));
  const struct expr *units = expr_cdiv(x, bytes, expr_const(x, MEMORY_ALIGNMENT));
  return expr_muli(x, units, MEMORY_ALIGNMENT);
}

static void touch(struct search *f, struct buffer *of, size_t at) {
  struct buffer *b = of ? of->home : NULL;
  if (!b || b->role != BUFFER_TEMP || (at && b == f->counters))
    return;
  struct life *l = ptrmap_get(&f->by_buffer, b);
  if (!l) {
    l = arena_new(f->a, struct life);
    l->buffer = b;
    l->first = at;
    l->size = size_of(f->x, b);
    if (!expr_is_const(l->size, &l->bytes))
      l->bytes = memory_likely(b->numel, b->dtype);
    l->storage = l;
    vec_push(f->a, &f->lives, l);
    ptrmap_put(f->a, &f->by_buffer, b, l);
  }
  l->last = at;
  if ((l->is_counter = b == f->counters))
    l->last = f->end;
}

// What is read was written: by an earlier launch, or beside it by this one.
static void touch_arguments(struct search *f, const struct launch *l, size_t at) {
  for (int reads = 0; reads < 2; reads++)
    for (size_t j = 0; j < l->args.len; j++) {
      const struct launch_arg *a = &l->args.at[j];
      if (a->kind != LAUNCH_BUFFER || a->is_written == (reads == 1))
        continue;
      const struct buffer *home = a->buffer->home;
      assert(!reads || home->role != BUFFER_TEMP || ptrmap_get(&f->by_buffer, home));
      (void)home;
      touch(f, a->buffer, at);
    }
}

static const struct launch *launch_at(const struct program *p, const uint32_t *order, size_t i) {
  return &p->launches.at[order ? order[i] : i];
}

static void take(struct search *f, const struct launch *l, const struct launch_reuse *r,
                 size_t at) {
  struct life *from = ptrmap_get(&f->by_buffer, r->from), *to = ptrmap_get(&f->by_buffer, r->to);
  if (l->clears == r->to || from->last != at || to->first != at || from->is_given ||
      to->storage != to)
    return;
  from->is_given = true;
  to->storage = from->storage;
  from->storage->last = to->last;
  vec_push(f->a, &f->taken, (struct in_place){l, r->to});
}

struct lives memory_lives(const struct program *p, struct arena *a, const uint32_t *order,
                          bool reuses) {
  struct search f = {.a = a, .counters = p->counters, .end = p->launches.len, .x = p->graph->exprs};
  touch(&f, p->counters, 0);
  for (size_t i = 0; i < p->launches.len; i++) {
    const struct launch *l = launch_at(p, order, i);
    touch(&f, l->clears, i);
    touch_arguments(&f, l, i);
  }
  for (size_t i = 0; reuses && i < p->launches.len; i++) {
    const struct launch *l = launch_at(p, order, i);
    for (size_t j = 0; j < l->reuses.len; j++)
      take(&f, l, &l->reuses.at[j], i);
  }
  return (struct lives){f.lives.len, f.lives.at, f.taken.len, f.taken.at};
}

// ---- in-place kernels ----

static const char *parameter_of(const struct launch *l, const struct buffer *b) {
  for (size_t i = 0; i < l->args.len; i++)
    if (l->args.at[i].kind == LAUNCH_BUFFER && l->args.at[i].buffer == b)
      return l->args.at[i].name;
  UNREACHABLE();
}

void memory_order_kernels(struct program *p) {
  for (size_t i = 0; i < p->in_place.len; i++) {
    const struct launch *launch = p->in_place.at[i].launch;
    if (kernel_text_add_barrier(p->arena, &launch->kernel->text,
                                parameter_of(launch, p->in_place.at[i].to)))
      kernel_print(p->arena, launch->kernel);
  }
}
