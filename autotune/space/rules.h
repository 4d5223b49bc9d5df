// SPDX-License-Identifier: Apache-2.0
// What a derived space is made of: values of a dimension by what it is the extent of, and which of
// their combinations are worth a look on any target. What a target cannot hold is the cost model's.
#ifndef TILE_AUTOTUNE_SPACE_RULES_H
#define TILE_AUTOTUNE_SPACE_RULES_H

#include "autotune/space/space_build.h"

#define SPACE_DETAILS 3 // of fineness, from 0 on

struct space_rules {
  const struct lang_extents *x;
  // By parameter of `x`:
  const uint64_t *lengths; // of what it is a block of; 0: unknown
  const int64_t *given;    // values that are not chosen; 0: unknown
  const int *dims;         // its dimension, or -1
  // The space:
  const struct tune_space *s;
  int64_t *numbers[TUNE_MAX_DIMS]; // its values
  int warps, stages;               // dimensions, or -1
  bool one_by_one;                 // sums of products need not fit together
};

// Values for parameter `i`, ascending; at most `cap`. `is_alone`: no other extent that is chosen is
// in its tiles. Returns how many; 0: leave it alone.
size_t space_values(const struct lang_extents *x, size_t i, uint64_t length, bool is_alone,
                    unsigned detail, int64_t *ret, size_t cap);
// num_warps and num_stages.
size_t space_warps(const struct lang_extents *x, int64_t *ret);
size_t space_stages(const struct lang_extents *x, unsigned detail, int64_t *ret);
// For space_product.
bool space_is_sensible(void *rules, const struct tune_config *config);

#endif
