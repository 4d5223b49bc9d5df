// SPDX-License-Identifier: Apache-2.0
// Vector clocks of warps (vector_clock.h).
#include "ptx-simulator/vector_clock.h"

#include "ptx-simulator/cluster.h"

unsigned clock_warps(const struct cta *c) { return c->cluster->count * c->warp_count; }

unsigned clock_count(const struct cta *c) {
  return clock_warps(c) + c->cluster->count * MAX_MBARRIERS;
}

bool clock_covers(const struct clock_entry *e, uint32_t clock, uint32_t lanes) {
  return clock < e->base || (clock <= e->clock && !(lanes & ~e->lanes));
}

static struct clock_entry joined(struct clock_entry a, struct clock_entry b) {
  struct clock_entry old = a.clock < b.clock ? a : b, late = a.clock < b.clock ? b : a;
  if (old.clock < late.base)
    return late;
  return (struct clock_entry){late.clock, old.base > late.base ? old.base : late.base,
                              old.lanes | late.lanes};
}

void clock_join(struct clock_entry *to, const struct clock_entry *from, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    if (from[i].clock)
      to[i] = joined(to[i], from[i]);
}

void clock_acquire(struct warp *w, const struct clock_entry *from, bool cluster) {
  const struct cta *c = w->cta;
  const struct clock_entry *back = &from[w->id];
  struct clock_entry *own = &w->clock[w->id], kept = *own;
  if (cluster) {
    clock_join(w->clock, from, clock_count(c));
  } else {
    unsigned first = c->rank * c->warp_count, agents = clock_warps(c) + c->rank * MAX_MBARRIERS;
    clock_join(w->clock + first, from + first, c->warp_count);
    clock_join(w->clock + agents, from + agents, MAX_MBARRIERS);
  }
  *own = kept;
  // All its lanes have arrived: what they did before is ordered between them, too.
  if (back->clock && !(w->live & ~back->lanes) && back->clock + 1 > own->base)
    own->base = back->clock + 1;
}

void clock_release(struct warp *w, uint32_t lanes, struct clock_entry *to) {
  struct clock_entry *own = &w->clock[w->id];
  uint32_t all = own->lanes;
  own->lanes = (w->live & ~lanes) ? lanes : ~0u;
  clock_join(to, w->clock, clock_count(w->cta));
  own->lanes = all;
}

void clock_advance(struct warp *w) {
  if (w->clock)
    w->clock[w->id].clock++;
}

void clock_converge(struct warp *w) {
  if (!w->clock)
    return;
  struct clock_entry *own = &w->clock[w->id];
  own->clock++;
  own->base = own->clock;
}
