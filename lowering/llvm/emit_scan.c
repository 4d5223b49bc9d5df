// SPDX-License-Identifier: Apache-2.0
// Scans, as the plan of layouts/layout_scan_plan.h says. Registers that a thread has scanned
// serially form a run. Every run has its total so far, and separately the prefix before it
// (`before`), which is combined with the elements once, at the end. Runs at the begin of the tile
// have no prefix; for some that depends on the thread, so that `before` has a condition.
#include "layouts/layout_scan_plan.h"
#include "lowering/analysis/collective.h"
#include "lowering/llvm/partials.h"

struct scan {
  MlirOperation op;
  struct combine_info combine;
  struct scan_plan plan;
  bool reverse;
  uint32_t count; // registers
  LLVMTypeRef type[SCAN_MAX_VALUES];
  // By register; totals and what is before by the lowest register of the run.
  LLVMValueRef *x[SCAN_MAX_VALUES], *total[SCAN_MAX_VALUES], *before[SCAN_MAX_VALUES];
  LLVMValueRef *has_before; // i1; NULL: nothing is before it
  uint32_t within;          // register bits inside a run
  uint32_t merged;          // register bits whose totals are merged
};

static void read_at(const struct scan *s, LLVMValueRef *const *from, uint32_t r,
                    LLVMValueRef *ret) {
  for (unsigned i = 0; i < s->combine.count; i++)
    ret[i] = from[i][r];
}

static void write_at(const struct scan *s, LLVMValueRef *const *to, uint32_t r,
                     const LLVMValueRef *v) {
  for (unsigned i = 0; i < s->combine.count; i++)
    to[i][r] = v[i];
}

static bool is_always(const struct emitter *e, LLVMValueRef cond) {
  return cond == LLVMConstInt(e->i1, 1, false);
}

// ---- prefixes of runs ----

// Prepends `v` to the prefix of run r.
static bool put_before(struct emitter *e, struct scan *s, uint32_t r, const LLVMValueRef *v,
                       LLVMValueRef *ret) {
  LLVMValueRef had = s->has_before[r], old[SCAN_MAX_VALUES];
  if (!had) {
    memcpy(ret, v, s->combine.count * sizeof *v);
    return true;
  }
  read_at(s, s->before, r, old);
  if (!emit_combine(e, &s->combine, v, old, ret))
    return false;
  for (unsigned i = 0; i < s->combine.count && !is_always(e, had); i++)
    ret[i] = LLVMBuildSelect(e->b, had, ret[i], v[i], "");
  return true;
}

// The neutral element; NULL where there is none.
static LLVMValueRef neutral(enum op_id id, LLVMTypeRef type) {
  unsigned width = LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
  switch (id) {
  case OP_ARITH_ADDI:
  case OP_ARITH_ORI:
  case OP_ARITH_XORI:
  case OP_ARITH_MAXUI: return LLVMConstNull(type);
  case OP_ARITH_ANDI:
  case OP_ARITH_MINUI: return LLVMConstAllOnes(type);
  case OP_ARITH_MULI: return LLVMConstInt(type, 1, false);
  case OP_ARITH_MAXSI: return const_int(type, UINT64_C(1) << (width - 1));
  case OP_ARITH_MINSI: return const_int(type, (UINT64_C(1) << (width - 1)) - 1);
  case OP_ARITH_ADDF: return LLVMConstReal(type, -0.0); // 0.0 would turn -0.0 into 0.0
  case OP_ARITH_MULF: return LLVMConstReal(type, 1.0);
  default: return NULL;
  }
}

// The values where `cond` holds, else neutral ones. False, without building, when some value has
// none.
static bool or_neutral(struct emitter *e, const struct scan *s, LLVMValueRef cond,
                       const LLVMValueRef *v, LLVMValueRef *ret) {
  for (unsigned i = 0; i < s->combine.count; i++)
    if (!neutral(s->combine.simple[i], s->type[i]))
      return false;
  for (unsigned i = 0; i < s->combine.count; i++)
    ret[i] = LLVMBuildSelect(e->b, cond, v[i], neutral(s->combine.simple[i], s->type[i]), "");
  return true;
}

