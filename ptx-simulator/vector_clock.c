// SPDX-License-Identifier: Apache-2.0
// Vector clocks of warps (vector_clock.h).
#include "ptx-simulator/vector_clock.h"

#include "ptx-simulator/cluster.h"

unsigned clock_warps(const struct cta *c) { return c->cluster->count * c->warp_count; }

unsigned clock_mbarriers(const struct cta *c) { return clock_warps(c) + c->rank * MAX_MBARRIERS; }

static unsigned half_of(const struct cta *c) {
  return clock_warps(c) + c->cluster->count * MAX_MBARRIERS;
}

static bool has_halves(const struct cta *c) { return c->cluster->count > 1; }

unsigned clock_count(const struct cta *c) { return half_of(c) << has_halves(c); }

struct clock_entry *clock_reads(const struct warp *w) {
  return has_halves(w->cta) ? w->clock + half_of(w->cta) : w->clock;
}

void clock_set_own(struct warp *w, struct clock_entry own) {
  w->clock[w->id] = own;
  clock_reads(w)[w->id] = own;
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
  unsigned half = half_of(c), warps = clock_warps(c), first = c->rank * c->warp_count;
  struct clock_entry own = w->clock[w->id], back = from[w->id];
  if (cluster) {
    clock_join(w->clock, from, half);
  } else {
    clock_join(w->clock + first, from + first, c->warp_count);
    clock_join(w->clock + warps, from + warps, half - warps);
  }
  if (has_halves(c))
    clock_join(w->clock + half, from + half, half);
  // All its lanes have arrived: what they did before is ordered between them, too.
  if (back.clock && !(w->live & ~back.lanes) && back.clock + 1 > own.base)
    own.base = back.clock + 1;
  clock_set_own(w, own);
}

void clock_release(struct warp *w, uint32_t lanes, struct clock_entry *to, bool writes) {
  unsigned half = half_of(w->cta), warps = clock_warps(w->cta), first = writes ? 0 : warps;
  struct clock_entry own = w->clock[w->id], part = own;
  part.lanes = (w->live & ~lanes) ? lanes : ~0u;
  clock_set_own(w, part);
  clock_join(to + first, w->clock + first, half - first);
  if (has_halves(w->cta))
    clock_join(to + half, w->clock + half, half);
  clock_set_own(w, own);
}

void clock_advance(struct warp *w) {
  if (!w->clock)
    return;
  struct clock_entry own = w->clock[w->id];
  own.clock++;
  clock_set_own(w, own);
}

void clock_converge(struct warp *w) {
  if (!w->clock)
    return;
  struct clock_entry own = w->clock[w->id];
  own.clock++;
  own.base = own.clock;
  clock_set_own(w, own);
}
