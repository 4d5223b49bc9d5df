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
  unsigned last; // 0: no load runs ahead
  struct loop_loads loads;
  struct map stages;   // MlirOperation.ptr -> stage + 1; absent: the last one
  unsigned *arguments; // stage in which the carried value of that number is first needed
};

// stages: maximal number of tiles of a load at once, including the one in use.
struct loop_schedule loop_schedule_of(struct ir_context *c, struct loop_loads loads,
                                      MlirOperation loop, unsigned stages, struct arena *a);
unsigned schedule_stage(const struct loop_schedule *s, MlirOperation op); // of the body
// Iterations that a load runs ahead.
static inline unsigned schedule_distance(const struct loop_schedule *s, MlirOperation op) {
  return s->last - schedule_stage(s, op);
}
// Of a value of the body: its stage; the induction variable is available in all.
unsigned schedule_stage_of_value(const struct loop_schedule *s, MlirValue v);
bool schedule_is_induction(const struct loop_schedule *s, MlirValue v);

// Operations whose result both early and late stages need are repeated if they depend only on the
// induction variable and values from outside, so that nothing needs to be carried.
void schedule_repeat_cheap(struct ir_context *c, struct loop_schedule *s, struct arena *a);

#endif
