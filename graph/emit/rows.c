// SPDX-License-Identifier: Apache-2.0
// Rows: all reductions over r for each x, and what follows from them. A row that fits stays in
// registers; a longer one is walked in blocks, once for each level of reductions and once more to
// write, the last time backwards, so that its end is still in the cache. Few long rows are split
// (graph/emit/rows_split.c).
#include "graph/emit/rows_writer.h"

static bool overwrites_inputs(const struct rows *s) {
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].buffer->role == BUFFER_INPUT)
      return true;
  return false;
}

static void write_from_registers(struct row_writer *w) {
  struct rows *s = w->s;
  for (size_t i = 0; i < s->reduction_count; i++)
    row_writer_reduce(w, &s->reductions[i]);
  for (size_t i = 0; i < s->write_count && overwrites_inputs(s); i++)
    emit_name(w->e, s->writes[i].body);
  for (size_t i = 0; i < s->write_count; i++)
    emit_store_value(w->e, s->writes[i].buffer, s->writes[i].place, s->writes[i].body);
}

static void write_by_passes(struct row_writer *w) {
  struct rows *s = w->s;
  const char *n = emit_extent(w->e, s->r->symbol->limit);
  for (unsigned level = 0; level < s->levels; level++) {
    row_writer_reduce_level(w, level, n);
    row_writer_stores(w, level, false);
  }
  if (rows_have_writes(s, s->levels, true))
    row_writer_pass(w, s->levels > 0, row_writer_full_stores, s->levels);
  row_writer_stores(w, s->levels, false);
}

// ---- what follows from all rows ----

static struct buffer *share_buffer(struct row_writer *w, struct row_reduction *d) {
  if (!d->part)
    d->part = emit_temporary(w->e->p, "share", reduce_dtype(d), rows_programs(w->s));
  return d->part;
}

static void put_shares(struct row_writer *w) {
  for (size_t i = 0; i < w->s->share_count; i++)
    emit_line(w->e, 0, "tl.store(%s + tl.program_id(0), %s)",
              emit_buffer(w->e, share_buffer(w, &w->s->shares[i])),
              row_writer_share(w, &w->s->shares[i]));
}

static void announce_writes(struct row_writer *w) {
  struct rows *s = w->s;
  for (size_t i = 0; i < s->write_count; i++)
    emit_writes(w->e, s->writes[i].buffer);
  for (size_t i = 0; i < s->share_count; i++)
    emit_writes(w->e, share_buffer(w, &s->shares[i]));
}

static struct row_writer write_rows(struct rows *s) {
  struct row_writer w = row_writer_begin(s, NULL);
  announce_writes(&w);
  row_writer_x(&w);
  row_writer_r(&w);
  row_writer_count(&w);
  if (s->is_looped)
    write_by_passes(&w);
  else
    write_from_registers(&w);
  return w;
}

// Hangs the tail on the kernel. What does not fit there is a launch behind `before`.
static bool put_tail(struct row_writer *w, struct row_writer *ret_left) {
  if (!w->s->tail)
    return false;
  *ret_left = write_rows(w->s->tail);
  return !emit_tail(w->e, ret_left->e, 1, false);
}

bool rows_emit(struct rows *s) {
  if (s->lag) {
    rows_emit_tickets(s);
    return true;
  }
  if (s->splits > 1) {
    rows_emit_splits(s);
    return true;
  }
  if (s->walkers) {
    rows_emit_walk(s, NULL, 0, s->walkers);
    return true;
  }
  struct row_writer w = write_rows(s), tail;
  put_shares(&w);
  bool left = put_tail(&w, &tail);
  row_writer_end(&w, false);
  if (left)
    row_writer_end(&tail, false);
  return true;
}

// ---- walking over rows ----

// This program's share of a column's sum.
static void accumulate_column(struct row_writer *w, const struct row_reduction *d,
                              const char *name) {
  struct text t = emit_value(w->e, d->body);
  emit_line(w->e, 1, "%s += %s", name, t.s);
}

