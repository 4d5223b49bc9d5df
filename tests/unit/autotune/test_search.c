// SPDX-License-Identifier: Apache-2.0
// The strategy on synthetic problems: distance to the best after 24 measurements, determinism by
// the seed, failures that neither win nor stop it, resuming a search.
#include "landscape.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>

#define SEEDS 24

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Distance of the choice from the best, over many seeds, ascending.
static void losses(enum landscape_kind kind, double noise, double ret[SEEDS]) {
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    struct arena *a = arena_create();
    struct landscape l;
    landscape_make(a, kind, seed, noise, &l);
    struct tune_search_options o = {.effort = TUNE_EFFORT_QUICK, .seed = seed};
    struct landscape_run r = landscape_search(a, &l, &o);
    ck_assert_uint_le(r.measured, 24);
    ret[seed] = l.ms[r.best] / landscape_best(&l) - 1;
    ck_assert(l.ms[r.best] <= l.ms[0]);
    arena_destroy(a);
  }
  qsort(ret, SEEDS, sizeof(double), compare_doubles);
}

START_TEST(near_the_best) {
  static const struct {
    enum landscape_kind kind;
    double noise, half, most; // of the seeds are at most so far from the best
  } rows[] = {{LANDSCAPE_PRODUCT, 0, 0.01, 0.03},   {LANDSCAPE_PRODUCT, 0.03, 0.015, 0.04},
              {LANDSCAPE_ELEMENTS, 0, 0.01, 0.03},  {LANDSCAPE_ELEMENTS, 0.03, 0.02, 0.04},
              {LANDSCAPE_ATTENTION, 0, 0.01, 0.03}, {LANDSCAPE_ATTENTION, 0.03, 0.01, 0.03},
              {LANDSCAPE_MISLED, 0.01, 0.06, 0.2},  {LANDSCAPE_HUGE, 0.01, 0.08, 0.12}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    double loss[SEEDS];
    losses(rows[i].kind, rows[i].noise, loss);
    ck_assert_msg(loss[SEEDS / 2] <= rows[i].half, "row %zu: half lose up to %g", i,
                  loss[SEEDS / 2]);
    ck_assert_msg(loss[SEEDS * 4 / 5] <= rows[i].most, "row %zu: most lose up to %g", i,
                  loss[SEEDS * 4 / 5]);
  }
}
END_TEST

START_TEST(measuring_beats_predicting) {
  double predicted = 0, measured = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    struct arena *a = arena_create();
    struct landscape l;
    landscape_make(a, LANDSCAPE_ATTENTION, seed, 0.02, &l);
    struct tune_search_options none = {.effort = TUNE_EFFORT_NONE, .seed = seed};
    struct tune_search_options quick = {.effort = TUNE_EFFORT_QUICK, .seed = seed};
    struct landscape_run p = landscape_search(a, &l, &none), m = landscape_search(a, &l, &quick);
    ck_assert_uint_eq(p.measured, 0);
    for (size_t i = 0; i < l.space.count; i++) // without measurements: the best predicted
      ck_assert(l.predicted[i] < 0 || l.predicted[p.best] <= l.predicted[i]);
    predicted += l.ms[p.best] / landscape_best(&l) - 1;
    measured += l.ms[m.best] / landscape_best(&l) - 1;
    arena_destroy(a);
  }
  ck_assert_msg(measured < predicted / 3, "%g against %g", measured / SEEDS, predicted / SEEDS);
}
END_TEST

START_TEST(seed_decides) {
  for (int kind = 0; kind < LANDSCAPE_COUNT; kind++) {
    struct arena *a = arena_create();
    struct landscape l;
    landscape_make(a, (enum landscape_kind)kind, 7, 0.02, &l);
    struct tune_search_options o = {.effort = TUNE_EFFORT_QUICK, .seed = 3};
    struct landscape_run r = landscape_search(a, &l, &o), again = landscape_search(a, &l, &o);
    ck_assert(r.trace == again.trace && r.best == again.best);
    o.seed = 4;
    if (kind == LANDSCAPE_HUGE) // a sample is drawn
      ck_assert(landscape_search(a, &l, &o).trace != r.trace);
    arena_destroy(a);
  }
}
END_TEST

