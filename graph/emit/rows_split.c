// SPDX-License-Identifier: Apache-2.0
// Few long rows are split: each pass is a launch whose programs reduce parts of a row to partial
// results, which the last program or the next launch combines. The blocks of a part are interleaved
// with those of the others: all programs read close together, which DRAM serves better than distant
// parts (the variance of 4096 columns of 32768 half-precision elements took 0.074 ms instead of
// 0.090 on an H200).
#include "graph/emit/rows_writer.h"

#include <inttypes.h>

// ---- partial results ----

static const char *part_index(struct row_writer *w, const char *split) {
  const struct expr *rows = axis_extent(w->s->x);
  if (w->s->lag)
    return arena_printf(w->e->arena, "x * %u + %s", w->s->splits, split);
  if (expr_is(rows, 1))
    return w->is_row ? split : arena_printf(w->e->arena, "%s + x", split);
  return arena_printf(w->e->arena, "%s * %s + x", split, emit_extent(w->e, rows));
}

static void store_part(struct row_writer *w, struct buffer *part, const char *value) {
  struct emitter *e = w->e;
  emit_writes(e, part);
  emit_line(e, w->level, "tl.store(%s + %s, %s%s)", emit_buffer(e, part), part_index(w, "split"),
            value, e->axes[0].mask ? ", mask=x_mask" : "");
}

void row_writer_put_part(struct row_writer *w, const struct row_reduction *d) {
  if (reduce_is_index(d)) {
    store_part(w, d->part, row_writer_name(w, "most", d));
    store_part(w, d->part_index, *row_writer_result(w, d));
  } else if (d->result->dtype == DTYPE_I1) {
    store_part(w, d->part, arena_printf(w->e->arena, "%s.to(tl.int32)", *row_writer_result(w, d)));
  } else {
    store_part(w, d->part, *row_writer_result(w, d));
  }
}

// The partial results of earlier programs, as lanes along r; `volatile` loads if they are of the
// same launch.
static void load_part(struct row_writer *w, struct buffer *part, const char *other,
                      const char *name, unsigned level) {
  struct emitter *e = w->e;
  emit_line(e, level, "%s = tl.load(%s + %s, mask=s_mask%s, other=%s%s)", name,
            emit_buffer(e, part), part_index(w, "s"), e->axes[0].mask ? " & x_mask" : "", other,
            w->s->lag ? ", volatile=True" : "");
}

static void load_result(struct row_writer *w, const struct row_reduction *d, const char *name,
                        unsigned level) {
  load_part(w, d->part, reduce_neutral(w->e, d), name, level);
}

// The number of elements of a row in part `share`: every n-th block, and the incomplete last block
// for one of them.
static const char *share_count(struct row_writer *w, const char *share) {
  struct exprs *x = w->e->x;
  const struct expr *n = axis_extent(w->s->r), *block = expr_const(x, w->s->r_block),
                    *splits = expr_const(x, w->s->splits), *whole = expr_floordiv(x, n, block),
                    *rest = expr_mod(x, n, block);
  const char *blocks = arena_printf(w->e->arena, "(%s - %s) // %u * %u",
                                    emit_extent(w->e, expr_addi(x, whole, w->s->splits - 1)), share,
                                    w->s->splits, w->s->r_block);
  if (expr_is(rest, 0))
    return arena_printf(w->e->arena, "(%s)", blocks);
  return arena_printf(w->e->arena, "(%s + tl.where(%s == %s, %s, 0))", blocks, share,
                      emit_extent(w->e, expr_mod(x, whole, splits)), emit_extent(w->e, rest));
}

static void fetch_level(struct row_writer *w, unsigned level) {
  const struct rows *s = w->s;
  for (size_t i = 0; i < s->reduction_count; i++) {
    const struct row_reduction *d = &s->reductions[i];
    if (d->level != level)
      continue;
    if (d->pair == PAIR_VARIANCE) {
      const char *mean = row_writer_name(w, "mean", d), *count = row_writer_name(w, "count", d);
      load_result(w, d->first, mean, w->level);
      emit_line(w->e, w->level, "%s = tl.where(s_mask, %s, 0).to(tl.float32)", count,
                share_count(w, "s"));
      emit_line(w->e, w->level, "%s = %s / tl.maximum(%s, 1.0)", mean, mean, count);
      load_result(w, d, row_writer_name(w, "acc", d), w->level);
    } else if (!d->has_second || d->stage->op == REDUCE_MAX) {
      load_result(w, d, row_writer_name(w, "acc", d), w->level);
    }
    if (reduce_is_index(d))
      load_part(w, d->part_index, "0x7fffffffffffffff", row_writer_name(w, "at", d), w->level);
  }
}

void row_writer_fetch_parts(struct row_writer *w, unsigned level) {
  unsigned lanes = 1;
  while (lanes < w->s->splits)
    lanes *= 2;
  emit_line(w->e, w->level, "s = tl.arange(0, %u)%s", lanes, w->brackets);
  emit_line(w->e, w->level, "s_mask = s < %u", w->s->splits);
  for (unsigned before = 0; before < level; before++)
    fetch_level(w, before);
}

void row_writer_combine_parts(struct row_writer *w, unsigned level, const char *n) {
  for (unsigned before = 0; before < level; before++)
    for (size_t i = 0; i < w->s->reduction_count; i++)
      if (w->s->reductions[i].level == before)
        row_writer_finish(w, &w->s->reductions[i], n);
}

// ---- launches ----

