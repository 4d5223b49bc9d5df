// SPDX-License-Identifier: Apache-2.0
// Values of a kernel that the launch can compute from the arguments (base/launch_expr.h).
#ifndef TILE_LOWERING_ANALYSIS_LAUNCH_VALUE_H
#define TILE_LOWERING_ANALYSIS_LAUNCH_VALUE_H

#include "base/launch_expr.h"
#include "mlir-dialects/ir.h"

// An integer computed from constants and run-time parameters of `kernel`. Terms are on `a`.
bool launch_value_of(struct ir_context *c, MlirOperation kernel, MlirValue v, struct arena *a,
                     struct launch_expr *ret);
// A pointer: the number of the parameter it is derived from, and its distance in elements.
bool launch_pointer_of(struct ir_context *c, MlirOperation kernel, MlirValue v, struct arena *a,
                       uint32_t *ret_param, struct launch_expr *ret_offset);

#endif