START_TEST(small_spaces_whole) {
  struct arena *a = arena_create();
  struct landscape l;
  landscape_make(a, LANDSCAPE_ELEMENTS, 1, 0, &l);
  l.space.count = 20;
  struct tune_search_options o = {.effort = TUNE_EFFORT_QUICK};
  struct landscape_run r = landscape_search(a, &l, &o);
  ck_assert_uint_eq(r.measured, 20);
  ck_assert_uint_eq(r.analysed, 0);
  ck_assert(l.ms[r.best] == landscape_best(&l));
  l.space.count =
      90; // a list is tried whole whatever its length, unless it is too long for the order
  l.space.is_list = true;
  ck_assert_uint_eq(landscape_search(a, &l, &o).measured, 90);
  o.candidates = 10;
  ck_assert_uint_eq(landscape_search(a, &l, &o).measured, 10);
  l.space.is_list = false;
  o = (struct tune_search_options){.effort = TUNE_EFFORT_EXHAUSTIVE};
  r = landscape_search(a, &l, &o);
  ck_assert_uint_eq(r.measured, 90);
  ck_assert(l.ms[r.best] == landscape_best(&l));
  o = (struct tune_search_options){.effort = TUNE_EFFORT_QUICK, .candidates = 5};
  r = landscape_search(a, &l, &o);
  ck_assert_uint_eq(r.measured, 5);
  arena_destroy(a);
}
END_TEST

// The longer rounds measure the better half only.
START_TEST(halving) {
  struct arena *a = arena_create();
  struct landscape l;
  landscape_make(a, LANDSCAPE_ELEMENTS, 2, 0, &l);
  l.space.count = 16;
  for (uint32_t i = 0; i < 16; i++)
    l.ms[i] = 1 + 0.1 * ((i + 5) % 16);
  struct tune_search_options o = {.effort = TUNE_EFFORT_QUICK};
  struct tune_search *s = tune_search_create(a, &l.space, &o);
  unsigned times[16] = {0}, last_least = 0;
  for (struct tune_step step;;) {
    step = tune_search_next(s);
    if (step.action == TUNE_DONE)
      break;
    ck_assert_int_eq(step.action, TUNE_MEASURE);
    ck_assert_uint_ge(step.least, last_least);
    last_least = step.least;
    times[step.config]++;
    struct tune_sample sample = landscape_measure(&l, step.config, step.least, 0);
    tune_search_measured(s, step.config, TUNE_MEASURED, &sample);
  }
  ck_assert_uint_eq(times[11], 2); // 1.0: nothing comes within the last round's bound
  ck_assert_uint_eq(times[12], 2); // 1.1
  ck_assert_uint_eq(times[15], 1); // 1.4
  ck_assert_uint_eq(times[0], 2);  // 1.5, but the default
  ck_assert_uint_eq(times[10], 1);
  uint32_t best;
  ck_assert(tune_search_best(s, &best) && best == 11);
  arena_destroy(a);
}
END_TEST

// ---- a clock that drifts ----

struct drifting {
  double now_ms, period_ms, phase; // of the clock: launches take up to 6 % longer
  double ms[40];
};

static struct tune_sample launches(struct drifting *d, const struct tune_step *step) {
  double ms[256], end = d->now_ms + step->budget_ms;
  unsigned n = 0;
  for (bool is_warm = false; n < step->most && (n < step->least || d->now_ms < end);) {
    double t = fmod(d->now_ms / d->period_ms + d->phase, 1);
    ms[n] = d->ms[step->config] * (1 + 0.06 * (t < 0.8 ? t / 0.8 : (1 - t) / 0.2));
    d->now_ms += ms[n] + 0.1;
    n += is_warm;
    is_warm = true;
  }
  qsort(ms, n, sizeof *ms, compare_doubles);
  return (struct tune_sample){.median = ms[n / 2], .p20 = ms[n / 5], .p80 = ms[n - 1 - n / 5], n};
}

