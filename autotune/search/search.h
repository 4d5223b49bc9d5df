// SPDX-License-Identifier: Apache-2.0
// Which configuration to look at next. A strategy without a clock, without devices and without
// chance beyond its seed: it is told what came of what it asked for. The same answers lead to the
// same questions.
//
// Small spaces (TUNE_EXHAUSTIVE_LIMIT) and lists are tried whole. Larger ones: every configuration
// is analysed if there are few enough, else a sample and then the neighbours of the best predicted;
// the best predicted are measured for a few launches each, then, batch by batch, what is most
// promising anywhere and around the best measured, its prediction corrected by how wrong the model
// was on what was measured, until the budget of candidates is spent or nothing promises to be
// better. At the end comes a round of more launches for the better half, and the finals (finals.h)
// for those that are close to each other: they are timed in turns, slice by slice, and what they
// took is told by tune_search_sample.
#ifndef TILE_AUTOTUNE_SEARCH_SEARCH_H
#define TILE_AUTOTUNE_SEARCH_SEARCH_H

#include "autotune/worker/worker.h"

#define TUNE_EXHAUSTIVE_LIMIT 24

enum tune_effort { TUNE_EFFORT_NONE, TUNE_EFFORT_QUICK, TUNE_EFFORT_FULL, TUNE_EFFORT_EXHAUSTIVE };

struct tune_search_options {
  enum tune_effort effort; // none: best prediction, nothing measured; exhaustive: measure all
  uint32_t candidates;     // measured at most; 0: by effort (quick 24, full 96)
  uint64_t seed;
};

enum tune_action { TUNE_ANALYSE, TUNE_MEASURE, TUNE_WAIT, TUNE_DONE };
struct tune_step {
  enum tune_action action;
  uint32_t config;
  double budget_ms; // TUNE_MEASURE: how long
  unsigned least, most;
  bool is_slice; // of the finals: the answer is no time that counts by itself
};

struct tune_search;
struct tune_search *tune_search_create(struct arena *a, const struct tune_space *s,
                                       const struct tune_search_options *o);
// What is known from before (a resumed search) is told by tune_search_measured before the first
// step: it answers in its turn. The next thing to do. TUNE_WAIT: nothing before an answer
// arrives. Several steps may be open.
struct tune_step tune_search_next(struct tune_search *s);
// Answers. `prediction` NULL: pruned, or its compilation failed. A slice that could not be timed,
// through no fault of the configuration: TUNE_UNTRIED.
void tune_search_analysed(struct tune_search *s, uint32_t config, const struct prediction *p);
void tune_search_measured(struct tune_search *s, uint32_t config, enum tune_outcome outcome,
                          const struct tune_sample *sample);
// Its code spills registers, or is that of one which does; told before its answer. It is not the
// best while there is one that does not.
void tune_search_spills(struct tune_search *s, uint32_t config);
// Time is short: what was not analysed yet stays so, and measuring begins.
void tune_search_truncate(struct tune_search *s);
// How many will be measured at most.
uint32_t tune_search_planned(const struct tune_search *s);
// The time that counts for one that was measured: of the finals, if it took part (`rounds`), else
// of its answer.
struct tune_sample tune_search_sample(const struct tune_search *s, uint32_t config);
// The best measured so far (if none was: the best predicted); false: none at all.
bool tune_search_best(const struct tune_search *s, uint32_t *ret);

#endif
