// SPDX-License-Identifier: Apache-2.0
// Chooses one layout for every tile of a kernel, to minimise conversions, above all large ones.
// Memory accesses ("anchors", as in Triton) prefer their coalesced layout; preferences propagate
// along uses and definitions, and where they meet the one of larger weight wins: of the larger
// tile, the deeper loop, the layout that more accesses share.
//
// A load of a small tile takes another layout when loading it that way is no more expensive than
// converting it: a row of biases is loaded as a slice of the tile it is added to. So does a store
// of a value in another layout, like sums of rows. A load that a pipelined loop copies to shared
// memory keeps the layout of its widest copies: its users read the buffer in their own.
//
// A matrix product is the heaviest anchor: its accumulator keeps its layout through loops, and
// values computed from it follow. Its operands have no preference; they are converted.
//
// The result of a reduction is not chosen: it is a slice of the layout of its operands.
#ifndef TILE_LOWERING_PLAN_LAYOUT_CHOICE_H
#define TILE_LOWERING_PLAN_LAYOUT_CHOICE_H

#include "lowering/analysis/axis_info.h"

struct layout_choice;

// Notes the accesses and products under `root` with the layouts they have now. stages: of loops
// without tile.num_stages. The result is on `a`.
struct layout_choice *layout_choice_begin(struct ir_context *c, MlirOperation root,
                                          const struct target *target, unsigned stages,
                                          struct arena *a);
// Solves. Before, the caller removes the conversions that shall be decided again.
void layout_choice_solve(struct layout_choice *x);

// The layout chosen for a tile; the one of its type if no access reaches it.
MlirAttribute layout_chosen(struct layout_choice *x, MlirValue tile);
// The layout of operand `i` that `op` needs, given the choices; null when any will do.
MlirAttribute layout_wanted(struct layout_choice *x, MlirOperation op, intptr_t i);
// 4 to the power of the number of loops around `block`, up to four of them.
int64_t layout_loop_factor(struct ir_context *c, MlirBlock block);

#endif
