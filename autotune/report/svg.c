// SPDX-License-Identifier: Apache-2.0
// The space as an SVG: one panel per dimension, its values along x, times along y (logarithmic), a
// dot per measured configuration; the winner is filled, the default ringed, configurations that
// spill and so cannot win are yellow, failures are crosses at the top. Each dot has a tooltip.
// Below them heat maps of two dimensions each.
#include "autotune/report/heat_map.h"
#include "autotune/report/report_internal.h"
#include "base/xml.h"

#include <math.h>

enum {
  WIDTH = 280,
  HEIGHT = 220,
  LEFT = 52,
  TOP = 34,
  RIGHT = 12,
  BOTTOM = 40,
  ACROSS = 3,
  HEAD = 38
};

struct scale {
  double low, high; // logarithms
};

static void escape(const char *text, struct strbuf *out) { xml_text(out, str_from(text)); }

static struct scale times(const struct tune_result *r) {
  struct scale s = {(double)INFINITY, -(double)INFINITY};
  for (size_t i = 0; i < r->count; i++)
    if (report_is_timed(&r->trials[i]) && r->trials[i].sample.median > 0) {
      s.low = fmin(s.low, log(r->trials[i].sample.median));
      s.high = fmax(s.high, log(r->trials[i].sample.median));
    }
  if (s.low > s.high)
    return (struct scale){0, 1};
  double margin = fmax(0.05 * (s.high - s.low), 0.02);
  return (struct scale){s.low - margin, s.high + margin};
}

static double y_of(const struct scale *s, double ms) {
  return TOP + (s->high - log(ms)) / (s->high - s->low) * (HEIGHT - TOP - BOTTOM);
}

// Dots of one value are placed side by side, in the order of configurations.
static double x_of(const struct tune_space *s, size_t dim, size_t config) {
  double step = (double)(WIDTH - LEFT - RIGHT) / (double)s->dims[dim].count;
  double shift = (double)(config * 7 % 11) / 11.0 - 0.45;
  return LEFT + step * ((double)s->configs[config].at[dim] + 0.5 + 0.5 * shift);
}

static void draw_axes(const struct tune_dim *d, const struct scale *s, struct strbuf *out) {
  strbuf_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"frame\"/>\n", LEFT,
                TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
  for (int i = 0; i <= 3; i++) {
    double ms = exp(s->low + (s->high - s->low) * i / 3), y = y_of(s, ms);
    strbuf_printf(out, "<path d=\"M%d %.1fH%d\" class=\"grid\"/>", LEFT, y, WIDTH - RIGHT);
    strbuf_printf(out, "<text x=\"%d\" y=\"%.1f\" class=\"end\">%.3g</text>\n", LEFT - 4, y + 3,
                  ms);
  }
  double step = (double)(WIDTH - LEFT - RIGHT) / (double)d->count;
  size_t every = d->count > 10 ? (d->count + 9) / 10 : 1;
  for (size_t i = 0; i < d->count; i += every) {
    strbuf_printf(out, "<text x=\"%.1f\" y=\"%d\" class=\"mid\">", LEFT + step * ((double)i + 0.5),
                  HEIGHT - BOTTOM + 14);
    escape(d->values[i], out);
    strbuf_puts(out, "</text>\n");
  }
  strbuf_printf(out, "<text x=\"%d\" y=\"%d\" class=\"name\">", (LEFT + WIDTH - RIGHT) / 2,
                HEIGHT - 10);
  escape(d->name, out);
  strbuf_puts(out, "</text>\n");
}

static void title_of(const struct tune_space *s, const struct tune_trial *t, struct strbuf *out) {
  struct strbuf text = {.arena = out->arena};
  tune_config_print(s, t->config, &text);
  const char *before = ": ";
  if (report_is_timed(t)) {
    strbuf_printf(&text, ": %.4g ms", t->sample.median);
    before = ", ";
  }
  if (!report_is_timed(t) || t->outcome == TUNE_SPILLS)
    strbuf_printf(&text, "%s%s%s%s", before, tune_outcome_name(t->outcome), t->reason ? ", " : "",
                  t->reason ? t->reason : "");
  strbuf_puts(out, "<title>");
  escape(strbuf_cstr(&text), out);
  strbuf_puts(out, "</title>");
  strbuf_finish(&text);
}

