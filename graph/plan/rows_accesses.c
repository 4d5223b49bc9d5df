// SPDX-License-Identifier: Apache-2.0
// Loads and stores of rows kernels, in the order of graph/emit/rows*.c.
#include "graph/plan/accesses.h"
#include "graph/plan/rows_plan.h"

struct rows_walk {
  struct access_walk a;
  const struct rows_kernel *k;
  const struct rows *s;
};

static struct rows_walk walk_of(struct kernel_plan *k, bool x_is_inside) {
  const struct rows *s = k->rows->rows;
  struct rows_walk w = {.a = {.arena = s->p->arena, .k = k}, .k = k->rows, .s = s};
  w.a.loop_axes[0] = s->is_looped || x_is_inside ? s->r : NULL;
  w.a.loop_axes[1] = x_is_inside ? s->x : NULL;
  return w;
}

static void note_write(struct rows_walk *w, const struct row_write *o) {
  access_value(&w->a, o->body);
  access_store(&w->a, o->buffer, o->offset);
}

static void note_writes(struct rows_walk *w, unsigned level, bool full) {
  for (size_t i = 0; i < w->s->write_count; i++)
    if (w->s->writes[i].level == level && w->s->writes[i].is_full == full)
      note_write(w, &w->s->writes[i]);
}

static void note_results_given(struct rows_walk *w, unsigned before) {
  for (size_t i = 0; i < w->s->reduction_count; i++)
    if (w->s->reductions[i].level < before)
      access_given(&w->a, w->s->reductions[i].result);
}

// A combined reduction is computed with its partner.
static void note_reductions(struct rows_walk *w, unsigned level) {
  for (size_t i = 0; i < w->s->reduction_count; i++) {
    const struct row_reduction *d = &w->s->reductions[i];
    if (d->level == level && !d->has_second)
      access_value(&w->a, d->pair ? d->first->body : d->body);
  }
}

// A pass over the row; it is emitted twice if whole blocks have a loop of their own.
static void note_pass(struct rows_walk *w, unsigned level, bool reduces) {
  for (int loop = 0; loop < 1 + w->k->has_whole; loop++) {
    if (reduces)
      note_reductions(w, level);
    note_writes(w, level, true);
    access_loop_end(&w->a);
  }
}

static void note_registers(struct rows_walk *w) {
  for (size_t i = 0; i < w->s->reduction_count; i++) {
    access_value(&w->a, w->s->reductions[i].body);
    access_given(&w->a, w->s->reductions[i].result);
  }
  for (size_t i = 0; i < w->s->write_count && w->k->overwrites_inputs; i++)
    access_value(&w->a, w->s->writes[i].body);
  for (size_t i = 0; i < w->s->write_count; i++)
    note_write(w, &w->s->writes[i]);
}

static void note_shares(struct rows_walk *w) {
  for (size_t i = 0; i < w->s->share_count; i++) {
    access_value(&w->a, w->s->shares[i].body);
    access_buffer(&w->a, w->s->shares[i].part, true);
  }
}

static void note_whole(struct kernel_plan *k) {
  struct rows_walk w = walk_of(k, false);
  for (unsigned level = 0; level < w.s->levels && w.s->is_looped; level++) {
    note_pass(&w, level, true);
    note_results_given(&w, level + 1);
    note_writes(&w, level, false);
  }
  if (!w.s->is_looped) {
    note_registers(&w);
  } else {
    if (rows_have_writes(w.s, w.s->levels, true))
      note_pass(&w, w.s->levels, false);
    note_writes(&w, w.s->levels, false);
  }
  note_shares(&w);
}

static void note_parts(struct rows_walk *w, unsigned from, unsigned to, bool is_store) {
  for (unsigned level = from; level < to; level++)
    for (size_t i = 0; i < w->s->reduction_count; i++) {
      const struct row_reduction *d = &w->s->reductions[i];
      if (d->level != level)
        continue;
      access_buffer(&w->a, d->part, is_store);
      if (d->part_index)
        access_buffer(&w->a, d->part_index, is_store);
    }
}

static bool note_totals(struct rows_walk *w, bool is_store) {
  bool any = false;
  for (size_t i = 0; i < w->s->reduction_count; i++)
    if (w->s->reductions[i].total) {
      access_buffer(&w->a, w->s->reductions[i].total, is_store);
      any = true;
    }
  return any;
}

// A level of a split: results of earlier levels are known.
static void note_split(struct kernel_plan *k) {
  struct rows_walk w = walk_of(k, false);
  unsigned level = w.k->level;
  bool is_last = level == w.s->levels, has_totals = is_last && note_totals(&w, false);
  if (!has_totals)
    note_parts(&w, 0, level, false);
  note_results_given(&w, level);
  for (unsigned l = 0; l <= level && is_last && !has_totals; l++)
    note_writes(&w, l, false);
  note_pass(&w, level, level < w.s->levels);
  if (level < w.s->levels)
    note_parts(&w, level, level + 1, true);
}

static void note_combine(struct kernel_plan *k) {
  struct rows_walk w = walk_of(k, false);
  note_parts(&w, 0, w.s->levels, false);
  note_results_given(&w, w.s->levels);
  for (unsigned l = 0; l <= w.s->levels; l++)
    note_writes(&w, l, false);
  note_totals(&w, true);
}

static void note_chunks(struct kernel_plan *k) {
  struct rows_walk w = walk_of(k, true);
  access_buffer(&w.a, w.k->queue.counters, true);
  for (unsigned level = 0; level <= w.s->levels; level++) {
    note_parts(&w, 0, level, false);
    note_results_given(&w, level);
    note_reductions(&w, level);
    for (unsigned l = 0; l <= level && level == w.s->levels; l++)
      note_writes(&w, l, false);
    note_writes(&w, level, true);
    note_parts(&w, level, level < w.s->levels ? level + 1 : level, true);
    access_loop_end(&w.a);
  }
}

static void note_walk(struct kernel_plan *k) {
  struct rows_walk w = walk_of(k, true);
  w.a.is_pipelined = w.k->column_count == 0;
  note_registers(&w);
  for (size_t i = 0; i < w.k->column_count; i++)
    access_value(&w.a, w.k->columns[i].body);
  note_shares(&w);
  for (size_t i = 0; i < w.k->column_count; i++)
    access_buffer(&w.a, w.k->columns[i].part, true);
}

void rows_note_accesses(struct kernel_plan *k) {
  switch (k->rows->step) {
  case ROWS_WHOLE: note_whole(k); break;
  case ROWS_WALK: note_walk(k); break;
  case ROWS_CHUNKS: note_chunks(k); break;
  case ROWS_SPLIT: note_split(k); break;
  case ROWS_COMBINE: note_combine(k); break;
  }
}
