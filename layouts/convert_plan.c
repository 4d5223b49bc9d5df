// SPDX-License-Identifier: Apache-2.0
// Chooses how to convert between layouts: for every basis of the destination, the nearest register
// of the source that holds the element: in the same thread, in the same warp, anywhere.
#include "layouts/convert_plan.h"

#include "layouts/gf2.h"
#include "layouts/shuffle_plan.h"

enum { OUT_REGISTER, OUT_LANE, OUT_WARP };

// What an exchange through shared memory costs beyond its loads and stores: addresses and two
// barriers, in instructions.
enum { SHARED_OVERHEAD = 40 };

// The source's bases as columns, in three spans that grow outwards.
struct reach {
  unsigned register_bits, lane_bits, warp_bits;
  struct gf2_span thread, warp, cta; // registers; with lanes; with warps
};

// l with exactly the inputs register, lane, warp; missing bits of the latter are replication.
static struct linear_layout with_inputs(const struct linear_layout *l, unsigned lane_bits,
                                        unsigned warp_bits) {
  static const enum ll_in inputs[] = {LL_REGISTER, LL_LANE, LL_WARP};
  static const unsigned dims[LL_MAX_OUT] = {0, 1, 2, 3, 4, 5, 6, 7};
  struct linear_layout r = ll_sublayout(l, COUNT_OF(inputs), inputs, l->out_count, dims);
  ll_add_in(&r, LL_REGISTER);
  r = ll_resize_in(&r, LL_LANE, lane_bits);
  return ll_resize_in(&r, LL_WARP, warp_bits);
}

static struct reach reach_of(const struct linear_layout *src, const struct gf2_columns *columns) {
  struct reach r = {.register_bits = ll_in_bits(src, LL_REGISTER),
                    .lane_bits = ll_in_bits(src, LL_LANE),
                    .warp_bits = ll_in_bits(src, LL_WARP)};
  unsigned i = 0;
  for (; i < r.register_bits; i++)
    gf2_add(&r.thread, columns->at[i], 1ull << i);
  r.warp = r.thread;
  for (; i < r.register_bits + r.lane_bits; i++)
    gf2_add(&r.warp, columns->at[i], 1ull << i);
  r.cta = r.warp;
  for (; i < columns->count; i++)
    gf2_add(&r.cta, columns->at[i], 1ull << i);
  return r;
}

// The source index (register lowest, then lane, warp) of the element `target`, for a reader whose
// own lane and warp bits, as an index with register 0, are `own_lane` and `own_warp`. The answers
// for all bases together are the linear map. False when the source has no such element.
static bool nearest(const struct reach *r, const struct gf2_columns *columns, uint64_t target,
                    uint64_t own_lane, uint64_t own_warp, uint64_t *ret, enum convert_kind *worst) {
  uint64_t at_warp = 0, at_thread = 0;
  for (unsigned i = 0; i < columns->count; i++) {
    at_warp ^= own_warp >> i & 1 ? columns->at[i] : 0;
    at_thread ^= (own_warp | own_lane) >> i & 1 ? columns->at[i] : 0;
  }
  uint64_t found = 0;
  if (gf2_reduce(&r->thread, target ^ at_thread, &found) == 0) {
    // In the same thread, except for a lane's basis in another register: lanes then differ in which
    // register they read, which is more than renaming.
    enum convert_kind kind =
        found != 0 && (own_lane | own_warp) != 0 ? CONVERT_SHUFFLES : CONVERT_REGISTERS;
    *ret = found | own_lane | own_warp;
    *worst = kind > *worst ? kind : *worst;
    return true;
  }
  found = 0;
  if (gf2_reduce(&r->warp, target ^ at_warp, &found) == 0) {
    *ret = found | own_warp;
    *worst = CONVERT_SHUFFLES > *worst ? CONVERT_SHUFFLES : *worst;
    return true;
  }
  found = 0;
  *worst = CONVERT_SHARED;
  if (gf2_reduce(&r->cta, target, &found) != 0)
    return false;
  *ret = found;
  return true;
}

static bool is_identity(const struct linear_layout *l) {
  if (l->in_bits[OUT_REGISTER] != l->out_bits[OUT_REGISTER])
    return false;
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++)
      for (unsigned d = 0; d < l->out_count; d++)
        if (l->basis[i][b][d] != (i == d ? 1u << b : 0))
          return false;
  return true;
}

