// SPDX-License-Identifier: Apache-2.0
// The parts of the picture of --explain-perf that have a time axis: the ring of buffers, iteration
// by iteration, as the cost model predicts it (lowering/cost/ring_time.h), and shared memory by
// buffer over the order of the program.
#include "lowering/cost/ring_time.h"
#include "tools/graph/memory_svg.h"
#include "tools/perf/explain_perf_report.h"
#include "tools/perf/picture.h"

enum {
  LEFT = 76,
  RIGHT = 24,
  ROW = 24,
  HEAD = 44, // of a part: its title and a line below
  RING_HEAD = HEAD + 16,
  AXIS = 24,
  MEMORY_HEIGHT = 180,
  LOOP_ROW = 16
};

// ---- the ring ----

struct ring_chart {
  struct strbuf *out;
  struct ring_model m;
  double y, width, time;
};

static double x_of(const struct ring_chart *c, double cycles) {
  return LEFT + cycles / c->time * c->width;
}

static void draw_bar(const struct ring_chart *c, double row, double from, double to,
                     const char *class, uint32_t iteration, const char *what) {
  double x = x_of(c, from), width = x_of(c, to) - x, y = c->y + row * ROW;
  svg_box(
      c->out, x, y + 3, width, ROW - 6, class,
      arena_printf(c->out->arena, "iteration %u %s from %.0f to %.0f", iteration, what, from, to));
  if (width > 14)
    svg_text(c->out, x + width / 2, y + ROW / 2 + 4, "mid dark",
             arena_printf(c->out->arena, "%u", iteration));
}

static void draw_steps(const struct ring_chart *c, const struct ring_step *steps, uint32_t count) {
  double free_from = 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct ring_step *s = &steps[i];
    if (s->begin > free_from)
      draw_bar(c, 0, free_from, s->begin, "wait", i, "is waited for");
    draw_bar(c, 0, s->begin, s->end, "compute", i, "is computed");
    draw_bar(c, s->slot + 1, s->issued, s->arrived, "copy", i, "is copied");
    if (s->begin > s->arrived)
      draw_bar(c, s->slot + 1, s->arrived, s->begin, "ready", i, "is in its buffer");
    draw_bar(c, s->slot + 1, s->begin, s->end, "compute", i, "is computed");
    free_from = s->end;
  }
}

static void draw_cycles(const struct ring_chart *c, double rows) {
  double y = c->y + rows * ROW;
  for (int i = 0; i <= 4; i++) {
    double cycles = c->time * i / 4;
    strbuf_printf(c->out, "<path d=\"M%.1f %.1fV%.1f\" class=\"grid\"/>", x_of(c, cycles), c->y, y);
    svg_text(c->out, x_of(c, cycles), y + 14, i == 4 ? "end" : "mid",
             arena_printf(c->out->arena, i == 4 ? "%.0f cycles" : "%.0f", cycles));
  }
}

static void draw_ring(const struct ring_model *m, double top, double width, struct strbuf *out) {
  struct ring_step steps[RING_MAX_STEPS];
  uint32_t count = ring_steps(m), rows = m->slots < count ? m->slots : count;
  ring_schedule(m, count, steps);
  struct ring_chart c = {out, *m, top + RING_HEAD, width - LEFT - RIGHT, steps[count - 1].end};
  svg_text(out, 16, top + 12, "head",
           arena_printf(out->arena, "the ring of %u buffers over time: the first %u iteration%s",
                        m->slots, count, count == 1 ? "" : "s"));
  svg_text(out, 16, top + 28, "start",
           arena_printf(out->arena,
                        "an iteration copies %.0f bytes, after a latency of %.0f cycles: %.0f from "
                        "the L2 cache (drawn), %.0f from memory",
                        m->bytes, m->latency, m->copy, m->from_memory));
  svg_text(out, 16, top + 44, "start",
           arena_printf(out->arena,
                        "it computes for %.0f cycles; orange: copied, pale: ready, blue: computed, "
                        "dashed: waiting",
                        m->compute));
  draw_cycles(&c, rows + 1);
  svg_text(out, LEFT - 8, c.y + ROW / 2 + 4, "end", "computing");
  for (uint32_t i = 0; i < rows; i++)
    svg_text(out, LEFT - 8, c.y + (i + 1) * ROW + ROW / 2 + 4, "end",
             arena_printf(out->arena, "buffer %u", i));
  draw_steps(&c, steps, count);
}

