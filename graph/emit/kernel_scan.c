// SPDX-License-Identifier: Apache-2.0
// Prints running sums along r: blocks in order, each plus the sum of the preceding blocks.
#include "graph/emit/graph_emit.h"
#include "graph/plan/scan_plan.h"

struct scan_writer {
  struct emitter *e;
  const struct scan_plan *s;
  bool has_r_mask;
  uint32_t x_bit, r_bit;
};

static void put_axes(struct scan_writer *w) {
  struct emitter *e = w->e;
  const struct expr *x = w->s->x, *r = w->s->r;
  const char *wide = emit_axis_is_wide(x) ? ".to(tl.int64)" : "", *mask = NULL;
  if (w->s->is_row) {
    emit_line(e, 0, "x = tl.program_id(0)%s", wide);
  } else {
    emit_line(e, 0, "x = (tl.program_id(0)%s * XBLOCK + tl.arange(0, XBLOCK))[None, :]", wide);
    if (!expr_is_multiple(axis_extent(x), w->s->x_block)) {
      mask = "x_mask";
      emit_line(e, 0, "x_mask = x < %s", emit_extent(e, axis_extent(x)));
    }
  }
  w->x_bit = 1u << e->axis_count;
  emit_axis(e, x, "x", mask, 0);
  w->has_r_mask = !expr_is_multiple(axis_extent(r), w->s->r_block);
  w->r_bit = 1u << e->axis_count;
  emit_axis(e, r, "r", w->has_r_mask ? "r_mask" : NULL, 1);
}

static void open_blocks(struct scan_writer *w) {
  struct emitter *e = w->e;
  const struct expr *r = w->s->r;
  const char *n = emit_extent(e, axis_extent(r));
  emit_open(e, arena_printf(e->arena, "for r0 in range(0, %s, RBLOCK):", n));
  emit_line(e, 1, "r = (r0%s + tl.arange(0, RBLOCK))%s",
            emit_axis_is_wide(r) ? ".to(tl.int64)" : "", w->s->is_row ? "" : "[:, None]");
  if (w->has_r_mask)
    emit_line(e, 1, "r_mask = r < %s", n);
}

static void put_scan(struct scan_writer *w, const struct reduction_part *d, size_t i) {
  struct emitter *e = w->e;
  const char *keep = w->s->is_row ? "" : ", keep_dims=True";
  const char *value = arena_printf(e->arena, "value%zu", i),
             *carry = arena_printf(e->arena, "carry%zu", i),
             *scan = arena_printf(e->arena, "scan%zu", i);
  struct text t = emit_value(e, d->body);
  const char *v =
      t.is_narrow || t.is_number || d->body->dtype != d->stage->dtype
          ? arena_printf(e->arena, "(%s + tl.zeros([1], %s))", t.s, emit_type(d->stage->dtype))
          : t.s;
  bool along = emit_axes_of(e, d->body) & w->r_bit;
  if (w->has_r_mask || !along)
    v = arena_printf(e->arena, "tl.where(%s, %s, 0)", w->has_r_mask ? "r_mask" : "r >= 0", v);
  emit_line(e, 1, "%s = %s", value, v);
  emit_line(e, 1, "%s = tl.cumsum(%s, axis=0) + %s", scan, value, carry);
  emit_line(e, 1, "%s += tl.sum(%s, axis=0%s)", carry, value, keep);
  emit_given(e, d->result, scan, w->x_bit | w->r_bit, 1);
}

void emit_scan_kernel(struct emitter *e, const struct scan_plan *s) {
  struct scan_writer w = {.e = e, .s = s};
  const struct region_parts *parts = &s->parts;
  for (size_t i = 0; i < parts->writes.len; i++)
    emit_writes(e, parts->writes.at[i].buffer);
  put_axes(&w);
  for (size_t i = 0; i < parts->reductions.len; i++) {
    const char *type = emit_type(parts->reductions.at[i].stage->dtype);
    emit_line(e, 0,
              s->is_row ? "carry%zu = tl.full([], 0, %s)" : "carry%zu = tl.zeros([1, XBLOCK], %s)",
              i, type);
    emit_count(e, parts->reductions.at[i].body);
  }
  for (size_t i = 0; i < parts->writes.len; i++)
    emit_count(e, parts->writes.at[i].body);
  open_blocks(&w);
  for (size_t i = 0; i < parts->reductions.len; i++)
    put_scan(&w, &parts->reductions.at[i], i);
  for (size_t i = 0; i < parts->writes.len; i++)
    emit_store_value(e, parts->writes.at[i].buffer, parts->writes.at[i].offset,
                     parts->writes.at[i].body);
  emit_close(e);
  emit_sizes(e, axis_extent(s->x));
}
