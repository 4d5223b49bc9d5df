// SPDX-License-Identifier: Apache-2.0
// How wrong the cost model is, learnt from what was measured: a Gaussian process over the logarithm
// of measured to predicted time. Configurations that differ by few steps, or whose predictions are
// alike, are wrong in like ways. Points may stand for measurements that are still under way.
#ifndef TILE_AUTOTUNE_SEARCH_SURROGATE_H
#define TILE_AUTOTUNE_SEARCH_SURROGATE_H

#include "autotune/space/space.h"

struct surrogate;

// For at most `cap` points. `log_predicted`, by configuration, is the caller's and may be filled
// later than this, but before a configuration is named here; `centre` is about its mean.
struct surrogate *surrogate_create(struct arena *a, const struct tune_space *s,
                                   const double *log_predicted, double centre, size_t cap);
// A configuration that is or will be measured. Nothing when it is a point already or there are
// `cap`.
void surrogate_add(struct surrogate *g, uint32_t config);
// Its measured time, as a logarithm. Until then the point stands at what was expected of it.
void surrogate_set(struct surrogate *g, uint32_t config, double log_ms);

struct surrogate_guess {
  double log_ms, deviation;
};
struct surrogate_guess surrogate_ask(struct surrogate *g, uint32_t config);

#endif
