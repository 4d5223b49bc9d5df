// SPDX-License-Identifier: Apache-2.0
// What the files of the pass `pipeline` share: a loop while it is made anew by its schedule.
//
// The loop starts `last` iterations late. What early stages do before that is the prologue, in as
// many rounds; round `last` stands for every iteration of the new loop. In round r, stage s works
// on the iteration r - s of the program.
#ifndef TILE_LOWERING_PASSES_PIPELINE_H
#define TILE_LOWERING_PASSES_PIPELINE_H

#include "lowering/pass.h"
#include "lowering/plan/loop_schedule.h"
#include "mlir-dialects/build.h"

// A value of early stages that later ones need: the loop carries what it was in the last
// iterations.
struct delay {
  MlirValue of;
  unsigned iterations;
  intptr_t first; // argument of the new loop's block that is one iteration old
};

struct round {
  struct map values;     // MlirValue.ptr of the old body -> MlirValue *
  MlirValue *predicates; // by stage, in the loop; null: not built yet
  MlirValue *inductions; // the same
};

// Loads whose copies are committed together.
struct copy_group {
  unsigned stage, level;
};

struct ring {
  MlirOperation load;
  MlirValue buffers, view; // all of it; the buffer in use
  MlirValue loaded;        // from there, in the layout of the load; null before it was waited for
  unsigned copies, stage, level;
  unsigned distance; // iterations that its copies run ahead
};

// Numbers of the buffers to fill and in use, of rings with that many buffers and that distance. The
// loop carries those from the one to fill, `first` of the new block's arguments, to the one in use.
struct ring_counter {
  unsigned copies, distance;
  intptr_t first;
  MlirValue write, read, next;
};

struct expansion {
  struct pass_context *p;
  struct ir_context *c;
  struct arena *arena;
  struct loop_schedule *s;
  struct builder b; // where the current round goes
  MlirValue lower, upper, step;
  int64_t trips;     // -1: not known
  MlirValue *ahead;  // [last + 1]: that many steps
  MlirValue *limits; // [last + 1]: iterations below have that many more behind them
  MlirValue *starts; // [last + 1]: does the iteration of that number exist? null: not built yet
  MlirValue *firsts; // [last + 1]: its induction variable
  struct round *rounds;
  unsigned now; // round
  VEC(struct delay) delays;
  VEC(intptr_t) kept;   // numbers of carried values that something needs
  MlirOperation result; // the new loop
  MlirBlock block;      // its body
  VEC(struct ring) rings;
  VEC(struct copy_group) groups;
  VEC(struct ring_counter) counters;
  uint64_t waited; // levels
};

// ---- pipeline_expand.c ----
// Makes the loop anew and removes the old one; returns the new one.
MlirOperation pipeline_expand(struct pass_context *p, struct loop_schedule *s);
// The value that `v` of the old loop has in the current round for an op of that stage.
MlirValue expansion_value(struct expansion *x, MlirValue v, unsigned stage);
void expansion_set(struct expansion *x, MlirValue of, MlirValue v);
// Does the iteration exist that the stage works on? Null: surely.
MlirValue expansion_predicate(struct expansion *x, unsigned stage);
// `mask` (may be null) of an access through `ptr`, and that the iteration exists; may be null.
MlirValue expansion_mask(struct expansion *x, MlirValue ptr, MlirValue mask, unsigned stage);
const char *expansion_text(struct expansion *x, MlirOperation op, const char *attribute);

// ---- pipeline_rings.c ----
struct ring *ring_of(struct expansion *x, MlirValue v); // whose load has the result v, or NULL
void rings_open(struct expansion *x);                   // in front of everything
// Ends the stage in this round: its copies, group by group.
void rings_copy(struct expansion *x, unsigned stage);
// Stages that have nothing to copy yet: their groups are empty, so that groups can be counted.
void rings_idle(struct expansion *x);
struct value_list {
  VEC(MlirValue) at;
};
void rings_carry(struct expansion *x, struct value_list *inits); // what the loop begins with
void rings_begin_iteration(struct expansion *x);
// Waits for what `user` needs, if that was not done yet.
void rings_wait_for(struct expansion *x, MlirOperation user);
void rings_yield(struct expansion *x, struct value_list *next);
void rings_close(struct expansion *x); // behind the loop

#endif