void rows_emit_walk(struct rows *s, struct row_reduction *columns, size_t count,
                    unsigned programs) {
  struct row_writer w = row_writer_begin(s, NULL);
  struct emitter *e = w.e;
  const struct expr *rows = s->x->symbol->limit, *row = s->r->symbol->limit;
  w.level = 1;
  announce_writes(&w);
  w.x_bit = 1u << e->axis_count;
  emit_axis(e, s->x, "x", NULL, 1);
  row_writer_r(&w);
  row_writer_count(&w);
  for (size_t i = 0; i < count; i++) {
    struct row_reduction *d = &columns[i];
    enum dtype t = reduce_dtype(d);
    emit_count(e, d->body);
    d->part = emit_temporary(e->p, "part", t, expr_muli(e->x, row, programs));
    emit_writes(e, d->part);
    emit_line(e, 0, "column%zu = tl.zeros(%s, %s)", i, w.shape, emit_type(t));
  }
  for (size_t i = 0; i < s->share_count; i++) {
    struct row_reduction *d = &s->shares[i];
    emit_line(e, 0, "share%zu = tl.full([], %s, %s)", i, reduce_neutral(e, d),
              emit_type(reduce_dtype(d)));
  }
  const char *n = emit_extent(e, rows);
  const char *range = count ? "range" : "tl.range", *stages = count ? "" : ", num_stages=2";
  (count ? emit_open : emit_open_pipelined)(
      e, arena_printf(e->arena, "for x in %s(tl.program_id(0), %s, %u%s):", range, n, programs,
                      stages));
  write_from_registers(&w);
  for (size_t i = 0; i < count; i++)
    accumulate_column(&w, &columns[i], arena_printf(e->arena, "column%zu", i));
  for (size_t i = 0; i < s->share_count; i++) {
    const char *share = arena_printf(e->arena, "share%zu", i);
    const char *v = row_writer_share(&w, &s->shares[i]);
    emit_line(e, 1, "%s = %s", share, reduce_two(e, &s->shares[i], share, v));
  }
  emit_close(e);
  for (size_t i = 0; i < s->share_count; i++)
    emit_line(e, 0, "tl.store(%s + tl.program_id(0), share%zu)",
              emit_buffer(e, share_buffer(&w, &s->shares[i])), i);
  for (size_t i = 0; i < count; i++)
    emit_line(e, 0, "tl.store(%s + tl.program_id(0) * %s + r, column%zu%s)",
              emit_buffer(e, columns[i].part), emit_extent(e, row), i,
              w.has_r_mask ? ", mask=r_mask" : "");
  struct row_writer tail;
  bool left = put_tail(&w, &tail);
  const struct expr *grid[3] = {expr_const(e->x, programs), NULL, NULL};
  struct strbuf space = {.arena = s->p->arena};
  emit_space_powers(&space, "num_warps", s->num_warps, 4, 32);
  emit_end(e, s->num_warps, grid, emit_space_end(e, &space));
  if (left)
    row_writer_end(&tail, false);
}

// ---- regions ----

bool emit_rows(struct program *p, const struct region *r, const struct program_options *o) {
  struct emit_parts parts = {0};
  if (!emit_take_apart(p, r, &parts))
    return false;
  struct rows s = {.p = p, .region = r, .o = o, .x = r->axes[0], .r = r->axes[1]};
  s.is_inner = r->is_inner;
  s.reduction_count = parts.reductions.len;
  s.reductions = arena_array(p->arena, struct row_reduction, parts.reductions.len + 1);
  for (size_t i = 0; i < s.reduction_count; i++) {
    const struct emit_reduction *d = &parts.reductions.at[i];
    s.reductions[i] =
        (struct row_reduction){.stage = d->stage, .body = d->body, .result = d->result};
  }
  s.write_count = parts.writes.len;
  s.writes = arena_array(p->arena, struct row_write, parts.writes.len + 1);
  for (size_t i = 0; i < s.write_count; i++) {
    const struct emit_write *w = &parts.writes.at[i];
    s.writes[i] = (struct row_write){.buffer = w->buffer, .place = w->place, .body = w->body};
  }
  rows_find_levels(&s);
  rows_plan(&s);
  return rows_emit(&s);
}
