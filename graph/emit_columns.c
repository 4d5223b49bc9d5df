// SPDX-License-Identifier: Apache-2.0
// Rows that are also reduced over x: the rows first, then a launch for what is wanted of each
// column, and one for what is wanted once. What the columns need of rows (a mean, say) goes through
// memory.
#include "graph/emit_rows.h"

struct columns {
  struct rows rows, columns, once;
  const struct scalar **from, **to; // results of rows, as loads
  size_t known;
};

static struct rows empty(struct program *p, const struct region *r, const struct program_options *o,
                         const struct emit_parts *parts) {
  struct rows s = {.p = p, .region = r, .o = o};
  s.reductions = arena_array(p->arena, struct row_reduction, parts->reductions.len + 1);
  s.writes = arena_array(p->arena, struct row_write, parts->writes.len + parts->reductions.len + 1);
  return s;
}

static struct rows *place_of(struct columns *c, const struct region *r, const struct stage *s) {
  const struct expr *x = r->axes[0];
  if (s->rank == 0)
    return &c->once;
  return s->rank == 2 || s->axes[0] == x ? &c->rows : &c->columns;
}

// The rows' result of a reduction for those who come later.
static void keep_result(struct columns *c, const struct region *r, const struct emit_reduction *d) {
  struct rows *s = &c->rows;
  const struct expr *x = r->axes[0];
  struct buffer *b = emit_temporary(s->p, "rows", d->result->dtype, x->symbol->limit);
  s->writes[s->write_count++] = (struct row_write){.buffer = b, .place = x, .body = d->result};
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
                            const struct emit_parts *parts, const struct scalar *result) {
  struct search s = {result, false};
  for (size_t i = 0; i < parts->reductions.len; i++)
    if (place_of(c, r, parts->reductions.at[i].stage) != &c->rows)
      scalar_loads(parts->reductions.at[i].body, search_load, &s);
  for (size_t i = 0; i < parts->writes.len; i++)
    if (place_of(c, r, parts->writes.at[i].stage) != &c->rows)
      scalar_loads(parts->writes.at[i].body, search_load, &s);
  return s.found;
}

static void sort_parts(struct columns *c, const struct region *r, const struct emit_parts *parts) {
  struct scalars *s = c->rows.p->regions->loops->scalars;
  for (size_t i = 0; i < parts->reductions.len; i++) {
    const struct emit_reduction *d = &parts->reductions.at[i];
    struct rows *to = place_of(c, r, d->stage);
    const struct scalar *body =
        to == &c->rows ? d->body : scalar_replace(s, d->body, c->known, c->from, c->to);
    to->reductions[to->reduction_count++] =
        (struct row_reduction){.stage = d->stage, .body = body, .result = d->result};
    if (to == &c->rows && is_wanted_later(c, r, parts, d->result))
      keep_result(c, r, d);
  }
  for (size_t i = 0; i < parts->writes.len; i++) {
    const struct emit_write *w = &parts->writes.at[i];
    struct rows *to = place_of(c, r, w->stage);
    const struct scalar *body =
        to == &c->rows ? w->body : scalar_replace(s, w->body, c->known, c->from, c->to);
    to->writes[to->write_count++] =
        (struct row_write){.buffer = w->buffer, .place = w->place, .body = body};
  }
}

static bool run(struct rows *s) {
  if (s->reduction_count + s->write_count == 0)
    return true;
  rows_find_levels(s);
  rows_plan(s);
  return rows_emit(s);
}

bool emit_row_column(struct program *p, const struct region *r, const struct program_options *o) {
  struct emit_parts parts = {0};
  if (!emit_take_apart(p, r, &parts))
    return false;
  struct exprs *x = p->regions->loops->exprs;
  struct columns c = {.rows = empty(p, r, o, &parts),
                      .columns = empty(p, r, o, &parts),
                      .once = empty(p, r, o, &parts)};
  c.from = arena_array(p->arena, const struct scalar *, parts.reductions.len + 1);
  c.to = arena_array(p->arena, const struct scalar *, parts.reductions.len + 1);
  c.rows.x = c.columns.r = c.once.r = r->axes[0];
  c.rows.r = c.columns.x = r->axes[1];
  c.once.x = expr_symbol(x, "once", 0, 0, expr_const(x, 1));
  c.rows.is_inner = r->is_inner;
  c.columns.is_inner = !r->is_inner;
  c.once.is_inner = true;
  c.columns.suffix = "columns";
  c.once.suffix = "total";
  sort_parts(&c, r, &parts);
  return run(&c.rows) && run(&c.columns) && run(&c.once);
}
