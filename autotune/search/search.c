// SPDX-License-Identifier: Apache-2.0
// The search strategy. Steps are planned in batches; a batch is planned when all results of the
// previous one are in, so that their order does not matter. The candidates of a batch are picked
// one by one by lower confidence bound: the corrected model's prediction minus a multiple of its
// deviation (surrogate.h); each pick reduces the deviation around itself, which spreads the batch.
// Results of an earlier run are used when their candidate is picked, so that a resumed search takes
// the same path.
#include "autotune/search/search_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define OPEN_LIMIT 64    // requested and not answered: bounds the code kept in memory
#define OPEN_ANALYSES 24 // the same; few, so that the search can be truncated soon
#define SURE_AFTER 12    // measurements, before the search may end early

// ---- what is asked of a round ----

static const struct round {
  double budget_ms;
  unsigned least, most;
  double within; // of the best, to enter this round
} rounds[] = {{5, 3, 50, 0}, {12, 5, 100, 0.25}};
static double round_budget(const struct tune_search *s, unsigned round) {
  return rounds[round].budget_ms * (search_is_thorough(s) ? 3 : 1);
}

static size_t round_size(const struct tune_search *s, size_t measured) {
  size_t cap = search_is_thorough(s) ? 18 : 6, share = measured / 2;
  return share > cap ? cap : share < 2 ? 2 : share;
}

struct tune_search *tune_search_create(struct arena *a, const struct tune_space *s,
                                       const struct tune_search_options *o) {
  struct tune_search *t = arena_new(a, struct tune_search);
  uint32_t usual = o->effort == TUNE_EFFORT_FULL ? 96 : 24;
  t->arena = a;
  t->space = s;
  t->effort = o->effort;
  t->random = o->seed;
  t->limit = o->candidates ? o->candidates : usual;
  t->is_whole = o->effort == TUNE_EFFORT_EXHAUSTIVE ||
                (!o->candidates && (s->is_list || s->count <= TUNE_EXHAUSTIVE_LIMIT)) ||
                (o->candidates && s->count <= o->candidates);
  t->is_whole &= o->effort != TUNE_EFFORT_NONE;
  t->analysis_limit = o->effort == TUNE_EFFORT_FULL ? 4096 : 768;
  t->candidates = arena_array(a, struct candidate, s->count + 1);
  t->log_predicted = arena_array(a, double, s->count + 1);
  return t;
}

// ---- planning ----

// Picked candidates that count against the limit: not those with another's code or without code.
static uint32_t used(const struct tune_search *s) {
  uint32_t n = 0;
  for (size_t i = 0; i < s->space->count; i++) {
    enum tune_outcome o = s->candidates[i].outcome;
    n += s->candidates[i].is_picked && o != TUNE_SAME_CODE && o != TUNE_PRUNED &&
         o != TUNE_BAD_BUILD;
  }
  return n;
}

// Gives the model all results of picked candidates at once, independent of the order of results. A
// failed candidate counts as the slowest: its neighbours may fail too.
static void update_model(struct tune_search *s) {
  double worst = -(double)INFINITY;
  for (size_t i = 0; i < s->space->count; i++)
    if (s->candidates[i].is_picked && search_is_timed(&s->candidates[i]))
      worst = fmax(worst, log(fmax(s->candidates[i].sample.median, 1e-9)));
  for (uint32_t i = 0; i < s->space->count; i++) {
    const struct candidate *c = &s->candidates[i];
    double log_ms = search_is_timed(c) ? log(fmax(c->sample.median, 1e-9)) : worst;
    if (c->is_picked && c->analysis == ANALYSIS_KNOWN && c->outcome != TUNE_UNTRIED &&
        isfinite(log_ms))
      surrogate_set(s->model, i, log_ms);
  }
}

static void pick(struct tune_search *s, uint32_t config) {
  struct candidate *c = &s->candidates[config];
  c->is_picked = true;
  if (s->model && c->analysis == ANALYSIS_KNOWN)
    surrogate_add(s->model, config);
  search_plan(s, TUNE_MEASURE, config);
}

static void make_model(struct tune_search *s) {
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < s->space->count; i++)
    if (s->candidates[i].analysis == ANALYSIS_KNOWN) {
      sum += s->log_predicted[i];
      n++;
    }
  if (n == 0)
    return;
  s->model = surrogate_create(s->arena, s->space, s->log_predicted, sum / (double)n,
                              (size_t)s->limit * 2 + 8);
  for (uint32_t i = 0; i < s->space->count; i++) // the default is picked before there is a model
    if (s->candidates[i].is_picked && s->candidates[i].analysis == ANALYSIS_KNOWN)
      surrogate_add(s->model, i);
}

