// SPDX-License-Identifier: Apache-2.0
// bar, barrier and bar.warp.sync (PTX ISA, 9.7.13.1 and 9.7.13.2). A warp arrives as a whole, after
// its lanes have converged.
#include "ptx-simulator/barrier.h"

// Warps that reuse a barrier have to know that its last phase is complete: otherwise arrivals for
// two phases could be counted as one. False after a fault.
static bool is_ordered(struct warp *w, const struct op *op, unsigned lane, unsigned number) {
  const struct cta *c = w->cta;
  const struct barrier *b = &c->barriers[number];
  for (unsigned i = 0; w->clock && i < c->warp_count; i++)
    if (i != w->index && b->last_arrivals[i] &&
        !clock_covers(&w->clock[c->warps[i].id], b->last_arrivals[i], ~0u)) {
      fault(w, op, lane, SIM_BAD_BARRIER, NULL,
            "barrier %u is used again, by warp %u, and nothing orders that behind the arrival of "
            "warp %u in its last phase (line %u of the PTX): a thread may be counted in the wrong "
            "phase",
            number, w->index, i, b->last_op->in->line);
      return false;
    }
  return true;
}

// The barrier orders what the warp did so far, and not what it does from now on.
static void clock_arrives(struct cta *c, struct barrier *b, struct warp *w) {
  if (!w->clock)
    return;
  clock_join(b->clock, w->clock, clock_count(c));
  b->arrivals[w->index] = w->clock[w->id].clock;
  b->acquired = b->acquired > w->acquired ? b->acquired : w->acquired;
  clock_converge(w);
}

// ---- arrival ----

// The barrier's number and the thread count given by this warp; false after a fault.
static bool read_operands(struct warp *w, const struct op *op, uint32_t lanes, unsigned *ret_number,
                          unsigned *ret_count) {
  const struct barrier_op *x = op->info;
  unsigned first = (unsigned)__builtin_ctz(lanes);
  uint64_t number = (uint32_t)row(w, op->slots[1])[first];
  uint64_t count = x->has_count ? (uint32_t)row(w, op->slots[2])[first] : 0;
  EACH_LANE(lane, lanes)
  if ((uint32_t)row(w, op->slots[1])[lane] != number ||
      (x->has_count && (uint32_t)row(w, op->slots[2])[lane] != count)) {
    fault(w, op, lane, SIM_BAD_BARRIER, NULL, "the lanes of the warp name different barriers");
    return false;
  }
  if (number >= BARRIER_COUNT) {
    fault(w, op, first, SIM_BAD_BARRIER, NULL, "there is no barrier %u: they are 0 to 15",
          (unsigned)number);
    return false;
  }
  if (x->has_count && (count == 0 || count % SIM_LANES || count > SIM_LANES * w->cta->warp_count)) {
    fault(w, op, first, SIM_BAD_BARRIER, NULL,
          "a barrier of %u threads: that must be a multiple of 32, and no more than the block has",
          (unsigned)count);
    return false;
  }
  *ret_number = (unsigned)number;
  *ret_count = (unsigned)count;
  return true;
}

static bool arrive(struct warp *w, const struct op *op, unsigned lane, unsigned number,
                   unsigned count) {
  struct barrier *b = &w->cta->barriers[number];
  if (b->op && b->expected != count) {
    fault(w, op, lane, SIM_BAD_BARRIER, NULL,
          "barrier %u is for %u threads here, for %u in line %u of the PTX (0: all)", number, count,
          b->expected, b->op->in->line);
    return false;
  }
  if (b->arrived_warps >> w->index & 1) {
    fault(w, op, lane, SIM_BAD_BARRIER, NULL,
          "the warp arrives at barrier %u again before the others have", number);
    return false;
  }
  if (!is_ordered(w, op, lane, number))
    return false;
  b->expected = count;
  if (!b->op)
    b->op = op;
  b->arrived++;
  b->arrived_warps |= 1u << w->index;
  clock_arrives(w->cta, b, w);
  return true;
}

static void barrier_op_run(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct barrier_op *x = op->info;
  unsigned number, count;
  if (!warp_converge(w, op, &lanes, w->live, x->aligned) ||
      !read_operands(w, op, lanes, &number, &count) ||
      !arrive(w, op, (unsigned)__builtin_ctz(lanes), number, count))
    return;
  if (x->kind == BAR_RED) {
    struct barrier *b = &w->cta->barriers[number];
    require_defined(w, op, op->slots[3], lanes, 1, "the predicate of a barrier");
    EACH_LANE(lane, lanes)
    b->true_count += (row(w, op->slots[3])[lane] & 1) ^ x->negated;
    b->lane_count += (unsigned)__builtin_popcount(lanes);
  }
  if (x->kind != BAR_ARRIVE)
    warp_block(w, lanes, (struct group){.pc = w->pc, .state = GROUP_BARRIER, .barrier = number});
  barriers_update(w->cta);
  w->stop = true; // lets another warp run first
}

// ---- decoding ----

static void warp_barrier_op(struct warp *w, const struct op *op, uint32_t lanes) {
  warp_sync_mask(w, op, &lanes, op->slots[0]);
}

static bool decode_warp_barrier(struct decoder *d) {
  if (!expect_part(d, "sync") || !expect_end(d) || !expect_operands(d, 1, 1))
    return false;
  int32_t slot = source_slot(d, &d->in->operands[0], 32, false);
  emit(d, warp_barrier_op, &slot, 1, NULL);
  return !d->failed;
}

static bool decode_reduction(struct decoder *d, struct barrier_op *x) {
  static const char *const names[] = {"popc", "and", "or", NULL};
  int reduction = take_one_of(d, names);
  if (reduction < 0)
    return expect_part(d, "popc");
  x->reduction = (unsigned)reduction;
  x->aligned |= take_part(d, "aligned");
  return reduction == RED_POPC ? expect_part(d, "u32") : expect_part(d, "pred");
}

bool decode_barrier(struct decoder *d) {
  static const char *const kinds[] = {"sync", "arrive", "red", NULL};
  struct barrier_op *x = arena_new(d->arena, struct barrier_op);
  bool old = str_is(d->in->parts[0], "bar");
  if (take_part(d, "warp"))
    return decode_warp_barrier(d);
  if (!old && take_part(d, "cluster"))
    return decode_cluster_barrier(d);
  take_part(d, "cta");
  int kind = take_one_of(d, kinds);
  if (kind < 0)
    return expect_part(d, "sync");
  x->kind = (unsigned)kind;
  if (kind == BAR_RED && !decode_reduction(d, x))
    return false;
  x->aligned |= (kind != BAR_RED && take_part(d, "aligned")) || old;
  unsigned extra = kind == BAR_RED ? 2 : 0, n = d->in->operand_count;
  if (!expect_end(d) || !expect_operands(d, 1 + extra + (kind == BAR_ARRIVE), 2 + extra))
    return false;
  const struct operand *o = d->in->operands;
  int32_t slots[4] = {NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT};
  if (kind == BAR_RED) {
    slots[0] = result_slot(d, o++, x->reduction == RED_POPC ? 32 : 1);
    slots[3] = source_slot(d, &d->in->operands[n - 1], 1, false);
  }
  x->has_count = n == 2 + extra;
  slots[1] = source_slot(d, o, 32, false);
  if (x->has_count)
    slots[2] = source_slot(d, o + 1, 32, false);
  emit(d, barrier_op_run, slots, 4, x);
  return !d->failed;
}
