// SPDX-License-Identifier: Apache-2.0
// Lanes and warps must be laid out alike in both; the rest is a linear map of registers.
#include "lowering/analysis/part_view.h"

static bool is_image(const struct linear_layout *l, int in, unsigned bit, const uint32_t *coords) {
  return memcmp(l->basis[in][bit], coords, l->out_count * sizeof *coords) == 0;
}

static bool same_threads(const struct linear_layout *a, const struct linear_layout *b,
                         enum ll_in in) {
  unsigned bits = ll_in_bits(a, in);
  int i = ll_find_in(a, in), k = ll_find_in(b, in);
  if (bits != ll_in_bits(b, in))
    return false;
  for (unsigned n = 0; n < bits; n++)
    if (!is_image(a, i, n, b->basis[k][n]))
      return false;
  return true;
}

// The register bit that moves by `coords`.
static bool find_bit(const struct linear_layout *l, const uint32_t *coords, uint32_t *ret) {
  static const uint32_t nowhere[LL_MAX_OUT];
  int in = ll_find_in(l, LL_REGISTER);
  *ret = 0;
  if (memcmp(coords, nowhere, l->out_count * sizeof *coords) == 0)
    return true; // replication
  for (unsigned b = 0; b < ll_in_bits(l, LL_REGISTER); b++)
    if (is_image(l, in, b, coords)) {
      *ret = 1u << b;
      return true;
    }
  return false;
}

static bool find_first(const struct linear_layout *whole, const int32_t *at, uint32_t *ret) {
  *ret = 0;
  for (unsigned d = 0; d < whole->out_count; d++)
    for (uint32_t left = (uint32_t)at[d], bit; left; left &= left - 1) {
      uint32_t coords[LL_MAX_OUT] = {[0] = 0};
      coords[d] = left & -left;
      if (!find_bit(whole, coords, &bit))
        return false;
      *ret ^= bit;
    }
  return true;
}

bool part_view_make(const struct linear_layout *whole, const struct linear_layout *part,
                    const int32_t *at, struct part_view *ret) {
  *ret = (struct part_view){0};
  bool ok = whole->out_count == part->out_count && same_threads(whole, part, LL_LANE) &&
            same_threads(whole, part, LL_WARP) && find_first(whole, at, &ret->first);
  for (unsigned b = 0; ok && b < ll_in_bits(part, LL_REGISTER); b++)
    ok = find_bit(whole, part->basis[ll_find_in(part, LL_REGISTER)][b], &ret->bits[b]);
  return ok;
}

uint32_t part_view_register(const struct part_view *v, uint32_t r) {
  uint32_t at = v->first;
  for (unsigned b = 0; r >> b; b++)
    at ^= r >> b & 1 ? v->bits[b] : 0;
  return at;
}
