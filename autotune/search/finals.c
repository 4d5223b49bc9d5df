// SPDX-License-Identifier: Apache-2.0
// The arithmetic of finals: from slices to rounds, ratios and times.
#include "autotune/search/finals.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

void finals_enter(struct finals *f, uint32_t config, double before, bool is_default_only) {
  assert(f->count < FINALS_MOST);
  f->at[f->count++] = (struct finalist){.config = config,
                                        .before = fmax(before, 1e-9),
                                        .is_default_only = is_default_only,
                                        .is_in = true};
}

struct finalist *finals_find(struct finals *f, uint32_t config) {
  for (size_t i = 0; f && i < f->count; i++)
    if (f->at[i].config == config)
      return &f->at[i];
  return NULL;
}

void finals_add(struct finalist *n, const struct tune_sample *slice) {
  if (n->slices < COUNT_OF(n->slice))
    n->slice[n->slices++] = *slice;
}

static bool is_left(const struct finalist *n) {
  return n->is_in && !n->has_failed && !n->is_default_only;
}

size_t finals_left(const struct finals *f) {
  size_t n = 0;
  for (size_t i = 0; i < f->count; i++)
    n += is_left(&f->at[i]);
  return n;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_of(double *x, size_t n) {
  qsort(x, n, sizeof *x, by_size);
  return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

// Both slices of a round: all finalists have the same mean time within the round.
static struct tune_sample round_of(const struct finalist *n, unsigned round) {
  const struct tune_sample *a = &n->slice[2 * round], *b = a + 1;
  return (struct tune_sample){.median = fmax((a->median + b->median) / 2, 1e-9),
                              .p20 = (a->p20 + b->p20) / 2,
                              .p80 = (a->p80 + b->p80) / 2,
                              .count = a->count + b->count};
}

// The mean over finalists that ran in all rounds.
static double mean_of(const struct finals *f, unsigned round) {
  double sum = 0;
  for (size_t i = 0; i < f->count; i++)
    if (is_left(&f->at[i]))
      sum += log(round_of(&f->at[i], round).median);
  return exp(sum / (double)finals_left(f));
}

// Relative to the means of its rounds.
static struct tune_sample relative(const struct finalist *n, const double *means) {
  double median[FINALS_TURNS], p20[FINALS_TURNS], p80[FINALS_TURNS];
  struct tune_sample r = {.rounds = n->slices / 2};
  for (unsigned t = 0; t < r.rounds; t++) {
    struct tune_sample one = round_of(n, t);
    median[t] = one.median / means[t];
    p20[t] = one.p20 / means[t];
    p80[t] = one.p80 / means[t];
    r.count += one.count;
  }
  if (r.rounds == 0)
    return r;
  r.median = median_of(median, r.rounds);
  r.p20 = median_of(p20, r.rounds);
  r.p80 = median_of(p80, r.rounds);
  return r;
}

void finals_end_round(struct finals *f) {
  double means[FINALS_TURNS], sum = 0;
  f->rounds++;
  for (size_t i = 0; i < f->count; i++)
    f->at[i].has_failed |= f->at[i].is_in && f->at[i].slices < 2 * f->rounds;
  if (finals_left(f) == 0)
    return;
  for (unsigned t = 0; t < f->rounds; t++)
    means[t] = mean_of(f, t);
  for (size_t i = 0; i < f->count; i++) {
    struct finalist *n = &f->at[i];
    n->sample = n->has_failed ? (struct tune_sample){0} : relative(n, means);
    if (is_left(n))
      sum += log(n->before / n->sample.median);
  }
  // Scaled to the average of the earlier long measurements, so that results are comparable with
  // times of configurations outside the finals, none of which gets ahead of the winner.
  double scale = exp(sum / (double)finals_left(f));
  for (size_t i = 0; i < f->count; i++) {
    struct tune_sample *s = &f->at[i].sample;
    s->median *= scale, s->p20 *= scale, s->p80 *= scale;
  }
}

void finals_narrow(struct finals *f, double within, size_t most) {
  double ms[FINALS_MOST];
  size_t n = 0;
  for (size_t i = 0; i < f->count; i++)
    if (is_left(&f->at[i]))
      ms[n++] = f->at[i].sample.median;
  if (n == 0)
    return;
  qsort(ms, n, sizeof *ms, by_size);
  double bound = fmin(ms[0] * (1 + within), ms[(most < n ? most : n) - 1]);
  for (size_t i = 0; i < f->count; i++)
    f->at[i].is_in &= is_left(&f->at[i]) && f->at[i].sample.median <= bound;
}
