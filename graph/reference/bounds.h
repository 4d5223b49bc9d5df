// SPDX-License-Identifier: Apache-2.0
// What a program may give instead of the interpreter's results: each element within a bound of its
// own, which is what rounding errors of the dtypes on the way can make of it.
#ifndef TILE_GRAPH_REFERENCE_BOUNDS_H
#define TILE_GRAPH_REFERENCE_BOUNDS_H

#include "graph/reference/interpret.h"

enum { BOUND_RUNS = 2 };

struct bounds {
  const struct graph *graph;
  size_t count;                      // outputs, then mutations
  struct tensor **want;              // the interpreter's; NULL: None
  struct tensor **noisy[BOUND_RUNS]; // the same with noise
};

// Interprets the graph, once as it is and BOUND_RUNS times with noise. Arguments as for
// graph_interpret; NULL with E1010, or with E0991 where memory is out.
struct bounds *bounds_create(const struct graph *g, uint64_t seed, const int64_t *symbols,
                             struct tensor *const *inputs);
void bounds_destroy(struct bounds *b);

struct bound_options {
  double largest;  // not negative: differences of that part of the largest value are right, too
  double absolute; // differences up to it are right
};

struct bound_verdict {
  int64_t wrong, first;    // elements beyond their bound; the one that is furthest beyond
  double got, want, bound; // of that element
  double part; // the largest difference as a part of the largest value; infinite, where one is
               // infinite or NaN and the other is not
  double size; // the largest finite value
};

// Output i, or behind those mutation i - outputs, as a program gave it.
struct bound_verdict bounds_judge(const struct bounds *b, size_t i, const struct tensor *got,
                                  const struct bound_options *o);

#endif
