// SPDX-License-Identifier: Apache-2.0
// Gradients of graphs against central differences, in double precision by the reference
// interpreter.
#ifndef TESTS_UNIT_GRAPH_CENTRAL_DIFFERENCES_H
#define TESTS_UNIT_GRAPH_CENTRAL_DIFFERENCES_H

#include "graph/reference/tensor.h"

struct difference_report {
  unsigned checked, skipped; // elements; skipped: at a kink, or not finite
  char wrong[256];           // the first element that differs; empty: none
};

// Differentiates the weighted sum of all float outputs of `g` by its float inputs, twice, and
// compares both derivatives with central differences of what they differentiate, for some elements
// of each input. `in`: the inputs, by index. False if the graph has no gradient (its diagnostics
// say why).
bool check_differences(struct graph *g, struct tensor *const *in,
                       struct difference_report ret[static 2]);

#endif