// The unpicked configuration with the lowest bound, among `among` (NULL: all).
static bool choose(struct tune_search *s, const uint32_t *among, size_t n, double doubt,
                   uint32_t *ret, double *ret_log_ms) {
  bool found = false;
  for (size_t i = 0; i < (among ? n : s->space->count); i++) {
    uint32_t config = among ? among[i] : (uint32_t)i;
    const struct candidate *c = &s->candidates[config];
    if (c->is_picked || c->analysis != ANALYSIS_KNOWN)
      continue;
    struct surrogate_guess g = surrogate_ask(s->model, config);
    double log_ms = g.log_ms - doubt * g.deviation;
    if (!found || log_ms < *ret_log_ms) {
      *ret = config;
      *ret_log_ms = log_ms;
      found = true;
    }
  }
  return found;
}

// Whether some configuration may beat the best, at three deviations.
static bool may_be_beaten(struct tune_search *s, uint32_t best) {
  uint32_t config;
  double log_ms = 0;
  return choose(s, NULL, 0, 3, &config, &log_ms) &&
         log_ms < log(fmax(s->candidates[best].sample.median, 1e-9));
}

// The next batch: alternately the most promising anywhere and around the best. Empty if no
// configuration is likely to beat the best.
static bool plan_batch(struct tune_search *s) {
  uint32_t taken = used(s), config = 0, best = 0;
  uint32_t size = s->batches == 0 ? (s->limit * 2 + 4) / 5 : s->limit / 6 + 1;
  size = taken + size > s->limit ? (s->limit > taken ? s->limit - taken : 0) : size;
  uint32_t *near = arena_array(s->arena, uint32_t, NEIGHBOURS);
  size_t near_count = 0, before = s->queue.len;
  double log_ms;
  update_model(s);
  bool has_best = s->batches > 0 && search_best_of(s, true, &best);
  if (has_best && taken >= SURE_AFTER && !may_be_beaten(s, best))
    size = 0;
  if (has_best)
    near_count = tune_space_neighbours(s->space, best, true, near, NEIGHBOURS);
  for (uint32_t i = 0; i < size; i++) {
    bool found = i % 2 == 1 && near_count && choose(s, near, near_count, 1, &config, &log_ms);
    if (!found && !choose(s, NULL, 0, 1.5, &config, &log_ms))
      break;
    pick(s, config);
  }
  s->batches++;
  s->has_neighbours = false;
  return s->queue.len > before;
}

// Measures the better part again, for longer. False: the best is decided.
static bool plan_round(struct tune_search *s) {
  uint32_t best = 0;
  if (++s->round >= COUNT_OF(rounds) || !search_best_of(s, false, &best))
    return false;
  struct ranked *r = arena_array(s->arena, struct ranked, s->space->count);
  size_t n = 0, measured = 0;
  double bound = search_pessimistic_ms(&s->candidates[best]) * (1 + rounds[s->round].within);
  for (uint32_t i = 0; i < s->space->count; i++) {
    const struct candidate *c = &s->candidates[i];
    if (!search_is_contender(s, i, best))
      continue;
    measured++;
    if (c->sample.median <= bound)
      r[n++] = (struct ranked){c->sample.median, i};
  }
  qsort(r, n, sizeof *r, search_compare_ranked);
  size_t size = round_size(s, measured);
  bool has_default = false;
  for (size_t i = 0; i < n && i < size; i++) {
    has_default |= r[i].config == 0;
    search_plan(s, TUNE_MEASURE, r[i].config);
  }
  // The default's time is part of every result, so it is measured for longer too.
  if (s->round == 1 && !has_default && s->candidates[0].outcome == TUNE_MEASURED)
    search_plan(s, TUNE_MEASURE, 0);
  return n > 1 || s->round == 1;
}

// Refills the queue. False: the search is over.
static bool plan_more(struct tune_search *s) {
  switch (s->phase) {
  case PHASE_START:
    if (s->is_whole) {
      for (uint32_t i = 0; i < s->space->count; i++)
        pick(s, i);
      s->phase = PHASE_ROUND;
      return true;
    }
    if (s->effort != TUNE_EFFORT_NONE)
      pick(s, 0);
    search_plan_sample(s);
    s->phase = s->space->count > s->analysis_limit ? PHASE_SAMPLE : PHASE_PICK;
    return true;
  case PHASE_SAMPLE:
    if (!search_plan_climb(s))
      s->phase = PHASE_PICK;
    return true;
  case PHASE_PICK:
    if (s->effort == TUNE_EFFORT_NONE)
      break;
    if (search_plan_neighbours(s))
      return true;
    if (!s->model)
      make_model(s);
    if (!s->model || !plan_batch(s))
      s->phase = PHASE_ROUND;
    return true;
  case PHASE_ROUND:
    if ((s->round == 0 && search_finals_held(s)) || !plan_round(s))
      s->phase = PHASE_FINALS;
    return true;
  case PHASE_FINALS:
    if (search_plan_round(s))
      return true;
    break;
  case PHASE_OVER: break;
  }
  s->phase = PHASE_OVER;
  return false;
}

