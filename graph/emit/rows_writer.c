// SPDX-License-Identifier: Apache-2.0
// The parts of a kernel over rows that are the same however rows are walked: axes, passes, stores,
// the launch.
#include "graph/emit/rows_writer.h"

// ---- the kernel ----

struct row_writer row_writer_begin(struct rows *s, const char *suffix) {
  if (suffix && s->suffix)
    suffix = arena_printf(s->p->arena, "%s_%s", s->suffix, suffix);
  struct row_writer w = {.s = s,
                         .e = emit_begin(s->p, s->region, s->o, suffix ? suffix : s->suffix)};
  w.is_row = s->is_inner && s->x_block == 1;
  w.block = s->lanes ? arena_printf(s->p->arena, "LANES * %u", s->width * s->turns) : "RBLOCK";
  if (s->lanes) {
    w.along = w.is_row ? "axis=None" : "axis=1, keep_dims=True";
    w.within = "axis=2, keep_dims=True";
    w.across = w.is_row && s->turns > 1 ? "axis=0, keep_dims=True" : NULL;
    w.shape = w.is_row ? "[1, LANES, 1]" : "[XBLOCK, LANES, 1]";
    w.brackets = ""; // of parts
    w.brackets_x = "[:, None, None]";
    return w;
  }
  w.along = w.is_row ? "axis=0" : s->is_inner ? "axis=1, keep_dims=True" : "axis=0, keep_dims=True";
  w.shape = w.is_row ? "[RBLOCK]" : s->is_inner ? "[XBLOCK, RBLOCK]" : "[RBLOCK, XBLOCK]";
  w.brackets = w.is_row ? "" : s->is_inner ? "[None, :]" : "[:, None]";
  w.brackets_x = s->is_inner ? "[:, None]" : "[None, :]";
  return w;
}

void row_writer_count(struct row_writer *w) {
  for (size_t i = 0; i < w->s->reduction_count; i++)
    emit_count(w->e, w->s->reductions[i].body);
  for (size_t i = 0; i < w->s->write_count; i++)
    emit_count(w->e, w->s->writes[i].body);
  for (size_t i = 0; i < w->s->share_count; i++)
    emit_count(w->e, w->s->shares[i].body);
}

// A launch that reads partial results alone.
static void count_parts(struct row_writer *w) {
  const struct rows *s = w->s;
  int64_t bytes = 0;
  for (size_t i = 0; i < s->reduction_count; i++)
    bytes += dtype_bytes(reduce_dtype(&s->reductions[i]));
  w->e->launch.bytes = expr_muli(w->e->x, s->x->symbol->limit, bytes * s->splits);
  w->e->launch.flops =
      expr_muli(w->e->x, s->x->symbol->limit, (int64_t)s->reduction_count * s->splits);
}

// How many partial results there are stays, since so many are read: those of a split, and one a
// program where programs leave shares. So do blocks of a split, which say what a part is of: the
// tuner compares parts. Groups of programs that count themselves do not get more.
static const char *space_of(struct row_writer *w, bool splits) {
  const struct rows *s = w->s;
  struct emitter *e = w->e;
  struct strbuf out = {.arena = w->e->arena};
  unsigned most = s->share_count ? 0 : s->is_inner ? 64 : 256;
  if (!w->is_row)
    emit_space_blocks(&out, "XBLOCK", s->x->symbol->limit, s->x_block, splits ? s->x_block : 2,
                      most);
  if (s->is_looped && !s->lanes && s->splits == 1)
    emit_space_blocks(&out, "RBLOCK", s->r->symbol->limit, s->r_block, w->is_row ? 256 : 4,
                      w->is_row ? 8192 : 128);
  emit_space_powers(&out, "num_warps", s->num_warps, 1, 32);
  return emit_space_end(e, &out);
}

void row_writer_end(struct row_writer *w, bool splits) {
  struct emitter *e = w->e;
  struct rows *s = w->s;
  if (!splits && s->splits > 1)
    count_parts(w);
  const struct expr *x = s->x->symbol->limit;
  const struct expr *grid[3] = {w->is_row ? x : expr_cdiv(e->x, x, w->x_block),
                                splits ? expr_const(e->x, s->splits) : NULL, NULL};
  emit_sizes(e, x);
  emit_end(e, s->num_warps, grid, space_of(w, splits));
}

