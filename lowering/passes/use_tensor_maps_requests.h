// SPDX-License-Identifier: Apache-2.0
// What a kernel asks of warps that only load: `warp_specialize` and `flatten` of tl.range, and the
// kernel's own option (`tile.warp_specialize` of the module, base/warp_specialize.h).
#ifndef TILE_LOWERING_PASSES_USE_TENSOR_MAPS_REQUESTS_H
#define TILE_LOWERING_PASSES_USE_TENSOR_MAPS_REQUESTS_H

#include "lowering/pass.h"

// NULL, or why no load of the kernel may have warps of its own.
const char *warps_refused(struct pass_context *p);
// The same for one load: of the loops around it, the innermost that says anything counts, and the
// kernel's option more than any of them.
const char *load_refuses_warps(struct pass_context *p, MlirOperation load);

// Remarks at loops and the kernel about what their requests do, before the loads are rewritten.
// `why`: why the kernel has no such warps; NULL: it has.
void loop_requests_answer(struct pass_context *p, MlirOperation kernel, const char *why);

#endif
