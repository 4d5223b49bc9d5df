// SPDX-License-Identifier: Apache-2.0
// From groups to regions: loop dimensions are ordered by strides, merged where every offset stays
// linear, and for rows flattened to the two axes of the region.
#include "graph/fuse/fuse.h"

// Regions of equal extents share axes, so that equal kernels have equal expression trees.
static const struct expr *shared_axis(struct fuser *f, const char *name,
                                      const struct expr *extent) {
  char *key = arena_printf(f->arena, "%s:%u", name, extent->id);
  const struct expr *axis = map_get(&f->axes, str_from(key));
  if (!axis) {
    axis = axis_create(f, name, extent);
    map_put(f->arena, &f->axes, str_from(key), (void *)(uintptr_t)axis);
  }
  return axis;
}

// ---- merging ----

struct offsets {
  struct fuser *f;
  struct map seen;
  VEC(const struct expr *) at;
};

static void add_offset(struct offsets *p, const struct expr *e) {
  if (!e || e->kind == EXPR_CONST || ptrmap_get(&p->seen, e))
    return;
  ptrmap_put(p->f->arena, &p->seen, e, p);
  vec_push(p->f->arena, &p->at, e);
}

static void add_scalar_expr_offset(void *user, const struct scalar *v) {
  add_offset(user, v->index);
}

// All index expressions in the group's expression trees.
static struct offsets group_offsets(struct fuser *f, const struct group *g) {
  struct offsets p = {.f = f};
  for (size_t i = 0; i < g->members.len; i++) {
    stage_scalar_exprs(f, g->members.at[i]->stage, add_scalar_expr_offset, &p);
    add_offset(&p, g->members.at[i]->stage->offset);
  }
  return p;
}

static void pair_to_one(struct fuser *f, const struct expr *inner, const struct expr *one,
                        const struct expr *to[2]) {
  const struct expr *extent = axis_extent(inner);
  if (expr_is(axis_extent(one), 0)) {
    to[0] = to[1] = expr_const(f->x, 0);
    return;
  }
  to[0] = expr_floordiv(f->x, one, extent);
  to[1] = expr_mod(f->x, one, extent);
}

// Is e linear in the merged axis? Decided by strides, else by substitution.
static bool stays_linear(struct fuser *f, const struct expr *e, const struct expr *outer,
                         const struct expr *inner, const struct expr *one) {
  const struct expr *a = offset_stride(f, e, outer), *b = offset_stride(f, e, inner);
  if (a && b)
    return a == expr_mul(f->x, b, axis_extent(inner));
  const struct expr *from[2] = {outer, inner}, *to[2];
  pair_to_one(f, inner, one, to);
  const struct expr *merged = expr_substitute(f->x, e, 2, from, to);
  return offset_stride(f, merged, one) != NULL;
}

static bool can_merge(struct fuser *f, const struct group *g, const struct offsets *p, size_t outer,
                      const struct expr *one) {
  const struct loop_dim *a = &g->loop_dims.at[outer], *b = a + 1;
  if (a->is_reduced != b->is_reduced)
    return false;
  for (size_t i = 0; i < p->at.len; i++)
    if (!stays_linear(f, p->at.at[i], a->axis, b->axis, one))
      return false;
  return true;
}

static const struct expr *axis_of_both(struct fuser *f, const struct group *g, size_t outer) {
  const struct loop_dim *a = &g->loop_dims.at[outer];
  return axis_create(f, "a", expr_mul(f->x, axis_extent(a[0].axis), axis_extent(a[1].axis)));
}

static void merge(struct fuser *f, struct group *g, size_t outer, const struct expr *one) {
  struct loop_dim *a = &g->loop_dims.at[outer];
  const struct expr *from[2] = {a[0].axis, a[1].axis}, *to[2];
  pair_to_one(f, a[1].axis, one, to);
  group_substitute(f, g, 2, from, to);
  a->axis = one;
  g->loop_dims.len--;
  memmove(a + 1, a + 2, (g->loop_dims.len - outer - 1) * sizeof *a);
}

