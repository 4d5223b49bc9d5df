// SPDX-License-Identifier: Apache-2.0
// The report of --explain-perf as a picture: a roofline of the target with the kernel on it, the
// cycles that one program needs of each unit, its ring of buffers and its shared memory over time
// (explain_perf_time_svg.c). The numbers are those
// of the cost model (lowering/cost/kernel_cost.h): no kernel runs. How much of what programs share
// the L2 cache holds depends on the launch: the kernel is between two dots, one for all bytes from
// memory, one for all from the cache.
#include "lowering/cost/cost_machine.h"
#include "tools/perf/explain_perf_report.h"
#include "tools/perf/picture.h"

#include <math.h>

enum {
  WIDTH = 720,
  LEFT = 76,
  RIGHT = 24,
  PLOT_TOP = 56,
  PLOT_HEIGHT = 300,
  BARS_TOP = PLOT_TOP + PLOT_HEIGHT + 88,
  BAR_STEP = 22,
  UNITS = 8,
  LANES = 32,
  TIME_TOP = BARS_TOP + UNITS * BAR_STEP + 30
};

struct unit {
  const char *name;
  double cycles; // of a multiprocessor, for one program
};

struct picture {
  const struct perf_report *r;
  const struct machine *m;
  struct unit units[UNITS];
  size_t limit, cached_limit; // index of the unit that needs most; the same without memory
  double operations, bytes;
  double x_low, x_high, y_low, y_high; // decimal logarithms
  struct strbuf *out;
};

// ---- numbers ----

// Billions a second of a device for a rate per cycle of a multiprocessor.
static double per_second(const struct picture *p, double per_cycle) {
  return per_cycle * p->m->multiprocessors * p->m->clock_ghz;
}

static double memory_per_cycle(const struct picture *p) {
  return p->m->memory_gbs / (p->m->clock_ghz * p->m->multiprocessors);
}

// Which operations the roofline counts: those of the fastest kind that the kernel has.
enum kind { BY_MATRICES, BY_FUSED, BY_ELEMENT };

static enum kind kind_of(const struct kernel_cost *c) {
  if (c->tensor_cycles > 0)
    return BY_MATRICES;
  return c->fma_flops > LANES * c->arithmetic ? BY_FUSED : BY_ELEMENT; // products, pairs of f16
}

static double kind_operations(const struct kernel_cost *c, enum kind kind) {
  return kind == BY_MATRICES ? c->tensor_flops
         : kind == BY_FUSED  ? c->fma_flops
                             : LANES * c->arithmetic;
}

static const char *kind_name(enum kind kind) {
  return kind == BY_MATRICES ? "matrix instructions"
         : kind == BY_FUSED  ? "two operations an instruction"
                             : "arithmetic";
}

static void count(struct picture *p) {
  const struct kernel_cost *c = &p->r->cost;
  const struct machine *m = p->m;
  p->operations = kind_operations(c, kind_of(c));
  p->bytes = c->global_read - c->common_read + c->global_written;
  const struct unit units[UNITS] = {
      {"memory", p->bytes / memory_per_cycle(p)},
      {"L2 cache", p->bytes / m->l2_bytes},
      {"L1 sectors", c->sectors / m->sectors},
      {"shared memory", (c->shared_wavefronts + c->copied_wavefronts) / m->wavefronts},
      {"tensor cores", c->tensor_cycles},
      {"arithmetic", c->arithmetic / m->arithmetic},
      {"special functions", c->special / m->special},
      {"instruction issue", c->instructions / m->issue},
  };
  for (size_t i = 0; i < UNITS; i++) {
    p->units[i] = units[i];
    p->limit = units[i].cycles > units[p->limit].cycles ? i : p->limit;
    bool is_later = i > 1 && units[i].cycles > units[p->cached_limit].cycles;
    p->cached_limit = i == 1 || is_later ? i : p->cached_limit;
  }
}

