// SPDX-License-Identifier: Apache-2.0
// Warps: which lanes run next, where they converge, and when they end.
#include "ptx-simulator/cluster.h"
#include "ptx-simulator/wgmma_fence.h"

#include <assert.h>

// After so many operations another group runs, so that a spinning lane cannot block the lane it
// waits for.
enum { MAX_STREAK = 4096 };

void warp_add_group(struct warp *w, struct group g) {
  if (!g.mask)
    return;
  assert(w->other_count < SIM_LANES);
  w->others[w->other_count++] = g;
  if (g.state == GROUP_READY && g.pc < w->limit)
    w->limit = g.pc;
}

static void remove_group(struct warp *w, unsigned i) { w->others[i] = w->others[--w->other_count]; }

static void find_limit(struct warp *w) {
  w->limit = UINT32_MAX;
  for (unsigned i = 0; i < w->other_count; i++)
    if (w->others[i].state == GROUP_READY && w->others[i].pc < w->limit)
      w->limit = w->others[i].pc;
}

void warp_split(struct warp *w, uint32_t keep, uint32_t pc) {
  warp_add_group(w, (struct group){.pc = pc, .mask = w->mask & ~keep});
  w->mask &= keep;
}

// Merges the groups that are ready at the same instruction into the running one.
static void merge_ready(struct warp *w) {
  for (unsigned i = w->other_count; i-- > 0;)
    if (w->others[i].state == GROUP_READY && w->others[i].pc == w->pc) {
      w->mask |= w->others[i].mask;
      remove_group(w, i);
    }
}

static void park(struct warp *w) {
  struct group g = {.pc = w->pc, .mask = w->mask};
  w->mask = 0;
  warp_add_group(w, g);
}

// Selects the ready group at the lowest instruction.
static bool pick(struct warp *w) {
  if (w->mask)
    park(w);
  unsigned best = UINT32_MAX;
  for (unsigned i = 0; i < w->other_count; i++)
    if (w->others[i].state == GROUP_READY &&
        (best == UINT32_MAX || w->others[i].pc < w->others[best].pc))
      best = i;
  if (best == UINT32_MAX)
    return false;
  w->pc = w->others[best].pc;
  w->mask = w->others[best].mask;
  remove_group(w, best);
  merge_ready(w);
  find_limit(w);
  return true;
}

// Runs another ready group, chosen at random.
static void rotate(struct warp *w) {
  unsigned ready = 0, seen = 0;
  for (unsigned i = 0; i < w->other_count; i++)
    ready += w->others[i].state == GROUP_READY;
  w->streak = 0;
  if (!ready)
    return;
  unsigned chosen = (unsigned)(run_random(w->run) % ready);
  for (unsigned i = 0; i < w->other_count; i++)
    if (w->others[i].state == GROUP_READY && seen++ == chosen) {
      struct group g = w->others[i];
      remove_group(w, i);
      if (w->mask)
        park(w);
      w->pc = g.pc;
      w->mask = g.mask;
      merge_ready(w);
      w->limit = UINT32_MAX; // it runs on, past the other groups
      return;
    }
}

bool warp_runnable(const struct warp *w) {
  if (w->mask)
    return true;
  for (unsigned i = 0; i < w->other_count; i++)
    if (w->others[i].state == GROUP_READY)
      return true;
  return false;
}

static uint32_t guarded_lanes(struct warp *w, const struct op *op) {
  const uint64_t *p = row(w, op->guard);
  uint32_t lanes = 0;
  for (unsigned i = 0; i < SIM_LANES; i++)
    lanes |= (uint32_t)(p[i] & 1) << i;
  if (w->undefined)
    require_defined(w, op, op->guard, w->mask, 1, "the predicate");
  return (lanes ^ op->guard_flip) & w->mask;
}

void warp_run(struct warp *w, uint64_t budget) {
  const struct op *code = w->program->code.at;
  uint64_t start = budget, lane_count = 0;
  w->stop = false;
  while (budget && !w->stop) {
    if ((!w->mask || w->pc >= w->limit) && !pick(w))
      break;
    const struct op *op = &code[w->pc++];
    uint32_t lanes = op->guard == NO_SLOT ? w->mask : guarded_lanes(w, op);
    budget--;
    if (lanes) {
      lane_count += (unsigned)__builtin_popcount(lanes);
      if (op->wgmma && w->touched)
        wgmma_touch(w, op);
      op->run(w, op, lanes);
    }
    if (++w->streak > MAX_STREAK)
      rotate(w);
  }
  w->run->instructions += start - budget;
  w->cta->instructions += start - budget;
  w->run->lane_instructions += lane_count;
}

// ---- waiting ----

