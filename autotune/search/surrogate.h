// SPDX-License-Identifier: Apache-2.0
// The error of the cost model, learnt from measurements: a Gaussian process over the logarithm of
// measured to predicted time. Configurations that differ by few steps, or with similar predictions,
// have similar errors. A point may be a measurement in progress.
#ifndef TILE_AUTOTUNE_SEARCH_SURROGATE_H
#define TILE_AUTOTUNE_SEARCH_SURROGATE_H

#include "autotune/space/space.h"

struct surrogate;

// For at most `cap` points. `log_predicted`, by configuration, belongs to the caller and may be
// filled later, but before a configuration is added; `centre` is about its mean.
struct surrogate *surrogate_create(struct arena *a, const struct tune_space *s,
                                   const double *log_predicted, double centre, size_t cap);
// Adds a configuration that is or will be measured. No effect if it is a point already or there are
// `cap`.
void surrogate_add(struct surrogate *g, uint32_t config);
// Its measured time, as a logarithm. Until then the point has its expected value.
void surrogate_set(struct surrogate *g, uint32_t config, double log_ms);

struct surrogate_guess {
  double log_ms, deviation;
};
struct surrogate_guess surrogate_ask(struct surrogate *g, uint32_t config);

#endif
