// SPDX-License-Identifier: Apache-2.0
// Prints rows kernels. A row that fits stays in registers. A longer one is read in blocks, once for
// each level of reductions and once more for the writes; that last pass runs backwards, since the
// end of the row is still in cache. Few long rows are split (graph/emit/rows_split.c).
#include "graph/emit/rows_writer.h"

static void write_from_registers(struct row_writer *w) {
  const struct rows *s = w->s;
  for (size_t i = 0; i < s->reduction_count; i++)
    row_writer_reduce(w, &s->reductions[i]);
  for (size_t i = 0; i < s->write_count && w->k->overwrites_inputs; i++)
    emit_name(w->e, s->writes[i].body);
  for (size_t i = 0; i < s->write_count; i++)
    emit_store_value(w->e, s->writes[i].buffer, s->writes[i].offset, s->writes[i].body);
}

static void write_by_passes(struct row_writer *w) {
  const struct rows *s = w->s;
  const char *n = emit_extent(w->e, axis_extent(s->r));
  for (unsigned level = 0; level < s->levels; level++) {
    row_writer_reduce_level(w, level, n);
    row_writer_stores(w, level, false);
  }
  if (rows_have_writes(s, s->levels, true))
    row_writer_pass(w, s->levels > 0, row_writer_full_stores, s->levels);
  row_writer_stores(w, s->levels, false);
}

// ---- after all rows ----

static void put_shares(struct row_writer *w) {
  for (size_t i = 0; i < w->s->share_count; i++)
    emit_line(w->e, 0, "tl.store(%s + tl.program_id(0), %s)",
              emit_buffer(w->e, w->s->shares[i].part), row_writer_share(w, &w->s->shares[i]));
}

static void announce_writes(struct row_writer *w) {
  const struct rows *s = w->s;
  for (size_t i = 0; i < s->write_count; i++)
    emit_writes(w->e, s->writes[i].buffer);
  for (size_t i = 0; i < s->share_count; i++)
    emit_writes(w->e, s->shares[i].part);
}

static void put_whole_rows(struct row_writer *w) {
  announce_writes(w);
  row_writer_x(w);
  row_writer_r(w);
  row_writer_count(w);
  if (w->s->is_looped)
    write_by_passes(w);
  else
    write_from_registers(w);
  put_shares(w);
  emit_sizes(w->e, axis_extent(w->s->x));
}

// ---- programs that walk over rows ----

// This program's partial sum of a column.
static void accumulate_column(struct row_writer *w, const struct row_reduction *d,
                              const char *name) {
  struct text t = emit_value(w->e, d->body);
  emit_line(w->e, 1, "%s += %s", name, t.s);
}

// The accumulators of columns, and of shares.
static void put_accumulators(struct row_writer *w) {
  struct emitter *e = w->e;
  const struct rows *s = w->s;
  for (size_t i = 0; i < w->k->column_count; i++) {
    const struct row_reduction *d = &w->k->columns[i];
    enum dtype t = reduce_dtype(d);
    emit_count(e, d->body);
    emit_writes(e, d->part);
    emit_line(e, 0, "column%zu = tl.zeros(%s, %s)", i, w->shape, emit_type(t));
  }
  for (size_t i = 0; i < s->share_count; i++) {
    const struct row_reduction *d = &s->shares[i];
    emit_line(e, 0, "share%zu = tl.full([], %s, %s)", i, reduce_neutral(e, d),
              emit_type(reduce_dtype(d)));
  }
}

static void accumulate_shares(struct row_writer *w) {
  const struct rows *s = w->s;
  for (size_t i = 0; i < s->share_count; i++) {
    const char *share = arena_printf(w->e->arena, "share%zu", i);
    const char *v = row_writer_share(w, &s->shares[i]);
    emit_line(w->e, 1, "%s = %s", share, reduce_two(w->e, &s->shares[i], share, v));
  }
}

static void store_accumulators(struct row_writer *w) {
  struct emitter *e = w->e;
  const struct rows *s = w->s;
  for (size_t i = 0; i < s->share_count; i++)
    emit_line(e, 0, "tl.store(%s + tl.program_id(0), share%zu)", emit_buffer(e, s->shares[i].part),
              i);
  for (size_t i = 0; i < w->k->column_count; i++)
    emit_line(e, 0, "tl.store(%s + tl.program_id(0) * %s + r, column%zu%s)",
              emit_buffer(e, w->k->columns[i].part), emit_extent(e, axis_extent(s->r)), i,
              w->has_r_mask ? ", mask=r_mask" : "");
}

static void put_walk(struct row_writer *w) {
  struct emitter *e = w->e;
  const struct rows *s = w->s;
  size_t count = w->k->column_count;
  w->level = 1;
  announce_writes(w);
  w->x_bit = 1u << e->axis_count;
  emit_axis(e, s->x, "x", NULL, 1);
  row_writer_r(w);
  row_writer_count(w);
  put_accumulators(w);
  const char *n = emit_extent(e, axis_extent(s->x));
  const char *range = count ? "range" : "tl.range", *stages = count ? "" : ", num_stages=2";
  emit_open(e, arena_printf(e->arena, "for x in %s(tl.program_id(0), %s, %u%s):", range, n,
                            s->walkers, stages));
  write_from_registers(w);
  for (size_t i = 0; i < count; i++)
    accumulate_column(w, &w->k->columns[i], arena_printf(e->arena, "column%zu", i));
  accumulate_shares(w);
  emit_close(e);
  store_accumulators(w);
}

void emit_rows_kernel(struct emitter *e, const struct rows_kernel *k) {
  struct row_writer w = row_writer_begin(e, k);
  switch (k->step) {
  case ROWS_WHOLE: put_whole_rows(&w); break;
  case ROWS_WALK: put_walk(&w); break;
  case ROWS_CHUNKS: rows_put_chunks(&w); break;
  case ROWS_SPLIT: rows_put_split(&w); break;
  case ROWS_COMBINE: rows_put_combine(&w); break;
  }
}
