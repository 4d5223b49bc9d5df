// SPDX-License-Identifier: Apache-2.0
// What the files of the pass `pipeline` share: a loop while it is rebuilt by its schedule.
//
// The loop starts `last` iterations late. The early stages before that are the prologue, in as many
// rounds; round `last` is every iteration of the new loop. In round r, stage s works on the
// iteration r - s of the program.
#ifndef TILE_LOWERING_PASSES_PIPELINE_H
#define TILE_LOWERING_PASSES_PIPELINE_H

#include "lowering/pass.h"
#include "lowering/plan/loop_schedule.h"
#include "mlir-dialects/build.h"

// A value of an early stage that later ones need: the loop carries its values of the last
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
  bool late; // at the end of an iteration
  unsigned stage, level;
};

struct ring {
  MlirOperation load;
  MlirValue buffers, view; // all of it; the buffer in use
  MlirValue loaded;        // loaded from it, in the layout of the load; null before the wait
  unsigned copies, stage, level;
  unsigned distance; // iterations that its copies run ahead
  bool late;         // copies are issued behind the products of an iteration
};

// Indices of the buffers to fill and in use, for rings with that many copies and that distance. The
// new loop carries them from argument `first`, the one to fill, to the one in use.
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
  struct builder b; // where the current round is built
  MlirValue lower, upper, step;
  int64_t trips;     // -1: not known
  MlirValue *ahead;  // [last + 1]: that many steps
  MlirValue *limits; // [last + 1]: iterations below have that many more after them
  MlirValue *starts; // [last + 1]: does the iteration of that number exist? null: not built yet
  MlirValue *firsts; // [last + 1]: its induction variable
  struct round *rounds;
  unsigned now; // round
  VEC(struct delay) delays;
  VEC(intptr_t) kept;   // indices of carried values that are used
  MlirOperation result; // the new loop
  MlirBlock block;      // its body
  VEC(struct ring) rings;
  VEC(struct copy_group) groups;
  VEC(struct ring_counter) counters;
  uint64_t waited; // levels
};

// ---- pipeline_expand.c ----
// Builds the pipelined loop and erases the old one; returns the new one.
MlirOperation pipeline_expand(struct pass_context *p, struct loop_schedule *s);

// ---- pipeline_values.c ----
struct ring *ring_of(struct expansion *x, MlirValue v); // whose load has the result v, or NULL
// The value that `v` of the old loop has in the current round for an op of that stage.
MlirValue expansion_value(struct expansion *x, MlirValue v, unsigned stage);
void expansion_set(struct expansion *x, MlirValue of, MlirValue v); // in the current round
void expansion_set_at(struct expansion *x, unsigned round, MlirValue of, MlirValue v);
MlirValue expansion_value_at(const struct expansion *x, unsigned round, MlirValue v); // may be null
unsigned expansion_stage_made(struct expansion *x, MlirValue v); // the stage that defines it
struct delay *expansion_delay(struct expansion *x, MlirValue v); // NULL: the loop does not carry it
// The condition that the stage's iteration exists; null: always.
MlirValue expansion_predicate(struct expansion *x, unsigned stage);
// `mask` (may be null) of an access through `ptr`, and that the iteration exists; may be null.
MlirValue expansion_mask(struct expansion *x, MlirValue ptr, MlirValue mask, unsigned stage);
const char *expansion_text(struct expansion *x, MlirOperation op, const char *attribute);

// ---- pipeline_rings.c ----
void rings_open(struct expansion *x); // at the head of the loop body
// The copy of a load where the stage has one group: before its pointers advance.
void rings_copy_at(struct expansion *x, MlirOperation load);
// Ends the stage in this round: its other copies, group by group, early or late ones.
void rings_commit(struct expansion *x, unsigned stage, bool late);
bool rings_are_late(const struct expansion *x, unsigned stage); // all of the stage, which has some
// Stages that have nothing to copy yet: their groups are empty, so that groups can be counted.
void rings_idle(struct expansion *x, bool late);
struct value_list {
  VEC(MlirValue) at;
};
void rings_carry(struct expansion *x, struct value_list *inits); // the loop's inits
void rings_begin_iteration(struct expansion *x);
// Waits for the buffers that `user` reads, unless done.
void rings_wait_for(struct expansion *x, MlirOperation user);
void rings_yield(struct expansion *x, struct value_list *next);
void rings_close(struct expansion *x); // after the loop

#endif
