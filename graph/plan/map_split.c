// SPDX-License-Identifier: Apache-2.0
// Maps whose last axis has two parts that read each other, as in rotary embeddings: a thread
// computes both, so that each load is used twice; or, if a part is shorter than a cache line, loads
// whole lines with rotated indices.
#include "graph/plan/map_plan.h"

enum { LEAST_HALF = 16, MOST_WRITES = 4, LINE = 128 };

// Comparisons of indices along an axis, and loads.
struct inspection {
  struct arena *arena;
  const struct expr *axis;
  struct map seen; // expression trees
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

static unsigned comparisons_in(struct planner *pl, const struct scalar *v,
                               const struct expr *axis) {
  struct inspection n = {.arena = pl->arena, .axis = axis};
  inspect(&n, v);
  return n.comparisons;
}

struct loads {
  struct arena *arena;
  struct map seen;
  unsigned again; // loads that both parts have
};

static void note_load(void *user, const struct scalar *load) {
  struct loads *l = user;
  if (ptrmap_get(&l->seen, load))
    l->again++;
  else
    ptrmap_put(l->arena, &l->seen, load, l);
}

// ---- short parts: x < 32 ? -a[x + 32] : a[x - 32] loads a[(x + 32) % 64] ----

struct crossing {
  struct planner *pl;
  const struct expr *axis;
  int64_t half;
  struct map loads[2]; // of each part, as loaded now
  unsigned count[2];
  VEC(const struct scalar *) from, to;
};

static bool is_half(const struct crossing *c, const struct scalar *v) {
  return v->kind == SCALAR_CONST ? v->constant.integer == c->half
                                 : v->kind == SCALAR_INDEX && expr_is(v->index, c->half);
}

// 0: v holds in the first part, 1: in the second one, -1: another condition.
static int half_where(const struct crossing *c, const struct scalar *v) {
  if (!is_comparison(v))
    return -1;
  const struct scalar *x = v->in[0], *y = v->in[1];
  if (x->kind == SCALAR_INDEX && x->index == c->axis && is_half(c, y))
    return v->op == SCALAR_LT ? 0 : v->op == SCALAR_GE ? 1 : -1;
  if (y->kind == SCALAR_INDEX && y->index == c->axis && is_half(c, x))
    return v->op == SCALAR_GT ? 0 : v->op == SCALAR_LE ? 1 : -1;
  return -1;
}

struct crossed_loads {
  struct crossing *c;
  int half;
  VEC(const struct scalar *) from, to;
};

static void cross_load(void *user, const struct scalar *load) {
  struct crossed_loads *l = user;
  struct crossing *c = l->c;
  struct exprs *x = c->pl->x;
  const struct expr *other =
      expr_mod(x, expr_addi(x, c->axis, c->half), expr_const(x, 2 * c->half));
  const struct expr *at = expr_addi(x, other, l->half ? c->half : -c->half);
  const struct expr *offset = index_substitute(c->pl->s, load->index, 1, &c->axis, &at);
  const struct scalar *now = scalar_load(c->pl->s, load->buffer, offset);
  vec_push(c->pl->arena, &l->from, load);
  vec_push(c->pl->arena, &l->to, now);
  c->count[l->half] += !ptrmap_get(&c->loads[l->half], now);
  ptrmap_put(c->pl->arena, &c->loads[l->half], now, c);
}

// A value of one part: loads from the other one, on the whole axis.
static const struct scalar *crossed(struct crossing *c, const struct scalar *v, int half) {
  struct crossed_loads l = {.c = c, .half = half};
  scalar_loads(v, cross_load, &l);
  return scalar_replace(c->pl->s, v, l.from.len, l.from.at, l.to.at);
}

static const struct scalar *chosen(struct crossing *c, const struct scalar *v, int half) {
  const struct scalar *other = v->in[2];
  const struct scalar *value = crossed(c, v->in[1], half);
  if (other->kind == SCALAR_MASKED && half_where(c, other->in[0]) == 1 - half)
    other = crossed(c, other->in[1], 1 - half);
  else
    other = crossed(c, other, 1 - half);
  const struct scalar *in[3] = {v->in[0], value, other};
  return scalar_apply(c->pl->s, SCALAR_WHERE, v->dtype, in);
}

static void find_choices(struct crossing *c, struct map *seen, const struct scalar *v) {
  if (ptrmap_get(seen, v))
    return;
  ptrmap_put(c->pl->arena, seen, v, c);
  int half = v->kind == SCALAR_MASKED ? half_where(c, v->in[0]) : -1;
  if (half >= 0) {
    const struct scalar *now = chosen(c, v, half);
    vec_push(c->pl->arena, &c->from, v);
    vec_push(c->pl->arena, &c->to, now);
    return;
  }
  for (unsigned i = 0, arity = scalar_arity(v); i < arity; i++)
    find_choices(c, seen, v->in[i]);
}

// Is every load common to both parts? Then it is valid on the whole axis.
static bool loads_agree(const struct crossing *c) {
  struct map_entry entry;
  for (size_t i = 0; map_next(&c->loads[0], &i, &entry);)
    if (!ptrmap_get(&c->loads[1], entry.key.ptr))
      return false;
  return c->count[0] == c->count[1] && c->count[0] > 0;
}

static bool cross(struct planner *pl, struct region_parts *parts, const struct expr *axis,
                  int64_t half) {
  const struct scalar *bodies[MOST_WRITES];
  for (size_t i = 0; i < parts->writes.len; i++) {
    struct crossing c = {.pl = pl, .axis = axis, .half = half};
    struct map seen = {0};
    const struct scalar *body = parts->writes.at[i].body;
    find_choices(&c, &seen, body);
    if (!loads_agree(&c))
      return false;
    bodies[i] = scalar_replace(pl->s, body, c.from.len, c.from.at, c.to.at);
  }
  for (size_t i = 0; i < parts->writes.len; i++)
    parts->writes.at[i].body = bodies[i];
  return true;
}

// ---- long parts ----

// The part of a write that begins at `start`.
static struct write_part half_of(struct planner *pl, const struct write_part *w,
                                 const struct expr *axis, const struct expr *half, int64_t start) {
  const struct expr *at = expr_addi(pl->x, half, start);
  struct write_part r = *w;
  r.offset = index_substitute(pl->s, w->offset, 1, &axis, &at);
  r.body = scalar_substitute(pl->s, w->body, 1, &axis, &at);
  return r;
}

static bool may_split_axis(const struct planner *pl, const struct region_parts *parts,
                           int64_t extent) {
  if (pl->region->kind != REGION_MAP || extent % 2 != 0 || extent / 2 < LEAST_HALF ||
      parts->writes.len > MOST_WRITES)
    return false;
  for (size_t i = 0; i < parts->writes.len; i++)
    if (parts->writes.at[i].buffer->role == BUFFER_INPUT)
      return false;
  return true;
}

// On an H200 stores of parts shorter than a line took 1 % more time than whole ones.
static bool is_short(const struct region_parts *parts, int64_t extent) {
  unsigned bytes = 8;
  for (size_t i = 0; i < parts->writes.len; i++)
    if (dtype_bytes(parts->writes.at[i].buffer->dtype) < bytes)
      bytes = dtype_bytes(parts->writes.at[i].buffer->dtype);
  return extent / 2 * bytes < LINE && (extent & (extent - 1)) == 0;
}

void map_split(struct planner *pl, struct region_parts *parts, struct map_plan *m) {
  const struct expr *axis = map_last_axis(m);
  int64_t extent;
  if (!expr_is_const(axis_extent(axis), &extent) || !may_split_axis(pl, parts, extent))
    return;
  if (is_short(parts, extent) && cross(pl, parts, axis, extent / 2))
    return;
  const struct expr *limit = expr_const(pl->x, extent / 2);
  const struct expr *half = expr_symbol(pl->x, axis->symbol->name, 0, extent / 2 - 1, limit);
  struct region_parts split_parts = {.reductions = parts->reductions};
  struct loads loads = {.arena = pl->arena};
  for (size_t i = 0; i < parts->writes.len; i++) {
    const struct write_part *w = &parts->writes.at[i];
    if (!comparisons_in(pl, w->body, axis))
      return;
    for (int k = 0; k < 2; k++) {
      struct write_part part = half_of(pl, w, axis, half, k * (extent / 2));
      if (comparisons_in(pl, part.body, half))
        return;
      scalar_loads(part.body, note_load, &loads);
      vec_push(pl->arena, &split_parts.writes, part);
    }
  }
  if (!loads.again)
    return;
  const struct expr **axes = arena_array(pl->arena, const struct expr *, m->rank);
  for (uint32_t i = 0; i < m->rank; i++)
    axes[i] = m->axes[i];
  axes[m->rank - 1] = half;
  m->axes = axes;
  m->is_split = true;
  *parts = split_parts;
}