// From the innermost pair outwards.
static void merge_all(struct fuser *f, struct group *g) {
  for (size_t i = g->loop_dims.len; i-- > 1;) {
    struct offsets p = group_offsets(f, g);
    const struct expr *one = axis_of_both(f, g, i - 1);
    if (can_merge(f, g, &p, i - 1, one))
      merge(f, g, i - 1, one);
  }
}

// Flattens all loop dimensions of one side, with // and % where they are not contiguous.
static const struct expr *flatten(struct fuser *f, struct group *g, bool reduced) {
  for (;;) {
    size_t last = g->loop_dims.len;
    while (last > 0 && g->loop_dims.at[last - 1].is_reduced != reduced)
      last--;
    if (!last)
      return NULL;
    if (last == 1 || g->loop_dims.at[last - 2].is_reduced != reduced)
      return g->loop_dims.at[last - 1].axis;
    merge(f, g, last - 2, axis_of_both(f, g, last - 2));
  }
}

// ---- order ----

static int64_t stride_hint(struct fuser *f, const struct access *a, const struct expr *axis) {
  const struct expr *stride = offset_stride(f, a->offset, axis);
  if (!stride)
    return -1; // it is used in a division: its order does not matter
  int64_t s = expr_hint(stride);
  return s < 0 ? -s : s;
}

// Parallel loop dimensions first, then reduced ones, each by descending strides; stable.
static void order_loop_dims(struct fuser *f, struct group *g) {
  const struct access *lead = group_leading_access(f, g);
  for (size_t i = 1; i < g->loop_dims.len; i++)
    for (size_t j = i; j > 0; j--) {
      struct loop_dim *a = &g->loop_dims.at[j - 1], *b = a + 1;
      bool swap = a->is_reduced && !b->is_reduced;
      if (a->is_reduced == b->is_reduced && lead && !(a->is_reduced && g->keeps_order))
        swap = stride_hint(f, lead, a->axis) < stride_hint(f, lead, b->axis);
      if (!swap)
        break;
      struct loop_dim t = *a;
      *a = *b;
      *b = t;
    }
}

// ---- building the region ----

static void rename_loop_dims(struct fuser *f, struct group *g, const struct expr **axes) {
  const struct expr **from = arena_array(f->arena, const struct expr *, g->loop_dims.len + 1);
  const struct expr **to = arena_array(f->arena, const struct expr *, g->loop_dims.len + 1);
  for (size_t i = 0; i < g->loop_dims.len; i++) {
    from[i] = g->loop_dims.at[i].axis;
    to[i] = g->loop_dims.at[i].axis = axes[i];
  }
  group_substitute(f, g, g->loop_dims.len, from, to);
}

static void finish_map(struct fuser *f, struct group *g, struct region *r) {
  static const char *const names[] = {"x", "y", "z", "w", "v", "u"};
  enum { NAMES = sizeof names / sizeof names[0] };
  merge_all(f, g);
  size_t rank = g->loop_dims.len;
  r->rank = rank ? (uint32_t)rank : 1;
  r->axes = arena_array(f->arena, const struct expr *, r->rank);
  if (!rank)
    r->axes[0] = shared_axis(f, "x", expr_const(f->x, 1));
  for (size_t i = 0; i < rank; i++) {
    size_t from_inner = rank - 1 - i;
    const char *name =
        from_inner < NAMES ? names[from_inner] : arena_printf(f->arena, "axis%zu", from_inner);
    r->axes[i] = shared_axis(f, name, axis_extent(g->loop_dims.at[i].axis));
  }
  rename_loop_dims(f, g, r->axes);
  for (size_t i = 0; i < g->members.len; i++) {
    g->members.at[i]->stage->axes = r->axes;
    g->members.at[i]->stage->rank = r->rank;
  }
}

