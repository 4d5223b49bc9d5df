// SPDX-License-Identifier: Apache-2.0
// Sets of bytes of shared memory, as intervals.
#ifndef TILE_LOWERING_ANALYSIS_INTERVALS_H
#define TILE_LOWERING_ANALYSIS_INTERVALS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct shared_interval {
  uint32_t begin, end; // bytes; end excluded
};

// Ascending, apart from each other.
struct intervals {
  VEC(struct shared_interval) at;
};

bool intervals_meet(const struct intervals *s, struct shared_interval i);
bool intervals_all_meet(const struct intervals *s, const struct intervals *t);
bool intervals_same(const struct intervals *s, const struct intervals *t);
void intervals_add(struct arena *a, struct intervals *s, struct shared_interval i);
void intervals_add_all(struct arena *a, struct intervals *s, const struct intervals *of);

// `count` places of `bytes`, `step` apart, the first at `offset`.
struct places {
  uint32_t offset, bytes, step, count;
};

// What lies in place k moves to place k - 1, and that of place 0 to the last one.
void intervals_rotate(struct arena *a, struct intervals *s, const struct places *p);
// What lies in one place may lie in any.
void intervals_smear(struct arena *a, struct intervals *s, const struct places *p);

#endif
