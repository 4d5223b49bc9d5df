// SPDX-License-Identifier: Apache-2.0
// Rows: all reductions over r for each x, and what follows from them. A row that fits stays in
// registers; a longer one is walked in blocks, once for each level of reductions and once more to
// write, the last time backwards, so that its end is still in the cache. Few long rows are split:
// each pass is a launch whose programs take a part of a row and leave partial results, which the
// next launch combines.
#include "graph/emit_rows.h"

#include <inttypes.h>

// A kernel while it is written.
struct writer {
  struct emitter *e;
  struct rows *s;
  bool is_row;          // one x a program: a tile has one dimension
  const char *along;    // arguments of reductions
  const char *shape;    // of a tile
  const char *brackets; // behind what varies along r
  bool has_r_mask;
  uint32_t x_bit, r_bit;
  unsigned level; // the scope that knows x
};

// ---- axes ----

static bool is_even(const struct expr *extent, unsigned block) {
  return expr_is_multiple(extent, block);
}

static void put_x(struct writer *w) {
  struct emitter *e = w->e;
  const struct expr *x = w->s->x, *extent = x->symbol->limit;
  const char *wide = emit_axis_is_wide(x) ? ".to(tl.int64)" : "", *mask = NULL;
  if (w->is_row) {
    emit_line(e, 0, "x = tl.program_id(0)%s", wide);
  } else {
    emit_constexpr(e, "XBLOCK", w->s->x_block);
    emit_line(e, 0, "x = (tl.program_id(0)%s * XBLOCK + tl.arange(0, XBLOCK))%s", wide,
              w->s->is_inner ? "[:, None]" : "[None, :]");
    if (!is_even(extent, w->s->x_block)) {
      mask = "x_mask";
      emit_line(e, 0, "x_mask = x < %s", emit_extent(e, extent));
    }
  }
  w->x_bit = 1u << e->axis_count;
  emit_axis(e, x, "x", mask, 0);
}

static void put_r(struct writer *w) {
  struct emitter *e = w->e;
  const struct expr *r = w->s->r;
  bool looped = w->s->is_looped;
  emit_constexpr(e, "RBLOCK", w->s->r_block);
  int64_t n = 0;
  bool one_block = !looped && expr_is_const(r->symbol->limit, &n) && n == w->s->r_block;
  w->has_r_mask = !one_block && !is_even(r->symbol->limit, w->s->r_block);
  w->r_bit = 1u << e->axis_count;
  emit_axis(e, r, "r", w->has_r_mask ? "r_mask" : NULL, looped ? 1 : 0);
  if (looped)
    return;
  emit_line(e, 0, "r = tl.arange(0, RBLOCK)%s", w->brackets);
  if (w->has_r_mask)
    emit_line(e, 0, "r_mask = r < %s", emit_extent(e, r->symbol->limit));
}

// A pass over the row, or over this program's part of it.
static void open_pass(struct writer *w, bool backwards) {
  struct emitter *e = w->e;
  struct rows *s = w->s;
  const char *n = emit_extent(e, s->r->symbol->limit), *header;
  const char *wide = emit_axis_is_wide(s->r) ? ".to(tl.int64)" : "";
  if (s->splits > 1)
    header = arena_printf(e->arena, "for r0 in range(first, last, RBLOCK):");
  else if (backwards)
    header = arena_printf(e->arena,
                          "for r0 in range((tl.cdiv(%s, RBLOCK) - 1) * RBLOCK, -1, -RBLOCK):", n);
  else
    header = arena_printf(e->arena, "for r0 in range(0, %s, RBLOCK):", n);
  emit_open(e, header);
  emit_line(e, 1, "r = (r0%s + tl.arange(0, RBLOCK))%s", wide, w->brackets);
  if (w->has_r_mask)
    emit_line(e, 1, "r_mask = r < %s", n);
}

// ---- reductions ----

static bool depends_on_r(struct writer *w, const struct scalar *v) {
  return emit_axes_of(w->e, v) & w->r_bit;
}

