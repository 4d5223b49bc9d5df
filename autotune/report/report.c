// SPDX-License-Identifier: Apache-2.0
// The progress line and the final table. Configurations that could not be tried are grouped by
// reason, ignoring numbers; failures on the device are listed one per line.
#include "autotune/report/report_internal.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOWN_BEST 5
#define SHOWN_FAILURES 8 // of a group

void tune_progress_line(const struct tune_progress *p, struct strbuf *out) {
  strbuf_printf(out, "tuning %u/%u", p->measured, p->to_measure);
  if (p->best)
    strbuf_printf(out, "  best %.4g %s (%s)", p->best_ms < 0.1 ? p->best_ms * 1e3 : p->best_ms,
                  p->best_ms < 0.1 ? "us" : "ms", p->best);
  else if (p->analysed)
    strbuf_printf(out, "  %u analysed", p->analysed);
  strbuf_printf(out, "  %.1f s", p->elapsed_ms / 1e3);
}

// ---- which ones ----

bool report_is_timed(const struct tune_trial *t) {
  return (t->outcome == TUNE_MEASURED || t->outcome == TUNE_SAME_CODE ||
          t->outcome == TUNE_SPILLS) &&
         t->sample.count > 0;
}

static bool has_winner(const struct tune_result *r) {
  return r->has_best && report_is_timed(&r->trials[r->best]);
}

size_t report_count(const struct tune_result *r, enum tune_outcome o) {
  size_t n = 0;
  for (size_t i = 0; i < r->count; i++)
    n += r->trials[i].outcome == o;
  return n;
}

bool report_all_spill(const struct tune_result *r) {
  return has_winner(r) && r->trials[r->best].spilled_bytes > 0;
}

static int by_time(const void *x, const void *y) {
  const struct tune_trial *a = *(const struct tune_trial *const *)x,
                          *b = *(const struct tune_trial *const *)y;
  if (a->sample.median != b->sample.median)
    return a->sample.median < b->sample.median ? -1 : 1;
  return (a->config > b->config) - (a->config < b->config);
}

// Measured configurations of an outcome, sorted by time, without the winner; NULL without memory.
static const struct tune_trial **ranking(const struct tune_result *r, enum tune_outcome o,
                                         size_t *ret_count) {
  const struct tune_trial **list = memory_zeroed(r->count + 1, sizeof(const struct tune_trial *));
  size_t n = 0, first = 0;
  if (!list)
    return NULL;
  if (o == TUNE_MEASURED)
    list[n++] = &r->trials[r->best], first = 1;
  for (size_t i = 0; i < r->count; i++)
    if (r->trials[i].outcome == o && report_is_timed(&r->trials[i]) && i != r->best)
      list[n++] = &r->trials[i];
  qsort(list + first, n - first, sizeof(const struct tune_trial *), by_time);
  *ret_count = n;
  return list;
}

// ---- the table ----

static double default_ms(const struct tune_result *r) {
  return report_is_timed(&r->trials[0]) ? r->trials[0].sample.median : 0;
}

// Of the table: short times are in microseconds.
struct unit {
  const char *name;
  double per_ms;
};

static struct unit unit_of(const struct tune_result *r) {
  return r->trials[r->best].sample.median < 0.1 ? (struct unit){"us", 1e3} : (struct unit){"ms", 1};
}

static void print_row(const struct tune_space *s, const struct tune_result *r,
                      const struct tune_trial *t, const char *label, struct strbuf *out) {
  double normal = default_ms(r), per_ms = unit_of(r).per_ms;
  strbuf_printf(out, "  %-10s%10.4f  %8.4f  %8.4f", label, t->sample.median * per_ms,
                t->sample.p20 * per_ms, t->sample.p80 * per_ms);
  if (normal > 0)
    strbuf_printf(out, "  %6.2fx  ", normal / t->sample.median);
  else
    strbuf_puts(out, "       -   ");
  tune_config_print(s, t->config, out);
  if (t->spilled_bytes > 0)
    strbuf_puts(out, "  (spills)");
  strbuf_putc(out, '\n');
}

static void print_table(const struct tune_space *s, const struct tune_result *r,
                        struct strbuf *out) {
  size_t n = 0;
  const struct tune_trial **list = ranking(r, TUNE_MEASURED, &n);
  if (!list)
    return;
  strbuf_printf(out, "                    %s       p20       p80  against the default\n",
                unit_of(r).name);
  for (size_t i = 0; i < n && i < SHOWN_BEST; i++) {
    char label[16];
    snprintf(label, sizeof label, "%zu%s", i + 1, list[i]->config == 0 ? " default" : "");
    print_row(s, r, list[i], label, out);
  }
  bool is_shown = false;
  for (size_t i = 0; i < n && i < SHOWN_BEST; i++)
    is_shown |= list[i]->config == 0;
  if (!is_shown && report_is_timed(&r->trials[0]))
    print_row(s, r, &r->trials[0], "default", out);
  if (r->reference != 0 && report_is_timed(&r->trials[r->reference]))
    print_row(s, r, &r->trials[r->reference], "reference", out);
  free(list);
}