// put_before in the threads where `later` (i1) holds.
static bool put_before_if(struct emitter *e, struct scan *s, uint32_t r, LLVMValueRef later,
                          const LLVMValueRef *v) {
  LLVMValueRef had = s->has_before[r], now[SCAN_MAX_VALUES], either[SCAN_MAX_VALUES];
  if (!is_always(e, later) && or_neutral(e, s, later, v, either)) {
    v = either;
    later = LLVMConstInt(e->i1, 1, false);
  }
  if (!put_before(e, s, r, v, now))
    return false;
  for (unsigned i = 0; i < s->combine.count && had && !is_always(e, later); i++)
    now[i] = LLVMBuildSelect(e->b, later, now[i], s->before[i][r], "");
  write_at(s, s->before, r, now);
  s->has_before[r] = had && !is_always(e, later) ? LLVMBuildOr(e->b, had, later, "") : later;
  return true;
}

// ---- in the thread ----

// Register of position `i` in a run that starts at r, in the order of the scan.
static uint32_t in_run(const struct scan *s, uint32_t r, uint32_t i) {
  uint32_t n = 1u << s->plan.serial_count;
  uint32_t at = s->reverse ? n - 1 - i : i;
  for (unsigned b = 0; b < s->plan.serial_count; b++)
    r |= (at >> b & 1) << s->plan.serial[b];
  return r;
}

static bool scan_runs(struct emitter *e, struct scan *s) {
  for (unsigned b = 0; b < s->plan.serial_count; b++)
    s->within |= 1u << s->plan.serial[b];
  s->merged = s->within;
  for (uint32_t r = 0; r < s->count; r++) {
    if (r & s->within)
      continue;
    LLVMValueRef sum[SCAN_MAX_VALUES], v[SCAN_MAX_VALUES];
    read_at(s, s->x, in_run(s, r, 0), sum);
    for (uint32_t i = 1; i < 1u << s->plan.serial_count; i++) {
      uint32_t at = in_run(s, r, i);
      read_at(s, s->x, at, v);
      if (!emit_combine(e, &s->combine, sum, v, sum))
        return false;
      write_at(s, s->x, at, sum);
    }
    write_at(s, s->total, r, sum);
  }
  return true;
}

// Merges adjacent runs of one thread.
static bool join_registers(struct emitter *e, struct scan *s, unsigned bit) {
  LLVMValueRef always = LLVMConstInt(e->i1, 1, false);
  uint32_t flag = 1u << bit, first = s->reverse ? flag : 0;
  for (uint32_t r = 0; r < s->count; r++) {
    LLVMValueRef earlier[SCAN_MAX_VALUES];
    if (r & s->within || (r & flag) == first)
      continue;
    read_at(s, s->total, (r ^ flag) & ~s->merged, earlier);
    if (!put_before_if(e, s, r, always, earlier))
      return false;
  }
  for (uint32_t r = 0; r < s->count; r++) {
    LLVMValueRef a[SCAN_MAX_VALUES], b[SCAN_MAX_VALUES];
    if (r & (s->merged | flag))
      continue;
    read_at(s, s->total, r | first, a);
    read_at(s, s->total, (r | first) ^ flag, b);
    if (!emit_combine(e, &s->combine, a, b, a))
      return false;
    write_at(s, s->total, r, a);
  }
  s->merged |= flag;
  return true;
}

// ---- across lanes ----

static void totals_of_partner(struct emitter *e, const struct scan *s, uint32_t lanes,
                              LLVMValueRef **ret) {
  for (unsigned i = 0; i < s->combine.count; i++) {
    LLVMValueRef *got = arena_array(e->arena, LLVMValueRef, s->count);
    uint32_t n = 0;
    for (uint32_t r = 0; r < s->count; r++)
      if (!(r & s->merged))
        got[n++] = s->total[i][r];
    shuffle_values_xor(e, n, got, lanes);
    ret[i] = arena_array(e->arena, LLVMValueRef, s->count);
    for (uint32_t r = s->count; r-- > 0;)
      if (!(r & s->merged))
        ret[i][r] = got[--n];
  }
}

static bool join_lanes(struct emitter *e, struct scan *s, unsigned bit, bool is_last) {
  LLVMValueRef *other[SCAN_MAX_VALUES], v[SCAN_MAX_VALUES], own[SCAN_MAX_VALUES];
  LLVMValueRef later = thread_parity(e, 1u << bit);
  if (s->reverse)
    later = LLVMBuildNot(e->b, later, "");
  totals_of_partner(e, s, 1u << bit, other);
  for (uint32_t r = 0; r < s->count; r++) {
    read_at(s, other, r & ~s->merged, v);
    if (!(r & s->within) && !put_before_if(e, s, r, later, v))
      return false;
  }
  for (uint32_t r = 0; r < s->count && !is_last; r++) {
    if (r & s->merged)
      continue;
    read_at(s, other, r, v);
    read_at(s, s->total, r, own);
    bool ok = s->combine.commutative ? emit_combine(e, &s->combine, own, v, own)
                                     : emit_combine_in_order(e, &s->combine, later, own, v, own);
    if (!ok)
      return false;
    write_at(s, s->total, r, own);
  }
  return true;
}