// Whether a group waits at this instruction for `want`; exited lanes do not count.
static bool waits_here(const struct warp *w, const struct group *g, uint32_t pc, uint32_t want) {
  return g->state == GROUP_SYNC && g->pc == pc && ((g->wait_mask ^ want) & w->live) == 0;
}

bool warp_converge(struct warp *w, const struct op *op, uint32_t *lanes, uint32_t want,
                   bool aligned) {
  uint32_t here = w->pc - 1, all = *lanes;
  for (unsigned i = 0; i < w->other_count; i++)
    if (waits_here(w, &w->others[i], here, want))
      all |= w->others[i].mask;
  // Groups that are ready here will arrive by themselves.
  if (all == *lanes && (want & w->live & ~all) == 0) {
    clock_converge(w);
    return true;
  }
  for (unsigned i = w->other_count; i-- > 0;)
    if (waits_here(w, &w->others[i], here, want))
      remove_group(w, i);
  if ((want & w->live & ~all) == 0) {
    w->mask |= all;
    *lanes = all;
    clock_converge(w);
    return true;
  }
  w->mask &= ~*lanes;
  if (w->mask)
    park(w);
  warp_add_group(
      w, (struct group){
             .pc = here, .mask = all, .state = GROUP_SYNC, .wait_mask = want, .aligned = aligned});
  if (!warp_runnable(w))
    w->stop = true;
  (void)op;
  return false;
}

bool warp_sync_mask(struct warp *w, const struct op *op, uint32_t *lanes, int32_t mask_slot) {
  const uint64_t *masks = row(w, mask_slot);
  unsigned first = (unsigned)__builtin_ctz(*lanes);
  uint32_t want = (uint32_t)masks[first], same = 0;
  require_defined(w, op, mask_slot, *lanes, 4, "the lane mask");
  EACH_LANE(lane, *lanes) {
    if (!((uint32_t)masks[lane] >> lane & 1)) {
      fault(w, op, lane, SIM_BAD_MASK, NULL, "the lane mask 0x%08x is without lane %u itself",
            (uint32_t)masks[lane], lane);
      return false;
    }
    same |= (uint32_t)((uint32_t)masks[lane] == want) << lane;
  }
  if (want & ~w->started) {
    fault(w, op, first, SIM_BAD_MASK, NULL,
          "the lane mask 0x%08x names lanes that the block does not have", want);
    return false;
  }
  if (same != *lanes) { // lanes with other masks execute the instruction separately
    warp_add_group(w, (struct group){.pc = w->pc - 1, .mask = *lanes & ~same});
    w->mask &= ~(*lanes & ~same);
    *lanes = same;
  }
  return warp_converge(w, op, lanes, want, false);
}

bool warp_converge_whole(struct warp *w, const struct op *op, uint32_t *lanes) {
  if (w->live != ~0u) {
    fault(w, op, (unsigned)__builtin_ctz(*lanes), SIM_DIVERGENCE, NULL,
          "lanes 0x%08x of the warp have exited, and this instruction needs all 32", ~w->live);
    return false;
  }
  return warp_converge(w, op, lanes, ~0u, true);
}

void warp_block(struct warp *w, uint32_t lanes, struct group g) {
  w->mask &= ~lanes;
  g.mask = lanes;
  if (w->mask)
    park(w);
  warp_add_group(w, g);
  w->stop = !warp_runnable(w);
}

// Lanes that waited for an exited lane can continue.
static void release_waiting(struct warp *w) {
  for (unsigned i = 0; i < w->other_count; i++) {
    struct group *g = &w->others[i];
    uint32_t here = 0;
    if (g->state != GROUP_SYNC)
      continue;
    for (unsigned k = 0; k < w->other_count; k++)
      if (waits_here(w, &w->others[k], g->pc, g->wait_mask))
        here |= w->others[k].mask;
    if ((g->wait_mask & w->live & ~here) == 0)
      g->state = GROUP_READY;
  }
  find_limit(w);
}

void warp_exit_lanes(struct warp *w, uint32_t lanes) {
  w->live &= ~lanes;
  w->mask &= ~lanes;
  release_waiting(w);
  if (w->live == 0) {
    w->stop = true;
    w->cta->alive--;
    barriers_update(w->cta);
  }
  cluster_update(w->cta->cluster);
}

void warp_report_stuck(struct warp *w) {
  for (unsigned i = 0; i < w->other_count; i++) {
    const struct group *g = &w->others[i];
    if (g->state != GROUP_SYNC)
      continue;
    const struct op *op = &w->program->code.at[g->pc];
    uint32_t missing = g->wait_mask & w->live & ~g->mask;
    fault(w, op, (unsigned)__builtin_ctz(g->mask), g->aligned ? SIM_DIVERGENCE : SIM_BAD_MASK, NULL,
          "lanes 0x%08x wait here for lanes 0x%08x, which never arrive", g->mask, missing);
    return;
  }
}
