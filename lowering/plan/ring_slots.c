// SPDX-License-Identifier: Apache-2.0
// Rings share what the tiles that are converted and stored leave of shared memory.
#include "lowering/plan/ring_slots.h"

enum { OTHER_BYTES = 34 << 10 }; // of shared memory, for what is not in rings

unsigned ring_slots_that_fit(const struct target *target, uint64_t bytes) {
  if (target->shared_limit <= OTHER_BYTES || bytes == 0)
    return 0;
  return (unsigned)((target->shared_limit - OTHER_BYTES) / bytes);
}
