// SPDX-License-Identifier: Apache-2.0
// Heat maps of a search space: for two dimensions the least time of each pair of values, over all
// values of the others. Dark is fast; the pair of the winner is framed; pairs that were not
// measured are empty, those that only failed have a cross. Each cell has a tooltip.
#include "autotune/report/heat_map.h"

#include "autotune/report/report_internal.h"
#include "base/xml.h"

#include <math.h>
#include <stdio.h>

enum { LEFT = 64, TOP = 30, RIGHT = 12, BOTTOM = 36, MOST_AXES = 4 };

struct axes {
  size_t at[MOST_AXES], count; // dimensions
};

// Those with several values: parameters first, then warps and so on.
static struct axes axes_of(const struct tune_space *s) {
  struct axes a = {0};
  for (int is_launch = 0; is_launch < 2; is_launch++)
    for (size_t d = 0; d < s->dim_count && a.count < MOST_AXES; d++) {
      bool is_wanted = (s->dims[d].kind != TUNE_CONSTANT) == is_launch && s->dims[d].count > 1;
      if (is_wanted && (!is_launch || a.count < 2)) // launch options only where parameters lack
        a.at[a.count++] = d;
    }
  return a;
}

size_t heat_map_count(const struct tune_space *s) {
  size_t n = axes_of(s).count;
  return n * (n - 1) / 2 * (n > 0);
}

struct heat_map {
  const struct tune_space *s;
  const struct tune_result *r;
  const struct tune_dim *x, *y;
  size_t dim_x, dim_y;
  double fastest, slowest; // logarithms
  struct strbuf *out;
};

// The least time of a pair of values; INFINITY: none. *ret_failed: some were launched in vain.
static double least(const struct heat_map *m, size_t x, size_t y, bool *ret_failed) {
  double ms = (double)INFINITY;
  *ret_failed = false;
  for (size_t i = 0; i < m->r->count; i++) {
    const struct tune_trial *t = &m->r->trials[i];
    const struct tune_config *c = &m->s->configs[t->config];
    if (c->at[m->dim_x] != x || c->at[m->dim_y] != y)
      continue;
    if (report_is_timed(t) && t->sample.median > 0)
      ms = fmin(ms, t->sample.median);
    else
      *ret_failed |= t->outcome != TUNE_UNTRIED && t->outcome != TUNE_PRUNED;
  }
  return ms;
}

// Of the cells, so that one slow configuration does not make all others look equal.
static void find_range(struct heat_map *m) {
  m->fastest = (double)INFINITY;
  m->slowest = -(double)INFINITY;
  for (size_t y = 0; y < m->y->count; y++)
    for (size_t x = 0; x < m->x->count; x++) {
      bool failed;
      double ms = least(m, x, y, &failed);
      if (!isfinite(ms))
        continue;
      m->fastest = fmin(m->fastest, log(ms));
      m->slowest = fmax(m->slowest, log(ms));
    }
}

// From dark blue, the fastest, over green to pale yellow; 0 <= t <= 1.
static unsigned colour(double t) {
  static const double stops[][3] = {
      {34, 74, 140}, {38, 130, 142}, {94, 190, 120}, {190, 223, 110}, {250, 243, 190}};
  enum { PARTS = COUNT_OF(stops) - 1 };
  size_t at = t >= 1 ? PARTS - 1 : (size_t)(t * PARTS);
  double part = t * PARTS - (double)at;
  unsigned rgb = 0;
  for (int i = 0; i < 3; i++)
    rgb = rgb << 8 | (unsigned)(stops[at][i] + (stops[at + 1][i] - stops[at][i]) * part);
  return rgb;
}

