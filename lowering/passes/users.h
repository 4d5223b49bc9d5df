// SPDX-License-Identifier: Apache-2.0
// The users of an operation's results, for passes that move operations to their users.
#ifndef TILE_LOWERING_PASSES_USERS_H
#define TILE_LOWERING_PASSES_USERS_H

#include "mlir-dialects/ir.h"

// The first op of the same block that uses a result, itself or in its regions; null if there is
// none, or if a result is used outside the block.
MlirOperation op_first_user(MlirOperation op);

#endif