// The least bound of all configurations: that of the winner alone would change with the winner.
double report_bound_ms(const struct tune_result *r) {
  double bound = 0;
  for (size_t i = 0; i < r->count; i++) {
    double of = r->trials[i].prediction.bound_ms;
    bound = of > 0 && (bound <= 0 || of < bound) ? of : bound;
  }
  return bound;
}

void tune_sample_print(struct tune_sample sample, struct strbuf *out) {
  double per_ms = sample.median < 0.1 ? 1e3 : 1;
  strbuf_time(out, sample.median);
  strbuf_printf(out, "  (p20 %.*f, p80 %.*f)", per_ms > 1 ? 2 : 4, sample.p20 * per_ms,
                per_ms > 1 ? 2 : 4, sample.p80 * per_ms);
}

static void print_peak(const struct tune_result *r, double flops, double bytes,
                       struct strbuf *out) {
  const struct tune_trial *t = &r->trials[r->best];
  double ms = t->sample.median, gbs = bytes / 1e6 / ms;
  double peak = r->copy_gbs > 0 ? r->copy_gbs : r->device.memory_gbs;
  if (bytes > 0) {
    strbuf_printf(out, "  memory   %.4g GB/s", gbs);
    if (peak > 0)
      strbuf_printf(out, ", %.1f%% of %s (%.1f GB/s)", 100 * gbs / peak,
                    r->copy_gbs > 0 ? "a device copy" : "the peak", peak);
    strbuf_putc(out, '\n');
  }
  if (flops > 0)
    strbuf_printf(out, "  compute  %.4g TFLOP/s\n", flops / 1e9 / ms);
  double bound = report_bound_ms(r);
  if (bound > 0) {
    strbuf_printf(out, "  bound    %.1f%%: bytes and operations alone take ", 100 * bound / ms);
    strbuf_time(out, bound);
    strbuf_putc(out, '\n');
  }
}

// ---- what was dropped ----

// The same words; numbers may differ.
static bool is_same_reason(const char *a, const char *b) {
  if (!a || !b)
    return a == b;
  for (;;) {
    while (isdigit((unsigned char)*a))
      a++;
    while (isdigit((unsigned char)*b))
      b++;
    if (*a != *b)
      return false;
    if (!*a)
      return true;
    a++, b++;
  }
}

static bool is_dropped(const struct tune_trial *t) {
  return t->outcome != TUNE_UNTRIED && t->outcome != TUNE_SAME_CODE &&
         t->outcome != TUNE_MEASURED && t->outcome != TUNE_SPILLS;
}

static bool is_group(const struct tune_trial *a, const struct tune_trial *b) {
  return a->outcome == b->outcome && is_same_reason(a->reason, b->reason);
}

static void print_group(const struct tune_space *s, const struct tune_result *r, size_t first,
                        size_t count, struct strbuf *out) {
  const struct tune_trial *t = &r->trials[first];
  strbuf_printf(out, "  %5zu %s%s%s\n", count, tune_outcome_name(t->outcome), t->reason ? ": " : "",
                t->reason ? t->reason : "");
  // Pruned configurations are many and expected: one is shown for all.
  size_t shown = 0, limit = t->outcome == TUNE_PRUNED ? 1 : SHOWN_FAILURES;
  for (size_t i = first; i < r->count && shown < limit; i++) {
    if (!is_dropped(&r->trials[i]) || !is_group(&r->trials[i], t))
      continue;
    strbuf_puts(out, "          ");
    tune_config_print(s, i, out);
    strbuf_putc(out, '\n');
    shown++;
  }
  if (count > shown)
    strbuf_printf(out, "          and %zu more\n", count - shown);
}

// Configurations that spill were measured and would be chosen if nothing else ran: shown with
// times.
static void print_spills(const struct tune_space *s, const struct tune_result *r,
                         struct strbuf *out) {
  size_t n = 0;
  const struct tune_trial **list = ranking(r, TUNE_SPILLS, &n);
  if (n)
    strbuf_printf(out, "  %5zu %s: not chosen, since others do not\n", n,
                  tune_outcome_name(TUNE_SPILLS));
  for (size_t i = 0; i < n && i < SHOWN_FAILURES; i++) {
    strbuf_puts(out, "          ");
    strbuf_time(out, list[i]->sample.median);
    strbuf_printf(out, ", %s: ", list[i]->reason ? list[i]->reason : "");
    tune_config_print(s, list[i]->config, out);
    strbuf_putc(out, '\n');
  }
  if (n > SHOWN_FAILURES)
    strbuf_printf(out, "          and %zu more\n", n - SHOWN_FAILURES);
  free(list);
}

