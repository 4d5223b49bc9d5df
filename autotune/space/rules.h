// SPDX-License-Identifier: Apache-2.0
// The contents of a derived space: values of a dimension by the use of its extent, and the
// combinations worth trying on any target. Limits of a target are left to the cost model.
#ifndef TILE_AUTOTUNE_SPACE_RULES_H
#define TILE_AUTOTUNE_SPACE_RULES_H

#include "autotune/space/space_build.h"

#define SPACE_DETAILS 3 // levels of fineness, from 0 on

struct space_rules {
  const struct lang_extents *x;
  // By parameter of `x`:
  const uint64_t *lengths; // length that it is a block of; 0: unknown
  const int64_t *given;    // values that are not tuned; 0: unknown
  const int *dims;         // its dimension, or -1
  // The space:
  const struct tune_space *s;
  int64_t *numbers[TUNE_MAX_DIMS]; // its values
  int warps, stages;               // dimensions, or -1
  bool one_by_one;                 // accumulators need not match each other
};

// Values for parameter `i`, ascending; at most `cap`. `is_alone`: no other tuned extent occurs in
// its tiles. Returns their number; 0: it is not tuned.
size_t space_values(const struct lang_extents *x, size_t i, uint64_t length, bool is_alone,
                    unsigned detail, int64_t *ret, size_t cap);
// num_warps and num_stages.
size_t space_warps(const struct lang_extents *x, int64_t *ret);
size_t space_stages(const struct lang_extents *x, unsigned detail, int64_t *ret);
// Filter for space_product.
bool space_is_sensible(void *rules, const struct tune_config *config);

#endif
