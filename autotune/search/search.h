// SPDX-License-Identifier: Apache-2.0
// Decides which configuration to analyse or measure next. Deterministic: without a clock, devices,
// or randomness beyond its seed; equal results give equal requests.
//
// Small spaces (TUNE_EXHAUSTIVE_LIMIT) and lists are measured completely. For larger ones every
// configuration is analysed if there are few enough, else a sample and then the neighbours of the
// best predicted. The best predicted are measured with a few launches each; then, batch by batch,
// the most promising anywhere and around the best measured, with predictions corrected by the
// model's error so far, until the budget of candidates is spent or no candidate promises to be
// better. Then the better half is measured with more launches, and the finals (finals.h) compare
// those that are close: they are timed alternately, slice by slice; tune_search_sample gives their
// times.
#ifndef TILE_AUTOTUNE_SEARCH_SEARCH_H
#define TILE_AUTOTUNE_SEARCH_SEARCH_H

#include "autotune/worker/worker.h"

#define TUNE_EXHAUSTIVE_LIMIT 24

enum tune_effort { TUNE_EFFORT_NONE, TUNE_EFFORT_QUICK, TUNE_EFFORT_FULL, TUNE_EFFORT_EXHAUSTIVE };

struct tune_search_options {
  enum tune_effort
      effort;          // none: best prediction, nothing is measured; exhaustive: all are measured
  uint32_t candidates; // measured at most; 0: by effort (quick 24, full 96)
  uint64_t seed;
};

enum tune_action { TUNE_ANALYSE, TUNE_MEASURE, TUNE_WAIT, TUNE_DONE };
struct tune_step {
  enum tune_action action;
  uint32_t config;
  double budget_ms; // TUNE_MEASURE: how long
  unsigned least, most;
  bool is_slice; // of the finals: the time alone is not a result
};

struct tune_search;
struct tune_search *tune_search_create(struct arena *a, const struct tune_space *s,
                                       const struct tune_search_options *o);
// Results of an earlier run are given to tune_search_measured before the first step, and used when
// their turn comes. Returns the next step. TUNE_WAIT: nothing until a result arrives. Several steps
// may be open.
struct tune_step tune_search_next(struct tune_search *s);
// Results. `prediction` NULL: pruned, or the compilation failed. TUNE_UNTRIED: a slice that could
// not be timed for reasons outside the configuration.
void tune_search_analysed(struct tune_search *s, uint32_t config, const struct prediction *p);
void tune_search_measured(struct tune_search *s, uint32_t config, enum tune_outcome outcome,
                          const struct tune_sample *sample);
// Its code spills registers, or equals code that does; to be called before its result. It is not
// the best while one without spills exists.
void tune_search_spills(struct tune_search *s, uint32_t config);
// Time is short: stops analysing and begins to measure.
void tune_search_truncate(struct tune_search *s);
// The maximum number of measurements.
uint32_t tune_search_planned(const struct tune_search *s);
// The time of a measured configuration: from the finals if it was in them (`rounds`), else from its
// last measurement.
struct tune_sample tune_search_sample(const struct tune_search *s, uint32_t config);
// The best measured so far (if none: the best predicted); false: none at all.
bool tune_search_best(const struct tune_search *s, uint32_t *ret);

#endif
