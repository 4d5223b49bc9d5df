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

// Ascending, disjoint and not adjacent.
struct intervals {
  VEC(struct shared_interval) at;
};

bool intervals_overlap(const struct intervals *s, struct shared_interval i);
bool intervals_any_overlap(const struct intervals *s, const struct intervals *t);
bool intervals_same(const struct intervals *s, const struct intervals *t);
void intervals_add(struct arena *a, struct intervals *s, struct shared_interval i);
void intervals_add_all(struct arena *a, struct intervals *s, const struct intervals *of);
void intervals_remove_all(struct arena *a, struct intervals *s, const struct intervals *of);
// Whether all bytes of `t` are in `s`.
bool intervals_cover(const struct intervals *s, const struct intervals *t);

// `count` slots of `bytes`, `step` apart (step >= bytes), the first at `offset`.
struct ring_slots {
  uint32_t offset, bytes, step, count;
};

// Moves the bytes of slot k to slot k - 1, and those of slot 0 to the last one.
void intervals_advance(struct arena *a, struct intervals *s, const struct ring_slots *p);
// Copies the bytes of each slot to all slots.
void intervals_widen(struct arena *a, struct intervals *s, const struct ring_slots *p);

#endif
