// SPDX-License-Identifier: Apache-2.0
// Bounds for comparing a program's results with the interpreter's: each element has its own, which
// estimates the accumulated rounding errors of the dtypes.
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

// Interprets the graph once without noise and BOUND_RUNS times with it. Arguments as for
// graph_interpret; NULL with E1010, or with E0991 if out of memory.
struct bounds *bounds_create(const struct graph *g, uint64_t seed, const int64_t *symbols,
                             struct tensor *const *inputs);
void bounds_destroy(struct bounds *b);

struct bound_options {
  double largest;  // >= 0: differences up to this fraction of the largest value are accepted too
  double absolute; // differences up to it are accepted
};

struct bound_verdict {
  int64_t wrong, first;    // elements beyond their bound; the one that exceeds it most
  double got, want, bound; // of that element
  double part; // the largest difference relative to the largest value; infinite if only one of the
               // two is infinite or NaN
  double size; // the largest finite value
};

// Output i, or after those mutation i - outputs, as computed by a program.
struct bound_verdict bounds_judge(const struct bounds *b, size_t i, const struct tensor *got,
                                  const struct bound_options *o);

#endif
