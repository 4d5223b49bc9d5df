// SPDX-License-Identifier: Apache-2.0
// How the registers of a CTA are shared between the warps that compute and a producer warpgroup
// (setmaxnreg).
#ifndef TILE_LOWERING_PLAN_REGISTER_SHARES_H
#define TILE_LOWERING_PLAN_REGISTER_SHARES_H

#include "base/wgmma.h"
#include "mlir-dialects/ir.h"

enum { PRODUCER_WARPS = WGMMA_WARPS }; // a warpgroup, for setmaxnreg

struct register_shares {
  uint32_t entry;               // of a thread at first
  uint32_t producer, computing; // from then on; computing 0: every warp keeps its share
  uint32_t ctas;                // that share a multiprocessor by their registers; at least 1
};
// `num_warps` warps compute; fewer than a warpgroup keep their share. The module's limit of
// registers (tilegpu.max_registers) is that at first.
struct register_shares register_shares_of(struct ir_context *c, MlirOperation module,
                                          MlirOperation kernel, uint32_t num_warps);

#endif
