// SPDX-License-Identifier: Apache-2.0
// Comments at the end of PTX that name the buffers in shared memory, for readers and for the
// simulator's reports (ptx-simulator/shared_names.c):
//
//   // shared 0x3000: 3 x 4096 bytes, buffer of `b`
//   // shared 0x6000: 3 x 8 bytes, full mbarrier of `a, b`
#ifndef TILE_LOWERING_COST_SHARED_MAP_H
#define TILE_LOWERING_COST_SHARED_MAP_H

#include "base/str.h"
#include "lowering/cost/feed_survey.h"

// One line for each buffer that has a name; of mbarriers of a ring two, full and empty ones.
// Offsets are from the beginning of dynamic shared memory. After all passes.
void shared_map_write(struct ir_context *c, MlirModule module, struct strbuf *out);

#endif
