// SPDX-License-Identifier: Apache-2.0
// Rows that are also reduced over x: first the rows, then a launch for the column results. Row
// results that columns need (a mean, say) go through memory. Results computed once (a mean loss)
// are reduced to partial results in the rows kernel; its last program reduces these.
#include "graph/plan/rows_plan.h"

struct columns {
  struct rows rows, columns, once;
  const struct scalar **from, **to; // row results, as loads
  size_t known;
  const struct scalar **bodies; // column expressions, before substituting row results
};

static struct rows empty(struct program *p, const struct region *r, const struct program_options *o,
                         const struct region_parts *parts) {
  struct rows s = {.p = p, .region = r, .o = o};
  s.reductions = arena_array(p->arena, struct row_reduction, parts->reductions.len + 1);
  s.writes = arena_array(p->arena, struct row_write, parts->writes.len + parts->reductions.len + 1);
  return s;
}

static struct rows *rows_of(struct columns *c, const struct region *r, const struct stage *s) {
  const struct expr *x = r->axes[0];
  if (s->rank == 0)
    return &c->once;
  return s->rank == 2 || s->axes[0] == x ? &c->rows : &c->columns;
}

// Stores a row reduction's result for later launches.
static void keep_result(struct columns *c, const struct region *r, const struct reduction_part *d) {
  struct rows *s = &c->rows;
  const struct expr *x = r->axes[0];
  struct buffer *b = plan_temporary(s->p, "rows", d->result->dtype, axis_extent(x));
  s->writes[s->write_count++] = (struct row_write){.buffer = b, .offset = x, .body = d->result};
  c->from[c->known] = d->result;
  c->to[c->known++] = scalar_load(s->p->regions->loops->scalars, b, x);
}

struct search {
  const struct scalar *of;
  bool found;
};

static void search_load(void *user, const struct scalar *load) {
  struct search *s = user;
  s->found = s->found || load == s->of;
}

static bool is_wanted_later(struct columns *c, const struct region *r,
                            const struct region_parts *parts, const struct scalar *result) {
  struct search s = {result, false};
  for (size_t i = 0; i < parts->reductions.len; i++)
    if (rows_of(c, r, parts->reductions.at[i].stage) == &c->columns)
      scalar_loads(parts->reductions.at[i].body, search_load, &s);
  for (size_t i = 0; i < parts->writes.len; i++)
    if (rows_of(c, r, parts->writes.at[i].stage) != &c->rows)
      scalar_loads(parts->writes.at[i].body, search_load, &s);
  return s.found;
}

static void sort_parts(struct columns *c, const struct region *r,
                       const struct region_parts *parts) {
  struct scalars *s = c->rows.p->regions->loops->scalars;
  for (size_t i = 0; i < parts->reductions.len; i++) {
    const struct reduction_part *d = &parts->reductions.at[i];
    struct rows *to = rows_of(c, r, d->stage);
    const struct scalar *body =
        to == &c->columns ? scalar_replace(s, d->body, c->known, c->from, c->to) : d->body;
    if (to == &c->columns)
      c->bodies[to->reduction_count] = d->body;
    to->reductions[to->reduction_count++] =
        (struct row_reduction){.stage = d->stage, .body = body, .result = d->result};
    if (to == &c->rows && is_wanted_later(c, r, parts, d->result))
      keep_result(c, r, d);
  }
  for (size_t i = 0; i < parts->writes.len; i++) {
    const struct write_part *w = &parts->writes.at[i];
    struct rows *to = rows_of(c, r, w->stage);
    const struct scalar *body =
        to == &c->rows ? w->body : scalar_replace(s, w->body, c->known, c->from, c->to);
    to->writes[to->write_count++] =
        (struct row_write){.buffer = w->buffer, .offset = w->offset, .body = body};
  }
}

// ---- results computed once ----

enum { MOST_SHARES = 65536, SHARES_A_BLOCK = 2048 };

// Stores the row values they are computed from, for a launch that reads one per row.
static void keep_values(struct columns *c) {
  struct rows *s = &c->rows;
  for (size_t i = 0; i < c->once.reduction_count; i++) {
    struct row_reduction *d = &c->once.reductions[i];
    struct buffer *b = plan_temporary(s->p, "rows", d->body->dtype, axis_extent(s->x));
    s->writes[s->write_count++] = (struct row_write){.buffer = b, .offset = s->x, .body = d->body};
    d->body = scalar_load(s->p->regions->loops->scalars, b, s->x);
  }
  rows_find_levels(s);
}