// The value where r is inside, what changes nothing elsewhere; always a tile along r.
static const char *inside_text(struct writer *w, const struct row_reduction *d,
                               const char *neutral) {
  struct emitter *e = w->e;
  bool truth =
      d->stage->op == REDUCE_ANY || d->stage->op == REDUCE_ALL || d->body->dtype == DTYPE_I1;
  bool along = depends_on_r(w, d->body);
  struct text t = emit_value(e, d->body);
  const char *v = t.s;
  enum dtype want = reduce_dtype(d);
  if (truth && d->body->dtype == DTYPE_I1)
    v = arena_printf(e->arena, "%s.to(%s)",
                     t.is_number ? arena_printf(e->arena, "tl.full([], %s, tl.int1)", v)
                                 : text_within(e, t, PREC_ATOM),
                     emit_type(want));
  else if (truth)
    v = arena_printf(e->arena, "(%s != 0).to(%s)", text_within(e, t, PREC_SUM), emit_type(want));
  else if (t.is_narrow || (d->body->dtype != want && !t.is_number))
    v = arena_printf(e->arena, "%s.to(%s)", text_within(e, t, PREC_ATOM), emit_type(want));
  bool zeros = d->stage->op == REDUCE_SUM && reduce_keeps_zero(d->body, w->s->r);
  if (along && (!w->has_r_mask || zeros))
    return v;
  if (!along && !w->has_r_mask)
    return arena_printf(e->arena, "tl.where(r >= 0, %s, %s)", v, neutral);
  return arena_printf(e->arena, "tl.where(r_mask, %s, %s)", v, neutral);
}

static void know_result(struct writer *w, struct row_reduction *d, const char *name) {
  d->name = name;
  emit_given(w->e, d->result, name, w->x_bit, w->level);
}

// The names of a result and of the accumulator of reduction number i.
static const char *numbered(struct writer *w, const char *base, const struct row_reduction *d) {
  return arena_printf(w->e->arena, "%s%u", base, (unsigned)(d - w->s->reductions));
}

static const char *op_word(const struct row_reduction *d) {
  switch (d->stage->op) {
  case REDUCE_SUM: return "sum";
  case REDUCE_PROD: return "prod";
  case REDUCE_MAX: return "max";
  case REDUCE_MIN: return "min";
  case REDUCE_ANY: return "any";
  case REDUCE_ALL: return "all";
  case REDUCE_ARGMAX:
  case REDUCE_ARGMIN: return "place";
  }
  UNREACHABLE();
}

// `tile` (or a pair of tiles) reduced to the result's name.
static void finish_reduction(struct writer *w, struct row_reduction *d, const char *tile) {
  struct emitter *e = w->e;
  const char *name = numbered(w, op_word(d), d);
  const char *text = reduce_tile(e, d, tile, w->along);
  if (reduce_is_place(d))
    emit_line(e, w->level, "%s = %s[1].to(tl.int64)", name, text);
  else if (d->result->dtype == DTYPE_I1)
    emit_line(e, w->level, "%s = %s != 0", name, text);
  else
    emit_line(e, w->level, "%s = %s", name, text);
  know_result(w, d, name);
}

static void reduce_in_registers(struct writer *w, struct row_reduction *d) {
  struct emitter *e = w->e;
  const char *v = inside_text(w, d, reduce_neutral(e, d));
  if (reduce_is_place(d))
    v = arena_printf(e->arena, "tl.broadcast(%s, r)", v);
  finish_reduction(w, d, v);
}

// ---- accumulators ----

static void put_accumulators(struct writer *w, struct row_reduction *d) {
  struct emitter *e = w->e;
  const char *type = emit_type(reduce_dtype(d)), *name = numbered(w, "acc", d);
  if (d->pair == PAIR_SOFTMAX) {
    emit_line(e, 0, "%s = tl.zeros(%s, tl.float32)", name, w->shape);
  } else if (d->pair == PAIR_VARIANCE) {
    emit_line(e, 0, "%s = tl.zeros(%s, tl.float32)", name, w->shape);
    emit_line(e, 0, "%s = tl.zeros(%s, tl.float32)", numbered(w, "mean", d), w->shape);
    emit_line(e, 0, "%s = tl.zeros(%s, tl.float32)", numbered(w, "count", d), w->shape);
  } else if (!d->has_second || d->stage->op == REDUCE_MAX) {
    emit_line(e, 0, "%s = tl.full(%s, %s, %s)", name, w->shape, reduce_neutral(e, d), type);
    if (reduce_is_place(d))
      emit_line(e, 0, "%s = tl.zeros(%s, %s)", numbered(w, "at", d), w->shape,
                emit_axis_is_wide(w->s->r) ? "tl.int64" : "tl.int32");
  }
}