static struct tune_search *search_drifting(struct arena *a, const struct tune_space *s,
                                           const struct tune_search_options *o, struct drifting *d,
                                           unsigned *ret_slices) {
  struct tune_search *search = tune_search_create(a, s, o);
  for (struct tune_step step; (step = tune_search_next(search)).action != TUNE_DONE;) {
    ck_assert_int_eq(step.action, TUNE_MEASURE);
    *ret_slices += step.is_slice;
    struct tune_sample sample = launches(d, &step);
    tune_search_measured(search, step.config, TUNE_MEASURED, &sample);
  }
  return search;
}

// The best is found despite clock drift larger than its lead.
static void find_in_drift(enum tune_effort effort, uint32_t count, double apart) {
  struct landscape l;
  unsigned slices = 0, wrong = 0;
  for (int k = 0; k < 40; k++) {
    struct arena *a = arena_create();
    landscape_make(a, LANDSCAPE_ELEMENTS, 2, 0, &l);
    l.space.count = count;
    struct drifting d = {.period_ms = 90 + 31 * (k % 8), .phase = 0.2 * (k / 8)};
    for (uint32_t i = 0; i < count; i++)
      d.ms[i] = 0.3 * (1 + apart * ((i * 7 + 3 * (uint32_t)k) % count));
    struct tune_search_options o = {.effort = effort};
    struct tune_search *s = search_drifting(a, &l.space, &o, &d, &slices);
    uint32_t best;
    ck_assert(tune_search_best(s, &best));
    wrong += d.ms[best] > 0.3 * (1 + apart / 2);
    for (uint32_t i = 0; i < count; i++) // the best is ahead of all others
      ck_assert(tune_search_sample(s, i).median >= tune_search_sample(s, best).median);
    ck_assert(d.now_ms < (effort == TUNE_EFFORT_QUICK ? 700 : 4000)); // of the launches alone
    arena_destroy(a);
  }
  ck_assert_msg(wrong == 0, "%u wrong choices", wrong);
  ck_assert_uint_ge(slices, 40 * 8);
}

START_TEST(drift_cancels) {
  find_in_drift(TUNE_EFFORT_QUICK, 20, 0.02);
  find_in_drift(TUNE_EFFORT_EXHAUSTIVE, 36, 0.01);
}
END_TEST

// Finals that an earlier run has completed are not repeated; others are.
START_TEST(finals_once) {
  struct arena *a = arena_create();
  struct landscape l;
  landscape_make(a, LANDSCAPE_ELEMENTS, 2, 0, &l);
  l.space.count = 12;
  struct drifting d = {.period_ms = 300};
  for (uint32_t i = 0; i < 12; i++)
    d.ms[i] = 0.3 * (1 + 0.015 * ((i + 5) % 12));
  struct tune_search_options o = {.effort = TUNE_EFFORT_QUICK};
  unsigned slices = 0, again = 0;
  struct tune_search *s = search_drifting(a, &l.space, &o, &d, &slices);
  for (int with_finals = 0; with_finals < 2; with_finals++) {
    struct tune_search *next = tune_search_create(a, &l.space, &o);
    for (uint32_t i = 0; i < 12; i++) {
      struct tune_sample known = tune_search_sample(s, i);
      known.rounds = with_finals ? known.rounds : 0;
      tune_search_measured(next, i, TUNE_MEASURED, &known);
    }
    again = 0;
    for (struct tune_step step; (step = tune_search_next(next)).action != TUNE_DONE;) {
      struct tune_sample sample = launches(&d, &step);
      again += step.is_slice || with_finals; // then nothing is measured at all
      tune_search_measured(next, step.config, TUNE_MEASURED, &sample);
    }
    uint32_t best;
    ck_assert(tune_search_best(next, &best) && best == 7);
    ck_assert_int_eq(again == 0, with_finals);
  }
  ck_assert_uint_gt(slices, 0);
  arena_destroy(a);
}
END_TEST

