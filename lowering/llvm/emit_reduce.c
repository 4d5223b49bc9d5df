// SPDX-License-Identifier: Apache-2.0
// Reductions, as the plan of layouts/reduce_plan.h says: in the thread, across lanes, and across
// warps with one exchange through shared memory.
#include "lowering/analysis/collective.h"
#include "lowering/llvm/partials.h"

// The values being reduced: x[i][r] is register r of value i.
struct reduction {
  MlirOperation op;
  struct combine_info combine;
  struct reduce_plan plan;
  LLVMTypeRef type[REDUCE_MAX_VALUES];
  LLVMValueRef *x[REDUCE_MAX_VALUES];
};

static void pick(const struct reduction *d, uint32_t r, LLVMValueRef *ret) {
  for (unsigned i = 0; i < d->combine.count; i++)
    ret[i] = d->x[i][r];
}

static uint32_t parity_of(uint32_t x) { return (uint32_t)__builtin_parity(x); }

// x[to] = the own values and the other's, in the order that the step says; r counts registers as
// the step's masks do.
static bool combine_pair(struct emitter *e, struct reduction *d, const struct reduce_step *s,
                         uint32_t r, const LLVMValueRef *own, const LLVMValueRef *other,
                         uint32_t to) {
  LLVMValueRef result[REDUCE_MAX_VALUES];
  bool later = parity_of(r & s->order_register), ok;
  if (s->order_thread) {
    LLVMValueRef odd = thread_parity(e, s->order_thread);
    ok = later ? emit_combine_in_order(e, &d->combine, odd, other, own, result)
               : emit_combine_in_order(e, &d->combine, odd, own, other, result);
  } else {
    ok = later ? emit_combine(e, &d->combine, other, own, result)
               : emit_combine(e, &d->combine, own, other, result);
  }
  for (unsigned i = 0; ok && i < d->combine.count; i++)
    d->x[i][to] = result[i];
  return ok;
}

// r with a bit of value `set` inserted at `bit`.
static uint32_t with_bit(uint32_t r, unsigned bit, uint32_t set) {
  uint32_t low = (1u << bit) - 1;
  return (r & ~low) << 1 | set << bit | (r & low);
}

// ---- steps ----

static bool step_registers(struct emitter *e, struct reduction *d, const struct reduce_step *s,
                           uint32_t count) {
  for (uint32_t to = 0; to < count / 2; to++) {
    LLVMValueRef own[REDUCE_MAX_VALUES], other[REDUCE_MAX_VALUES];
    uint32_t r = with_bit(to, s->drop, 0);
    pick(d, r, own);
    pick(d, r ^ s->reg, other);
    if (!combine_pair(e, d, s, r, own, other, to))
      return false;
  }
  return true;
}

// How many of the phase's first steps a thread may do as chains, one value after the other onto a
// few running sums: where the order is free, a product that is summed becomes one fma that way, and
// in a tree only half of them do.
static unsigned chained_steps(const struct reduction *d, const struct reduce_phase *p) {
  enum { CHAIN_BITS = 2 }; // log2 of the running sums: enough to hide an addition's latency
  unsigned n = 0;
  while (n < p->count && p->step[n].kind == REDUCE_REGISTERS)
    n++;
  for (unsigned i = 0; i < d->combine.count; i++)
    if (d->combine.simple[i] != OP_ARITH_ADDF)
      return 0;
  return n > CHAIN_BITS + 1 ? n - CHAIN_BITS : 0;
}

// The first n steps of the phase together.
static bool chain_registers(struct emitter *e, struct reduction *d, const struct reduce_phase *p,
                            unsigned n, uint32_t count) {
  LLVMValueRef *sums[REDUCE_MAX_VALUES];
  for (unsigned i = 0; i < d->combine.count; i++)
    sums[i] = arena_array(e->arena, LLVMValueRef, count >> n);
  for (uint32_t to = 0; to < count >> n; to++) {
    LLVMValueRef sum[REDUCE_MAX_VALUES], next[REDUCE_MAX_VALUES];
    for (uint32_t k = 0; k < 1u << n; k++) {
      uint32_t r = to;
      for (unsigned i = n; i-- > 0;)
        r = with_bit(r, p->step[i].drop, 0) ^ (k >> i & 1 ? p->step[i].reg : 0);
      pick(d, r, k ? next : sum);
      if (k && !emit_combine(e, &d->combine, sum, next, sum))
        return false;
    }
    for (unsigned i = 0; i < d->combine.count; i++)
      sums[i][to] = sum[i];
  }
  for (unsigned i = 0; i < d->combine.count; i++)
    d->x[i] = sums[i];
  return true;
}

// What the partner's lane has in the same registers, but for an xor of `reg`.
static void from_partner(struct emitter *e, const struct reduction *d, const struct reduce_step *s,
                         LLVMValueRef *const *sent, uint32_t count, LLVMValueRef **ret) {
  for (unsigned i = 0; i < d->combine.count; i++) {
    LLVMValueRef *wanted = arena_array(e->arena, LLVMValueRef, count);
    for (uint32_t r = 0; r < count; r++)
      wanted[r] = sent[i][r ^ s->reg];
    ret[i] = wanted;
    shuffle_values_xor(e, count, wanted, s->lane);
  }
}

static bool combine_with(struct emitter *e, struct reduction *d, const struct reduce_step *s,
                         LLVMValueRef *const *got, uint32_t count) {
  for (uint32_t r = 0; r < count; r++) {
    LLVMValueRef own[REDUCE_MAX_VALUES], other[REDUCE_MAX_VALUES];
    pick(d, r, own);
    for (unsigned i = 0; i < d->combine.count; i++)
      other[i] = got[i][r];
    if (!combine_pair(e, d, s, r, own, other, r))
      return false;
  }
  return true;
}

