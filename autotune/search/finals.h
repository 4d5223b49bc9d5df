// SPDX-License-Identifier: Apache-2.0
// The finals of a search. GPU clocks drift by more than the difference between the best candidates,
// so the finalists are measured alternately in short slices, forwards and backwards, and compared
// by the medians of their ratios to the round's mean: what slows a whole round down cancels. No
// clock, no device.
#ifndef TILE_AUTOTUNE_SEARCH_FINALS_H
#define TILE_AUTOTUNE_SEARCH_FINALS_H

#include "autotune/worker/worker.h"

#define FINALS_MOST 16
#define FINALS_TURNS 16

struct finalist {
  uint32_t config;
  double before; // ms in one long measurement; the average over finalists scales the results
  // A default that is far behind is only compared: it affects neither scale nor mean. `is_in`:
  // continues; `has_failed`: its times are invalid.
  bool is_default_only, is_in, has_failed;
  unsigned slices;
  struct tune_sample slice[2 * FINALS_TURNS];
  struct tune_sample sample; // the result; `rounds` is 0 if there is none
};

struct finals {
  struct finalist at[FINALS_MOST];
  size_t count;
  unsigned rounds; // completed
};

void finals_enter(struct finals *f, uint32_t config, double before, bool is_default_only);
struct finalist *finals_find(struct finals *f, uint32_t config); // NULL: no finalist
void finals_add(struct finalist *n, const struct tune_sample *slice);
// Finalists that continue, without a default that is only compared.
size_t finals_left(const struct finals *f);
// All slices of a round are measured: computes the results so far.
void finals_end_round(struct finals *f);
// Keeps the best `most` finalists within that share of the best.
void finals_narrow(struct finals *f, double within, size_t most);

#endif
