// SPDX-License-Identifier: Apache-2.0
// The swizzle of a tile that one layout stores and another reads: of those that keep 16 bytes
// together, for copies of that width, the one with the fewest wavefronts on both sides.
#include "layouts/encoding_internal.h"
#include "layouts/exchange_plan.h"

enum { COPY_BITS = 128, LINE_BITS = 1024 };

struct swizzling {
  const struct linear_layout *store, *load;
  const int64_t *shape;
  unsigned element_bits, instructions;
};

// Wavefronts first, then instructions. UINT64_MAX where the layouts do not fit.
static uint64_t cost_of(const struct swizzling *s, const struct encoding *e) {
  struct linear_layout offsets;
  struct exchange_plan plan;
  const char *why;
  if (!encoding_to_linear(e, e->rank, s->shape, &offsets, &why) ||
      !exchange_plan_with(s->store, s->load, &offsets, s->element_bits, s->instructions, &plan))
    return UINT64_MAX;
  uint64_t wavefronts = exchange_wavefronts(&plan.store, s->element_bits, 0) +
                        exchange_wavefronts(&plan.load, s->element_bits, 0);
  return wavefronts << 32 |
         (exchange_instructions(&plan.store) + exchange_instructions(&plan.load));
}

struct encoding encoding_shared_between(const struct linear_layout *store,
                                        const struct linear_layout *load, const int64_t *shape,
                                        const uint32_t *order, unsigned element_bits,
                                        unsigned instructions) {
  struct swizzling s = {store, load, shape, element_bits, instructions};
  struct encoding best = {.kind = ENC_SHARED, .rank = load->out_count};
  best.shared.vec = best.shared.per_phase = best.shared.max_phase = 1;
  memcpy(best.shared.order, order, best.rank * sizeof *order);
  if (best.rank < 2)
    return best;
  uint64_t least = cost_of(&s, &best);
  uint32_t inner = (uint32_t)shape[order[0]], rows = (uint32_t)shape[order[1]];
  for (uint32_t vec = COPY_BITS / element_bits; vec < inner && vec * element_bits < LINE_BITS;
       vec *= 2)
    for (uint32_t phases = 2; vec * phases <= inner && phases <= rows; phases *= 2)
      for (uint32_t per_phase = 1; per_phase * phases <= rows && per_phase <= 8; per_phase *= 2) {
        struct encoding e = best;
        e.shared.vec = vec;
        e.shared.per_phase = per_phase;
        e.shared.max_phase = phases;
        uint64_t cost = cost_of(&s, &e);
        if (cost >= least)
          continue;
        least = cost;
        best = e;
      }
  return best;
}
