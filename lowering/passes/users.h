// SPDX-License-Identifier: Apache-2.0
// Where the results of an operation are needed, for passes that move operations to their users.
#ifndef TILE_LOWERING_PASSES_USERS_H
#define TILE_LOWERING_PASSES_USERS_H

#include "mlir-dialects/ir.h"

// The first op of the op's own block that needs one of its results, itself or in its regions; null
// if there is none, or if one is needed elsewhere.
MlirOperation op_first_user(MlirOperation op);

#endif
