// SPDX-License-Identifier: Apache-2.0
// See plan_layouts.h.
#include "layouts/plan_layouts.h"

#include "layouts/gf2.h"

enum { AREA_ALIGNMENT = 16 };

struct linear_layout plan_threads(const struct linear_layout *l) {
  static const enum ll_in inputs[] = {LL_REGISTER, LL_LANE, LL_WARP};
  static const unsigned dims[LL_MAX_OUT] = {0, 1, 2, 3, 4, 5, 6, 7};
  struct linear_layout r = ll_sublayout(l, COUNT_OF(inputs), inputs, l->out_count, dims);
  ll_add_in(&r, LL_REGISTER);
  ll_add_in(&r, LL_LANE);
  ll_add_in(&r, LL_WARP);
  if (ll_in_bits(&r, LL_LANE) < PLAN_LANE_BITS)
    r = ll_resize_in(&r, LL_LANE, PLAN_LANE_BITS);
  return r;
}

struct linear_layout plan_distinct_registers(const struct linear_layout *l, unsigned *ret_bits) {
  struct linear_layout r = *l;
  struct gf2_span span = {0};
  int at = ll_find_in(l, LL_REGISTER);
  r.in_bits[at] = 0;
  for (unsigned b = 0; b < l->in_bits[at]; b++)
    if (gf2_add(&span, gf2_flatten(l, l->basis[at][b]), 0)) {
      ret_bits[r.in_bits[at]] = b;
      memcpy(r.basis[at][r.in_bits[at]++], l->basis[at][b], sizeof r.basis[at][b]);
    }
  return r;
}

uint32_t plan_areas(unsigned count, const unsigned *bits, unsigned element_bits,
                    uint32_t *ret_offset) {
  uint32_t bytes = 0;
  for (unsigned i = 0; i < count; i++) {
    uint32_t own = (bits[i] / 8) << element_bits;
    ret_offset[i] = bytes;
    bytes += (own + AREA_ALIGNMENT - 1) / AREA_ALIGNMENT * AREA_ALIGNMENT;
  }
  return bytes;
}
