// SPDX-License-Identifier: Apache-2.0
// Plans of reductions. The columns of the layout are eliminated with the coordinates along the axis
// in the lowest bits: a vector of the span whose highest bit is there lies in A, and its tag lists
// the registers, lanes and warps that sum to it. Registers are added first and warps last, so that
// tags prefer them in this order.
#include "layouts/reduce_plan.h"

#include "layouts/convert_plan.h"
#include "layouts/gf2.h"
#include "layouts/plan_layouts.h"

// Partial results along the axis that one thread loads; other lanes load the rest.
enum { SPREAD_REGISTER_BITS = 3, SHUFFLE_COST = 2, WARP_COST = 8 };

// A vector of slots.
struct slot {
  uint32_t reg, lane, warp;
};

// ---- the layout of partial results ----

static void remove_register(struct linear_layout *l, unsigned bit) {
  int at = ll_find_in(l, LL_REGISTER);
  unsigned left = --l->in_bits[at];
  for (unsigned b = bit; b < left; b++)
    memcpy(l->basis[at][b], l->basis[at][b + 1], sizeof l->basis[at][b]);
}

// Elements that differ by `a` along the axis become one.
static void divide_axis(struct linear_layout *l, unsigned axis, uint32_t a) {
  unsigned pivot = log2_floor(a);
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++) {
      uint32_t x = l->basis[i][b][axis], low = (1u << pivot) - 1;
      x ^= x >> pivot & 1 ? a : 0;
      l->basis[i][b][axis] = (x >> (pivot + 1)) << pivot | (x & low);
    }
  l->out_bits[axis]--;
}

// ---- steps ----

static uint64_t axis_lowest(const struct linear_layout *l, unsigned axis, const uint32_t *coords) {
  uint64_t flat = 0;
  for (unsigned d = 0; d < l->out_count; d++)
    if (d != axis)
      flat = flat << l->out_bits[d] | coords[d];
  return flat << l->out_bits[axis] | coords[axis];
}

static struct slot slot_of_tag(const struct linear_layout *l, uint64_t tag) {
  unsigned registers = ll_in_bits(l, LL_REGISTER), lanes = ll_in_bits(l, LL_LANE);
  return (struct slot){.reg = (uint32_t)(tag & ((1ull << registers) - 1)),
                       .lane = (uint32_t)(tag >> registers & ((1ull << lanes) - 1)),
                       .warp = (uint32_t)(tag >> (registers + lanes))};
}

// The next vector along the axis and the slots that sum to it: the unit vector when ordered, else
// the nearest.
static bool next_vector(const struct linear_layout *l, unsigned axis, bool ordered,
                        uint32_t *ret_vector, struct slot *ret) {
  struct gf2_span span = {0};
  uint64_t column = 1, tag = 0;
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++, column <<= 1) {
      uint64_t v = axis_lowest(l, axis, l->basis[i][b]);
      uint64_t rest = gf2_reduce(&span, v, NULL);
      gf2_add(&span, v, column);
      if (ordered || rest == 0 || log2_floor(rest) >= l->out_bits[axis])
        continue;
      *ret_vector = (uint32_t)rest;
      *ret = slot_of_tag(l, span.tag[log2_floor(rest)]);
      return true;
    }
  if (!ordered || gf2_reduce(&span, 1, &tag) != 0)
    return false;
  *ret_vector = 1;
  *ret = slot_of_tag(l, tag);
  return true;
}

// Bit 0 of the own coordinate along the axis, as masks of the register and the thread.
static void order_masks(const struct linear_layout *l, unsigned axis, struct reduce_step *s) {
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++) {
      uint32_t bit = l->basis[i][b][axis] & 1;
      if (l->in[i] == LL_REGISTER)
        s->order_register |= bit << b;
      else
        s->order_thread |= bit << (b + (l->in[i] == LL_WARP ? PLAN_LANE_BITS : 0));
    }
}

static uint32_t without_bit(uint32_t mask, unsigned bit) {
  uint32_t low = (1u << bit) - 1;
  return (mask >> 1 & ~low) | (mask & low);
}

// The highest register bit in common with the partner; -1 if none.
static int scatter_bit(const struct linear_layout *l, uint32_t reg) {
  for (int b = (int)ll_in_bits(l, LL_REGISTER) - 1; b >= 0; b--)
    if (!(reg >> b & 1))
      return b;
  return -1;
}

