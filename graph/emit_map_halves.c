// SPDX-License-Identifier: Apache-2.0
// Maps whose last axis is two halves that read each other, as in rotary embeddings: a program
// computes both, so that what it loads serves twice.
#include "graph/emit_map.h"

enum { LEAST_HALF = 16, MOST_WRITES = 4 };

// Comparisons of places along an axis, and loads.
struct inspection {
  struct arena *arena;
  const struct expr *axis;
  struct map seen; // formulas
  unsigned comparisons;
};

static bool is_comparison(const struct scalar *v) {
  return v->kind == SCALAR_APPLY && v->op >= SCALAR_EQ && v->op <= SCALAR_GE;
}

static void inspect(struct inspection *n, const struct scalar *v) {
  if (ptrmap_get(&n->seen, v))
    return;
  ptrmap_put(n->arena, &n->seen, v, n);
  bool compares = false;
  for (unsigned i = 0, arity = scalar_arity(v); i < arity; i++) {
    const struct scalar *x = v->in[i];
    compares = compares || (x->kind == SCALAR_INDEX && expr_has_symbol(x->index, n->axis));
    inspect(n, x);
  }
  n->comparisons += compares && is_comparison(v);
}

static unsigned comparisons_in(struct emitter *e, const struct scalar *v, const struct expr *axis) {
  struct inspection n = {.arena = e->arena, .axis = axis};
  inspect(&n, v);
  return n.comparisons;
}

struct loads {
  struct arena *arena;
  struct map seen;
  unsigned again; // of those that were there before
};

static void note_load(void *user, const struct scalar *load) {
  struct loads *l = user;
  if (ptrmap_get(&l->seen, load))
    l->again++;
  else
    ptrmap_put(l->arena, &l->seen, load, l);
}

// The half of a write that begins at `start`.
static struct emit_write half_of(struct emitter *e, const struct emit_write *w,
                                 const struct expr *axis, const struct expr *half, int64_t start) {
  const struct expr *at = expr_addi(e->x, half, start);
  struct emit_write r = *w;
  r.place = index_substitute(e->s, w->place, 1, &axis, &at);
  r.body = scalar_substitute(e->s, w->body, 1, &axis, &at);
  return r;
}

static bool may_halve(const struct emitter *e, const struct emit_parts *parts, int64_t extent) {
  if (e->region->kind != REGION_MAP || extent % 2 != 0 || extent / 2 < LEAST_HALF ||
      parts->writes.len > MOST_WRITES)
    return false;
  for (size_t i = 0; i < parts->writes.len; i++)
    if (parts->writes.at[i].buffer->role == BUFFER_INPUT)
      return false;
  return true;
}

void map_halve(struct emitter *e, struct emit_parts *parts, struct map_plan *m) {
  const struct expr *axis = map_last_axis(m);
  int64_t extent;
  if (!expr_is_const(axis->symbol->limit, &extent) || !may_halve(e, parts, extent))
    return;
  const struct expr *limit = expr_const(e->x, extent / 2);
  const struct expr *half = expr_symbol(e->x, axis->symbol->name, 0, extent / 2 - 1, limit);
  struct emit_parts halves = {.reductions = parts->reductions};
  struct loads loads = {.arena = e->arena};
  for (size_t i = 0; i < parts->writes.len; i++) {
    const struct emit_write *w = &parts->writes.at[i];
    if (!comparisons_in(e, w->body, axis))
      return;
    for (int k = 0; k < 2; k++) {
      struct emit_write part = half_of(e, w, axis, half, k * (extent / 2));
      if (comparisons_in(e, part.body, half))
        return;
      scalar_loads(part.body, note_load, &loads);
      vec_push(e->arena, &halves.writes, part);
    }
  }
  if (!loads.again)
    return;
  const struct expr **axes = arena_array(e->arena, const struct expr *, m->rank);
  for (uint32_t i = 0; i < m->rank; i++)
    axes[i] = m->axes[i];
  axes[m->rank - 1] = half;
  m->axes = axes;
  m->is_halved = true;
  *parts = halves;
}