// ---- across warps ----

typedef LLVMValueRef scalars[SCAN_MAX_VALUES];

// The i-th position among the totals of a group, in the order of the scan.
static uint32_t position_at(const struct scan *s, uint32_t i) {
  return s->reverse ? (1u << s->plan.rest_count) - 1 - i : i;
}

// ret[position]: its prefix in a group whose totals are at loaded[first + position]. The first
// position has none; it gets that of the second.
static bool prefixes(struct emitter *e, const struct scan *s, LLVMValueRef *const *loaded,
                     uint32_t first, scalars *ret) {
  uint32_t n = 1u << s->plan.rest_count;
  read_at(s, loaded, first + position_at(s, 0), ret[position_at(s, 0)]);
  read_at(s, loaded, first + position_at(s, 0), ret[position_at(s, 1)]);
  for (uint32_t i = 1; i + 1 < n; i++) {
    scalars v;
    read_at(s, loaded, first + position_at(s, i), v);
    if (!emit_combine(e, &s->combine, ret[position_at(s, i)], v, ret[position_at(s, i + 1)]))
      return false;
  }
  return true;
}

// Bits of a position that the thread decides.
static uint32_t thread_bits(const struct scan *s) {
  uint32_t mask = 0;
  for (unsigned b = 0; b < s->plan.rest_count && b < LL_MAX_BITS; b++)
    mask |= (s->plan.rest_thread[b] ? 1u : 0u) << b;
  return mask;
}

// The prefix of the thread's own position; `fixed` are the bits that the register decides.
static void choose(struct emitter *e, const struct scan *s, uint32_t fixed, scalars *at,
                   LLVMValueRef *ret) {
  uint32_t n = 1u << s->plan.rest_count, open = thread_bits(s);
  scalars *now = arena_dup(e->arena, at, n * sizeof *at, _Alignof(scalars));
  for (unsigned b = s->plan.rest_count; b-- > 0;) {
    uint32_t flag = 1u << b;
    if (!(open & flag))
      continue;
    LLVMValueRef high = thread_parity(e, s->plan.rest_thread[b]);
    open &= ~flag;
    for (uint32_t p = 0; p < n; p++)
      for (unsigned i = 0; i < s->combine.count && (p & ~open) == fixed; i++)
        now[p][i] = LLVMBuildSelect(e->b, high, now[p | flag][i], now[p][i], "");
  }
  memcpy(ret, now[fixed], s->combine.count * sizeof *ret);
}

// i1: the thread's own position is not the first; NULL: it is, in all threads.
static LLVMValueRef not_first(struct emitter *e, const struct scan *s, uint32_t fixed) {
  uint32_t open = thread_bits(s);
  LLVMValueRef any = NULL;
  if (fixed != (position_at(s, 0) & ~open))
    return LLVMConstInt(e->i1, 1, false);
  for (unsigned b = 0; b < s->plan.rest_count; b++) {
    if (!(open >> b & 1))
      continue;
    LLVMValueRef differs = thread_parity(e, s->plan.rest_thread[b]);
    if (s->reverse)
      differs = LLVMBuildNot(e->b, differs, "");
    any = any ? LLVMBuildOr(e->b, any, differs, "") : differs;
  }
  return any;
}

// The bits of `index` at the listed positions.
static uint32_t spread_bits(uint32_t index, const unsigned *bit, unsigned count) {
  uint32_t r = 0;
  for (unsigned i = 0; i < count; i++)
    r |= (index >> i & 1) << bit[i];
  return r;
}

// Runs of one group: those whose registers of other dimensions are `own`.
static bool learn_prefixes(struct emitter *e, struct scan *s, uint32_t own, scalars *at) {
  uint32_t others = spread_bits(UINT32_MAX, s->plan.own_bit, s->plan.own_count);
  for (uint32_t r = 0; r < s->count; r++) {
    uint32_t fixed = 0;
    if (r & s->within || (r & others) != own)
      continue;
    for (unsigned b = 0; b < s->plan.rest_count; b++)
      fixed |= (r & s->plan.rest_register[b] ? 1u : 0u) << b;
    LLVMValueRef later = not_first(e, s, fixed);
    scalars v;
    if (!later)
      continue;
    choose(e, s, fixed, at, v);
    if (!put_before_if(e, s, r, later, v))
      return false;
  }
  return true;
}

