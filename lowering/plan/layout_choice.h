// SPDX-License-Identifier: Apache-2.0
// One layout for every tile of a kernel, chosen so that few conversions are needed and the large
// ones not at all. Memory accesses ("anchors") ask for their coalesced layout; the preference
// spreads along uses and definitions, and where preferences meet the heavier one wins: the one of
// the larger tile, of the deeper loop, of the layout more accesses share.
//
// A load of a small tile gives way to a heavier preference when loading it that way is no dearer
// than converting it: a row of biases is loaded as a slice of the tile it is added to. So does a
// store of what came out in another layout, like the sums of rows. A load that a pipelined loop
// copies to shared memory iterations ahead keeps the layout of its widest copies: its users read
// the buffer in theirs.
//
// A matrix product is the heaviest anchor of all: its accumulator stays as it is through loops,
// and what is computed from it follows. Its operands have no preference; they are converted.
//
// What a reduction gives is no matter of choice: it is a slice of the layout of its operands.
#ifndef TILE_LOWERING_PLAN_LAYOUT_CHOICE_H
#define TILE_LOWERING_PLAN_LAYOUT_CHOICE_H

#include "lowering/analysis/axis_info.h"

struct layout_choice;

// Notes the accesses and products under `root` with the layouts they have now. stages: of loops
// that ask for no number themselves. The answers live on `a`.
struct layout_choice *layout_choice_begin(struct ir_context *c, MlirOperation root,
                                          const struct target *target, unsigned stages,
                                          struct arena *a);
// Solves. In between the caller removes the conversions it wants to have decided anew.
void layout_choice_solve(struct layout_choice *x);

// The layout chosen for a tile; what its type says for one that no access reaches.
MlirAttribute layout_chosen(struct layout_choice *x, MlirValue tile);
// The layout that `op` wants its operand `i` in, given the choices; null when any will do.
MlirAttribute layout_wanted(struct layout_choice *x, MlirOperation op, intptr_t i);
// 4 to the power of the number of loops around `block`, up to four of them.
int64_t layout_loop_factor(struct ir_context *c, MlirBlock block);

#endif