// Every program of the rows kernel writes a partial result: little is left to reduce.
static void leave_shares(struct columns *c, const struct expr *programs) {
  struct rows *s = &c->once;
  struct exprs *x = s->p->regions->loops->exprs;
  size_t n = s->reduction_count;
  c->rows.shares = arena_array(s->p->arena, struct row_reduction, n + 1);
  c->rows.share_count = n;
  s->r = expr_symbol(x, "share", 0, programs->hi - 1, programs);
  for (size_t i = 0; i < n; i++) {
    struct row_reduction *d = &s->reductions[i], *share = &c->rows.shares[i];
    *share = *d;
    share->part = plan_temporary(s->p, "share", reduce_dtype(d), programs);
    d->body = scalar_load(s->p->regions->loops->scalars, share->part, s->r);
  }
}

// Reduced by the last program of the rows kernel.
static void set_last_block(struct columns *c) {
  struct rows *s = &c->once;
  int64_t n = expr_hint(axis_extent(s->r)), block = 2;
  while (block < n && block < SHARES_A_BLOCK)
    block *= 2;
  rows_find_levels(s);
  s->splits = s->x_block = 1;
  s->r_block = (unsigned)block;
  s->is_looped = !expr_is_const(axis_extent(s->r), NULL) || block < n;
  s->num_warps = c->rows.num_warps;
  c->rows.last_block = s;
}

// Plans the rows.
static void record_writes_once(struct columns *c) {
  const struct expr *programs = rows_programs(&c->rows);
  if (c->once.reduction_count == 0)
    return;
  if (!programs) {
    keep_values(c);
    return;
  }
  leave_shares(c, programs);
  if (c->columns.reduction_count + c->columns.write_count == 0 && c->once.write_count > 0 &&
      programs->hi <= MOST_SHARES)
    set_last_block(c);
}

// ---- direction ----

struct direction {
  const struct rows *s;
  int64_t along; // bytes of elements that lie next to each other along r, less those along x
};

static int64_t step_along(const struct rows *s, const struct scalar *load,
                          const struct expr *axis) {
  struct exprs *x = s->p->regions->loops->exprs;
  const struct expr *axes[2] = {s->x, s->r}, *first[2], *second[2];
  for (int i = 0; i < 2; i++) {
    first[i] = expr_const(x, 0);
    second[i] = expr_const(x, axes[i] == axis);
  }
  int64_t step = expr_hint(expr_substitute(x, load->index, 2, axes, second)) -
                 expr_hint(expr_substitute(x, load->index, 2, axes, first));
  return step < 0 ? -step : step;
}

static void add_load(void *user, const struct scalar *load) {
  struct direction *d = user;
  const struct rows *s = d->s;
  if (!load->buffer || load->buffer->id == UINT32_MAX || !scalar_has_axis(load, s->r) ||
      !scalar_has_axis(load, s->x))
    return;
  int64_t x = step_along(s, load, s->x), r = step_along(s, load, s->r);
  if (x != r)
    d->along += (r < x ? 1 : -1) * (int64_t)dtype_bytes(load->buffer->dtype);
}

// Rows and columns read other buffers than the region as a whole, by which it has its direction.
static void find_direction(struct rows *s) {
  struct direction d = {.s = s};
  for (size_t i = 0; i < s->reduction_count; i++)
    scalar_loads(s->reductions[i].body, add_load, &d);
  for (size_t i = 0; i < s->write_count; i++)
    scalar_loads(s->writes[i].body, add_load, &d);
  if (d.along)
    s->is_inner = d.along > 0;
}

static void plan_later(struct rows *s) {
  if (s->reduction_count + s->write_count == 0)
    return;
  rows_find_levels(s);
  rows_plan(s);
  rows_plan_kernels(s);
}

// ---- rows and columns in one launch ----