static bool across_warps(struct emitter *e, struct scan *s) {
  const struct scan_plan *p = &s->plan;
  LLVMValueRef *totals[SCAN_MAX_VALUES];
  for (unsigned i = 0; i < s->combine.count; i++) {
    totals[i] = arena_array(e->arena, LLVMValueRef, 1u << p->total_count);
    for (uint32_t t = 0; t < 1u << p->total_count; t++)
      totals[i][t] = s->total[i][spread_bits(t, p->total_bit, p->total_count)];
  }
  struct partials partials = {.from = &p->totals,
                              .to = &p->spread,
                              .axis = p->axis,
                              .count = s->combine.count,
                              .bytes = p->scratch_bytes,
                              .offset = p->offset};
  if (!exchange_partials(e, s->op, &partials, s->type, totals))
    return false;
  scalars *at = arena_array(e->arena, scalars, 1u << p->rest_count);
  for (uint32_t g = 0; g < 1u << p->own_count; g++)
    if (!prefixes(e, s, totals, g << p->rest_count, at) ||
        !learn_prefixes(e, s, spread_bits(g, p->own_bit, p->own_count), at))
      return false;
  return true;
}

// ---- the elements ----

static bool finish(struct emitter *e, struct scan *s) {
  for (uint32_t r = 0; r < s->count; r++) {
    LLVMValueRef has = s->has_before[r & ~s->within], before[SCAN_MAX_VALUES], own[SCAN_MAX_VALUES],
                 v[SCAN_MAX_VALUES];
    if (!has)
      continue;
    read_at(s, s->before, r & ~s->within, before);
    read_at(s, s->x, r, own);
    if (!emit_combine(e, &s->combine, before, own, v))
      return false;
    for (unsigned i = 0; i < s->combine.count && !is_always(e, has); i++)
      v[i] = LLVMBuildSelect(e->b, has, v[i], own[i], "");
    write_at(s, s->x, r, v);
  }
  return true;
}

// ---- the op ----

static bool begin(struct emitter *e, struct scan *s) {
  s->count = ll_in_size(&s->plan.layout, LL_REGISTER);
  s->has_before = arena_array(e->arena, LLVMValueRef, s->count);
  for (unsigned i = 0; i < s->combine.count; i++) {
    const struct emitted *v = operand_of(e, s->op, i);
    s->type[i] = LLVMTypeOf(v->at[0]);
    s->x[i] = arena_array(e->arena, LLVMValueRef, s->count);
    s->total[i] = arena_array(e->arena, LLVMValueRef, s->count);
    s->before[i] = arena_array(e->arena, LLVMValueRef, s->count);
    if (!convert_values(e, s->op, layout_of(e, operand_type(s->op, i)), &s->plan.layout, v->at,
                        s->x[i]))
      return false;
  }
  return true;
}

static bool run_steps(struct emitter *e, struct scan *s) {
  const struct scan_plan *p = &s->plan;
  for (unsigned i = 0; i < p->step_count; i++) {
    bool is_last = i + 1 == p->step_count && p->rest_count == 0;
    if (!(p->step[i].is_lane ? join_lanes(e, s, p->step[i].bit, is_last)
                             : join_registers(e, s, p->step[i].bit)))
      return false;
  }
  return p->rest_count == 0 || across_warps(e, s);
}

bool emit_scan(struct emitter *e, MlirOperation op) {
  struct scan *s = arena_new(e->arena, struct scan);
  s->op = op;
  s->combine = combine_info_of(e->c, op);
  s->reverse = op_attr_bool(op, "reverse");
  if (!scan_plan_of(e->c, op, &s->plan) || mlirOperationIsNull(s->combine.function))
    return emit_unsupported(e, op, "`tile.scan` of these layouts has no lowering");
  if (!begin(e, s) || !scan_runs(e, s) || !run_steps(e, s) || !finish(e, s))
    return false;
  for (unsigned i = 0; i < s->combine.count; i++)
    if (!convert_values(e, op, &s->plan.layout, layout_of(e, result_type(op, i)), s->x[i],
                        result_of(e, op, i)->at))
      return false;
  return true;
}