// Through shared memory every register is stored and loaded; counted in 4-byte accesses, of which a
// vector instruction does two to four.
static unsigned shared_cost(const struct convert_plan *p, unsigned element_bits) {
  unsigned moved =
      (1u << p->source_of.out_bits[OUT_REGISTER]) + ll_in_size(&p->source_of, LL_REGISTER);
  unsigned words = (moved * element_bits + 31) / 32;
  return SHARED_OVERHEAD + words;
}

static unsigned shuffles_cost(const struct shuffle_plan *s, unsigned element_bits) {
  unsigned words = element_bits > 32 ? 2 : 1;
  // A shuffle takes the same path as an access to shared memory, at about twice its cost.
  return words * (2 * shuffle_plan_shuffles(s) + shuffle_plan_selects(s));
}

bool convert_plan_make(const struct linear_layout *src, const struct linear_layout *dst,
                       struct convert_plan *ret) {
  if (src->out_count != dst->out_count ||
      memcmp(src->out_bits, dst->out_bits, src->out_count * sizeof src->out_bits[0]) != 0)
    return false;
  unsigned lanes = ll_in_bits(src, LL_LANE), warps = ll_in_bits(src, LL_WARP);
  lanes = ll_in_bits(dst, LL_LANE) > lanes ? ll_in_bits(dst, LL_LANE) : lanes;
  warps = ll_in_bits(dst, LL_WARP) > warps ? ll_in_bits(dst, LL_WARP) : warps;
  struct linear_layout from = with_inputs(src, lanes, warps), to = with_inputs(dst, lanes, warps);
  struct gf2_columns source, target;
  // Elements of other CTAs cannot be read.
  if (ll_in_bits(src, LL_BLOCK) != 0 || ll_in_bits(dst, LL_BLOCK) != 0 ||
      !gf2_columns_of(&from, &source) || !gf2_columns_of(&to, &target))
    return false;
  struct reach reach = reach_of(&from, &source);
  struct linear_layout map = ll_empty(3, from.in_bits);
  enum convert_kind kind = CONVERT_REGISTERS;
  unsigned column = 0;
  for (unsigned i = 0; i < to.in_count; i++) {
    ll_add_in(&map, to.in[i]);
    for (unsigned b = 0; b < to.in_bits[i]; b++, column++) {
      uint64_t own_lane = to.in[i] == LL_LANE ? 1ull << (reach.register_bits + b) : 0;
      uint64_t own_warp = to.in[i] == LL_WARP ? 1ull << (reach.register_bits + lanes + b) : 0;
      uint64_t at;
      if (!nearest(&reach, &source, target.at[column], own_lane, own_warp, &at, &kind))
        return false;
      uint32_t image[LL_MAX_OUT] = {0};
      image[OUT_REGISTER] = (uint32_t)(at & ((1ull << reach.register_bits) - 1));
      image[OUT_LANE] = (uint32_t)(at >> reach.register_bits & ((1ull << lanes) - 1));
      image[OUT_WARP] = (uint32_t)(at >> (reach.register_bits + lanes));
      ll_push_basis(&map, to.in[i], image);
    }
  }
  ret->source_of = map;
  ret->kind = kind == CONVERT_REGISTERS && is_identity(&map) ? CONVERT_NOTHING : kind;
  struct shuffle_plan schedule;
  if (kind == CONVERT_SHUFFLES &&
      (!shuffle_plan_make(ret, &schedule) || shuffles_cost(&schedule, 32) > shared_cost(ret, 32)))
    ret->kind = CONVERT_SHARED;
  return true;
}

unsigned convert_plan_cost(const struct convert_plan *p, unsigned element_bits) {
  struct shuffle_plan schedule;
  switch (p->kind) {
  case CONVERT_NOTHING:
  case CONVERT_REGISTERS: return 0; // renaming
  case CONVERT_SHUFFLES:
    if (shuffle_plan_make(p, &schedule))
      return shuffles_cost(&schedule, element_bits);
    break;
  case CONVERT_SHARED: break;
  }
  return shared_cost(p, element_bits);
}
