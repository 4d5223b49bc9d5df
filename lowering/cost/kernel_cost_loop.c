// SPDX-License-Identifier: Apache-2.0
// Of the loops that load or wait, the one with the most iterations counts.
#include "lowering/cost/kernel_cost_loop.h"

#include "lowering/analysis/liveness.h"

// The loop with the most iterations that loads: iterations in flight, and waits.
struct loop_look {
  struct ir_context *c;
  MlirOperation loop;
  unsigned loads, waits, groups; // of copies
  int64_t pending;               // groups in flight after the last wait
  int64_t slots;                 // of the largest ring that it reads
};

static bool look_inside(MlirOperation op, void *user) {
  struct loop_look *l = user;
  enum op_id id = op_id(l->c, op);
  MlirOperation around = op_loop_around(l->c, op);
  if (mlirOperationIsNull(around) || !mlirOperationEqual(around, l->loop))
    return true;
  l->loads += id == OP_TILE_LOAD;
  l->groups += id == OP_GPU_ASYNC_COMMIT;
  if (id == OP_GPU_RING_FULL) {
    int64_t slots = op_attr_int(op, "slots", 1);
    l->slots = slots > l->slots ? slots : l->slots;
  }
  if (id == OP_GPU_ASYNC_WAIT) {
    l->waits++;
    l->pending = op_attr_int(op, "pending", 0);
  }
  return true;
}

// Loads into registers that the next iteration uses are one iteration ahead.
static bool loads_ahead(struct ir_context *c, MlirOperation loop) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0));
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(yield); i++) {
    MlirOperation def = value_def(mlirOperationGetOperand(yield, i));
    if (!mlirOperationIsNull(def) && op_is(c, def, OP_TILE_LOAD) &&
        mlirOperationEqual(op_loop_around(c, def), loop))
      return true;
  }
  return false;
}

// Iterations in flight. Of copies, after the wait for an iteration's last group, the groups of the
// stages in between; of a ring, one slot is read.
static uint32_t stages_of(const struct loop_look *l) {
  if (l->slots)
    return (uint32_t)l->slots;
  if (l->waits && l->groups)
    return (uint32_t)(l->pending + 1) / l->groups + 1;
  return loads_ahead(l->c, l->loop) ? 2 : 1;
}

void main_loop_see(struct ir_context *c, const struct trip_counts *trips, MlirOperation loop,
                   double times, struct kernel_cost *k) {
  struct loop_look l = {.c = c, .loop = loop};
  ir_walk(loop, look_inside, &l);
  if (l.loads + l.waits + l.slots == 0)
    return;
  double iterations = trips_of_loop(trips, loop) * times;
  if (iterations <= k->iterations)
    return;
  k->iterations = iterations;
  k->stages = stages_of(&l);
  k->waits_per_iteration = 1;
}