// Are all parts loaded at once, because the two reductions of a pair are combined?
static bool has_pairs(const struct rows *s) {
  for (size_t i = 0; i < s->reduction_count; i++)
    if (s->reductions[i].pair || reduce_is_index(&s->reductions[i]))
      return true;
  return false;
}

// Loads the parts of columns, a few at a time: a tile of all of them would need registers that
// limit occupancy.
static void add_up_parts(struct row_writer *w, const char *n) {
  const struct rows *s = w->s;
  struct emitter *e = w->e;
  unsigned at_once = w->k->parts_at_once;
  // A constant bound would make ptxas unroll the loop, which takes registers too.
  const char *splits =
      w->k->is_last_block ? "tl.num_programs(1)" : arena_printf(e->arena, "%u", s->splits);
  for (size_t i = 0; i < s->reduction_count; i++)
    emit_line(e, 0, "%s = tl.full([%u, XBLOCK], %s, %s)",
              row_writer_name(w, "acc", &s->reductions[i]), at_once,
              reduce_neutral(e, &s->reductions[i]), emit_type(reduce_dtype(&s->reductions[i])));
  emit_open(e, arena_printf(e->arena, "for s0 in range(0, %s, %u):", splits, at_once));
  emit_line(e, 1, "s = (s0 + tl.arange(0, %u))[:, None]", at_once);
  emit_line(e, 1, "s_mask = s < %u", s->splits);
  for (size_t i = 0; i < s->reduction_count; i++) {
    const struct row_reduction *d = &s->reductions[i];
    const char *part = row_writer_name(w, "part", d), *acc = row_writer_name(w, "acc", d);
    load_result(w, d, part, 1);
    emit_line(e, 1, "%s = %s", acc, reduce_two(e, d, acc, part));
  }
  emit_close(e);
  for (size_t i = 0; i < s->reduction_count; i++)
    row_writer_finish(w, &s->reductions[i], n);
}

void row_writer_load_parts(struct row_writer *w, unsigned level, const char *n) {
  if (!w->is_row && w->s->levels == 1 && !has_pairs(w->s)) {
    add_up_parts(w, n);
    return;
  }
  row_writer_fetch_parts(w, level);
  row_writer_combine_parts(w, level, n);
}

static bool has_totals(const struct rows *s) {
  return s->reduction_count && s->reductions[0].total;
}

static void load_totals(struct row_writer *w) {
  struct emitter *e = w->e;
  for (size_t i = 0; i < w->s->reduction_count; i++) {
    const struct row_reduction *d = &w->s->reductions[i];
    const char *name = row_writer_name(w, "total", d);
    emit_line(e, 0, "%s = tl.load(%s + x%s)", name, emit_buffer(e, d->total),
              e->axes[0].mask ? ", mask=x_mask" : "");
    row_writer_know(w, d, name);
  }
}

static void store_totals(struct row_writer *w) {
  struct emitter *e = w->e;
  for (size_t i = 0; i < w->s->reduction_count; i++) {
    const struct row_reduction *d = &w->s->reductions[i];
    emit_writes(e, d->total);
    emit_line(e, 0, "tl.store(%s + x, %s%s)", emit_buffer(e, d->total), *row_writer_result(w, d),
              e->axes[0].mask ? ", mask=x_mask" : "");
  }
}

static void write_level(struct row_writer *w) {
  const struct rows *s = w->s;
  unsigned level = w->k->level;
  struct emitter *e = w->e;
  const char *n = emit_extent(e, axis_extent(s->r));
  emit_line(e, 0, "split = tl.program_id(1)");
  bool is_last = level == s->levels, after_totals = is_last && has_totals(s);
  if (after_totals)
    load_totals(w);
  else if (level > 0)
    row_writer_load_parts(w, level, n);
  if (is_last) {
    for (unsigned l = 0; l <= level && !after_totals; l++)
      row_writer_stores(w, l, false);
    row_writer_pass(w, false, row_writer_full_stores, level);
    return;
  }
  const char *count = share_count(w, "split");
  if (!expr_is_const(axis_extent(s->r), NULL)) // there may be fewer than expected
    count = arena_printf(e->arena, "tl.maximum(%s, 1)", count);
  row_writer_reduce_level(w, level, count);
  for (size_t i = 0; i < s->reduction_count; i++)
    if (s->reductions[i].level == level)
      row_writer_put_part(w, &s->reductions[i]);
}

// A level of a split uses the results of earlier levels. Its stores are of elements, after a pass
// over r, and of results per row.
static void begin_level(struct row_writer *w, unsigned level, bool has_r) {
  const struct rows *s = w->s;
  bool of_rows = level == s->levels && (!has_r || !has_totals(s));
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].is_full ? has_r && s->writes[i].level == level : of_rows)
      emit_writes(w->e, s->writes[i].buffer);
  row_writer_x(w);
  if (has_r)
    row_writer_r(w);
  row_writer_count(w);
}

void rows_put_split(struct row_writer *w) {
  begin_level(w, w->k->level, true);
  write_level(w);
  emit_sizes(w->e, axis_extent(w->s->x));
}

void rows_put_combine(struct row_writer *w) {
  const struct rows *s = w->s;
  begin_level(w, s->levels, false);
  row_writer_load_parts(w, s->levels, emit_extent(w->e, axis_extent(s->r)));
  for (unsigned l = 0; l <= s->levels; l++)
    row_writer_stores(w, l, false);
  if (has_totals(s))
    store_totals(w);
  if (!w->k->is_last_block)
    emit_sizes(w->e, axis_extent(s->x));
}
