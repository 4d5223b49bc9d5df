// SPDX-License-Identifier: Apache-2.0
// Grouped heads (grouped-query attention): g heads of queries that share a head of keys and values
// become g rows of one block for each query, so that a program loads the keys once for all of them.
//
//   batch, query       ->   batch / g,   row = query * g + batch % g
//
// Rows stay in the order of their queries, so that bounds of keys keep rising with the row.
#include "graph/plan/attention_plan.h"

enum { MOST_ROWS = 64, MOST_GROUP = 64 };

struct packing {
  struct planner *pl;
  const struct expr *batch, *query; // the old axes
  const struct expr *group, *row;   // the new ones
  const struct expr *to[2];         // what the old ones become
};

// ---- the group's size ----

struct divisors {
  const struct expr *batch;
  int64_t best;
};

// The largest divisor d, at most MOST_GROUP, of a `batch // d` in the expression.
static void find_divisor(const struct expr *e, struct divisors *d) {
  int64_t n;
  if (e->kind == EXPR_FLOORDIV && e->in[0] == d->batch && expr_is_const(e->in[1], &n) &&
      n <= MOST_GROUP && n > d->best)
    d->best = n;
  for (uint32_t i = 0; i < e->count; i++)
    find_divisor(e->in[i], d);
}

static void find_in_load(void *user, const struct scalar *load) { find_divisor(load->index, user); }

// Heads of queries that share keys; 1: each has its own.
static int64_t group_size(const struct attention_plan *t) {
  struct divisors d = {t->batch, 1};
  int64_t heads;
  if (!scalar_has_axis(t->score.k, t->batch) && expr_is_const(axis_extent(t->batch), &heads) &&
      heads <= MOST_GROUP)
    return heads; // one head of keys
  scalar_loads(t->score.k, find_in_load, &d);
  return d.best;
}

// ---- the new axes ----

static struct packing packing_of(struct planner *pl, const struct attention_plan *t, int64_t size) {
  struct exprs *x = pl->x;
  struct packing p = {.pl = pl, .batch = t->batch, .query = t->m};
  const struct expr *heads = axis_extent(t->batch), *g = expr_const(x, size);
  const struct expr *groups = expr_floordiv(x, heads, g);
  const struct expr *rows = expr_mul(x, axis_extent(t->m), g);
  p.group = expr_symbol(x, "b", 0, groups->hi == INT64_MAX ? groups->hi : groups->hi - 1, groups);
  p.row = expr_symbol(x, "m", 0, rows->hi == INT64_MAX ? rows->hi : rows->hi - 1, rows);
  p.to[0] = expr_add(x, expr_mul(x, p.group, g), expr_mod(x, p.row, g));
  p.to[1] = expr_floordiv(x, p.row, g);
  return p;
}

static const struct expr *packed_offset(const struct packing *p, const struct expr *e) {
  const struct expr *from[2] = {p->batch, p->query};
  return e ? index_substitute(p->pl->s, e, 2, from, p->to) : NULL;
}

static const struct scalar *packed(const struct packing *p, const struct scalar *v) {
  const struct expr *from[2] = {p->batch, p->query};
  return v ? scalar_substitute(p->pl->s, v, 2, from, p->to) : NULL;
}

static struct attention *packed_attention(const struct packing *p, const struct attention *a) {
  struct attention *ret = arena_new(p->pl->arena, struct attention);
  *ret = *a;
  ret->q = packed(p, a->q);
  ret->k = packed(p, a->k);
  ret->v = packed(p, a->v);
  ret->score = packed(p, a->score);
  ret->kept = packed(p, a->kept);
  ret->lse_offset = packed_offset(p, a->lse_offset);
  return ret;
}

static struct stage *packed_stage(const struct packing *p, const struct stage *s) {
  struct stage *ret = arena_new(p->pl->arena, struct stage);
  const struct expr **axes = arena_array(p->pl->arena, const struct expr *, 3);
  axes[0] = p->group, axes[1] = p->row, axes[2] = s->axes[2];
  *ret = *s;
  ret->axes = axes;
  ret->offset = packed_offset(p, s->offset);
  ret->attention = packed_attention(p, s->attention);
  return ret;
}

static void pack_score(const struct packing *p, struct score *c) {
  c->q = packed(p, c->q);
  c->k = packed(p, c->k);
  c->expr = packed(p, c->expr);
  c->added = packed(p, c->added);
  c->seen = packed(p, c->seen);
  c->first = packed_offset(p, c->first);
  c->last = packed_offset(p, c->last);
}

static void pack_epilogue(const struct packing *p, struct region_parts *e) {
  for (size_t i = 0; i < e->writes.len; i++) {
    e->writes.at[i].offset = packed_offset(p, e->writes.at[i].offset);
    e->writes.at[i].body = packed(p, e->writes.at[i].body);
  }
}

// Bounds of a head's own would not rise with the row.
static bool has_bounds_by_head(const struct attention_plan *t) {
  const struct score *c = &t->score;
  return (c->first && expr_has_symbol(c->first, t->batch)) ||
         (c->last && expr_has_symbol(c->last, t->batch));
}

void attention_pack_heads(struct planner *pl, struct attention_plan *t) {
  int64_t size = group_size(t);
  if (size == 1 || has_bounds_by_head(t) ||
      expr_likely_product(expr_likely(axis_extent(t->m)), size) > MOST_ROWS ||
      !expr_is_multiple(axis_extent(t->batch), size))
    return;
  struct packing p = packing_of(pl, t, size);
  struct stage *s = packed_stage(&p, t->stage);
  if (scalar_has_axis(packed(&p, t->score.k), p.row) || scalar_has_axis(s->attention->v, p.row))
    return;
  t->stage = s;
  t->t = s->attention;
  t->batch = p.group;
  t->m = p.row;
  pack_score(&p, &t->score);
  pack_epilogue(&p, &t->epilogue);
}