// Registers move to lanes: the lane's basis takes the register's.
static void scatter(struct linear_layout *l, struct reduce_step *s) {
  int reg = ll_find_in(l, LL_REGISTER), lane = ll_find_in(l, LL_LANE);
  for (unsigned d = 0; d < l->out_count; d++)
    l->basis[lane][s->keep_lane][d] ^= l->basis[reg][s->drop][d];
  s->order_thread ^= (s->order_register >> s->drop & 1) << s->keep_lane;
  s->order_register = without_bit(s->order_register, s->drop);
  s->reg = without_bit(s->reg, s->drop);
  remove_register(l, s->drop);
}

static bool takes_whole_warp(const struct reduce_phase *p) {
  struct gf2_span lanes = {0};
  for (unsigned i = 0; i < p->count; i++)
    if (p->step[i].kind == REDUCE_SCATTER || (p->step[i].kind == REDUCE_LANES && p->step[i].reg))
      return false;
    else if (p->step[i].kind == REDUCE_LANES)
      gf2_add(&lanes, p->step[i].lane, 0);
  return lanes.rank == PLAN_LANE_BITS;
}

// All steps that need no other warp; the first `scatters` of the lanes scatter registers.
static bool plan_phase(const struct linear_layout *from, unsigned axis, bool ordered,
                       unsigned scatters, struct reduce_phase *ret) {
  struct linear_layout l = *from;
  *ret = (struct reduce_phase){.register_bits = ll_in_bits(from, LL_REGISTER)};
  while (l.out_bits[axis] > 0) {
    struct slot at;
    uint32_t vector;
    if (!next_vector(&l, axis, ordered, &vector, &at))
      return false;
    if (at.warp)
      break;
    struct reduce_step *s = &ret->step[ret->count++];
    *s = (struct reduce_step){.reg = at.reg, .lane = at.lane};
    if (ordered)
      order_masks(&l, axis, s);
    divide_axis(&l, axis, vector);
    int moved = scatters ? scatter_bit(&l, at.reg) : -1;
    if (at.lane == 0) {
      s->kind = REDUCE_REGISTERS;
      s->drop = log2_floor(at.reg);
      remove_register(&l, s->drop);
    } else if (moved >= 0) {
      s->kind = REDUCE_SCATTER;
      s->drop = (unsigned)moved;
      s->keep_lane = (unsigned)__builtin_ctz(at.lane);
      scatters--;
      scatter(&l, s);
    } else {
      s->kind = REDUCE_LANES;
    }
  }
  ret->partial = l;
  ret->whole_warp = takes_whole_warp(ret);
  return true;
}

// ---- the exchange between warps ----

// What every thread of `dst` loads: all partial results of each of its elements, the first ones in
// registers, the others in lanes that would otherwise replicate.
static struct linear_layout spread_of(const struct linear_layout *dst, unsigned axis,
                                      unsigned axis_bits) {
  unsigned unused[LL_MAX_BITS], taken = 0, lane_bits = ll_in_bits(dst, LL_LANE);
  struct linear_layout own = plan_distinct_registers(dst, unused);
  struct linear_layout wide = ll_insert_out(&own, axis), r = ll_empty(wide.out_count, NULL);
  memcpy(r.out_bits, wide.out_bits, sizeof r.out_bits);
  r.out_bits[axis] = axis_bits;
  int reg = ll_find_in(&wide, LL_REGISTER), lane = ll_find_in(&wide, LL_LANE);
  unsigned spare = 0; // lanes that replicate
  for (unsigned b = 0; b < lane_bits; b++) {
    uint32_t any = 0;
    for (unsigned d = 0; d < wide.out_count; d++)
      any |= wide.basis[lane][b][d];
    spare |= (any == 0 ? 1u : 0u) << b;
  }
  unsigned to_lanes = axis_bits > SPREAD_REGISTER_BITS ? axis_bits - SPREAD_REGISTER_BITS : 0;
  unsigned room = (unsigned)__builtin_popcount(spare);
  unsigned in_registers = axis_bits - (to_lanes < room ? to_lanes : room);
  uint32_t image[LL_MAX_OUT] = {0};
  ll_add_in(&r, LL_REGISTER);
  for (; taken < in_registers; taken++) {
    image[axis] = 1u << taken;
    ll_push_basis(&r, LL_REGISTER, image);
  }
  for (unsigned b = 0; b < wide.in_bits[reg]; b++)
    ll_push_basis(&r, LL_REGISTER, wide.basis[reg][b]);
  for (unsigned b = 0; b < lane_bits; b++) {
    memcpy(image, wide.basis[lane][b], sizeof image);
    if (spare >> b & 1 && taken < axis_bits)
      image[axis] = 1u << taken++;
    ll_push_basis(&r, LL_LANE, image);
  }
  ll_add_in(&r, LL_WARP);
  int warp = ll_find_in(&wide, LL_WARP);
  for (unsigned b = 0; b < wide.in_bits[warp]; b++)
    ll_push_basis(&r, LL_WARP, wide.basis[warp][b]);
  return r;
}