// The running maximum and the sum relative to it. A maximum of -inf is no reference.
static void accumulate_softmax(struct writer *w, struct row_reduction *d) {
  struct emitter *e = w->e;
  const char *m = numbered(w, "acc", d->first), *sum = numbered(w, "acc", d);
  const char *v = inside_text(w, d->first, reduce_neutral(e, d->first));
  const char *value = numbered(w, "value", d), *next = numbered(w, "next", d),
             *base = numbered(w, "base", d);
  emit_line(e, 1, "%s = %s", value, v);
  emit_line(e, 1, "%s = %s", next, reduce_two(e, d->first, m, value));
  emit_line(e, 1, "%s = tl.where(%s == float(\"-inf\"), 0.0, %s)", base, next, next);
  emit_line(e, 1, "%s = %s * tl.exp(%s - %s) + tl.exp(%s - %s)", sum, sum, m, base, value, base);
  emit_line(e, 1, "%s = %s", m, next);
}

// Welford's: each lane has a count, a mean and a sum of squares around it.
static void accumulate_variance(struct writer *w, struct row_reduction *d) {
  struct emitter *e = w->e;
  const char *m2 = numbered(w, "acc", d), *mean = numbered(w, "mean", d),
             *count = numbered(w, "count", d), *delta = numbered(w, "delta", d),
             *value = numbered(w, "value", d);
  struct text v = emit_value(e, d->first->body);
  emit_line(e, 1, "%s = %s", value, v.s);
  if (w->has_r_mask) {
    emit_line(e, 1, "%s = tl.where(r_mask, %s - %s, 0.0)", delta, value, mean);
    emit_line(e, 1, "%s += tl.where(r_mask, 1.0, 0.0)", count);
    emit_line(e, 1, "%s += %s / tl.maximum(%s, 1.0)", mean, delta, count);
  } else {
    emit_line(e, 1, "%s = %s - %s", delta, value, mean);
    emit_line(e, 1, "%s += 1.0", count);
    emit_line(e, 1, "%s += %s / %s", mean, delta, count);
  }
  emit_line(e, 1, "%s += %s * (%s - %s)", m2, delta, value, mean);
}

static void accumulate(struct writer *w, struct row_reduction *d) {
  struct emitter *e = w->e;
  if (d->pair == PAIR_SOFTMAX) {
    accumulate_softmax(w, d);
    return;
  }
  if (d->pair == PAIR_VARIANCE) {
    accumulate_variance(w, d);
    return;
  }
  if (d->has_second)
    return;
  const char *acc = numbered(w, "acc", d), *v = inside_text(w, d, reduce_neutral(e, d));
  if (!reduce_is_place(d)) {
    emit_line(e, 1, "%s = %s", acc, reduce_two(e, d, acc, v));
    return;
  }
  const char *at = numbered(w, "at", d), *value = numbered(w, "value", d),
             *take = numbered(w, "take", d);
  emit_line(e, 1, "%s = %s", value, v);
  emit_line(e, 1, "%s = (%s %s %s) | ((%s != %s) & (%s == %s))", take, value,
            d->stage->op == REDUCE_ARGMAX ? ">" : "<", acc, value, value, acc, acc);
  emit_line(e, 1, "%s = tl.where(%s, %s, %s)", acc, take, value, acc);
  emit_line(e, 1, "%s = tl.where(%s, r, %s)", at, take, at);
}