// ---- axes ----

static bool is_even(const struct expr *extent, unsigned block) {
  return expr_is_multiple(extent, block);
}

void row_writer_x(struct row_writer *w) {
  struct emitter *e = w->e;
  const struct expr *x = w->s->x, *extent = x->symbol->limit;
  const char *wide = emit_axis_is_wide(x) ? ".to(tl.int64)" : "", *mask = NULL;
  if (w->is_row && expr_is(extent, 1)) {
    emit_line(e, 0, "x = 0");
  } else if (w->is_row) {
    emit_line(e, 0, "x = tl.program_id(0)%s", wide);
  } else {
    w->x_block = emit_constexpr(e, "XBLOCK", w->s->x_block);
    emit_line(e, 0, "x = (tl.program_id(0)%s * XBLOCK + tl.arange(0, XBLOCK))%s", wide,
              w->brackets_x);
    if (!is_even(extent, w->s->x_block)) {
      mask = "x_mask";
      emit_line(e, 0, "x_mask = x < %s", emit_extent(e, extent));
    }
  }
  w->x_bit = 1u << e->axis_count;
  emit_axis(e, x, "x", mask, 0);
}

// Do programs that read shares of rows read more than the second cache holds, once? What lies
// there, of whoever, is better left than replaced: the sum of 67 million halves took 0.0385 ms
// instead of 0.0428 on an H200. A warp that goes along a row of its own loses by it.
static bool reads_once(const struct rows *s) {
  enum { CACHE = 32 << 20 };
  if (s->splits < 2 || s->levels > 1 || !s->region->bytes || expr_hint(s->region->bytes) < CACHE)
    return false;
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].is_full)
      return false;
  return s->reduction_count > 0;
}

// Do programs read and write more than the second cache holds? Then what is read is kept there
// longer than what is written, as in maps: 4 to 5 % for softmax, 4 % for RMS norm on an H200.
static bool reads_and_writes(const struct rows *s) {
  enum { MANY_BYTES = 96 << 20 };
  if (s->splits > 1 || s->lag || !s->region->bytes || expr_hint(s->region->bytes) < MANY_BYTES)
    return false;
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].is_full)
      return true;
  return false;
}

static const char *block_atom(struct row_writer *w) {
  return w->s->lanes ? arena_printf(w->e->arena, "(%s)", w->block) : w->block;
}

// The blocks of a long row that lie in it whole are read and written without masks: a variance of
// 32768 rows took 0.114 ms with them on an H200, 0.074 without.
static void put_whole(struct row_writer *w) {
  enum { FEW_TURNS = 4 };
  const struct rows *s = w->s;
  int64_t turn = (int64_t)s->r_block * s->splits;
  w->has_whole = w->has_r_mask && expr_hint(s->r->symbol->limit) >= FEW_TURNS * turn;
  const char *n = emit_extent(w->e, s->r->symbol->limit);
  if (w->has_whole)
    emit_line(w->e, 0, "whole = %s - %s %% %s", n, n, block_atom(w));
}

void row_writer_r(struct row_writer *w) {
  struct emitter *e = w->e;
  const struct expr *r = w->s->r;
  bool looped = w->s->is_looped;
  emit_constexpr(e, w->s->lanes ? "LANES" : "RBLOCK", w->s->lanes ? w->s->lanes : w->s->r_block);
  int64_t n = 0;
  bool one_block = !looped && expr_is_const(r->symbol->limit, &n) && n == w->s->r_block;
  if (reads_once(w->s)) {
    e->load_hint = "eviction_policy=\"evict_first\"";
    e->hinted_axes = 1u << e->axis_count | (expr_is(w->s->x->symbol->limit, 1) ? 0 : w->x_bit);
  }
  if (reads_and_writes(w->s)) {
    e->load_hint = "eviction_policy=\"evict_last\"";
    e->hinted_axes = 1u << e->axis_count;
  }
  w->has_r_mask = !one_block && !is_even(r->symbol->limit, w->s->r_block);
  w->r_bit = 1u << e->axis_count;
  w->r_axis = e->axis_count;
  emit_axis(e, r, "r", w->has_r_mask ? "r_mask" : NULL, looped ? 1 : 0);
  if (looped) {
    put_whole(w);
    return;
  }
  emit_line(e, 0, "r = tl.arange(0, RBLOCK)%s", w->brackets);
  if (w->has_r_mask)
    emit_line(e, 0, "r_mask = r < %s", emit_extent(e, r->symbol->limit));
}