// A lucky short measurement must not beat a long one.
START_TEST(doubt_counts) {
  struct arena *a = arena_create();
  struct landscape l;
  landscape_make(a, LANDSCAPE_ELEMENTS, 2, 0, &l);
  l.space.count = 3;
  struct tune_search_options o = {.effort = TUNE_EFFORT_QUICK};
  struct tune_search *s = tune_search_create(a, &l.space, &o);
  struct tune_sample glance = {0.99, 0.9, 1.3, 4}, look = {1, 0.99, 1.02, 100};
  tune_search_measured(s, 1, TUNE_MEASURED, &glance);
  tune_search_measured(s, 2, TUNE_MEASURED, &look);
  uint32_t best;
  ck_assert(tune_search_best(s, &best) && best == 2);
  // Equal code: the one that was run is chosen.
  tune_search_measured(s, 0, TUNE_SAME_CODE, &look);
  ck_assert(tune_search_best(s, &best) && best == 2);
  arena_destroy(a);
}
END_TEST

START_TEST(failures_never_win) {
  struct arena *a = arena_create();
  struct landscape l;
  landscape_make(a, LANDSCAPE_ATTENTION, 5, 0.01, &l);
  struct tune_search_options o = {.effort = TUNE_EFFORT_QUICK, .seed = 1};
  // Every candidate except the default fails.
  struct tune_search *s = tune_search_create(a, &l.space, &o);
  static const enum tune_outcome failures[] = {TUNE_BAD_LAUNCH, TUNE_TIMEOUT, TUNE_WRONG,
                                               TUNE_BAD_BUILD, TUNE_PRUNED};
  uint32_t asked = 0, best;
  for (struct tune_step step; (step = tune_search_next(s)).action != TUNE_DONE;) {
    struct prediction p = {.ms = fabs(l.predicted[step.config])};
    if (step.action == TUNE_ANALYSE)
      tune_search_analysed(s, step.config, &p);
    else if (step.config == 0)
      tune_search_measured(s, 0, TUNE_MEASURED, &(struct tune_sample){9, 9, 9, 50});
    else
      tune_search_measured(s, step.config, failures[asked++ % COUNT_OF(failures)], NULL);
  }
  ck_assert_uint_ge(asked, 23); // those that could not be built cost nothing of the budget
  ck_assert_uint_le(asked, 60);
  ck_assert(tune_search_best(s, &best) && best == 0);
  // A measured candidate that fails later is out.
  tune_search_measured(s, 1, TUNE_MEASURED, &(struct tune_sample){1, 1, 1, 50});
  ck_assert(tune_search_best(s, &best) && best == 1);
  tune_search_measured(s, 1, TUNE_TIMEOUT, NULL);
  ck_assert(tune_search_best(s, &best) && best == 0);
  arena_destroy(a);
}
END_TEST

// A candidate that spills neither wins nor enters finals if one without spills was measured.
START_TEST(spills_lose) {
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    struct arena *a = arena_create();
    struct landscape l;
    landscape_make(a, LANDSCAPE_ATTENTION, seed, 0.01, &l);
    for (int all = 0; all < 2; all++) {
      struct tune_search_options o = {.effort = TUNE_EFFORT_QUICK, .seed = seed};
      struct tune_search *s = tune_search_create(a, &l.space, &o);
      bool *spills = arena_array(a, bool, l.space.count), has_other = false;
      double least = (double)INFINITY;
      for (struct tune_step step; (step = tune_search_next(s)).action != TUNE_DONE;) {
        uint32_t c = step.config;
        struct prediction p = {.ms = l.predicted[c]};
        if (step.action == TUNE_ANALYSE) {
          tune_search_analysed(s, c, p.ms > 0 ? &p : NULL);
          continue;
        }
        if (l.ms[c] < 0) {
          tune_search_measured(s, c, TUNE_BAD_BUILD, NULL);
          continue;
        }
        spills[c] = all || c * 2654435761u >> 31;
        if (step.is_slice)
          ck_assert(!spills[c] || !has_other || c == 0);
        has_other |= !spills[c];
        if (!spills[c])
          least = fmin(least, l.ms[c]);
        if (spills[c])
          tune_search_spills(s, c);
        struct tune_sample sample = landscape_measure(&l, c, step.most, 0);
        tune_search_measured(s, c, TUNE_MEASURED, &sample);
      }
      uint32_t best;
      ck_assert(tune_search_best(s, &best));
      ck_assert_int_eq(spills[best], all);
      ck_assert(all || l.ms[best] <= 1.03 * least);
    }
    arena_destroy(a);
  }
}
END_TEST