static void finish_softmax(struct writer *w, struct row_reduction *d) {
  struct emitter *e = w->e;
  finish_reduction(w, d->first, numbered(w, "acc", d->first));
  const char *m = d->first->name, *base = numbered(w, "base", d);
  emit_line(e, 0, "%s = tl.where(%s == float(\"-inf\"), 0.0, %s)", base, m, m);
  finish_reduction(w, d,
                   arena_printf(e->arena, "%s * tl.exp(%s - %s)", numbered(w, "acc", d),
                                numbered(w, "acc", d->first), base));
}

// Over lanes: those of a tile, or splits. `n` elements lie behind all of them together.
static void combine_variance(struct writer *w, struct row_reduction *d, const char *n) {
  struct emitter *e = w->e;
  const char *m2 = numbered(w, "acc", d), *mean = numbered(w, "mean", d),
             *count = numbered(w, "count", d), *off = numbered(w, "off", d);
  finish_reduction(w, d->first, arena_printf(e->arena, "%s * %s", mean, count));
  emit_line(e, 0, "%s = %s - %s / %s", off, mean, d->first->name, n);
  finish_reduction(w, d, arena_printf(e->arena, "%s + %s * %s * %s", m2, count, off, off));
}

static void finish_accumulator(struct writer *w, struct row_reduction *d, const char *n) {
  struct emitter *e = w->e;
  if (d->pair == PAIR_SOFTMAX)
    finish_softmax(w, d);
  else if (d->pair == PAIR_VARIANCE)
    combine_variance(w, d, n);
  else if (reduce_is_place(d))
    finish_reduction(
        w, d, arena_printf(e->arena, "(%s, %s)", numbered(w, "acc", d), numbered(w, "at", d)));
  else if (!d->has_second)
    finish_reduction(w, d, numbered(w, "acc", d));
}

// ---- writes ----

static void put_writes(struct writer *w, unsigned level, bool full) {
  for (size_t i = 0; i < w->s->write_count; i++) {
    const struct row_write *o = &w->s->writes[i];
    if (o->level == level && o->is_full == full)
      emit_store_value(w->e, o->buffer, o->place, o->body);
  }
}

static bool has_writes(const struct rows *s, unsigned level, bool full) {
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].level == level && s->writes[i].is_full == full)
      return true;
  return false;
}

static bool overwrites_inputs(const struct rows *s) {
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].buffer->role == BUFFER_INPUT)
      return true;
  return false;
}

static void write_from_registers(struct writer *w) {
  struct rows *s = w->s;
  for (size_t i = 0; i < s->reduction_count; i++)
    reduce_in_registers(w, &s->reductions[i]);
  for (size_t i = 0; i < s->write_count && overwrites_inputs(s); i++)
    emit_name(w->e, s->writes[i].body);
  for (size_t i = 0; i < s->write_count; i++)
    emit_store_value(w->e, s->writes[i].buffer, s->writes[i].place, s->writes[i].body);
}

// One level of reductions, by a pass.
static void reduce_level(struct writer *w, unsigned level, const char *n) {
  struct rows *s = w->s;
  for (size_t i = 0; i < s->reduction_count; i++)
    if (s->reductions[i].level == level)
      put_accumulators(w, &s->reductions[i]);
  open_pass(w, false);
  for (size_t i = 0; i < s->reduction_count; i++)
    if (s->reductions[i].level == level)
      accumulate(w, &s->reductions[i]);
  put_writes(w, level, true);
  emit_close(w->e);
  for (size_t i = 0; i < s->reduction_count; i++)
    if (s->reductions[i].level == level)
      finish_accumulator(w, &s->reductions[i], n);
}

static void write_by_passes(struct writer *w) {
  struct rows *s = w->s;
  const char *n = emit_extent(w->e, s->r->symbol->limit);
  for (unsigned level = 0; level < s->levels; level++) {
    reduce_level(w, level, n);
    put_writes(w, level, false);
  }
  if (has_writes(s, s->levels, true)) {
    open_pass(w, s->levels > 0);
    put_writes(w, s->levels, true);
    emit_close(w->e);
  }
  put_writes(w, s->levels, false);
}

// ---- splits ----

static const char *part_place(struct writer *w, const char *split) {
  const struct expr *rows = w->s->x->symbol->limit;
  return expr_is(rows, 1)
             ? split
             : arena_printf(w->e->arena, "%s * %s + x", split, emit_extent(w->e, rows));
}