// The highest rate of these operations.
static double peak(const struct picture *p) {
  const struct kernel_cost *c = &p->r->cost;
  switch (kind_of(c)) {
  case BY_MATRICES: return per_second(p, c->tensor_flops / c->tensor_cycles);
  case BY_FUSED: return per_second(p, 2 * LANES * p->m->issue);
  case BY_ELEMENT: break;
  }
  return per_second(p, LANES * p->m->arithmetic);
}

static double intensity(const struct picture *p) { return p->operations / p->bytes; }

static double rate(const struct picture *p, size_t limit) {
  return per_second(p, p->operations / p->units[limit].cycles);
}

// "4.80 TB/s"
static const char *quantity(const struct picture *p, double billions, const char *what) {
  static const char *const prefixes[] = {"M", "G", "T", "P"};
  size_t i = 1;
  for (; i < 3 && billions >= 1000; i++)
    billions /= 1000;
  if (billions < 1)
    billions *= 1000, i--;
  return arena_printf(p->r->arena, "%.3g %s%s", billions, prefixes[i], what);
}

// ---- the roofline ----

static double x_of(const struct picture *p, double value) {
  return LEFT + (log10(value) - p->x_low) / (p->x_high - p->x_low) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct picture *p, double value) {
  return PLOT_TOP + (p->y_high - log10(value)) / (p->y_high - p->y_low) * PLOT_HEIGHT;
}

static void text(struct picture *p, double x, double y, const char *class, const char *words) {
  svg_text(p->out, x, y, class, words);
}

// The ridge, where memory and operations are balanced, and the kernel are in the picture.
static void choose_scales(struct picture *p, bool has_kernel) {
  double ridge = log10(peak(p) / p->m->memory_gbs), at = has_kernel ? log10(intensity(p)) : ridge;
  p->x_low = floor(fmin(ridge, at) - 0.7);
  p->x_high = ceil(fmax(ridge, at) + 0.7);
  p->y_high = ceil(log10(peak(p)) + 0.2);
  p->y_low = floor(fmin(log10(p->m->memory_gbs) + p->x_low,
                        has_kernel ? log10(rate(p, p->limit)) : (double)INFINITY));
}

static void draw_grid(struct picture *p) {
  strbuf_printf(p->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"frame\"/>\n",
                LEFT, PLOT_TOP, WIDTH - LEFT - RIGHT, PLOT_HEIGHT);
  for (double e = p->x_low; e <= p->x_high; e++) {
    double x = x_of(p, pow(10, e));
    strbuf_printf(p->out, "<path d=\"M%.1f %dV%d\" class=\"grid\"/>", x, PLOT_TOP,
                  PLOT_TOP + PLOT_HEIGHT);
    text(p, x, PLOT_TOP + PLOT_HEIGHT + 16, "mid", arena_printf(p->r->arena, "%g", pow(10, e)));
  }
  for (double e = p->y_low; e <= p->y_high; e++) {
    double y = y_of(p, pow(10, e));
    strbuf_printf(p->out, "<path d=\"M%d %.1fH%d\" class=\"grid\"/>", LEFT, y, WIDTH - RIGHT);
    text(p, LEFT - 6, y + 4, "end", quantity(p, pow(10, e), "op/s"));
  }
  text(p, (LEFT + WIDTH - RIGHT) / 2.0, PLOT_TOP + PLOT_HEIGHT + 34, "mid",
       "operations per byte of memory");
}

// The line of a rate of bytes, up to the peak of operations.
static void draw_slope(struct picture *p, double bytes_per_second, const char *class) {
  double top = peak(p), ridge = top / bytes_per_second;
  double low = pow(10, fmax(p->x_low, p->y_low - log10(bytes_per_second)));
  strbuf_printf(p->out, "<path d=\"M%.1f %.1fL%.1f %.1fH%d\" class=\"%s\"/>\n", x_of(p, low),
                y_of(p, low * bytes_per_second), x_of(p, ridge), y_of(p, top), WIDTH - RIGHT,
                class);
}

