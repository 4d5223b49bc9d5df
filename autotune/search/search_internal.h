// SPDX-License-Identifier: Apache-2.0
// The insides of a search, shared by the strategy (search.c), comparisons
// (autotune/search/candidates.c), analyses (autotune/search/analyse.c) and finals
// (autotune/search/search_finals.c).
#ifndef TILE_AUTOTUNE_SEARCH_SEARCH_INTERNAL_H
#define TILE_AUTOTUNE_SEARCH_SEARCH_INTERNAL_H

#include "autotune/search/finals.h"
#include "autotune/search/search.h"
#include "autotune/search/surrogate.h"
#include "base/vec.h"

#define NEIGHBOURS 256 // of a configuration, at most

enum phase { PHASE_START, PHASE_SAMPLE, PHASE_PICK, PHASE_ROUND, PHASE_FINALS, PHASE_OVER };

struct candidate {
  enum { ANALYSIS_NONE, ANALYSIS_PLANNED, ANALYSIS_OPEN, ANALYSIS_KNOWN, ANALYSIS_PRUNED } analysis;
  bool is_picked, is_open, spills;
  enum tune_outcome outcome; // TUNE_UNTRIED: no result yet
  struct tune_sample sample;
};

struct planned {
  enum tune_action action;
  uint32_t config;
  unsigned round;
  bool is_slice; // of the finals
};

struct tune_search {
  struct arena *arena;
  const struct tune_space *space;
  enum tune_effort effort;
  uint64_t random;
  bool is_whole;         // every configuration is measured
  uint32_t limit;        // measured at most
  size_t analysis_limit; // analysed at most
  enum phase phase;
  unsigned round, batches;
  bool has_neighbours; // of the best were analysed for the next batch
  bool is_truncated;
  struct candidate *candidates;
  double *log_predicted;
  struct surrogate *model; // from the first batch on
  VEC(struct planned) queue;
  size_t head, open, analysed;
  struct finals *finals; // NULL: not begun
  unsigned last_round;   // of this part of the finals
  bool is_narrow;        // the second part
  bool is_decided;       // by finals, now or in an earlier run
};

struct ranked {
  double key;
  uint32_t config;
};

// ---- autotune/search/candidates.c ----
void search_plan(struct tune_search *s, enum tune_action action, uint32_t config);
bool search_is_timed(const struct candidate *c);
int search_compare_ranked(const void *a, const void *b); // for qsort: ascending
double search_pessimistic_ms(const struct candidate *c);
bool search_best_of(const struct tune_search *s, bool only_picked, uint32_t *ret);
// It was run and may win, given the current best.
bool search_is_contender(const struct tune_search *s, uint32_t config, uint32_t best);
static inline bool search_is_thorough(const struct tune_search *s) {
  return s->effort >= TUNE_EFFORT_FULL;
}

// ---- autotune/search/analyse.c ----
// All configurations, or a random sample of half of the limit, in random order: the time may be up
// before its end.
void search_plan_sample(struct tune_search *s);
// Neighbours of the best predicted that were not analysed yet. False: none, or the limit is
// reached.
bool search_plan_climb(struct tune_search *s);
// Neighbours of the best measured outside the sample. False: none, or the limit is reached.
bool search_plan_neighbours(struct tune_search *s);

// ---- autotune/search/search_finals.c ----
// The next round: all finalists forwards and backwards. False: the finals are over, or there are
// none.
bool search_plan_round(struct tune_search *s);
// An earlier run has completed them, and no candidate measured since may win.
bool search_finals_held(struct tune_search *s);
struct tune_step search_slice(uint32_t config);

#endif
