// SPDX-License-Identifier: Apache-2.0
// Rings share what the tiles that are converted and stored leave of shared memory.
#include "lowering/plan/ring_slots.h"

enum {
  OTHER_BYTES = 34 << 10, // what is usually not in rings
  BARRIER_BYTES = 2 << 10
};

unsigned ring_slots_that_fit(const struct target *target, uint64_t bytes, uint32_t stores) {
  uint64_t others = (uint64_t)stores + BARRIER_BYTES;
  others = others > OTHER_BYTES ? others : OTHER_BYTES;
  if (target->shared_limit <= others || bytes == 0)
    return 0;
  return (unsigned)((target->shared_limit - others) / bytes);
}
