// SPDX-License-Identifier: Apache-2.0
// Shared parts of rows kernels: axes, passes, stores, the launch.
#include "graph/emit/rows_writer.h"

// ---- the kernel ----

struct row_writer row_writer_begin(struct emitter *e, const struct rows_kernel *k) {
  const struct rows *s = k->rows;
  struct row_writer w = {.e = e, .k = k, .s = s, .is_row = k->is_row, .has_r_mask = k->has_r_mask};
  w.names = arena_array(e->arena, const char *, s->reduction_count + 1);
  w.block = s->lanes ? arena_printf(s->p->arena, "LANES * %u", s->width * s->iterations) : "RBLOCK";
  if (s->lanes) {
    w.along = w.is_row ? "axis=None" : "axis=1, keep_dims=True";
    w.within = "axis=2, keep_dims=True";
    w.across = w.is_row && s->iterations > 1 ? "axis=0, keep_dims=True" : NULL;
    w.shape = w.is_row ? "[1, LANES, 1]" : "[XBLOCK, LANES, 1]";
    w.brackets = ""; // of parts
    w.brackets_x = "[:, None, None]";
    return w;
  }
  w.along = w.is_row ? "axis=0" : s->is_inner ? "axis=1, keep_dims=True" : "axis=0, keep_dims=True";
  w.shape = w.is_row ? "[RBLOCK]" : s->is_inner ? "[XBLOCK, RBLOCK]" : "[RBLOCK, XBLOCK]";
  if (s->combines_blocks) {
    w.across = w.along;
    w.shape = w.is_row ? "[1]" : s->is_inner ? "[XBLOCK, 1]" : "[1, XBLOCK]";
    if (w.is_row)
      w.across = "axis=0, keep_dims=True";
  }
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

// ---- axes ----

static bool is_even(const struct expr *extent, unsigned block) {
  return expr_is_multiple(extent, block);
}

void row_writer_x(struct row_writer *w) {
  struct emitter *e = w->e;
  const struct expr *x = w->s->x, *extent = axis_extent(x);
  const char *wide = emit_axis_is_wide(x) ? ".to(tl.int64)" : "", *mask = NULL;
  if (w->is_row && expr_is(extent, 1)) {
    emit_line(e, 0, "x = 0");
  } else if (w->is_row) {
    emit_line(e, 0, "x = tl.program_id(0)%s", wide);
  } else {
    emit_line(e, 0, "x = (tl.program_id(0)%s * XBLOCK + tl.arange(0, XBLOCK))%s", wide,
              w->brackets_x);
    if (!is_even(extent, w->k->x_block)) {
      mask = "x_mask";
      emit_line(e, 0, "x_mask = x < %s", emit_extent(e, extent));
    }
  }
  w->x_bit = 1u << e->axis_count;
  emit_axis(e, x, "x", mask, 0);
}

static const char *block_operand(struct row_writer *w) {
  return w->s->lanes ? arena_printf(w->e->arena, "(%s)", w->block) : w->block;
}

static void put_whole(struct row_writer *w) {
  const char *n = emit_extent(w->e, axis_extent(w->s->r));
  if (w->k->has_whole)
    emit_line(w->e, 0, "whole = %s - %s %% %s", n, n, block_operand(w));
}

void row_writer_r(struct row_writer *w) {
  struct emitter *e = w->e;
  const struct expr *r = w->s->r;
  bool looped = w->s->is_looped;
  if (w->k->hint) {
    bool is_last = w->k->hint == ROWS_EVICT_LAST, has_x = !expr_is(axis_extent(w->s->x), 1);
    e->load_hint = is_last ? "eviction_policy=\"evict_last\"" : "eviction_policy=\"evict_first\"";
    e->hinted_axes = 1u << e->axis_count | (!is_last && has_x ? w->x_bit : 0);
  }
  w->r_bit = 1u << e->axis_count;
  w->r_axis = e->axis_count;
  emit_axis(e, r, "r", w->has_r_mask ? "r_mask" : NULL, looped ? 1 : 0);
  if (looped) {
    put_whole(w);
    return;
  }
  emit_line(e, 0, "r = tl.arange(0, RBLOCK)%s", w->brackets);
  if (w->has_r_mask)
    emit_line(e, 0, "r_mask = r < %s", emit_extent(e, axis_extent(r)));
}

static void put_offsets(struct row_writer *w, const char *wide) {
  struct emitter *e = w->e;
  unsigned width = w->s->width, iterations = w->s->iterations;
  const char *lane = "tl.arange(0, LANES)[None, :, None]";
  if (iterations > 1)
    lane =
        arena_printf(e->arena, "(tl.arange(0, %u)[:, None, None] * LANES + %s)", iterations, lane);
  if (w->within)
    emit_line(e, 1, "r = r0%s + (%s * %u + tl.arange(0, %u)[None, None, :])", wide, lane, width,
              width);
  else
    emit_line(e, 1, "r = (r0%s + tl.arange(0, RBLOCK))%s", wide, w->brackets);
}

// Blocks that begin before `end`; of a split, those of this program.
static const char *forwards(struct row_writer *w, const char *end) {
  unsigned splits = w->s->splits;
  if (w->k->unrolled > 1)
    return arena_printf(w->e->arena,
                        "for r0 in tl.range(split * %s, %s, %u * %s, loop_unroll_factor=%u):",
                        w->block, end, splits, w->block, w->k->unrolled);
  if (splits > 1)
    return arena_printf(w->e->arena, "for r0 in range(split * %s, %s, %u * %s):", w->block, end,
                        splits, w->block);
  return arena_printf(w->e->arena, "for r0 in range(0, %s, %s):", end, w->block);
}

static const char *backwards_from(struct row_writer *w, const char *last) {
  return arena_printf(w->e->arena, "for r0 in range(%s, -1, -%s):", last, w->block);
}

// The rest after the whole blocks: less than a block, for the program that takes it.
static const char *rest(struct row_writer *w, const char *n) {
  const char *first = "whole";
  if (w->s->splits > 1)
    first = arena_printf(w->e->arena, "tl.where(split == whole // %s %% %u, whole, %s)",
                         block_operand(w), w->s->splits, n);
  return arena_printf(w->e->arena, "for r0 in range(%s, %s, %s):", first, n, w->block);
}

static void put_loop(struct row_writer *w, const char *header, bool has_mask, row_body *body,
                     unsigned level) {
  struct emitter *e = w->e;
  bool has_r_mask = w->has_r_mask;
  w->has_r_mask = has_mask;
  e->axes[w->r_axis].mask = has_mask ? "r_mask" : NULL;
  emit_open(e, header);
  put_offsets(w, emit_axis_is_wide(w->s->r) ? ".to(tl.int64)" : "");
  if (has_mask)
    emit_line(e, 1, "r_mask = r < %s", emit_extent(e, axis_extent(w->s->r)));
  body(w, level);
  emit_close(e);
  w->has_r_mask = has_r_mask;
  e->axes[w->r_axis].mask = has_r_mask ? "r_mask" : NULL;
}

void row_writer_pass(struct row_writer *w, bool backwards, row_body *body, unsigned level) {
  struct arena *a = w->e->arena;
  const char *n = emit_extent(w->e, axis_extent(w->s->r)), *b = w->block;
  backwards &= w->s->splits == 1;
  if (!w->k->has_whole) {
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
      emit_store_value(w->e, o->buffer, o->offset, o->body);
  }
}

void row_writer_full_stores(struct row_writer *w, unsigned level) {
  row_writer_stores(w, level, true);
}
