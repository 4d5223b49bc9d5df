// SPDX-License-Identifier: Apache-2.0
// How the threads of a program access a buffer in shared memory: used by the emission, and by the
// tuner to count wavefronts.
#ifndef TILE_LOWERING_ANALYSIS_BUFFER_ACCESS_H
#define TILE_LOWERING_ANALYSIS_BUFFER_ACCESS_H

#include "layouts/exchange_plan.h"
#include "lowering/target.h"
#include "mlir-dialects/ir.h"

// Registers of the layout of `tile`, stored into a buffer of type `buffer`. False where the
// buffer's layout does not fit.
bool buffer_store_side(struct ir_context *c, const struct target *target, MlirType tile,
                       MlirType buffer, struct exchange_side *ret);
// The whole buffer, loaded into registers of the layout of `tile`.
bool buffer_read_side(struct ir_context *c, const struct target *target, MlirType tile,
                      MlirType buffer, struct exchange_side *ret);
// What the tilegpu.local_load `op` reads: the whole buffer, or the part at its offsets.
bool buffer_load_side(struct ir_context *c, const struct target *target, MlirOperation op,
                      struct exchange_side *ret);

#endif
