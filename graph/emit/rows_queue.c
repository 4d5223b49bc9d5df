// SPDX-License-Identifier: Apache-2.0
// Long rows in one launch, by a work queue. Rows are split into chunks. Each program takes the next
// work id; ids are in the order in which programs start. The program with id t reduces chunk t and
// writes chunk t - lag, whose row has been reduced by then or soon will be. A program waits only
// for programs with smaller ids, which have started; the one with the smallest id never waits, so
// there is no deadlock. The lag is so short that a chunk is still in L2 when it is read again.
#include "graph/emit/rows_writer.h"

#include <inttypes.h>

static const char *counter(struct row_writer *w, unsigned level) {
  struct emitter *e = w->e;
  const char *base = emit_buffer(e, w->k->queue.counters);
  return level ? arena_printf(e->arena, "%s + %" PRId64 " + x", base, level * w->k->queue.rows)
               : arena_printf(e->arena, "%s + x", base);
}

static void open_chunk(struct row_writer *w, unsigned level) {
  struct emitter *e = w->e;
  const struct rows *s = w->s;
  int64_t start = rows_queue_start(s, level);
  int64_t end = start + w->k->queue.chunks;
  if (level == s->levels)
    emit_open(e, arena_printf(e->arena, "if work_id >= %" PRId64 ":", start));
  else if (level == 0)
    emit_open(e, arena_printf(e->arena, "if work_id < %" PRId64 ":", end));
  else
    emit_open(e, arena_printf(e->arena, "if (work_id >= %" PRId64 ") & (work_id < %" PRId64 "):",
                              start, end));
  const char *chunk = "work_id";
  if (level) {
    emit_line(e, 1, "chunk = work_id - %" PRId64, start);
    chunk = "chunk";
  }
  emit_line(e, 1, "x = %s // %u%s", chunk, s->splits,
            emit_axis_is_wide(s->x) ? ".to(tl.int64)" : "");
  emit_line(e, 1, "split = %s %% %u", chunk, s->splits);
  emit_line(e, 1, "r = split * RBLOCK + tl.arange(0, RBLOCK)");
  if (w->has_r_mask)
    emit_line(e, 1, "r_mask = r < %s", emit_extent(e, axis_extent(s->r)));
}

// The program of the last work id zeroes the counters when no other uses them any more. At the end
// of the kernel it would cost all programs registers.
static void clear_counters(struct row_writer *w) {
  struct emitter *e = w->e;
  const char *counters = emit_buffer(e, w->k->queue.counters);
  int64_t lanes = 1;
  while (lanes <= w->k->queue.done)
    lanes *= 2;
  emit_line(e, 1, "if work_id == %" PRId64 ":", w->k->queue.ids - 1);
  emit_line(e, 1, "    tl.atomic_poll(%s + %" PRId64 ", %" PRId64 ")", counters, w->k->queue.done,
            w->k->queue.chunks);
  emit_line(e, 1, "    i = tl.arange(0, %" PRId64 ")", lanes);
  emit_line(e, 1, "    tl.store(%s + i, 0, mask=i < %" PRId64 ")", counters, w->k->queue.done + 1);
}

static void count_chunk(struct row_writer *w, const char *offset) {
  emit_line(w->e, 1, "    tl.debug_barrier()");
  emit_line(w->e, 1, "    tl.atomic_add(%s, 1, sem=\"release\")", offset);
}

// The chunk reduced at `level` is counted while the loads of the next level are in flight: by then
// its results are in memory, and the release does not wait.
static void count_late(struct row_writer *w, unsigned level) {
  struct emitter *e = w->e;
  const struct rows *s = w->s;
  int64_t start = rows_queue_start(s, level);
  const char *chunk = start ? arena_printf(e->arena, "(work_id - %" PRId64 ")", start) : "work_id";
  const char *first = level ? arena_printf(e->arena, " + %" PRId64, level * w->k->queue.rows) : "";
  emit_line(e, 1, "if work_id < %" PRId64 ":", start + w->k->queue.chunks);
  count_chunk(w, arena_printf(e->arena, "%s%s + %s // %u", emit_buffer(e, w->k->queue.counters),
                              first, chunk, s->splits));
}

