// SPDX-License-Identifier: Apache-2.0
// Completion of CTA barriers (PTX ISA, 9.7.13.1): releases the warps that wait, writes the results
// of barrier.red, and joins vector clocks, which order memory accesses across the barrier.
#include "ptx-simulator/barrier.h"

#include <assert.h>

static bool is_complete(const struct cta *c, const struct barrier *b) {
  if (!b->op)
    return false;
  return b->expected ? SIM_LANES * b->arrived >= b->expected : b->arrived >= c->alive;
}

static void write_reduction(struct warp *w, const struct barrier *b, const struct group *g) {
  const struct op *op = &w->program->code.at[g->pc - 1];
  const struct barrier_op *x = op->info;
  if (x->kind != BAR_RED || op->slots[0] == NO_SLOT)
    return;
  uint64_t value = x->reduction == RED_POPC  ? b->true_count
                   : x->reduction == RED_AND ? b->true_count == b->lane_count
                                             : b->true_count > 0;
  EACH_LANE(lane, g->mask)
  row(w, op->slots[0])[lane] = value;
  set_defined(w, op->slots[0], g->mask);
}

static void next_phase(struct cta *c, struct barrier *b) {
  struct barrier next = {.clock = b->clock,
                         .arrivals = b->last_arrivals,
                         .last_arrivals = b->arrivals,
                         .last_op = b->op};
  *b = next;
  if (!b->clock)
    return;
  memset(b->clock, 0, clock_count(c) * sizeof *b->clock);
  memset(b->arrivals, 0, c->warp_count * sizeof *b->arrivals);
}

void barrier_start(struct cta *c, struct barrier *b) {
  next_phase(c, b);
  next_phase(c, b);
}

static void release(struct cta *c, unsigned number) {
  assert(number < BARRIER_COUNT);
  struct barrier *b = &c->barriers[number];
  for (unsigned i = 0; i < c->warp_count; i++) {
    struct warp *w = &c->warps[i];
    for (unsigned k = 0; k < w->other_count; k++) {
      struct group *g = &w->others[k];
      if (g->state != GROUP_BARRIER || g->barrier != number)
        continue;
      warp_wake(w, g);
      write_reduction(w, b, g);
      if (w->clock) {
        clock_acquire(w, b->clock, true);
        w->acquired = w->acquired > b->acquired ? w->acquired : b->acquired;
        w->has_news = true;
      }
    }
  }
  next_phase(c, b);
}

void barriers_update(struct cta *c) {
  for (unsigned i = 0; i < BARRIER_COUNT; i++)
    if (is_complete(c, &c->barriers[i]))
      release(c, i);
}
