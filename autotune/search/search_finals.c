// SPDX-License-Identifier: Apache-2.0
// The finals of a search: which candidates enter, the slices of each round, and the end. After a
// few rounds only finalists close to the best continue.
#include "autotune/search/search_internal.h"

#include <math.h>
#include <stdlib.h>

#define FINALS_WITHIN 0.09 // in one long measurement: clocks drift by as much
#define NARROW_WITHIN 0.025
#define DEFAULT_WITHIN 1.0 // the default enters if it is within this, to be compared
#define SLICE_MS 2.0
#define SLICE_LEAST 2u
#define SLICE_MOST 8u

// Limits of the finals.
struct contest {
  size_t entrants, left;
  unsigned rounds, most_rounds; // of the first part; in all
  double budget_ms;             // of the second part
};

static struct contest contest_of(const struct tune_search *s) {
  if (search_is_thorough(s))
    return (struct contest){12, 6, 4, FINALS_TURNS, 1500};
  return s->is_whole ? (struct contest){6, 4, 3, 8, 80}
                     : (struct contest){8, 5, 3, FINALS_TURNS, 500};
}

// Cost of a slice, including its warm-up launch.
static double slice_cost(double ms) { return fmax(SLICE_MS, (SLICE_LEAST + 1) * ms); }

struct tune_step search_slice(uint32_t config) {
  return (struct tune_step){.action = TUNE_MEASURE,
                            .config = config,
                            .budget_ms = SLICE_MS,
                            .least = SLICE_LEAST,
                            .most = SLICE_MOST,
                            .is_slice = true};
}

// Candidates that may be the best, sorted by time; *ret_size of them. NULL: no finals.
static struct ranked *find_entrants(struct tune_search *s, uint32_t best, size_t most,
                                    size_t *ret_size) {
  struct ranked *r = arena_array(s->arena, struct ranked, s->space->count);
  double bound = search_pessimistic_ms(&s->candidates[best]) * (1 + FINALS_WITHIN), cost = 0;
  size_t n = 0, size = 0;
  for (uint32_t i = 0; i < s->space->count; i++) {
    const struct candidate *c = &s->candidates[i];
    if (search_is_contender(s, i, best) && c->sample.median <= bound)
      r[n++] = (struct ranked){c->sample.median, i};
  }
  qsort(r, n, sizeof *r, search_compare_ranked);
  // Fewer if they take long.
  for (; size < n && size < most; size++) {
    cost += 2 * slice_cost(r[size].key);
    if (size >= 3 && cost > contest_of(s).budget_ms)
      break;
  }
  *ret_size = size;
  return size > 1 ? r : NULL;
}

// An earlier run has completed these finals.
static bool were_held(const struct tune_search *s, const struct ranked *r, size_t n) {
  for (size_t i = 0; i < n && r[i].key <= r[0].key * (1 + NARROW_WITHIN); i++)
    if (s->candidates[r[i].config].sample.rounds == 0)
      return false;
  return true;
}

bool search_finals_held(struct tune_search *s) {
  uint32_t best = 0;
  size_t n = 0;
  struct ranked *r =
      search_best_of(s, false, &best) ? find_entrants(s, best, contest_of(s).entrants, &n) : NULL;
  return r && were_held(s, r, n);
}

static bool begin_finals(struct tune_search *s) {
  struct contest contest = contest_of(s);
  uint32_t best = 0;
  size_t n = 0;
  struct ranked *r =
      search_best_of(s, false, &best) ? find_entrants(s, best, contest.entrants, &n) : NULL;
  if (!r)
    return false;
  s->is_decided = were_held(s, r, n);
  if (s->is_decided)
    return false;
  for (uint32_t i = 0; i < s->space->count; i++)
    s->candidates[i].sample.rounds = 0;
  s->finals = arena_new(s->arena, struct finals);
  for (size_t i = 0; i < n; i++)
    finals_enter(s->finals, r[i].config, r[i].key, false);
  const struct candidate *first = &s->candidates[0];
  if (!finals_find(s->finals, 0) && first->outcome == TUNE_MEASURED &&
      first->sample.median <= r[0].key * (1 + DEFAULT_WITHIN) &&
      4 * slice_cost(first->sample.median) <= contest.budget_ms)
    finals_enter(s->finals, 0, first->sample.median, true);
  s->last_round = contest.rounds;
  return true;
}

// Cost of a round of the remaining finalists.
static double round_cost(const struct tune_search *s) {
  double ms = 0;
  for (size_t i = 0; i < s->finals->count; i++)
    if (s->finals->at[i].is_in && !s->finals->at[i].has_failed)
      ms += 2 * slice_cost(s->finals->at[i].before);
  return ms;
}

static void end_round(struct tune_search *s) {
  struct finals *f = s->finals;
  finals_end_round(f);
  s->is_decided = finals_left(f) > 0;
  for (size_t i = 0; i < f->count; i++)
    if (f->at[i].sample.rounds)
      s->candidates[f->at[i].config].sample = f->at[i].sample;
  double cost = round_cost(s), budget = contest_of(s).budget_ms;
  if (!s->is_narrow && (f->rounds >= s->last_round || f->rounds * cost > budget)) {
    struct contest c = contest_of(s);
    finals_narrow(f, NARROW_WITHIN, c.left);
    s->is_narrow = true;
    cost = fmax(round_cost(s), 1e-9);
    s->last_round = f->rounds + (unsigned)fmin(fmax(budget / cost, 1), c.most_rounds - f->rounds);
  }
}

static void plan_slice(struct tune_search *s, const struct finalist *n) {
  if (n->is_in && !n->has_failed)
    vec_push(s->arena, &s->queue, (struct planned){TUNE_MEASURE, n->config, 0, true});
}

bool search_plan_round(struct tune_search *s) {
  struct finals *f = s->finals;
  if (f)
    end_round(s);
  else if (!begin_finals(s))
    return false;
  f = s->finals;
  if (finals_left(f) < 2 || f->rounds >= s->last_round)
    return false;
  for (size_t i = 0; i < f->count; i++)
    plan_slice(s, &f->at[i]);
  for (size_t i = f->count; i-- > 0;)
    plan_slice(s, &f->at[i]);
  return true;
}