// Waits until all programs that reduce row x at the previous level are done.
static void wait_for_row(struct row_writer *w, unsigned level) {
  struct emitter *e = w->e;
  emit_line(e, 1, "tl.atomic_poll(%s, %u)", counter(w, level - 1), w->s->splits);
  if (level == w->s->levels) {
    emit_line(e, 1, "tl.atomic_add(%s + %" PRId64 ", 1, sem=\"relaxed\")",
              emit_buffer(e, w->k->queue.counters), w->k->queue.done);
    clear_counters(w);
  }
  row_writer_fetch_parts(w, level);
  count_late(w, level - 1);
  row_writer_combine_parts(w, level, emit_extent(e, axis_extent(w->s->r)));
}

// Loads independent of the row's results are issued before waiting.
static void load_early(struct row_writer *w, struct map *seen, const struct scalar *v) {
  if (ptrmap_get(seen, v))
    return;
  ptrmap_put(w->e->arena, seen, v, w);
  if (v->kind == SCALAR_LOAD) {
    uint32_t axes = emit_axes_of(w->e, v);
    if (v->buffer->id != UINT32_MAX && (axes & w->r_bit) && (axes & w->x_bit))
      emit_name(w->e, v);
    return;
  }
  bool always = v->kind == SCALAR_APPLY || v->kind == SCALAR_CONVERT;
  for (unsigned i = 0; always && i < scalar_arity(v); i++)
    load_early(w, seen, v->in[i]);
}

static void load_level(struct row_writer *w, unsigned level) {
  const struct rows *s = w->s;
  // A chunk stays in the cache until its last read. Stores are not read again here.
  bool is_last = level == s->levels;
  w->e->load_hint = is_last ? "eviction_policy=\"evict_first\"" : "eviction_policy=\"evict_last\"";
  w->e->store_hint = is_last ? w->e->load_hint : NULL;
  w->e->hinted_axes = w->x_bit | w->r_bit;
  struct map seen = {0};
  for (size_t i = 0; i < s->reduction_count; i++)
    if (s->reductions[i].level == level)
      load_early(w, &seen, s->reductions[i].body);
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].level == level)
      load_early(w, &seen, s->writes[i].body);
}

static void reduce_chunk(struct row_writer *w, unsigned level) {
  const struct rows *s = w->s;
  for (size_t i = 0; i < s->reduction_count; i++)
    if (s->reductions[i].level == level)
      row_writer_reduce_chunk(w, &s->reductions[i]);
  row_writer_stores(w, level, true);
  for (size_t i = 0; i < s->reduction_count; i++)
    if (s->reductions[i].level == level)
      row_writer_put_part(w, &s->reductions[i]);
  emit_line(w->e, 1, "if work_id < %" PRId64 ":", rows_queue_start(s, level + 1));
  count_chunk(w, counter(w, level));
}

static void write_chunk(struct row_writer *w) {
  const struct rows *s = w->s;
  const char *hint = w->e->store_hint;
  w->e->store_hint = NULL;
  for (unsigned level = 0; level <= s->levels; level++)
    row_writer_stores(w, level, false);
  w->e->store_hint = hint;
  row_writer_stores(w, s->levels, true);
}

void rows_put_chunks(struct row_writer *w) {
  const struct rows *s = w->s;
  struct emitter *e = w->e;
  for (size_t i = 0; i < s->write_count; i++)
    emit_writes(e, s->writes[i].buffer);
  emit_writes(e, w->k->queue.counters);
  w->level = 1;
  w->x_bit = 1u << e->axis_count;
  emit_axis(e, s->x, "x", NULL, 1);
  row_writer_r(w);
  row_writer_count(w);
  emit_line(e, 0, "work_id = tl.atomic_add(%s + %" PRId64 ", 1, sem=\"relaxed\")",
            emit_buffer(e, w->k->queue.counters), w->k->queue.drawn);
  for (unsigned level = 0; level <= s->levels; level++) {
    open_chunk(w, level);
    load_level(w, level);
    if (level)
      wait_for_row(w, level);
    if (level < s->levels)
      reduce_chunk(w, level);
    else
      write_chunk(w);
    emit_close(e);
  }
}
