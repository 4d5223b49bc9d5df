// SPDX-License-Identifier: Apache-2.0
// Inside of the barrier plan: its state, and memory that alternates with iterations of a loop.
#ifndef TILE_LOWERING_PLAN_BARRIER_PLAN_SLOTS_H
#define TILE_LOWERING_PLAN_BARRIER_PLAN_SLOTS_H

#include "lowering/plan/barrier_plan.h"

// A ring whose buffers have phases in the loop, and whose memory no other item uses there.
struct phased_ring {
  uint32_t item;
  MlirOperation loop;
};

// Who meets at a barrier.
enum scope { SCOPE_NONE, SCOPE_OWN, SCOPE_CTA };

struct placed_barrier {
  MlirOperation op;
  enum scope scope, before; // before: of the op until this was added
};

struct barrier_run {
  const struct shared_items *items;
  const struct map *calls;
  struct arena *a;
  void (*see)(void *user, MlirOperation op, const struct shared_effects *effects,
              const struct pending *pending);
  void *user;
  VEC(struct placed_barrier) before;
  struct map needed;    // op -> enum scope
  struct intervals own; // buffers of stores by groups of warps, each of its own rows
  uint32_t own_warps;   // of such a group
  struct map behind_writes;
  bool *alternates; // of each item: it has two slots, which no other item uses in its loop
  VEC(struct phased_ring) phased_rings;
  size_t steps;     // operations visited
  struct map heads; // loops gone through once -> struct pending *, what is pending at their head
  MlirOperation overwrites;  // what a product in flight reads; null: no op does
  MlirOperation *slot_loops; // of each item: the loop whose iterations its slots count; null: none
};

// Finds the memory of the function that alternates, and the buffers that groups of warps have
// alone.
void barrier_slots_find(struct barrier_run *r, MlirOperation func);
// On the back edge of the loop each slot is that of the iteration before.
void barrier_slots_advance(struct barrier_run *r, MlirOperation loop, struct pending *p);
// From here on the rings' slots are relative to this loop's iterations. Returns the previous loop
// of each ring.
MlirOperation *barrier_slots_enter(struct barrier_run *r, MlirOperation loop, struct pending *p);
void barrier_slots_exit(struct barrier_run *r, MlirOperation loop, const MlirOperation *outer,
                        struct pending *p);

#endif