// ---- choosing ----

static unsigned words_of(const struct reduce_request *q, unsigned registers) {
  unsigned words = 0;
  for (unsigned i = 0; i < q->count; i++)
    words += (registers * q->bits[i] + 31) / 32;
  return words;
}

static unsigned phase_cost(const struct reduce_phase *p, const struct reduce_request *q) {
  unsigned registers = 1u << p->register_bits, cost = 0, combines = q->combines ? q->combines : 1;
  bool by_warp = q->by_warp && p->whole_warp;
  if (by_warp)
    cost += words_of(q, ll_in_size(&p->partial, LL_REGISTER)) * WARP_COST;
  for (unsigned i = 0; i < p->count; i++) {
    const struct reduce_step *s = &p->step[i];
    if (s->kind != REDUCE_LANES)
      registers /= 2;
    if (by_warp && s->kind == REDUCE_LANES)
      continue;
    if (s->kind != REDUCE_REGISTERS)
      cost += SHUFFLE_COST * words_of(q, registers);
    if (s->kind == REDUCE_SCATTER)
      cost += 2 * registers * q->count;
    if (s->order_thread)
      cost += 2 * registers * q->count;
    cost += registers * combines;
  }
  return cost;
}

// Completes a plan that has its local phase; returns its cost in instructions per thread.
static bool complete(const struct linear_layout *dst, const struct reduce_request *q,
                     struct reduce_plan *p, unsigned *ret_cost) {
  unsigned axis = p->axis, left = p->local.partial.out_bits[axis];
  const struct linear_layout *end = &p->local.partial;
  *ret_cost = phase_cost(&p->local, q);
  p->exchanges = left > 0;
  p->scratch_bytes = 0;
  if (p->exchanges) {
    p->spread = spread_of(dst, axis, left);
    p->scratch_bytes = plan_areas(q->count, q->bits, ll_total_out_bits(&p->spread), p->offset);
    if (!plan_phase(&p->spread, axis, q->ordered, 0, &p->last) ||
        p->last.partial.out_bits[axis] != 0)
      return false;
    *ret_cost += phase_cost(&p->last, q) + words_of(q, ll_in_size(end, LL_REGISTER)) +
                 words_of(q, ll_in_size(&p->spread, LL_REGISTER));
    end = &p->last.partial;
  }
  p->result = ll_remove_out(end, axis);
  struct convert_plan convert;
  if (!convert_plan_make(&p->result, dst, &convert))
    return false;
  for (unsigned i = 0; i < q->count; i++)
    *ret_cost += convert_plan_cost(&convert, q->bits[i]);
  return true;
}

bool reduce_plan_make(const struct linear_layout *src, unsigned axis,
                      const struct linear_layout *dst, const struct reduce_request *request,
                      struct reduce_plan *ret) {
  struct linear_layout from = plan_threads(src), nothing = ll_empty(0, NULL);
  if (axis >= src->out_count || ll_in_bits(src, LL_BLOCK) != 0 || ll_total_in_bits(&from) > 63 ||
      !ll_is_surjective(&from))
    return false;
  struct linear_layout to = plan_threads(dst ? dst : &nothing);
  unsigned warps = ll_in_bits(&from, LL_WARP);
  warps = ll_in_bits(&to, LL_WARP) > warps ? ll_in_bits(&to, LL_WARP) : warps;
  from = ll_resize_in(&from, LL_WARP, warps);
  to = ll_resize_in(&to, LL_WARP, warps);
  struct reduce_plan plan = {.axis = axis};
  from = plan_distinct_registers(&from, plan.start_bit);
  unsigned best = UINT32_MAX;
  for (unsigned scatters = 0; scatters <= PLAN_LANE_BITS; scatters++) {
    unsigned cost;
    if (!plan_phase(&from, axis, request->ordered, scatters, &plan.local) ||
        !complete(&to, request, &plan, &cost))
      return false;
    if (cost < best) {
      best = cost;
      *ret = plan;
    }
  }
  return best != UINT32_MAX;
}