static bool step_lanes(struct emitter *e, struct reduction *d, const struct reduce_step *s,
                       uint32_t count) {
  LLVMValueRef *got[REDUCE_MAX_VALUES];
  from_partner(e, d, s, d->x, count, got);
  return combine_with(e, d, s, got, count);
}

static bool step_scatter(struct emitter *e, struct reduction *d, const struct reduce_step *s,
                         uint32_t count) {
  LLVMValueRef *sent[REDUCE_MAX_VALUES], *got[REDUCE_MAX_VALUES];
  LLVMValueRef keeps = thread_parity(e, 1u << s->keep_lane);
  for (unsigned i = 0; i < d->combine.count; i++) {
    sent[i] = arena_array(e->arena, LLVMValueRef, count / 2);
    for (uint32_t to = 0; to < count / 2; to++) {
      LLVMValueRef without = d->x[i][with_bit(to, s->drop, 0)];
      LLVMValueRef with = d->x[i][with_bit(to, s->drop, 1)];
      sent[i][to] = LLVMBuildSelect(e->b, keeps, without, with, "");
      // Registers below `to` are not read again: with_bit(to, ...) >= to.
      d->x[i][to] = LLVMBuildSelect(e->b, keeps, with, without, "");
    }
  }
  from_partner(e, d, s, sent, count / 2, got);
  return combine_with(e, d, s, got, count / 2);
}

// Whether the target has an instruction for each of the values: for all of them, or none.
static bool reduces_by_warp(struct emitter *e, const struct reduction *d) {
  const struct target_hooks *hooks = e->target->hooks;
  for (unsigned i = 0; i < d->combine.count; i++)
    if (!hooks->reduces_warp || !hooks->reduces_warp(e, d->combine.simple[i], d->type[i]))
      return false;
  return true;
}

// All lanes' steps by one instruction a value.
static void step_warp(struct emitter *e, struct reduction *d, uint32_t count) {
  for (unsigned i = 0; i < d->combine.count; i++)
    for (uint32_t r = 0; r < count; r++)
      d->x[i][r] = e->target->hooks->reduce_warp(e, d->combine.simple[i], d->x[i][r]);
  e->uses_collectives = true;
}

static bool run_phase(struct emitter *e, struct reduction *d, const struct reduce_phase *p) {
  uint32_t count = 1u << p->register_bits;
  bool by_warp = p->whole_warp && reduces_by_warp(e, d), lanes_done = false;
  unsigned chained = chained_steps(d, p);
  if (chained && !chain_registers(e, d, p, chained, count))
    return false;
  count >>= chained;
  for (unsigned i = chained; i < p->count; i++) {
    const struct reduce_step *s = &p->step[i];
    bool ok = true;
    switch (s->kind) {
    case REDUCE_REGISTERS: ok = step_registers(e, d, s, count); break;
    case REDUCE_SCATTER: ok = step_scatter(e, d, s, count); break;
    case REDUCE_LANES:
      if (by_warp && !lanes_done)
        step_warp(e, d, count);
      lanes_done = by_warp;
      ok = by_warp || step_lanes(e, d, s, count);
      break;
    }
    if (!ok)
      return false;
    if (s->kind != REDUCE_LANES)
      count /= 2;
  }
  return true;
}

static bool across_warps(struct emitter *e, struct reduction *d) {
  const struct reduce_plan *p = &d->plan;
  struct partials partials = {.from = &p->local.partial,
                              .to = &p->spread,
                              .axis = p->axis,
                              .count = d->combine.count,
                              .bytes = p->scratch_bytes,
                              .offset = p->offset};
  return exchange_partials(e, d->op, &partials, d->type, d->x) && run_phase(e, d, &p->last);
}

// ---- the op ----

static void start(struct emitter *e, struct reduction *d) {
  uint32_t count = 1u << d->plan.local.register_bits;
  for (unsigned i = 0; i < d->combine.count; i++) {
    const struct emitted *v = operand_of(e, d->op, i);
    d->x[i] = arena_array(e->arena, LLVMValueRef, count);
    for (uint32_t r = 0; r < count; r++) {
      uint32_t from = 0;
      for (unsigned b = 0; r >> b; b++)
        from |= (r >> b & 1) << d->plan.start_bit[b];
      d->x[i][r] = v->at[from];
    }
    d->type[i] = LLVMTypeOf(v->at[0]);
  }
}

bool emit_reduce(struct emitter *e, MlirOperation op) {
  struct reduction *d = arena_new(e->arena, struct reduction);
  d->op = op;
  d->combine = combine_info_of(e->c, op);
  if (!reduce_plan_of(e->c, op, &d->plan) || mlirOperationIsNull(d->combine.function))
    return emit_unsupported(e, op, "`tile.reduce` of these layouts has no lowering");
  start(e, d);
  if (!run_phase(e, d, &d->plan.local) || (d->plan.exchanges && !across_warps(e, d)))
    return false;
  for (unsigned i = 0; i < d->combine.count; i++) {
    struct emitted *r = result_of(e, op, i);
    const struct linear_layout *to = layout_of(e, result_type(op, i));
    if (!to)
      r->at[0] = d->x[i][0];
    else if (!convert_values(e, op, &d->plan.result, to, d->x[i], r->at))
      return false;
  }
  return true;
}