static void put_places(struct row_writer *w, const char *wide) {
  struct emitter *e = w->e;
  unsigned width = w->s->width, turns = w->s->turns;
  const char *lane = "tl.arange(0, LANES)[None, :, None]";
  if (turns > 1)
    lane = arena_printf(e->arena, "(tl.arange(0, %u)[:, None, None] * LANES + %s)", turns, lane);
  if (w->within)
    emit_line(e, 1, "r = r0%s + (%s * %u + tl.arange(0, %u)[None, None, :])", wide, lane, width,
              width);
  else
    emit_line(e, 1, "r = (r0%s + tl.arange(0, RBLOCK))%s", wide, w->brackets);
}

// Blocks that begin before `end`; of a split, those of this program.
static const char *forwards(struct row_writer *w, const char *end) {
  unsigned splits = w->s->splits;
  if (splits > 1)
    return arena_printf(w->e->arena, "for r0 in range(split * %s, %s, %u * %s):", w->block, end,
                        splits, w->block);
  return arena_printf(w->e->arena, "for r0 in range(0, %s, %s):", end, w->block);
}

static const char *backwards_from(struct row_writer *w, const char *last) {
  return arena_printf(w->e->arena, "for r0 in range(%s, -1, -%s):", last, w->block);
}

// What is left behind the whole blocks: less than one, of the program whose turn it is.
static const char *rest(struct row_writer *w, const char *n) {
  const char *first = "whole";
  if (w->s->splits > 1)
    first = arena_printf(w->e->arena, "tl.where(split == whole // %s %% %u, whole, %s)",
                         block_atom(w), w->s->splits, n);
  return arena_printf(w->e->arena, "for r0 in range(%s, %s, %s):", first, n, w->block);
}

static void put_loop(struct row_writer *w, const char *header, bool has_mask, row_body *body,
                     unsigned level) {
  struct emitter *e = w->e;
  bool has_r_mask = w->has_r_mask;
  w->has_r_mask = has_mask;
  e->axes[w->r_axis].mask = has_mask ? "r_mask" : NULL;
  emit_open(e, header);
  put_places(w, emit_axis_is_wide(w->s->r) ? ".to(tl.int64)" : "");
  if (has_mask)
    emit_line(e, 1, "r_mask = r < %s", emit_extent(e, w->s->r->symbol->limit));
  body(w, level);
  emit_close(e);
  w->has_r_mask = has_r_mask;
  e->axes[w->r_axis].mask = has_r_mask ? "r_mask" : NULL;
}

void row_writer_pass(struct row_writer *w, bool backwards, row_body *body, unsigned level) {
  struct arena *a = w->e->arena;
  const char *n = emit_extent(w->e, w->s->r->symbol->limit), *b = w->block;
  backwards &= w->s->splits == 1;
  if (!w->has_whole) {
    const char *last = arena_printf(a, "(tl.cdiv(%s, %s) - 1) * %s", n, b, b);
    put_loop(w, backwards ? backwards_from(w, last) : forwards(w, n), w->has_r_mask, body, level);
    return;
  }
  if (backwards)
    put_loop(w, rest(w, n), true, body, level);
  const char *last = arena_printf(a, "whole - %s", b);
  put_loop(w, backwards ? backwards_from(w, last) : forwards(w, "whole"), false, body, level);
  if (!backwards)
    put_loop(w, rest(w, n), true, body, level);
}

// ---- writes ----

void row_writer_stores(struct row_writer *w, unsigned level, bool full) {
  for (size_t i = 0; i < w->s->write_count; i++) {
    const struct row_write *o = &w->s->writes[i];
    if (o->level == level && o->is_full == full)
      emit_store_value(w->e, o->buffer, o->place, o->body);
  }
}

void row_writer_full_stores(struct row_writer *w, unsigned level) {
  row_writer_stores(w, level, true);
}

bool rows_have_writes(const struct rows *s, unsigned level, bool full) {
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].level == level && s->writes[i].is_full == full)
      return true;
  return false;
}
