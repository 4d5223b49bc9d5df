// SPDX-License-Identifier: Apache-2.0
// Loop dimensions of groups: created from a stage's axes, split where an offset divides them,
// ordered by memory.
#include "graph/fuse/fuse.h"

const struct expr *axis_create(struct fuser *f, const char *name, const struct expr *extent) {
  int64_t hi = extent->hi == INT64_MAX ? INT64_MAX : extent->hi > 0 ? extent->hi - 1 : 0;
  return expr_symbol(f->x, name, 0, hi, extent);
}

void group_substitute(struct fuser *f, struct group *g, size_t count,
                      const struct expr *const *from, const struct expr *const *to) {
  if (!count)
    return;
  for (size_t i = 0; i < g->members.len; i++)
    stage_substitute(f, g->members.at[i]->stage, count, from, to);
}

// ---- from a stage ----

static enum region_kind kind_of(const struct stage *s) {
  switch (s->kind) {
  case STAGE_MAP: return REGION_MAP;
  case STAGE_REDUCE: return REGION_ROWS;
  case STAGE_SCAN: return REGION_SCAN;
  case STAGE_SCATTER: return REGION_SCATTER;
  case STAGE_PRODUCT: return REGION_PRODUCT;
  case STAGE_ATTENTION: return REGION_ATTENTION;
  case STAGE_CALL: return REGION_CALL;
  }
  UNREACHABLE();
}

// ---- splitting ----

// The first axis that e divides, or takes the remainder of, by a divisor of its extent.
static bool find_cut(struct fuser *f, const struct group *g, const struct expr *e,
                     size_t *ret_loop_dim, const struct expr **ret_by) {
  if (e->kind == EXPR_FLOORDIV || e->kind == EXPR_MOD)
    for (size_t i = 0; i < g->loop_dims.len; i++)
      if (e->in[0] == g->loop_dims.at[i].axis && !g->loop_dims.at[i].is_reduced &&
          expr_exact_quotient(f, axis_extent(e->in[0]), e->in[1])) {
        *ret_loop_dim = i;
        *ret_by = e->in[1];
        return true;
      }
  for (uint32_t i = 0; i < e->count; i++)
    if (find_cut(f, g, e->in[i], ret_loop_dim, ret_by))
      return true;
  return false;
}

static void cut_loop_dim(struct fuser *f, struct group *g, size_t at, const struct expr *by) {
  struct loop_dim whole = g->loop_dims.at[at], inner = whole;
  const struct expr *outer = expr_exact_quotient(f, axis_extent(whole.axis), by);
  vec_push(f->arena, &g->loop_dims, whole);
  memmove(&g->loop_dims.at[at + 1], &g->loop_dims.at[at],
          (g->loop_dims.len - 1 - at) * sizeof *g->loop_dims.at);
  inner.axis = axis_create(f, "a", by);
  g->loop_dims.at[at].axis = axis_create(f, "a", outer);
  g->loop_dims.at[at + 1] = inner;
  const struct expr *sum = expr_add(f->x, expr_mul(f->x, g->loop_dims.at[at].axis, by), inner.axis);
  group_substitute(f, g, 1, &whole.axis, &sum);
}

// An axis that an offset divides is split in two: m // 49 and m % 49. Products are split by their
// stores.
static void cut_loop_dims(struct fuser *f, struct group *g) {
  for (unsigned cuts = 0; cuts < 2 * GRAPH_MAX_RANK; cuts++) {
    bool found = false;
    for (size_t i = 0; i < g->accesses.len && !found; i++) {
      const struct access *a = &g->accesses.at[i];
      size_t at;
      const struct expr *by;
      if (has_fixed_axes(g->kind) && !a->is_store)
        continue;
      found = find_cut(f, g, a->offset, &at, &by);
      if (found)
        cut_loop_dim(f, g, at, by);
    }
    if (!found)
      return;
    group_find_accesses(f, g);
  }
}

const struct expr *expr_exact_quotient(struct fuser *f, const struct expr *e,
                                       const struct expr *by) {
  if (by->lo <= 0)
    return NULL;
  const struct expr *q = expr_floordiv(f->x, e, by);
  return expr_mul(f->x, q, by) == e ? q : NULL;
}