// ---- questions and answers ----

// It failed, or was timed for as long as this round would.
static bool is_answered(const struct tune_search *s, const struct candidate *c,
                        const struct planned *p) {
  if (c->outcome == TUNE_UNTRIED || (p->is_slice && c->outcome == TUNE_MEASURED))
    return false;
  return p->round == 0 || c->outcome != TUNE_MEASURED || c->sample.rounds > 0 ||
         c->sample.count >= rounds[p->round].most ||
         (c->sample.count >= 3 &&
          c->sample.median * c->sample.count >= 0.7 * round_budget(s, p->round));
}

struct tune_step tune_search_next(struct tune_search *s) {
  for (;;) {
    if (s->head == s->queue.len) {
      if (s->open > 0)
        return (struct tune_step){.action = TUNE_WAIT};
      s->head = s->queue.len = 0;
      if (!plan_more(s))
        return (struct tune_step){.action = TUNE_DONE};
      continue;
    }
    struct planned p = s->queue.at[s->head];
    struct candidate *c = &s->candidates[p.config];
    // In a round the last slice forwards and the first one backwards are of one configuration: one
    // request at a time.
    if (s->open >= (p.action == TUNE_ANALYSE ? OPEN_ANALYSES : OPEN_LIMIT) ||
        (p.is_slice && c->is_open))
      return (struct tune_step){.action = TUNE_WAIT};
    s->head++;
    if (p.action == TUNE_MEASURE ? is_answered(s, c, &p) : c->analysis != ANALYSIS_PLANNED)
      continue;
    if (p.action == TUNE_ANALYSE && s->is_truncated) {
      c->analysis = ANALYSIS_NONE;
      continue;
    }
    s->open++;
    if (p.action == TUNE_ANALYSE) {
      c->analysis = ANALYSIS_OPEN;
      return (struct tune_step){.action = TUNE_ANALYSE, .config = p.config};
    }
    c->is_open = true;
    if (p.is_slice)
      return search_slice(p.config);
    return (struct tune_step){.action = TUNE_MEASURE,
                              .config = p.config,
                              .budget_ms = round_budget(s, p.round),
                              .least = rounds[p.round].least,
                              .most = rounds[p.round].most};
  }
}

void tune_search_analysed(struct tune_search *s, uint32_t config, const struct prediction *p) {
  assert(config < s->space->count);
  struct candidate *c = &s->candidates[config];
  bool was_asked = c->analysis == ANALYSIS_OPEN;
  bool is_known = p && p->ms > 0 && isfinite(p->ms);
  if (c->analysis != ANALYSIS_KNOWN) { // the model's predictions do not change once they are known
    c->analysis = is_known ? ANALYSIS_KNOWN : ANALYSIS_PRUNED;
    s->log_predicted[config] = is_known ? log(p->ms) : 0;
  }
  if (was_asked)
    s->open--;
}

void tune_search_measured(struct tune_search *s, uint32_t config, enum tune_outcome outcome,
                          const struct tune_sample *sample) {
  assert(config < s->space->count && (outcome != TUNE_MEASURED || sample));
  struct candidate *c = &s->candidates[config];
  struct finalist *finalist = c->is_open ? finals_find(s->finals, config) : NULL;
  // A longer measurement replaces a shorter one; a failure, whenever it comes, is final.
  if (!finalist || outcome != TUNE_UNTRIED)
    c->outcome = outcome;
  if (finalist && outcome == TUNE_MEASURED)
    finals_add(finalist, sample);
  else if (sample)
    c->sample = *sample;
  if (finalist)
    finalist->has_failed |= outcome != TUNE_MEASURED;
  if (c->is_open) {
    c->is_open = false;
    s->open--;
  }
}

struct tune_sample tune_search_sample(const struct tune_search *s, uint32_t config) {
  return s->candidates[config].sample;
}

void tune_search_spills(struct tune_search *s, uint32_t config) {
  s->candidates[config].spills = true;
}

void tune_search_truncate(struct tune_search *s) { s->is_truncated = true; }

uint32_t tune_search_planned(const struct tune_search *s) {
  size_t n = s->is_whole || s->space->count < s->limit ? s->space->count : s->limit;
  return s->effort == TUNE_EFFORT_NONE ? 0 : (uint32_t)n;
}

bool tune_search_best(const struct tune_search *s, uint32_t *ret) {
  uint32_t best = 0;
  bool found = search_best_of(s, false, &best);
  for (uint32_t i = 0; !found && i < s->space->count; i++)
    if (s->candidates[i].analysis == ANALYSIS_KNOWN) {
      best = i;
      for (uint32_t k = i + 1; k < s->space->count; k++)
        if (s->candidates[k].analysis == ANALYSIS_KNOWN &&
            s->log_predicted[k] < s->log_predicted[best])
          best = k;
      found = true;
    }
  if (found)
    *ret = best;
  return found;
}