static void print_dropped(const struct tune_space *s, const struct tune_result *r,
                          struct strbuf *out) {
  bool *seen = memory_zeroed(r->count + 1, sizeof(bool));
  if (!seen)
    return;
  for (size_t i = 0; i < r->count; i++) {
    size_t count = 0;
    if (seen[i] || !is_dropped(&r->trials[i]))
      continue;
    for (size_t k = i; k < r->count; k++)
      if (!seen[k] && is_dropped(&r->trials[k]) && is_group(&r->trials[k], &r->trials[i])) {
        seen[k] = true;
        count++;
      }
    print_group(s, r, i, count, out);
  }
  free(seen);
}

static void print_counts(const struct tune_space *s, const struct tune_result *r,
                         struct strbuf *out) {
  size_t measured = 0, same = report_count(r, TUNE_SAME_CODE);
  size_t untried = report_count(r, TUNE_UNTRIED), resumed = 0;
  for (size_t i = 0; i < r->count; i++) {
    const struct tune_trial *t = &r->trials[i];
    bool was_run = t->outcome == TUNE_MEASURED || (t->outcome == TUNE_SPILLS && !t->is_twin);
    measured += was_run;
    resumed += was_run && t->is_resumed;
    same += t->is_twin;
  }
  strbuf_printf(out, "%zu of %zu configurations measured on %s (%s) in %.2f s%s\n", measured,
                s->count, r->device.name, r->device.target, r->elapsed_ms / 1e3,
                r->stopped ? ", stopped early" : "");
  strbuf_printf(out, "  space    %s\n", s->origin ? s->origin : "given");
  if (resumed)
    strbuf_printf(out, "  resumed  %zu were measured by an earlier run\n", resumed);
  if (same)
    strbuf_printf(out, "  same     %zu have the code of another one\n", same);
  if (untried)
    strbuf_printf(out, "  untried  %zu %s\n", untried,
                  r->stopped  ? "were not reached"
                  : !measured ? "were not measured"
                              : "promised less");
}

bool report_is_suspect(const struct tune_result *r) {
  return r->disagreed > r->agreed + 1; // the reference agrees with itself
}

static void print_suspicion(const struct tune_space *s, const struct tune_result *r,
                            struct strbuf *out) {
  if (!report_is_suspect(r))
    return;
  strbuf_printf(out, "  warning: %u of %u configurations have other results than the reference (",
                r->disagreed, r->agreed + r->disagreed);
  tune_config_print(s, r->reference, out);
  strbuf_puts(out,
              "):\n           the reference itself may be wrong; compare with results that are "
              "known, by --expect\n");
}

void report_options(const struct tune_space *s, size_t config, struct strbuf *out) {
  const char *before = "";
  for (size_t d = 0; d < s->dim_count; d++) {
    const char *value = s->dims[d].values[s->configs[config].at[d]];
    bool is_plain = value[strspn(value, "0123456789abcdefghijklmnopqrstuvwxyz"
                                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ_.+-")] == '\0';
    if (s->dims[d].kind == TUNE_CONSTANT)
      strbuf_printf(out, is_plain ? "%s-D %s=%s" : "%s-D %s='%s'", before, s->dims[d].name, value);
    else if (strcmp(value, "0") == 0)
      continue; // the default
    else
      strbuf_printf(out, "%s--%s %s", before,
                    s->dims[d].kind == TUNE_WARPS    ? "num-warps"
                    : s->dims[d].kind == TUNE_STAGES ? "num-stages"
                                                     : "max-registers",
                    value);
    before = " ";
  }
}

void tune_report(const struct tune_space *s, const struct tune_result *r, double flops,
                 double bytes, struct strbuf *out) {
  print_counts(s, r, out);
  print_suspicion(s, r, out);
  if (has_winner(r)) {
    print_table(s, r, out);
    if (report_all_spill(r))
      strbuf_puts(out, "  spills   all that are right spill registers; the fastest is chosen\n");
    print_peak(r, flops, bytes, out);
  } else if (r->has_best) {
    strbuf_printf(out, "  nothing was measured; %.4f ms are predicted for ",
                  r->trials[r->best].prediction.ms);
    tune_config_print(s, r->best, out);
    strbuf_putc(out, '\n');
  } else {
    strbuf_puts(out,
                r->stopped ? "  nothing was measured yet\n" : "  no configuration could be run\n");
  }
  print_spills(s, r, out);
  print_dropped(s, r, out);
  if (r->has_best) {
    strbuf_puts(out, "  options  ");
    report_options(s, r->best, out);
    strbuf_putc(out, '\n');
  }
}
