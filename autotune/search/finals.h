// SPDX-License-Identifier: Apache-2.0
// The last contest of a search. Clocks of a GPU drift by more than what divides the best, so the
// finalists take turns in short slices, there and back, and are compared by the medians of their
// ratios to the round's mean: what is slow for all of a round counts for none. No clock, no device.
#ifndef TILE_AUTOTUNE_SEARCH_FINALS_H
#define TILE_AUTOTUNE_SEARCH_FINALS_H

#include "autotune/worker/worker.h"

#define FINALS_MOST 16
#define FINALS_TURNS 16

struct finalist {
  uint32_t config;
  double before; // ms in one stretch: what all of these say together is the scale of the results
  // The default configuration, far behind, is only compared: it sets neither scale nor mean.
  // `is_in`: goes on; `has_failed`: its times say nothing.
  bool is_default_only, is_in, has_failed;
  unsigned slices;
  struct tune_sample slice[2 * FINALS_TURNS];
  struct tune_sample sample; // the result; `rounds` is 0 where there is none
};

struct finals {
  struct finalist at[FINALS_MOST];
  size_t count;
  unsigned rounds; // that are over
};

void finals_enter(struct finals *f, uint32_t config, double before, bool is_default_only);
struct finalist *finals_find(struct finals *f, uint32_t config); // NULL: does not take part
void finals_add(struct finalist *n, const struct tune_sample *slice);
// Finalists that go on, without a default that is only compared.
size_t finals_left(const struct finals *f);
// All slices of a round are in: the results of those that took part.
void finals_end_round(struct finals *f);
// The best few go on: within that share of the best.
void finals_narrow(struct finals *f, double within, size_t most);

#endif
