// SPDX-License-Identifier: Apache-2.0
// Random graphs from a seed, for differential tests: pointwise operators,
// views, reductions, joins, gathers, scans and products on small tensors. Values stay near 1, and
// discontinuous operators (comparisons, roundings, argmax) use inputs only, so that results
// must agree up to rounding. graph_make_inputs makes their inputs: indices, and floats of any
// shape and order of dimensions.
#ifndef TESTS_GRAPH_RANDOM_GRAPH_H
#define TESTS_GRAPH_RANDOM_GRAPH_H

#include "graph/ir/graph.h"

struct random_graph_options {
  unsigned operators;    // about so many
  bool symbolic;         // the first symbol of the graph is a size
  bool half_precision;           // also f16 and bf16
  bool products;         // mm and bmm too
  unsigned max_elements; // of a tensor; 0: 2048
};

// NULL on error, which is a bug of the generator. The same seed gives the same graph.
struct graph *random_graph(struct arena *a, struct diag_engine *diag, uint64_t seed,
                           const struct random_graph_options *o);

#endif