static double ring_height(const struct ring_model *m) {
  uint32_t count = ring_steps(m), rows = m->slots < count ? m->slots : count;
  return count ? RING_HEAD + (rows + 1) * ROW + AXIS + 16 : 0;
}

// ---- shared memory ----

static const char *use_text(const struct perf_report *r, const struct shared_use *s, size_t i) {
  return arena_printf(r->arena, "%s%s%s: %u bytes at %u, %u cop%s, line %s", s->purpose,
                      s->name ? " of " : "", s->name ? s->name : "", s->bytes, s->offset, s->copies,
                      s->copies == 1 ? "y" : "ies",
                      i < r->shared.len ? r->shared.at[i].location : "-");
}

static unsigned depth_of(const struct perf_report *r, size_t loop) {
  unsigned depth = 0;
  for (size_t i = 0; i < loop; i++)
    depth += r->p.loops.at[i].live.end >= r->p.loops.at[loop].live.end;
  return depth;
}

static unsigned loop_rows(const struct perf_report *r) {
  unsigned rows = 0;
  for (size_t i = 0; i < r->p.loops.len; i++)
    rows = depth_of(r, i) + 1 > rows ? depth_of(r, i) + 1 : rows;
  return rows;
}

static void draw_loops(const struct perf_report *r, const struct memory_frame *f,
                       struct strbuf *out) {
  for (size_t i = 0; i < r->p.loops.len; i++) {
    const struct live_range *l = &r->p.loops.at[i].live;
    double x = f->x + l->begin / f->time * f->width;
    double width = (l->end + 1.0 - l->begin) / f->time * f->width;
    double y = f->y + f->height + 4 + depth_of(r, i) * LOOP_ROW;
    const char *name = arena_printf(r->arena, "loop, line %s", r->loops.at[i].location);
    svg_box(out, x, y, width, LOOP_ROW - 3, "loop", name);
    if (width > 100)
      svg_text(out, x + 4, y + 10, "small", name);
  }
}

static void draw_shared(const struct perf_report *r, double top, double width, struct strbuf *out) {
  double time = r->p.points ? r->p.points : 1;
  svg_text(out, 16, top + 12, "head",
           arena_printf(r->arena, "shared memory: %u of %u bytes", r->p.shared_bytes,
                        r->target->shared_limit));
  svg_text(out, 16, top + 28, "start",
           r->p.shared.len ? "by buffer, in the order of the program" : "no buffer, no scratch");
  if (!r->p.shared.len)
    return;
  struct memory_block *blocks = arena_array(r->arena, struct memory_block, r->p.shared.len);
  double bytes = r->p.shared_bytes ? r->p.shared_bytes : 1;
  for (size_t i = 0; i < r->p.shared.len; i++) {
    const struct shared_use *s = &r->p.shared.at[i];
    const char *name = s->name ? s->name : s->purpose;
    blocks[i] = (struct memory_block){name,     use_text(r, s, i), s->offset,
                                      s->bytes, s->live.begin,     s->live.end + 1.0};
  }
  struct memory_frame f = {LEFT, top + HEAD, width - LEFT - RIGHT, MEMORY_HEIGHT, bytes, time};
  memory_svg(&f, blocks, r->p.shared.len, out);
  draw_loops(r, &f, out);
}

// ---- both ----

static struct ring_model model_of(const struct perf_report *r) {
  return ring_model_of(&r->p, &r->cost, machine_of(r->target));
}

double perf_time_height(const struct perf_report *r) {
  struct ring_model m = model_of(r);
  double shared = r->p.shared.len ? MEMORY_HEIGHT + loop_rows(r) * LOOP_ROW + 16 : 0;
  return ring_height(&m) + HEAD + shared;
}

void perf_time_svg(const struct perf_report *r, double top, double width, struct strbuf *out) {
  struct ring_model m = model_of(r);
  if (ring_steps(&m))
    draw_ring(&m, top, width, out);
  draw_shared(r, top + ring_height(&m), width, out);
}