START_TEST(everything_pruned) {
  struct arena *a = arena_create();
  struct landscape l;
  landscape_make(a, LANDSCAPE_PRODUCT, 5, 0, &l);
  struct tune_search_options o = {.effort = TUNE_EFFORT_QUICK};
  struct tune_search *s = tune_search_create(a, &l.space, &o);
  for (struct tune_step step; (step = tune_search_next(s)).action != TUNE_DONE;)
    if (step.action == TUNE_ANALYSE)
      tune_search_analysed(s, step.config, NULL);
    else
      tune_search_measured(s, step.config, TUNE_PRUNED, NULL);
  uint32_t best;
  ck_assert(!tune_search_best(s, &best));
  arena_destroy(a);
}
END_TEST

// Results of an earlier run are not measured again, and the choice is the same.
START_TEST(resumed) {
  struct arena *a = arena_create();
  struct landscape l;
  landscape_make(a, LANDSCAPE_PRODUCT, 11, 0, &l);
  struct tune_search_options o = {.effort = TUNE_EFFORT_QUICK, .seed = 2};
  struct landscape_run whole = landscape_search(a, &l, &o);
  for (uint32_t cut = 1; cut < 60; cut += 7) {
    struct tune_sample *known = arena_array(a, struct tune_sample, l.space.count);
    uint32_t best = 0, repeated = 0, steps = 0;
    for (int run = 0; run < 2; run++) {
      struct tune_search *s = tune_search_create(a, &l.space, &o);
      for (uint32_t i = 0; i < l.space.count; i++)
        if (known[i].count)
          tune_search_measured(s, i, TUNE_MEASURED, &known[i]);
      for (struct tune_step step; (step = tune_search_next(s)).action != TUNE_DONE;) {
        struct prediction p = {.ms = l.predicted[step.config]};
        if (step.action == TUNE_ANALYSE) {
          tune_search_analysed(s, step.config, p.ms > 0 ? &p : NULL);
          continue;
        }
        if (run == 0 && ++steps > cut)
          break; // killed
        if (l.ms[step.config] < 0) {
          tune_search_measured(s, step.config, TUNE_BAD_BUILD, NULL);
          continue;
        }
        if (step.is_slice) { // which count together only
          struct tune_sample slice = landscape_measure(&l, step.config, step.most, 0);
          tune_search_measured(s, step.config, TUNE_MEASURED, &slice);
          continue;
        }
        repeated += run == 1 && known[step.config].count >= step.most;
        known[step.config] = landscape_measure(&l, step.config, step.most, 0);
        tune_search_measured(s, step.config, TUNE_MEASURED, &known[step.config]);
      }
      ck_assert(tune_search_best(s, &best) || run == 0);
    }
    ck_assert_uint_eq(repeated, 0);
    ck_assert_uint_eq(best, whole.best);
  }
  arena_destroy(a);
}
END_TEST

Suite *search_suite(void) {
  Suite *s = suite_create("search");
  TCase *t = tcase_create("search");
  tcase_add_test(t, near_the_best);
  tcase_add_test(t, measuring_beats_predicting);
  tcase_add_test(t, seed_decides);
  tcase_add_test(t, small_spaces_whole);
  tcase_add_test(t, halving);
  tcase_add_test(t, drift_cancels);
  tcase_add_test(t, finals_once);
  tcase_add_test(t, doubt_counts);
  tcase_add_test(t, failures_never_win);
  tcase_add_test(t, spills_lose);
  tcase_add_test(t, everything_pruned);
  tcase_add_test(t, resumed);
  suite_add_tcase(s, t);
  return s;
}