static void put_part(struct writer *w, struct row_reduction *d) {
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
static void load_part(struct writer *w, struct row_reduction *d, const char *name) {
  struct emitter *e = w->e;
  const char *at = part_place(w, "s");
  if (expr_is(w->s->x->symbol->limit, 1) && !w->is_row)
    at = "s + x";
  emit_line(e, 0, "%s = tl.load(%s + %s, mask=s_mask%s, other=%s)", name, emit_buffer(e, d->part),
            at, e->axes[0].mask ? " & x_mask" : "", reduce_neutral(e, d));
}

static void combine_parts(struct writer *w, unsigned level, const char *n) {
  struct rows *s = w->s;
  for (size_t i = 0; i < s->reduction_count; i++) {
    struct row_reduction *d = &s->reductions[i];
    if (d->level != level)
      continue;
    if (d->pair == PAIR_VARIANCE) {
      load_part(w, d->first, numbered(w, "mean", d));
      emit_line(w->e, 0,
                "%s = tl.where(s_mask, tl.minimum(%s - s * %" PRId64 ", %" PRId64
                "), 1).to(tl.float32)",
                numbered(w, "count", d), n, s->chunk, s->chunk);
      emit_line(w->e, 0, "%s = %s / %s", numbered(w, "mean", d), numbered(w, "mean", d),
                numbered(w, "count", d));
      emit_line(w->e, 0, "%s = tl.where(s_mask, %s, 0.0)", numbered(w, "count", d),
                numbered(w, "count", d));
      load_part(w, d, numbered(w, "acc", d));
    } else if (!d->has_second || d->stage->op == REDUCE_MAX) {
      load_part(w, d, numbered(w, "acc", d));
    }
    finish_accumulator(w, d, n);
  }
}

static struct writer writer_of(struct rows *s, const char *suffix) {
  if (suffix && s->suffix)
    suffix = arena_printf(s->p->arena, "%s_%s", s->suffix, suffix);
  struct writer w = {.s = s, .e = emit_begin(s->p, s->region, s->o, suffix ? suffix : s->suffix)};
  w.is_row = s->is_inner && s->x_block == 1;
  w.along = w.is_row ? "axis=0" : s->is_inner ? "axis=1, keep_dims=True" : "axis=0, keep_dims=True";
  w.shape = w.is_row ? "[RBLOCK]" : s->is_inner ? "[XBLOCK, RBLOCK]" : "[RBLOCK, XBLOCK]";
  w.brackets = w.is_row ? "" : s->is_inner ? "[None, :]" : "[:, None]";
  return w;
}

static void count_all(struct writer *w) {
  for (size_t i = 0; i < w->s->reduction_count; i++)
    emit_count(w->e, w->s->reductions[i].body);
  for (size_t i = 0; i < w->s->write_count; i++)
    emit_count(w->e, w->s->writes[i].body);
}

// A launch that reads partial results alone.
static void count_parts(struct writer *w) {
  const struct rows *s = w->s;
  int64_t bytes = 0;
  for (size_t i = 0; i < s->reduction_count; i++)
    bytes += dtype_bytes(reduce_dtype(&s->reductions[i]));
  w->e->launch.bytes = expr_muli(w->e->x, s->x->symbol->limit, bytes * s->splits);
  w->e->launch.flops =
      expr_muli(w->e->x, s->x->symbol->limit, (int64_t)s->reduction_count * s->splits);
}

static void end(struct writer *w, bool splits) {
  struct emitter *e = w->e;
  struct rows *s = w->s;
  if (!splits && s->splits > 1)
    count_parts(w);
  const struct expr *x = s->x->symbol->limit;
  const struct expr *grid[3] = {w->is_row ? x : expr_cdiv(e->x, x, expr_const(e->x, s->x_block)),
                                splits ? expr_const(e->x, s->splits) : NULL, NULL};
  const char *text =
      w->is_row ? emit_extent(e, x) : arena_printf(e->arena, "cdiv(%s, XBLOCK)", emit_extent(e, x));
  if (splits)
    text = arena_printf(e->arena, "%s,%u", text, s->splits);
  emit_end(e, s->num_warps, grid, text, "num_warps=1,2,4,8,16");
}

// Launch number `level` of a split: it knows the levels before.
static void emit_split(struct rows *s, unsigned level) {
  bool is_last = level == s->levels;
  struct writer w = writer_of(s, is_last ? "finish" : arena_printf(s->p->arena, "part%u", level));
  struct emitter *e = w.e;
  bool full = has_writes(s, level, true), walks = !is_last || full;
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].is_full ? s->writes[i].level == level : is_last)
      emit_writes(e, s->writes[i].buffer);
  put_x(&w);
  put_r(&w);
  count_all(&w);
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
      put_writes(&w, l, false);
    if (full) {
      open_pass(&w, false);
      put_writes(&w, level, true);
      emit_close(e);
    }
  } else {
    const char *own = arena_printf(e->arena, "(last - first)");
    reduce_level(&w, level, own);
    for (size_t i = 0; i < s->reduction_count; i++)
      if (s->reductions[i].level == level)
        put_part(&w, &s->reductions[i]);
  }
  end(&w, walks);
}

