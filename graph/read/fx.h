// SPDX-License-Identifier: Apache-2.0
// Reads graphs in PyTorch's text format at the ATen level (GraphModule.print_readable, and the text
// of exported programs): a class with a `forward`, annotations with or without strides and devices,
// results of tuples by subscript, `;  x = None`. The tokens are those of the language's own lexer.
#ifndef TILE_GRAPH_READ_FX_H
#define TILE_GRAPH_READ_FX_H

#include "graph/ir/graph.h"

// NULL after errors, all with source locations: E1001 (grammar), E1002 (unknown operators: one
// error that names all of them, with the number of uses), E1003 (arguments), E1004 (shapes), E1005
// (dtypes), E1006 (an annotation differs), E1007 (order), E1008 (unsupported text: nested graphs,
// Dynamo's level), E0901, E0902 and E1009 (limits).
struct graph *graph_read_fx(struct arena *a, struct diag_engine *diag, const struct source *source);

// The same. `take_likely` is called when all inputs are known, and before their uses are read: it
// sets likely sizes (graph_set_likely_size), which decide what the text leaves open. False ends the
// reading.
typedef bool (*graph_likely_fn)(struct graph *g, void *user);
struct graph *graph_read_fx_likely(struct arena *a, struct diag_engine *diag,
                                   const struct source *source, graph_likely_fn take_likely,
                                   void *user);

// Whether a call of `name` ("aten.add.Tensor", "aten.add_.Tensor") is one that texts may have.
bool fx_has_operator(struct str name);

#endif
