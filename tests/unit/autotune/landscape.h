// SPDX-License-Identifier: Apache-2.0
// Synthetic tuning problems for the search: spaces with times by a formula, predictions with the
// typical errors of a cost model, and noisy measurements.
#ifndef TESTS_UNIT_AUTOTUNE_LANDSCAPE_H
#define TESTS_UNIT_AUTOTUNE_LANDSCAPE_H

#include "autotune/search/search.h"

enum landscape_kind {
  LANDSCAPE_PRODUCT,   // a matrix product: waves, traffic, latency, shared memory limits
  LANDSCAPE_ELEMENTS,  // an elementwise kernel: flat, with a penalty for few warps
  LANDSCAPE_ATTENTION, // a narrow valley: warps must match the tile
  LANDSCAPE_MISLED,    // a product whose model ignores the most important term
  LANDSCAPE_HUGE       // more configurations than are analysed
};
#define LANDSCAPE_COUNT 5

struct landscape {
  enum landscape_kind kind;
  uint64_t seed;
  double noise; // of a measured launch, relative
  struct tune_space space;
  double *ms; // of each configuration; negative: it fails
  double *predicted;
};
void landscape_make(struct arena *a, enum landscape_kind kind, uint64_t seed, double noise,
                    struct landscape *ret);
double landscape_best(const struct landscape *l);
// The median of `count` launches; `attempt` selects the noise.
struct tune_sample landscape_measure(const struct landscape *l, uint32_t config, unsigned count,
                                     uint64_t attempt);

// Runs a search over it, with each result right after its request. Returns how many were measured.
struct landscape_run {
  uint32_t best, measured, analysed, failed;
  uint64_t trace; // hash of all requests, in order
  double spent_ms;
};
struct landscape_run landscape_search(struct arena *a, const struct landscape *l,
                                      const struct tune_search_options *o);

#endif