bool rows_emit(struct rows *s) {
  for (unsigned level = 0; s->splits > 1 && level <= s->levels; level++)
    if (level < s->levels || s->write_count > 0)
      emit_split(s, level);
  if (s->splits > 1)
    return true;
  if (s->walkers) {
    rows_emit_walk(s, NULL, 0, s->walkers);
    return true;
  }
  struct writer w = writer_of(s, NULL);
  for (size_t i = 0; i < s->write_count; i++)
    emit_writes(w.e, s->writes[i].buffer);
  put_x(&w);
  put_r(&w);
  count_all(&w);
  if (s->is_looped)
    write_by_passes(&w);
  else
    write_from_registers(&w);
  end(&w, false);
  return true;
}

// ---- walking over rows ----

// This program's share of a column's sum.
static void accumulate_column(struct writer *w, const struct row_reduction *d, const char *name) {
  struct text t = emit_value(w->e, d->body);
  emit_line(w->e, 1, "%s += %s", name, t.s);
}

void rows_emit_walk(struct rows *s, struct row_reduction *columns, size_t count,
                    unsigned programs) {
  struct writer w = writer_of(s, NULL);
  struct emitter *e = w.e;
  const struct expr *rows = s->x->symbol->limit, *row = s->r->symbol->limit;
  w.level = 1;
  for (size_t i = 0; i < s->write_count; i++)
    emit_writes(e, s->writes[i].buffer);
  w.x_bit = 1u << e->axis_count;
  emit_axis(e, s->x, "x", NULL, 1);
  put_r(&w);
  count_all(&w);
  for (size_t i = 0; i < count; i++) {
    struct row_reduction *d = &columns[i];
    enum dtype t = reduce_dtype(d);
    emit_count(e, d->body);
    d->part = emit_temporary(e->p, "part", t, expr_muli(e->x, row, programs));
    emit_writes(e, d->part);
    emit_line(e, 0, "column%zu = tl.zeros(%s, %s)", i, w.shape, emit_type(t));
  }
  const char *n = emit_extent(e, rows);
  const char *range = count ? "range" : "tl.range", *stages = count ? "" : ", num_stages=2";
  emit_open(e, arena_printf(e->arena, "for x in %s(tl.program_id(0), %s, %u%s):", range, n,
                            programs, stages));
  write_from_registers(&w);
  for (size_t i = 0; i < count; i++)
    accumulate_column(&w, &columns[i], arena_printf(e->arena, "column%zu", i));
  emit_close(e);
  for (size_t i = 0; i < count; i++)
    emit_line(e, 0, "tl.store(%s + tl.program_id(0) * %s + r, column%zu%s)",
              emit_buffer(e, columns[i].part), emit_extent(e, row), i,
              w.has_r_mask ? ", mask=r_mask" : "");
  const struct expr *grid[3] = {expr_const(e->x, programs), NULL, NULL};
  emit_end(e, s->num_warps, grid, arena_printf(e->arena, "%u", programs), NULL);
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
