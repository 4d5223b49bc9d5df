// SPDX-License-Identifier: Apache-2.0
// Complex tensors while a graph is built. A graph has real values only: a complex tensor of shape
// [m, n] is a real one of shape [m, n, 2], its pairs, or two real ones of shape [m, n], its parts;
// each form is built from the other where it is first needed. Operators on complex tensors are rows
// of graph/ir/complex.def, which append operators on parts or pairs.
#ifndef TILE_GRAPH_IR_COMPLEX_H
#define TILE_GRAPH_IR_COMPLEX_H

#include "graph/ir/graph_build.h"
#include "graph/ir/graph_operators.h"

#define COMPLEX(id, function) void complex_##function(struct build *b, struct node *n);
#include "graph/ir/complex.def"
#undef COMPLEX

struct complex_parts {
  struct value *pairs, *real, *imag; // NULL: not built yet; pairs, or both parts
};

// Is there a complex tensor or a complex dtype among the arguments, or in a list of them?
bool complex_in(const struct arg *args, size_t count);
// The row's function; NULL: the operator takes no complex tensors.
compose_fn complex_rule(enum operator_id op);

// ---- all of these accept NULL and then return NULL (graph/ir/graph_build.h) ----
struct value *complex_of_parts(struct build *b, struct value *real, struct value *imag);
struct value *complex_of_pairs(struct build *b, struct value *pairs);
// Of a real tensor: itself, and zeros.
struct value *complex_real(struct build *b, struct value *v);
struct value *complex_imag(struct build *b, struct value *v);
struct value *complex_pairs(struct build *b, struct value *v);

// An input: its pairs become an input of the graph. Strides count complex elements.
struct value *complex_input(struct graph *g, const char *name, enum dtype part, uint32_t rank,
                            const struct expr *const *shape, const struct expr *const *strides,
                            struct span at);
// The pairs as an output of the graph, with the strides of `v`. NULL after an error.
struct value *complex_output(struct graph *g, struct value *v, struct span at);

#endif
