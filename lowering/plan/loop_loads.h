// SPDX-License-Identifier: Apache-2.0
// The loads of an scf.for: which of them may run iterations ahead of their use, and how their
// tiles are staged until then.
#ifndef TILE_LOWERING_PLAN_LOOP_LOADS_H
#define TILE_LOWERING_PLAN_LOOP_LOADS_H

#include "base/vec.h"
#include "lowering/analysis/axis_info.h"

enum load_staging {
  STAGING_NONE,      // it is not moved
  STAGING_REGISTERS, // loaded early, carried by the loop
  STAGING_SHARED     // copied asynchronously to a ring of buffers
};

struct loop_load {
  MlirOperation op;
  enum load_staging staging;
  const char *why; // NONE: why it is not moved; REGISTERS: why not through shared memory, or NULL
  bool feeds;      // a dot of the loop, through operations that keep its tile
  bool wanted;     // it feeds a dot, or all loads of the loop are wanted, or it is co-staged
  bool co_staged;  // a large tile of a loop with dots that feeds none of them
  bool is_index;   // the address of another load that may run ahead needs it
  bool recurs;     // its own address needs what it loaded in an earlier iteration
  bool read_in_flight; // SHARED: its buffer is read until the next iteration's product was issued
  unsigned
      level; // of the first dot it feeds: dots of the iteration whose results that one multiplies
  unsigned depth; // length of the chain of loads that its address needs
  bool depth_known;
  MlirAttribute buffer; // SHARED: the layout of its buffers
  struct map slice;     // MlirOperation.ptr -> non-NULL: what its operands need of the loop's body
};

struct loop_loads {
  VEC(struct loop_load) at; // of the loop's body itself, in program order
  const char *why;          // why no load of the loop may run ahead; NULL: some may
  unsigned hidden;          // loads under a condition that feed a dot of the loop
  MlirOperation first_hidden;
};

// The block of the loop's body, and the one a value belongs to.
static inline MlirBlock loop_block(MlirOperation loop) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0));
}
MlirBlock value_block(MlirValue v);
// The op of `block` that holds `op`, maybe itself; null if there is none.
MlirOperation op_in_block(MlirBlock block, MlirOperation op);
// An optional operand of a load (1: mask, 2: other); null without.
MlirValue load_operand(MlirOperation load, int segment);
// Bytes of the loaded value that a thread holds.
unsigned load_bytes_per_thread(struct ir_context *c, MlirOperation load);

// Stages of the loop: its tile.num_stages (ret_asked), else `stages`; at most its iterations.
unsigned loop_stages(struct ir_context *c, MlirOperation loop, unsigned stages, bool *ret_asked);

// Makes co-staged loads unstaged again.
void loop_loads_drop_co_staged(struct loop_loads *loads);

// all: every load of the loop is wanted, not only those that feed dots. On `a`.
struct loop_loads loop_loads_of(struct ir_context *c, struct axis_analysis *axis,
                                const struct target *target, MlirOperation loop, bool all,
                                struct arena *a);

#endif