static void draw_trial(const struct tune_space *s, const struct tune_result *r, size_t dim,
                       const struct tune_trial *t, const struct scale *scale, struct strbuf *out) {
  double x = x_of(s, dim, t->config);
  if (report_is_timed(t)) {
    const char *class = t->config == r->best        ? "best"
                        : t->config == 0            ? "default"
                        : t->outcome == TUNE_SPILLS ? "spills"
                                                    : "dot";
    strbuf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" class=\"%s\">", x,
                  y_of(scale, t->sample.median), t->config == r->best ? "5" : "3", class);
    title_of(s, t, out);
    strbuf_puts(out, "</circle>\n");
  } else if (t->outcome != TUNE_UNTRIED && t->outcome != TUNE_PRUNED) {
    strbuf_printf(out, "<path d=\"M%.1f %dl6 6m0 -6l-6 6\" class=\"failed\">", x - 3, TOP - 10);
    title_of(s, t, out);
    strbuf_puts(out, "</path>\n");
  }
}

static void draw_panel(const struct tune_space *s, const struct tune_result *r, size_t dim,
                       const struct scale *scale, struct strbuf *out) {
  strbuf_printf(out, "<g transform=\"translate(%d %d)\">\n", (int)(dim % ACROSS) * WIDTH,
                HEAD + (int)(dim / ACROSS) * HEIGHT);
  draw_axes(&s->dims[dim], scale, out);
  for (size_t i = 0; i < r->count; i++)
    if (i != r->best)
      draw_trial(s, r, dim, &r->trials[i], scale, out);
  if (r->has_best) // on top
    draw_trial(s, r, dim, &r->trials[r->best], scale, out);
  strbuf_puts(out, "</g>\n");
}

static const char style[] =
    "<style>text{fill:#222}.back{fill:#fff}.frame{fill:none;stroke:#888}.grid{stroke:#ddd}"
    ".end{text-anchor:end}.mid{text-anchor:middle}.name{text-anchor:middle;font-weight:bold}"
    ".dot{fill:#3b76af;fill-opacity:.6}.spills{fill:#e5ae38}.best{fill:#c03d3e}"
    ".default{fill:#fff;stroke:#222;stroke-width:1.5}.cell{stroke:#8888;stroke-width:.5}"
    ".winner{stroke:#c03d3e;stroke-width:3}.light{fill:#fff}"
    ".failed{stroke:#c03d3e;stroke-width:1.5;fill:none}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.back{fill:#16181c}.grid{stroke:#33363c}"
    ".dot{fill:#82b4f5}.default{fill:#16181c;stroke:#ddd}.light{fill:#fff}.dark{fill:#222}}</style>"
    "\n";

static int rows_of(size_t count) { return ((int)count + ACROSS - 1) / ACROSS; }

static void draw_heading(const char *title, struct strbuf *out) {
  strbuf_puts(out, "<text x=\"10\" y=\"16\" font-size=\"13\">");
  escape(title, out);
  strbuf_puts(out, ": ms, by dimension</text>\n<text x=\"10\" y=\"31\">red: best, ringed: default, "
                   "yellow: spills, crosses: failed</text>\n");
}

void tune_svg(const struct tune_space *s, const struct tune_result *r, const char *title,
              struct strbuf *out) {
  struct scale scale = times(r);
  size_t maps = heat_map_count(s), most = maps > s->dim_count ? maps : s->dim_count;
  int across = most < ACROSS ? 2 : ACROSS; // room for the title
  int top = HEAD + (s->dim_count ? rows_of(s->dim_count) : 1) * HEIGHT;
  int height = top + (maps ? HEAD + rows_of(maps) * HEIGHT : 0);
  strbuf_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"10\">\n",
                across * WIDTH, height, across * WIDTH, height);
  strbuf_puts(out, style);
  strbuf_puts(out, "<rect width=\"100%\" height=\"100%\" class=\"back\"/>\n");
  draw_heading(title, out);
  for (size_t d = 0; d < s->dim_count; d++)
    draw_panel(s, r, d, &scale, out);
  if (maps) {
    struct heat_map_frame f = {top + HEAD, WIDTH, HEIGHT, ACROSS};
    strbuf_printf(out,
                  "<text x=\"10\" y=\"%d\" font-size=\"13\">the least ms of two dimensions; dark: "
                  "fast, framed: best</text>\n",
                  top + 20);
    heat_maps_draw(s, r, &f, out);
  }
  strbuf_puts(out, "</svg>\n");
}
