// SPDX-License-Identifier: Apache-2.0
// What ptxas says about code that it assembled, in its own output and in the driver's log.
#ifndef TILE_BASE_PTXAS_LOG_H
#define TILE_BASE_PTXAS_LOG_H

#include "base/str.h"

// The first line with a code C7500 to C7599, from the code on: ptxas serialised products by wgmma,
// inserted waits for them, or ignored setmaxnreg. The program is right, but not the one that was
// asked for. Empty if there is none. A view of `log`.
struct str ptxas_log_problem(struct str log);

#endif
