// SPDX-License-Identifier: Apache-2.0
// Plans of scans. A layout is used as it is when the axis has bits of its own: no basis moves along
// the axis and another dimension, no two along the same bit, and no lane bit lies above a warp bit.
#include "layouts/layout_scan_plan.h"

#include "layouts/encoding.h"
#include "layouts/plan_layouts.h"

enum { RUN = 4 }; // registers that a thread scans serially

// For each bit along the axis, the input bit that it comes from.
struct maker {
  enum ll_in in;
  unsigned bit;
};

static bool makers_of(const struct linear_layout *l, unsigned axis, struct maker *ret) {
  uint32_t seen = 0;
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++) {
      uint32_t along = l->basis[i][b][axis], elsewhere = 0;
      for (unsigned d = 0; d < l->out_count; d++)
        elsewhere |= d == axis ? 0 : l->basis[i][b][d];
      if (along == 0)
        continue;
      if (elsewhere || !is_pow2(along) || (seen & along))
        return false;
      seen |= along;
      ret[log2_floor(along)] = (struct maker){l->in[i], b};
    }
  return seen == (1u << l->out_bits[axis]) - 1;
}

static bool divide_work(struct scan_plan *p) {
  struct maker maker[LL_MAX_BITS];
  unsigned bits = p->layout.out_bits[p->axis], b = 0;
  if (!makers_of(&p->layout, p->axis, maker))
    return false;
  for (; b < bits && maker[b].in == LL_REGISTER; b++)
    p->serial[p->serial_count++] = maker[b].bit;
  for (; b < bits && maker[b].in != LL_WARP; b++)
    p->step[p->step_count++] = (struct scan_step){maker[b].in == LL_LANE, maker[b].bit};
  for (; b < bits; b++) {
    if (maker[b].in == LL_LANE)
      return false;
    bool in_thread = maker[b].in == LL_REGISTER;
    p->rest_register[p->rest_count] = in_thread ? 1u << maker[b].bit : 0;
    p->rest_thread[p->rest_count++] = in_thread ? 0 : 1u << (maker[b].bit + PLAN_LANE_BITS);
  }
  return true;
}

// A layout with the axis in front: a run of registers, lanes, warps.
static bool canonical(const struct linear_layout *src, unsigned axis, struct linear_layout *ret) {
  int64_t shape[LL_MAX_OUT];
  uint32_t size[LL_MAX_OUT], order[LL_MAX_OUT] = {axis};
  unsigned n = 1;
  for (unsigned d = 0; d < src->out_count; d++) {
    shape[d] = (int64_t)1 << src->out_bits[d];
    size[d] = d == axis ? RUN : 1;
  }
  for (unsigned d = src->out_count; d-- > 0;)
    if (d != axis)
      order[n++] = d;
  const char *why;
  struct encoding e =
      encoding_blocked(src->out_count, shape, size, order, ll_in_size(src, LL_WARP));
  struct linear_layout l;
  if (!encoding_to_linear(&e, src->out_count, shape, &l, &why))
    return false;
  *ret = plan_threads(&l);
  return true;
}

// ---- totals ----

static bool is_listed(unsigned bit, const unsigned *list, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    if (list[i] == bit)
      return true;
  return false;
}

static void find_register_bits(struct scan_plan *p) {
  uint32_t taken = 0, rest = 0;
  for (unsigned i = 0; i < p->serial_count; i++)
    taken |= 1u << p->serial[i];
  for (unsigned i = 0; i < p->step_count; i++)
    taken |= p->step[i].is_lane ? 0 : 1u << p->step[i].bit;
  for (unsigned i = 0; i < p->rest_count; i++)
    rest |= p->rest_register[i];
  for (unsigned b = 0; b < ll_in_bits(&p->layout, LL_REGISTER); b++) {
    if (taken >> b & 1)
      continue;
    p->total_bit[p->total_count++] = b;
    if (!(rest >> b & 1))
      p->own_bit[p->own_count++] = b;
  }
}

// The layout of totals: along the axis only the bits of the rest remain. With `all`, a thread has
// all of them in its lowest registers.
static struct linear_layout layout_of_totals(const struct scan_plan *p, bool all) {
  const struct linear_layout *l = &p->layout;
  unsigned done = p->serial_count + p->step_count;
  struct linear_layout r = ll_empty(l->out_count, l->out_bits);
  uint32_t image[LL_MAX_OUT] = {0};
  r.out_bits[p->axis] = p->rest_count;
  ll_add_in(&r, LL_REGISTER);
  for (unsigned b = 0; all && b < p->rest_count; b++) {
    image[p->axis] = 1u << b;
    ll_push_basis(&r, LL_REGISTER, image);
  }
  for (unsigned i = 0; i < l->in_count; i++) {
    ll_add_in(&r, l->in[i]);
    for (unsigned b = 0; b < l->in_bits[i]; b++) {
      const unsigned *kept = all ? p->own_bit : p->total_bit;
      unsigned count = all ? p->own_count : p->total_count;
      if (l->in[i] == LL_REGISTER && !is_listed(b, kept, count))
        continue;
      memcpy(image, l->basis[i][b], sizeof image);
      image[p->axis] = all ? 0 : image[p->axis] >> done;
      ll_push_basis(&r, l->in[i], image);
    }
  }
  return r;
}

bool scan_plan_make(const struct linear_layout *src, unsigned axis, unsigned count,
                    const unsigned *bits, struct scan_plan *ret) {
  unsigned unused[LL_MAX_BITS];
  struct linear_layout from = plan_threads(src);
  if (axis >= src->out_count || ll_in_bits(src, LL_BLOCK) != 0 || !ll_is_surjective(&from))
    return false;
  *ret = (struct scan_plan){.axis = axis};
  ret->layout = plan_distinct_registers(&from, unused);
  if (!divide_work(ret)) {
    *ret = (struct scan_plan){.axis = axis};
    if (!canonical(&from, axis, &from))
      return false;
    ret->layout = plan_distinct_registers(&from, unused);
    if (!divide_work(ret))
      return false;
  }
  find_register_bits(ret);
  if (ret->rest_count == 0)
    return true;
  ret->totals = layout_of_totals(ret, false);
  ret->spread = layout_of_totals(ret, true);
  ret->scratch_bytes = plan_areas(count, bits, ll_total_out_bits(&ret->totals), ret->offset);
  return true;
}
