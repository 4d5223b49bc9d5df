// SPDX-License-Identifier: Apache-2.0
// How many slots the rings of a kernel with a producer have (specialize-warps).
#ifndef TILE_LOWERING_PLAN_RING_SLOTS_H
#define TILE_LOWERING_PLAN_RING_SLOTS_H

#include "lowering/target.h"

enum { LEAST_RING_SLOTS = 2 }; // so that a product can stay in flight

// The most slots of every ring, where one slot of each takes `bytes` of shared memory together.
// Unlike the buffers of copies by all warps, rings are in use while tiles are converted and stored:
// some memory is left for these, at least `stores` bytes. Less than LEAST_RING_SLOTS: there is no
// room for rings.
unsigned ring_slots_that_fit(const struct target *target, uint64_t bytes, uint32_t stores);

#endif
