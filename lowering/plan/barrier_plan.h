// SPDX-License-Identifier: Apache-2.0
// Where barriers are needed because of shared memory: a forward data flow of the accesses that some
// thread may not have finished. An op that accesses memory which other threads may still read or
// write needs a barrier. The plan changes nothing; the pass insert_barriers builds what it lists.
#ifndef TILE_LOWERING_PLAN_BARRIER_PLAN_H
#define TILE_LOWERING_PLAN_BARRIER_PLAN_H

#include "base/wgmma.h"
#include "lowering/analysis/intervals.h"
#include "lowering/analysis/shared_effects.h"

// Groups in flight, and the older ones that a wait completes.
enum { PRODUCT_AGES = WGMMA_IN_FLIGHT + 1 };

// Accesses since the last barrier, and those that barriers do not end.
struct pending {
  struct intervals reads, writes;
  struct intervals under_way; // written by copies in flight; barriers do not complete them
  // Read by products in flight, by age: 0 is the youngest group, the last one holds all older ones.
  struct intervals products[PRODUCT_AGES];
};

// The effects of a call.
struct call_effects {
  struct intervals touches; // everything
  struct pending left;      // at its return
};

// In front of `op`.
struct planned_barrier {
  MlirOperation op;
  uint32_t warps;        // groups of so many neighbouring warps meet, each for itself; 0: the CTA
  bool is_behind_writes; // it separates writes from later accesses
};

struct barrier_plan {
  VEC(struct planned_barrier) before;
  struct pending left;      // at the return
  MlirOperation overwrites; // the first op that writes what a product in flight reads; null: none
};

// `calls` (may be NULL): func.func -> struct call_effects *. `see` (may be NULL) is called for
// every op with effects, with what is pending before it, on every visit.
struct barrier_plan
barrier_plan_make(const struct shared_items *items, MlirOperation func, const struct map *calls,
                  void (*see)(void *user, MlirOperation op, const struct shared_effects *effects,
                              const struct pending *pending),
                  void *user, struct arena *a);
// What calls of the function do, given its plan.
struct call_effects *call_effects_of(const struct shared_items *items, MlirOperation func,
                                     const struct map *calls, const struct barrier_plan *plan,
                                     struct arena *a);

#endif