static void draw_label(const struct heat_map *m, double x, double y, const char *class,
                       const char *words) {
  strbuf_printf(m->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
  xml_text(m->out, str_from(words));
  strbuf_puts(m->out, "</text>\n");
}

static bool is_best(const struct heat_map *m, size_t x, size_t y) {
  const struct tune_config *c = &m->s->configs[m->r->best];
  return m->r->has_best && c->at[m->dim_x] == x && c->at[m->dim_y] == y;
}

static void draw_title(const struct heat_map *m, size_t x, size_t y, const char *what) {
  strbuf_puts(m->out, "<title>");
  xml_text(m->out, str_from(m->x->name));
  strbuf_putc(m->out, '=');
  xml_text(m->out, str_from(m->x->values[x]));
  strbuf_puts(m->out, ", ");
  xml_text(m->out, str_from(m->y->name));
  strbuf_putc(m->out, '=');
  xml_text(m->out, str_from(m->y->values[y]));
  strbuf_printf(m->out, ": %s</title>", what);
}

static void draw_cell(const struct heat_map *m, size_t x, size_t y, double width, double height) {
  bool failed;
  double ms = least(m, x, y, &failed), range = m->slowest - m->fastest;
  double left = LEFT + (double)x * width, top = TOP + (double)y * height;
  bool is_timed = isfinite(ms);
  double t = is_timed && range > 0 ? (log(ms) - m->fastest) / range : 0;
  char fill[24] = "none", what[48] = "not measured", words[16] = "";
  if (is_timed) {
    snprintf(fill, sizeof fill, "#%06x", colour(t));
    snprintf(what, sizeof what, "%.4g ms", ms);
    snprintf(words, sizeof words, "%.3g", ms);
  } else if (failed) {
    snprintf(what, sizeof what, "failed");
    snprintf(words, sizeof words, "\xc3\x97");
  }
  strbuf_printf(m->out,
                "<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
                "class=\"%s\"/>",
                left, top, width, height, fill, is_best(m, x, y) ? "winner" : "cell");
  if (width >= 6.0 * (double)strlen(words) && height >= 10)
    draw_label(m, left + width / 2, top + height / 2 + 4,
               !is_timed  ? "mid"
               : t < 0.45 ? "mid light"
                          : "mid dark",
               words);
  draw_title(m, x, y, what);
  strbuf_puts(m->out, "</g>\n");
}

static void draw_axes(const struct heat_map *m, double width, double height, int all_width,
                      int all_height) {
  size_t every = m->x->count / 9 + 1;
  for (size_t i = 0; i < m->x->count; i += every)
    draw_label(m, LEFT + ((double)i + 0.5) * width, all_height - BOTTOM + 13, "mid",
               m->x->values[i]);
  every = m->y->count / 13 + 1;
  for (size_t i = 0; i < m->y->count; i += every)
    draw_label(m, LEFT - 4, TOP + ((double)i + 0.5) * height + 4, "end", m->y->values[i]);
  draw_label(m, LEFT + (all_width - LEFT - RIGHT) / 2.0, all_height - 8, "name", m->x->name);
  draw_label(m, LEFT - 4, TOP - 6, "end", m->y->name);
}

static void draw_map(struct heat_map *m, int width, int height) {
  find_range(m);
  double cell_width = (double)(width - LEFT - RIGHT) / (double)m->x->count;
  double cell_height = (double)(height - TOP - BOTTOM) / (double)m->y->count;
  for (size_t y = 0; y < m->y->count; y++)
    for (size_t x = 0; x < m->x->count; x++)
      draw_cell(m, x, y, cell_width, cell_height);
  if (m->r->has_best) // its frame on top of its neighbours
    for (size_t y = 0; y < m->y->count; y++)
      for (size_t x = 0; x < m->x->count; x++)
        if (is_best(m, x, y))
          draw_cell(m, x, y, cell_width, cell_height);
  draw_axes(m, cell_width, cell_height, width, height);
}

void heat_maps_draw(const struct tune_space *s, const struct tune_result *r,
                    const struct heat_map_frame *f, struct strbuf *out) {
  struct axes a = axes_of(s);
  struct heat_map m = {.s = s, .r = r, .out = out};
  size_t drawn = 0;
  for (size_t i = 0; i < a.count; i++)
    for (size_t k = i + 1; k < a.count; k++, drawn++) {
      m.dim_y = a.at[i];
      m.dim_x = a.at[k];
      m.y = &s->dims[m.dim_y];
      m.x = &s->dims[m.dim_x];
      strbuf_printf(out, "<g transform=\"translate(%d %d)\" class=\"heat\">\n",
                    (int)(drawn % f->across) * f->width,
                    f->top + (int)(drawn / f->across) * f->height);
      draw_map(&m, f->width, f->height);
      strbuf_puts(out, "</g>\n");
    }
}