// Long rows that fit in registers, and many of them.
static bool can_walk(const struct columns *c, unsigned programs) {
  int64_t x = 0, r = 0;
  if (!c->rows.is_inner || !expr_is_const(axis_extent(c->rows.x), &x) ||
      !expr_is_const(axis_extent(c->rows.r), &r) || r < 1024 || r > 16384 ||
      x < 2 * (int64_t)programs || c->columns.reduction_count == 0 ||
      c->columns.reduction_count * (uint64_t)r > 32768 || c->rows.x->hi > INT32_MAX / 4)
    return false;
  for (size_t i = 0; i < c->columns.reduction_count; i++) {
    const struct row_reduction *d = &c->columns.reductions[i];
    if (d->stage->op != REDUCE_SUM || d->body->dtype != reduce_dtype(d))
      return false;
  }
  return true;
}

// Column sums are computed from the programs' partial sums.
static void sum_shares(struct columns *c, unsigned programs) {
  struct rows *s = &c->columns;
  struct exprs *x = s->p->regions->loops->exprs;
  const struct expr *n = expr_const(x, programs), *row = axis_extent(s->x);
  s->r = expr_symbol(x, "share", 0, programs - 1, n);
  for (size_t i = 0; i < s->reduction_count; i++) {
    struct row_reduction *d = &s->reductions[i];
    d->body = scalar_load(s->p->regions->loops->scalars, d->part,
                          expr_add(x, expr_mul(x, s->r, row), s->x));
    d->part = NULL;
  }
  s->is_whole = true;
}

static bool walk(struct columns *c, unsigned programs) {
  c->rows.keeps_rows = true;
  rows_find_levels(&c->rows);
  rows_plan(&c->rows);
  c->rows.keeps_rows = false;
  if (c->rows.is_looped || c->rows.x_block != 1)
    return false;
  c->rows.walkers = programs;
  record_writes_once(c);
  int64_t r = expr_hint(axis_extent(c->rows.r));
  c->rows.num_warps = r > 8192 ? 32 : r > 4096 ? 16 : r > 2048 ? 8 : 4;
  for (size_t i = 0; i < c->columns.reduction_count; i++)
    c->columns.reductions[i].body = c->bodies[i];
  rows_plan_walk(&c->rows, c->columns.reductions, c->columns.reduction_count);
  sum_shares(c, programs);
  return true;
}

static struct columns *columns_of(struct program *p, const struct region *r,
                                  const struct program_options *o,
                                  const struct region_parts *parts) {
  struct columns *c = arena_new(p->arena, struct columns);
  size_t n = parts->reductions.len + 1;
  *c = (struct columns){.rows = empty(p, r, o, parts),
                        .columns = empty(p, r, o, parts),
                        .once = empty(p, r, o, parts)};
  c->from = arena_array(p->arena, const struct scalar *, n);
  c->to = arena_array(p->arena, const struct scalar *, n);
  c->bodies = arena_array(p->arena, const struct scalar *, n);
  c->rows.x = c->columns.r = c->once.r = r->axes[0];
  c->rows.r = c->columns.x = r->axes[1];
  c->once.x =
      expr_symbol(p->regions->loops->exprs, "once", 0, 0, expr_const(p->regions->loops->exprs, 1));
  c->rows.is_inner = r->is_inner;
  c->columns.is_inner = !r->is_inner;
  c->once.is_inner = true;
  c->columns.suffix = "columns";
  c->once.suffix = "total";
  return c;
}

static void plan_apart(struct columns *c) {
  rows_find_levels(&c->rows);
  rows_plan(&c->rows);
  record_writes_once(c);
  if (c->rows.reduction_count + c->rows.write_count + c->rows.share_count > 0)
    rows_plan_kernels(&c->rows);
}

bool plan_row_column(struct program *p, const struct region *r, const struct program_options *o) {
  struct region_parts parts = region_parts_of(p, r);
  struct columns *c = columns_of(p, r, o, &parts);
  sort_parts(c, r, &parts);
  unsigned programs = 2 * plan_multiprocessors(o);
  bool once = c->once.reduction_count + c->once.write_count > 0;
  if (!can_walk(c, programs) || !walk(c, programs))
    plan_apart(c);
  find_direction(&c->columns);
  plan_later(&c->columns);
  if (once && !c->rows.last_block)
    plan_later(&c->once);
  return true;
}