static void draw_limits(struct picture *p) {
  double cache = per_second(p, p->m->l2_bytes);
  draw_slope(p, cache, "cache");
  draw_slope(p, p->m->memory_gbs, "bound");
  text(p, WIDTH - RIGHT - 6, y_of(p, peak(p)) - 6, "end",
       arena_printf(p->r->arena, "%s: %s", kind_name(kind_of(&p->r->cost)),
                    quantity(p, peak(p), "op/s")));
  text(p, LEFT + 8, PLOT_TOP + 16, "start",
       arena_printf(p->r->arena, "memory: %s, L2 cache (dashed): %s",
                    quantity(p, p->m->memory_gbs, "B/s"), quantity(p, cache, "B/s")));
}

static void draw_kernel(struct picture *p) {
  double x = x_of(p, intensity(p)), low = rate(p, p->limit), high = rate(p, p->cached_limit);
  double y = y_of(p, low);
  bool is_right = x > WIDTH - RIGHT - 220;
  strbuf_printf(p->out, "<path d=\"M%.1f %.1fV%d\" class=\"drop\"/>", x, y_of(p, high),
                PLOT_TOP + PLOT_HEIGHT);
  strbuf_printf(p->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" class=\"cached\"/>", x,
                y_of(p, high));
  strbuf_printf(p->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" class=\"kernel\"/>\n", x, y);
  x += is_right ? -10 : 10;
  text(p, x, y + 18, is_right ? "end" : "start",
       arena_printf(p->r->arena, "%s: at most %s, all from memory", p->r->info->name,
                    quantity(p, low, "op/s")));
  if (high > low * 1.01)
    text(p, x, y + 32, is_right ? "end" : "start",
         arena_printf(p->r->arena, "%s where the L2 cache holds all", quantity(p, high, "op/s")));
}

// ---- what one program needs ----

static void draw_units(struct picture *p) {
  double most = p->units[p->limit].cycles;
  text(p, 16, BARS_TOP - 14, "head", "cycles of a multiprocessor for one program");
  for (size_t i = 0; i < UNITS; i++) {
    const struct unit *u = &p->units[i];
    double y = BARS_TOP + (double)i * BAR_STEP, room = WIDTH - 150 - 90;
    text(p, 140, y + 12, "end", u->name);
    strbuf_printf(p->out, "<rect x=\"150\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" class=\"%s\"/>",
                  y, most > 0 ? fmax(u->cycles / most * room, 0.5) : 0.5, BAR_STEP - 6,
                  i == p->limit ? "limit" : "bar");
    text(p, 156 + (most > 0 ? u->cycles / most * room : 0), y + 12, "start",
         arena_printf(p->r->arena, "%.4g", u->cycles));
  }
}

// ---- the whole ----

static const char *limits(const struct picture *p) {
  const char *first = p->units[p->limit].name, *cached = p->units[p->cached_limit].name;
  return p->limit == 0 ? arena_printf(p->r->arena, "limited by %s, else by %s", first, cached)
                       : arena_printf(p->r->arena, "limited by %s", first);
}

void perf_report_svg(const struct perf_report *r, struct strbuf *out) {
  struct picture p = {.r = r, .m = machine_of(r->target), .out = out};
  count(&p);
  bool has_kernel = p.operations > 0 && p.bytes > 0 && p.units[p.limit].cycles > 0;
  choose_scales(&p, has_kernel);
  svg_begin(out, WIDTH, TIME_TOP + (int)perf_time_height(r));
  text(&p, 16, 24, "head",
       arena_printf(r->arena, "%s for %s: %s", r->info->name, r->target->name,
                    has_kernel ? limits(&p) : "nothing to compute, or no memory accesses"));
  text(&p, 16, 40, "start",
       r->cost.is_exact ? "predicted, all programs alike"
                        : "predicted, loops whose trips are not known run 8 times");
  draw_grid(&p);
  draw_limits(&p);
  if (has_kernel)
    draw_kernel(&p);
  draw_units(&p);
  perf_time_svg(r, TIME_TOP, WIDTH, out);
  svg_end(out);
}
