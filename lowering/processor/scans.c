// SPDX-License-Identifier: Apache-2.0
// Scans. Where another dimension fills the lanes, a loop along the axis carries the running values
// of all of them; else each strip is scanned in log2(lanes) steps and the carry is combined with
// it. The running value is the left side, also of scans from the end.
#include "lowering/processor/strips.h"

struct scan {
  MlirOperation op;
  struct reduction r;
  unsigned rank, axis;
  int64_t shape[MAX_RANK];
  bool reverse;
  int lane;
  unsigned lanes;
  struct buffer *to[MAX_VALUES];
  struct position at;
};

// The lane that is `by` before each lane, or behind it; beyond the end the lane itself.
static LLVMValueRef shifted(struct strip_emitter *e, const struct scan *s, LLVMValueRef v,
                            unsigned by) {
  LLVMValueRef picks[STRIP];
  for (unsigned i = 0; i < s->lanes; i++) {
    unsigned from = s->reverse ? (i + by < s->lanes ? i + by : i) : i >= by ? i - by : i;
    picks[i] = LLVMConstInt(e->i32, from, false);
  }
  return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)),
                                LLVMConstVector(picks, s->lanes), "");
}

static LLVMValueRef has_lane_before(struct strip_emitter *e, const struct scan *s, unsigned by) {
  LLVMValueRef bits[STRIP];
  for (unsigned i = 0; i < s->lanes; i++)
    bits[i] = LLVMConstInt(e->i1, s->reverse ? i + by < s->lanes : i >= by, false);
  return LLVMConstVector(bits, s->lanes);
}

static void scan_lanes(struct strip_emitter *e, const struct scan *s, LLVMValueRef *x) {
  for (unsigned by = 1; by < s->lanes; by *= 2) {
    LLVMValueRef before[MAX_VALUES], both[MAX_VALUES], chosen = has_lane_before(e, s, by);
    for (unsigned i = 0; i < s->r.count; i++)
      before[i] = shifted(e, s, x[i], by);
    combine(e, &s->r, before, x, both);
    for (unsigned i = 0; i < s->r.count && !e->refusal.why; i++)
      x[i] = LLVMBuildSelect(e->b, chosen, both[i], x[i], "");
  }
}

// What the next step combines with.
static LLVMValueRef carry_of(struct strip_emitter *e, const struct scan *s, LLVMValueRef x) {
  if (s->lanes == 1 || s->lane != (int)s->axis)
    return x;
  LLVMValueRef last = LLVMConstInt(e->i32, s->reverse ? 0 : s->lanes - 1, false);
  return repeat(e, LLVMBuildExtractElement(e->b, x, last, ""), s->lanes);
}

static void scan_step(struct strip_emitter *e, struct scan *s, const LLVMValueRef *carry,
                      LLVMValueRef *ret_carry) {
  LLVMValueRef x[MAX_VALUES];
  for (unsigned i = 0; i < s->r.count; i++)
    x[i] = repeat(e, evaluate(e, operand(s->op, i), &s->at), s->lanes);
  if (s->lane == (int)s->axis)
    scan_lanes(e, s, x);
  if (carry)
    combine(e, &s->r, carry, x, x);
  for (unsigned i = 0; i < s->r.count; i++) {
    scratch_store(e, s->to[i], &s->at, to_storage(e, x[i]));
    ret_carry[i] = carry_of(e, s, x[i]);
  }
}

// Index of step i along the axis.
static LLVMValueRef step_index(struct strip_emitter *e, const struct scan *s, LLVMValueRef i,
                               int64_t step) {
  if (!s->reverse)
    return i;
  LLVMValueRef first = index_constant(e, s->shape[s->axis] - step);
  return index_difference(e, first, i);
}

static void along_axis(struct strip_emitter *e, struct scan *s) {
  LLVMValueRef carry[MAX_VALUES];
  int64_t size = s->shape[s->axis];
  int64_t step = s->lane == (int)s->axis ? (int64_t)s->lanes : 1;
  s->at.at[s->axis] = step_index(e, s, index_constant(e, 0), step);
  scan_step(e, s, NULL, carry);
  if (size == step || e->refusal.why)
    return;
  struct loop l = loop_begin(e, step, size - step, step);
  for (unsigned i = 0; i < s->r.count; i++)
    carry[i] = loop_carry(e, &l, carry[i]);
  s->at.at[s->axis] = step_index(e, s, l.index, step);
  scan_step(e, s, carry, carry);
  for (unsigned i = 0; i < s->r.count; i++)
    loop_next(&l, i, carry[i]);
  loop_end(e, &l);
}

static void other_dims(struct strip_emitter *e, struct scan *s, unsigned dim) {
  if (dim == s->axis)
    dim++;
  if (dim >= s->rank) {
    along_axis(e, s);
    return;
  }
  struct loop l = loop_begin(e, 0, s->shape[dim], s->lane == (int)dim ? (int64_t)s->lanes : 1);
  s->at.at[dim] = l.index;
  other_dims(e, s, dim + 1);
  loop_end(e, &l);
}

static void choose_lane(struct scan *s) {
  s->lane = s->shape[s->axis] > 1 ? (int)s->axis : -1;
  for (unsigned d = 0; d < s->rank; d++)
    if (d != s->axis && s->shape[d] >= STRIP / 2)
      s->lane = (int)d;
  s->lanes = s->lane < 0 ? 1 : s->shape[s->lane] < STRIP ? (unsigned)s->shape[s->lane] : STRIP;
}

void emit_scan_loops(struct strip_emitter *e, MlirOperation op) {
  struct scan s = {.op = op,
                   .rank = rank_of(operand(op, 0)),
                   .axis = (unsigned)op_attr_int(op, "axis", 0),
                   .reverse = op_attr_bool(op, "reverse")};
  flush(e);
  if (!reduction_of(e, op, &s.r))
    return;
  for (unsigned d = 0; d < s.rank; d++)
    s.shape[d] = tensor_dim(mlirValueGetType(operand(op, 0)), d);
  choose_lane(&s);
  for (unsigned i = 0; i < s.r.count; i++) {
    if (cost_of(e, operand(op, i)) > STRIP &&
        is_needed_later(e, operand(op, i), &(struct map){0}, NULL))
      in_buffer(e, operand(op, i));
    s.to[i] = buffer_for(e, result(op, i));
  }
  s.at = (struct position){.rank = s.rank, .lane = s.lane, .lanes = s.lanes};
  for (unsigned d = 0; d < s.rank; d++)
    s.at.at[d] = index_constant(e, 0);
  levels_begin(e);
  other_dims(e, &s, 0);
  levels_end(e);
  for (unsigned i = 0; i < s.r.count; i++)
    bind_buffer(e, result(op, i), s.to[i]);
}
