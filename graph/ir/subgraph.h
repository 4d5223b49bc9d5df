// SPDX-License-Identifier: Apache-2.0
// Subgraphs: arguments of higher-order operators. They lie on the arena of the graph around them
// and share its sizes. Their only inputs are operands, their only effects results.
#ifndef TILE_GRAPH_IR_SUBGRAPH_H
#define TILE_GRAPH_IR_SUBGRAPH_H

#include "graph/ir/graph_build.h"
#include "graph/ir/graph_operators.h"

struct graph *node_graph(const struct node *n, unsigned i);
// The tensors of arguments first..last-1, also in lists, in order: writes them to ret, if it is not
// NULL, and returns how many.
size_t node_list_tensors(const struct node *n, unsigned first, unsigned last, struct value **ret);
// The same, on `a`.
size_t node_tensors(const struct node *n, unsigned first, unsigned last, struct arena *a,
                    struct value ***ret);
// Appends the nodes of `sub` to b->g, with args[i] as input i. ret[i] is output i; NULL after an
// error, which is recorded.
void graph_inline(struct build *b, const struct graph *sub, struct value *const *args,
                  struct value **ret);
// Sets keeps_casts of the graph and of its subgraphs.
void graph_keep_casts(struct graph *g, bool keeps);
// "1 input", "2 inputs".
const char *count_text(struct arena *a, size_t count, const char *what);
// Has the graph an operator of this class, also in subgraphs?
bool graph_has_class(const struct graph *g, enum operator_class class);

#endif