static void set_row_axes(struct member *m, const struct expr **both, const struct expr **swapped) {
  struct stage *s = m->stage;
  switch (m->level) {
  case MEMBER_FULL:
    s->axes = both;
    s->rank = s->kind == STAGE_SCAN ? 1 : 2;
    s->reduced = s->kind == STAGE_SCAN;
    break;
  case MEMBER_ROW:
  case MEMBER_ROW_REDUCTION:
    s->axes = both;
    s->rank = 1;
    s->reduced = m->level == MEMBER_ROW_REDUCTION;
    break;
  case MEMBER_COLUMN_REDUCTION:
  case MEMBER_COLUMN:
    s->axes = m->is_once ? both : swapped;
    s->rank = !m->is_once;
    s->reduced = m->level == MEMBER_COLUMN_REDUCTION;
    break;
  }
}

static void finish_rows(struct fuser *f, struct group *g, struct region *r) {
  r->is_inner = group_is_inner(f, g);
  merge_all(f, g);
  const struct expr *x = flatten(f, g, false), *row = flatten(f, g, true);
  const struct expr *one = expr_const(f->x, 1);
  const struct expr **both = arena_array(f->arena, const struct expr *, 2);
  const struct expr **swapped = arena_array(f->arena, const struct expr *, 2);
  both[0] = shared_axis(f, "x", x ? axis_extent(x) : one);
  both[1] = shared_axis(f, "r", row ? axis_extent(row) : one);
  swapped[0] = both[1];
  swapped[1] = both[0];
  const struct expr *present[2];
  size_t count = 0;
  if (x)
    present[count++] = both[0];
  if (row)
    present[count++] = both[1];
  rename_loop_dims(f, g, present);
  r->rank = 2;
  r->axes = both;
  for (size_t i = 0; i < g->members.len; i++)
    set_row_axes(g->members.at[i], both, swapped);
}

static void rename_inner_axes(struct fuser *f, struct stage *s) {
  const struct expr *from[2] = {s->attention->key, s->attention->depth};
  const struct expr *to[2] = {shared_axis(f, "key", axis_extent(from[0])),
                              shared_axis(f, "depth", axis_extent(from[1]))};
  stage_substitute(f, s, 2, from, to);
}

// Parts of one dimension are merged again.
static void join_parts(struct fuser *f, struct group *g) {
  for (size_t i = g->loop_dims.len; i-- > 1;)
    if (g->loop_dims.at[i].dim == g->loop_dims.at[i - 1].dim)
      merge(f, g, i - 1, axis_of_both(f, g, i - 1));
}

static void finish_fixed(struct fuser *f, struct group *g, struct region *r) {
  static const char *const names[] = {"batch", "m", "n", "k"};
  join_parts(f, g);
  r->rank = 3;
  size_t count = g->loop_dims.len < 4 ? g->loop_dims.len : 4;
  r->axes = arena_array(f->arena, const struct expr *, 4);
  for (size_t i = 0; i < count; i++)
    r->axes[i] = shared_axis(f, names[i], axis_extent(g->loop_dims.at[i].axis));
  rename_loop_dims(f, g, r->axes);
  for (size_t i = 0; i < g->members.len; i++) {
    struct stage *s = g->members.at[i]->stage;
    s->axes = r->axes;
    s->rank = r->rank;
    if (s->attention)
      rename_inner_axes(f, s);
  }
}

void group_finish(struct fuser *f, struct group *g, struct region *r) {
  if (g->kind == REGION_CALL) {
    r->axes = arena_array(f->arena, const struct expr *, 1);
  } else if (has_fixed_axes(g->kind)) {
    finish_fixed(f, g, r);
  } else {
    order_loop_dims(f, g);
    if (g->kind == REGION_MAP || g->kind == REGION_SCATTER)
      finish_map(f, g, r);
    else
      finish_rows(f, g, r);
  }
  group_find_accesses(f, g);
}
