// SPDX-License-Identifier: Apache-2.0
// The schedule of a pipelined loop: every op of its body has a stage. In an iteration of the
// pipelined loop, the ops of the last stage work on that iteration, those of stage s on the
// iteration (last - s) later.
//
//   iteration of the pipelined loop        0  1  2  3
//   stage 0 works on iteration             2  3  4  5
//   stage 2, the last, on iteration        0  1  2  3
//
// Loads run in early stages, with what their addresses need; everything else is in the last one.
#ifndef TILE_LOWERING_PLAN_LOOP_SCHEDULE_H
#define TILE_LOWERING_PLAN_LOOP_SCHEDULE_H

#include "lowering/plan/loop_loads.h"

struct loop_schedule {
  MlirOperation loop;
  MlirBlock body;
  unsigned last; // 0: nothing runs ahead
  struct loop_loads loads;
  struct map stages;   // MlirOperation.ptr -> stage + 1; absent: the last one
  unsigned *arguments; // stage in which the carried value of that number is first needed
};

// stages: how many tiles of a load there may be at once, the one in use included.
struct loop_schedule loop_schedule_of(struct ir_context *c, struct loop_loads loads,
                                      MlirOperation loop, unsigned stages, struct arena *a);
unsigned schedule_stage(const struct loop_schedule *s, MlirOperation op); // of the body
// Iterations that a load runs ahead.
static inline unsigned schedule_distance(const struct loop_schedule *s, MlirOperation op) {
  return s->last - schedule_stage(s, op);
}
// Of a value of the body: the stage it is made in; the induction variable is there in all of them.
unsigned schedule_stage_of_value(const struct loop_schedule *s, MlirValue v);
bool schedule_is_induction(const struct loop_schedule *s, MlirValue v);

// Operations of which early stages and late ones need the result are repeated where nothing but the
// induction variable and values from outside are needed for that: nothing has to be carried then.
void schedule_repeat_cheap(struct ir_context *c, struct loop_schedule *s, struct arena *a);

#endif
