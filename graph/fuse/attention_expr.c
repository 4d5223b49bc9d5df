// SPDX-License-Identifier: Apache-2.0
// Inlines materialised maps: loads of their results become their expression trees at the loaded
// index.
#include "graph/fuse/attention_match.h"

enum { MAX_WRITTEN_IN = 64, MAX_DEPTH = 8 };

// ---- transposed offsets ----

static bool base_of(struct fuser *f, const struct expr *offset, uint32_t rank,
                    const struct expr *const *axes, const struct expr **strides,
                    const struct expr **ret) {
  for (uint32_t i = 0; i < rank; i++) {
    const struct expr *rest;
    if (!expr_linear(f->x, offset, axes[i], &strides[i], &rest))
      return false;
    offset = rest;
  }
  *ret = offset;
  return true;
}

bool offset_solve(struct fuser *f, const struct expr *offset, uint32_t rank,
                  const struct expr *const *axes, const struct expr *target,
                  const struct expr **ret) {
  const struct expr *strides[GRAPH_MAX_RANK], *base;
  if (rank > GRAPH_MAX_RANK || !base_of(f, offset, rank, axes, strides, &base))
    return false;
  const struct expr *t = expr_sub(f->x, target, base);
  int64_t largest = 0;
  for (uint32_t i = 0; i < rank; i++)
    if (!expr_is(axis_extent(axes[i]), 1) && expr_hint(strides[i]) > largest)
      largest = expr_hint(strides[i]);
  for (uint32_t i = 0; i < rank; i++) {
    const struct expr *extent = axis_extent(axes[i]);
    ret[i] = expr_const(f->x, 0);
    if (expr_is(extent, 1))
      continue;
    if (strides[i]->lo <= 0)
      return false;
    ret[i] = expr_floordiv(f->x, t, strides[i]);
    if (expr_hint(strides[i]) != largest)
      ret[i] = expr_mod(f->x, ret[i], extent);
  }
  return expr_substitute(f->x, offset, rank, axes, ret) == target;
}

// ---- inlining ----

struct loads {
  struct match *m;
  VEC(const struct scalar *) from, to;
};

// The expression tree behind a load of a map's result; NULL: not to be inlined.
static const struct scalar *stored_scalar_expr(struct match *m, const struct scalar *load) {
  const struct stage *s = load->buffer ? m->writer[load->buffer->id] : NULL;
  const struct expr *at[GRAPH_MAX_RANK];
  if (!s || s->kind != STAGE_MAP || !m->has_anchor[load->buffer->id] ||
      !offset_solve(m->f, s->offset, s->rank, s->axes, load->index, at))
    return NULL;
  const struct scalar *v = scalar_substitute(m->f->s, s->body, s->rank, s->axes, at);
  return scalar_convert(m->f->s, v, load->dtype);
}

static void note_load(void *user, const struct scalar *load) {
  struct loads *l = user;
  const struct scalar *v = stored_scalar_expr(l->m, load);
  if (!v || l->from.len >= MAX_WRITTEN_IN)
    return;
  vec_push(l->m->f->arena, &l->from, load);
  vec_push(l->m->f->arena, &l->to, v);
}

static bool is_half(enum dtype t) { return t == DTYPE_F16 || t == DTYPE_BF16; }

// Removes roundings to half precision and back: intermediate values are not stored.
static const struct scalar *without_rounding(const struct scalar *v) {
  while (v->kind == SCALAR_CONVERT && v->in[0]->kind == SCALAR_CONVERT &&
         dtype_is_float(v->dtype) && is_half(v->in[0]->dtype) && v->in[0]->in[0]->dtype == v->dtype)
    v = v->in[0]->in[0];
  return v;
}

struct roundings {
  struct fuser *f;
  VEC(const struct scalar *) from, to;
};

static void note_rounding(void *user, const struct scalar *v) {
  struct roundings *r = user;
  const struct scalar *plain = without_rounding(v);
  if (plain == v)
    return;
  vec_push(r->f->arena, &r->from, v);
  vec_push(r->f->arena, &r->to, plain);
}

const struct scalar *scalar_expr_write_in(struct match *m, const struct scalar *v) {
  for (int depth = 0; depth < MAX_DEPTH; depth++) {
    struct loads l = {.m = m};
    scalar_loads(v, note_load, &l);
    if (!l.from.len)
      break;
    v = scalar_replace(m->f->s, v, l.from.len, l.from.at, l.to.at);
  }
  const struct graph *g = m->f->l->graph; // NULL for hand-built loops
  const bool keeps_casts = g && g->keeps_casts;
  for (int depth = 0; depth < MAX_DEPTH && !keeps_casts; depth++) { // roundings may be nested
    struct roundings r = {.f = m->f};
    struct stage s = {.body = v, .offset = expr_const(m->f->x, 0)};
    stage_scalar_exprs(m->f, &s, note_rounding, &r);
    if (!r.from.len)
      break;
    v = scalar_replace(m->f->s, v, r.from.len, r.from.at, r.to.at);
  }
  return v;
}
