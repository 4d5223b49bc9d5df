// SPDX-License-Identifier: Apache-2.0
// Few long rows are split: each pass is a launch whose programs take a part of a row and leave
// partial results, which the next launch combines.
#include "graph/emit_rows_writer.h"

#include <inttypes.h>

// ---- partial results ----

static const char *part_place(struct row_writer *w, const char *split) {
  const struct expr *rows = w->s->x->symbol->limit;
  return expr_is(rows, 1)
             ? split
             : arena_printf(w->e->arena, "%s * %s + x", split, emit_extent(w->e, rows));
}

static void put_part(struct row_writer *w, struct row_reduction *d) {
  struct emitter *e = w->e;
  if (!d->part)
    d->part = emit_temporary(e->p, "part", reduce_dtype(d),
                             expr_muli(e->x, w->s->x->symbol->limit, w->s->splits));
  emit_writes(e, d->part);
  bool masked = e->axes[0].mask != NULL;
  const char *v =
      d->result->dtype == DTYPE_I1 ? arena_printf(e->arena, "%s.to(tl.int32)", d->name) : d->name;
  const char *at = part_place(w, "split");
  if (expr_is(w->s->x->symbol->limit, 1) && !w->is_row)
    at = "split + x";
  emit_line(e, 0, "tl.store(%s + %s, %s%s)", emit_buffer(e, d->part), at, v,
            masked ? ", mask=x_mask" : "");
}

// What an earlier launch left of this reduction, as lanes along r.
static void load_part(struct row_writer *w, struct row_reduction *d, const char *name) {
  struct emitter *e = w->e;
  const char *at = part_place(w, "s");
  if (expr_is(w->s->x->symbol->limit, 1) && !w->is_row)
    at = "s + x";
  emit_line(e, 0, "%s = tl.load(%s + %s, mask=s_mask%s, other=%s)", name, emit_buffer(e, d->part),
            at, e->axes[0].mask ? " & x_mask" : "", reduce_neutral(e, d));
}

static void combine_parts(struct row_writer *w, unsigned level, const char *n) {
  struct rows *s = w->s;
  for (size_t i = 0; i < s->reduction_count; i++) {
    struct row_reduction *d = &s->reductions[i];
    if (d->level != level)
      continue;
    if (d->pair == PAIR_VARIANCE) {
      load_part(w, d->first, row_writer_name(w, "mean", d));
      emit_line(w->e, 0,
                "%s = tl.where(s_mask, tl.minimum(%s - s * %" PRId64 ", %" PRId64
                "), 1).to(tl.float32)",
                row_writer_name(w, "count", d), n, s->chunk, s->chunk);
      emit_line(w->e, 0, "%s = %s / %s", row_writer_name(w, "mean", d),
                row_writer_name(w, "mean", d), row_writer_name(w, "count", d));
      emit_line(w->e, 0, "%s = tl.where(s_mask, %s, 0.0)", row_writer_name(w, "count", d),
                row_writer_name(w, "count", d));
      load_part(w, d, row_writer_name(w, "acc", d));
    } else if (!d->has_second || d->stage->op == REDUCE_MAX) {
      load_part(w, d, row_writer_name(w, "acc", d));
    }
    row_writer_finish(w, d, n);
  }
}

// ---- launches ----

// Launch number `level` of a split: it knows the levels before.
static void emit_split(struct rows *s, unsigned level) {
  bool is_last = level == s->levels;
  struct row_writer w =
      row_writer_begin(s, is_last ? "finish" : arena_printf(s->p->arena, "part%u", level));
  struct emitter *e = w.e;
  bool full = rows_have_writes(s, level, true), walks = !is_last || full;
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].is_full ? s->writes[i].level == level : is_last)
      emit_writes(e, s->writes[i].buffer);
  row_writer_x(&w);
  row_writer_r(&w);
  row_writer_count(&w);
  const char *n = emit_extent(e, s->r->symbol->limit);
  if (walks) {
    emit_line(e, 0, "split = tl.program_id(1)");
    emit_line(e, 0, "first = split * %" PRId64, s->chunk);
    emit_line(e, 0, "last = tl.minimum(first + %" PRId64 ", %s)", s->chunk, n);
  }
  if (level > 0) {
    unsigned lanes = 1;
    while (lanes < s->splits)
      lanes *= 2;
    emit_line(e, 0, "s = tl.arange(0, %u)%s", lanes, w.brackets);
    emit_line(e, 0, "s_mask = s < %u", s->splits);
  }
  for (unsigned before = 0; before < level; before++)
    combine_parts(&w, before, n);
  if (is_last) {
    for (unsigned l = 0; l <= level; l++)
      row_writer_stores(&w, l, false);
    if (full) {
      row_writer_open_pass(&w, false);
      row_writer_stores(&w, level, true);
      emit_close(e);
    }
  } else {
    const char *own = arena_printf(e->arena, "(last - first)");
    row_writer_reduce_level(&w, level, own);
    for (size_t i = 0; i < s->reduction_count; i++)
      if (s->reductions[i].level == level)
        put_part(&w, &s->reductions[i]);
  }
  row_writer_end(&w, walks);
}

void rows_emit_splits(struct rows *s) {
  for (unsigned level = 0; level <= s->levels; level++)
    if (level < s->levels || s->write_count > 0)
      emit_split(s, level);
}