struct group *group_create(struct fuser *f, const struct stage *s) {
  struct group *g = arena_new(f->arena, struct group);
  struct member *m = arena_new(f->arena, struct member);
  m->stage = arena_dup(f->arena, s, sizeof *s, _Alignof(struct stage));
  m->level = s->kind == STAGE_REDUCE ? MEMBER_ROW_REDUCTION : MEMBER_FULL;
  g->kind = kind_of(s);
  g->parts = 1u << s->part;
  g->sums_taps = s->sums_taps;
  g->keeps_order = s->kind == STAGE_SCAN || (s->kind == STAGE_REDUCE && s->op >= REDUCE_ARGMAX);
  vec_push(f->arena, &g->members, m);

  uint32_t total = s->rank + s->reduced;
  const struct expr **from = arena_array(f->arena, const struct expr *, total + 1);
  const struct expr **to = arena_array(f->arena, const struct expr *, total + 1);
  g->numel[0] = g->numel[1] = expr_const(f->x, 1);
  for (uint32_t i = 0; i < total; i++) {
    const struct expr *extent = axis_extent(s->axes[i]);
    bool reduced = i >= s->rank;
    g->numel[reduced] = expr_mul(f->x, g->numel[reduced], extent);
    from[i] = s->axes[i];
    if (expr_is(extent, 1) && !has_fixed_axes(g->kind)) {
      to[i] = expr_const(f->x, 0);
      continue;
    }
    to[i] = axis_create(f, "a", extent);
    vec_push(f->arena, &g->loop_dims, (struct loop_dim){to[i], reduced, (uint8_t)(i < 4 ? i : 4)});
  }
  group_substitute(f, g, total, from, to);
  group_find_accesses(f, g);
  cut_loop_dims(f, g);
  return g;
}

// ---- order ----

const struct access *group_leading_access(struct fuser *f, const struct group *g) {
  const struct access *best = NULL;
  int64_t best_score = -1;
  for (size_t i = 0; i < g->accesses.len; i++) {
    const struct access *a = &g->accesses.at[i];
    int64_t known = 0;
    for (size_t j = 0; j < g->loop_dims.len; j++) {
      const struct expr *stride = offset_stride(f, a->offset, g->loop_dims.at[j].axis);
      known += stride && !expr_is(stride, 0);
    }
    bool preferred = (g->kind == REGION_MAP || g->kind == REGION_SCATTER) == a->is_store;
    int64_t score = known * 64 + preferred * 32 + dtype_bytes(a->buffer->dtype);
    if (score > best_score) {
      best = a;
      best_score = score;
    }
  }
  return best;
}

// The stride of neighbours along the closest of one side's loop dimensions; INT64_MAX: unknown.
static int64_t least_step(struct fuser *f, const struct group *g, const struct expr *offset,
                          bool reduced) {
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < g->loop_dims.len; i++) {
    const struct expr *stride = g->loop_dims.at[i].is_reduced == reduced
                                    ? offset_stride(f, offset, g->loop_dims.at[i].axis)
                                    : NULL;
    int64_t step = stride ? expr_hint(stride) : 0;
    step = step < 0 ? -step : step;
    if (step && step < least)
      least = step;
  }
  return least;
}

static bool depends_on(struct fuser *f, const struct group *g, const struct expr *offset,
                       bool reduced) {
  for (size_t i = 0; i < g->loop_dims.len; i++)
    if (g->loop_dims.at[i].is_reduced == reduced &&
        offset_has_axis(f, offset, g->loop_dims.at[i].axis))
      return true;
  return false;
}

// Bytes of elements that lie next to each other along the rows, less those along the columns.
static int64_t bytes_along(struct fuser *f, const struct group *g) {
  int64_t along = 0;
  for (size_t i = 0; i < g->accesses.len; i++) {
    const struct access *a = &g->accesses.at[i];
    if (!depends_on(f, g, a->offset, false) || !depends_on(f, g, a->offset, true))
      continue;
    int64_t x = least_step(f, g, a->offset, false), r = least_step(f, g, a->offset, true);
    along += (r < x ? 1 : -1) * (int64_t)dtype_bytes(a->buffer->dtype);
  }
  return along;
}

bool group_is_inner(struct fuser *f, const struct group *g) { return bytes_along(f, g) >= 0; }

bool group_reads_rows(struct fuser *f, const struct group *g) { return bytes_along(f, g) > 0; }
