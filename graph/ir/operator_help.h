// SPDX-License-Identifier: Apache-2.0
// What messages about an operator suggest.
#ifndef TILE_GRAPH_IR_OPERATOR_HELP_H
#define TILE_GRAPH_IR_OPERATOR_HELP_H

#include "graph/ir/graph_operators.h"

// Reports the text about `op` at `at`; what follows a line end in `text` is its help. Without one
// the help is that of the code: the operators that change shapes (E1004) or types (E1005), the
// parameters of `op` (E1003).
void operator_error(struct diag_engine *diag, struct span at, enum diag_code code,
                    const struct operator_row *op, const char *text);

#endif
