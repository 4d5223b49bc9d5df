// SPDX-License-Identifier: Apache-2.0
// Counting bank conflicts. A warp's other instructions differ from the first by one xor of all
// offsets, which permutes banks and adds no conflict, so one instruction is enough to look at.
#include "layouts/banks.h"

#include <assert.h>

enum { WARP_LANES = 32, MAX_BYTES = 16 };

// One group of lanes served together: the bank with the most distinct words decides.
static unsigned group_wavefronts(const uint32_t *address, unsigned lanes, unsigned bytes) {
  uint32_t words[WARP_LANES * MAX_BYTES / BANK_BYTES];
  unsigned in_bank[BANK_COUNT] = {0}, count = 0, most = 0;
  unsigned per_lane = bytes > BANK_BYTES ? bytes / BANK_BYTES : 1;
  for (unsigned i = 0; i < lanes * per_lane; i++) {
    uint32_t word = address[i / per_lane] / BANK_BYTES + i % per_lane;
    bool seen = false;
    for (unsigned k = 0; k < count && !seen; k++)
      seen = words[k] == word;
    if (seen)
      continue;
    words[count++] = word;
    unsigned n = ++in_bank[word % BANK_COUNT];
    most = n > most ? n : most;
  }
  return most;
}

unsigned bank_wavefronts(const uint32_t *address, unsigned lanes, unsigned bytes) {
  assert(is_pow2(bytes) && bytes <= 16);
  unsigned group = bytes > BANK_BYTES ? WARP_LANES * BANK_BYTES / bytes : WARP_LANES, sum = 0;
  for (unsigned at = 0; at < lanes; at += group)
    sum += group_wavefronts(address + at, lanes - at < group ? lanes - at : group, bytes);
  return sum;
}

// Offset of register 0's instruction for every lane, as bases: reg bit -> offset, lane bit ->
// offset.
static bool offsets_of(const struct linear_layout *shared, const struct linear_layout *access,
                       struct linear_layout *ret) {
  if (shared->in_count != 1 || shared->in[0] != LL_OFFSET)
    return false;
  return ll_invert_and_compose(access, shared, ret);
}

static bool vector_fits(const struct linear_layout *offsets, unsigned element_bits, unsigned vec) {
  return is_pow2(vec) && vec <= ll_in_size(offsets, LL_REGISTER) &&
         (vec == 1 || vec * element_bits <= MAX_BYTES * 8) &&
         ll_consecutive(offsets, LL_REGISTER, 0) >= vec;
}

bool bank_report_of(const struct linear_layout *shared, const struct linear_layout *access,
                    unsigned element_bits, unsigned vec, struct bank_report *ret) {
  struct linear_layout offsets;
  if (element_bits < 8 || !is_pow2(element_bits) || element_bits > MAX_BYTES * 8 ||
      !offsets_of(shared, access, &offsets) || !vector_fits(&offsets, element_bits, vec))
    return false;
  uint32_t address[WARP_LANES];
  unsigned lanes = ll_in_size(&offsets, LL_LANE), bytes = vec * element_bits / 8;
  lanes = lanes < WARP_LANES ? lanes : WARP_LANES;
  for (unsigned lane = 0; lane < lanes; lane++) {
    uint32_t index[LL_NO_IN] = {[LL_LANE] = lane}, at[LL_MAX_OUT];
    ll_apply(&offsets, index, at);
    address[lane] = at[0] * (element_bits / 8);
  }
  // Ideal: as many wavefronts as the distinct words fill, of which replicated lanes need fewer, but
  // at least one per group of lanes.
  const enum ll_in lane_only[] = {LL_LANE};
  const unsigned dim0[] = {0};
  struct linear_layout by_lane = ll_sublayout(&offsets, 1, lane_only, 1, dim0);
  uint32_t free_masks[LL_NO_IN];
  ll_free_masks(&by_lane, free_masks);
  unsigned distinct = lanes >> __builtin_popcount(free_masks[LL_LANE] & (lanes - 1));
  unsigned ideal = (distinct * bytes + BANK_COUNT * BANK_BYTES - 1) / (BANK_COUNT * BANK_BYTES);
  unsigned groups = bytes > BANK_BYTES ? (lanes * bytes + 127) / 128 : 1;
  ideal = ideal > groups ? ideal : groups;
  ret->instructions = ll_in_size(&offsets, LL_REGISTER) / vec;
  ret->wavefronts = ret->instructions * bank_wavefronts(address, lanes, bytes);
  ret->ideal = ret->instructions * ideal;
  return true;
}

unsigned bank_vector_width(const struct linear_layout *shared, const struct linear_layout *access,
                           unsigned element_bits) {
  struct linear_layout offsets;
  if (!offsets_of(shared, access, &offsets))
    return 1;
  unsigned vec = 1;
  while (vector_fits(&offsets, element_bits, vec * 2))
    vec *= 2;
  return vec;
}
