// SPDX-License-Identifier: Apache-2.0
// Rounding errors as noise: what a graph gives where each value is off by about as much as kernels
// may be. Runs that differ in their noise alone tell how far rounding carries each element of an
// output, as Monte Carlo arithmetic does (D. S. Parker, 1997).
#ifndef TILE_GRAPH_REFERENCE_NOISE_H
#define TILE_GRAPH_REFERENCE_NOISE_H

#include "graph/reference/tensor.h"

struct noise {
  uint64_t seed;
  double sign;                // 1 or -1: runs of one seed with both move each value to both sides
  const bool *is_coarse;      // by value id: noise_find_coarse; NULL: none is
  bool limits_half_precision; // f16 and bf16 beyond their range are infinite, as where they are
                              // stored
};

// Values of f32 that half-precision results alone are made of: kernels compute these to the digits
// of half precision. By value id, on `a`.
const bool *noise_find_coarse(const struct graph *g, struct arena *a);
// The relative error of one operation with a result of that dtype, with a margin.
double noise_of(enum dtype t, bool is_coarse);
// Adds noise to floats. `which` tells tensors apart. Zeros and small integers are exact.
void noise_add(const struct noise *noise, struct tensor *t, uint32_t which, double relative);

// What a node's sums of products may be off by, which is more than a part of a small result:
// `relative` of the sum of their sizes. `sizes` is what the node gives for the sizes of its
// operands.
void noise_add_sums(const struct noise *noise, struct tensor *t, uint32_t which,
                    const struct tensor *sizes);
// A part of the largest element of each row, for attention, whose weights are halves.
void noise_add_rows(const struct noise *noise, struct tensor *t, uint32_t which, double relative);

// Is the result one of the operands' elements, or a comparison of them?
bool noise_is_exact(const struct node *n);
// Is the result a sum, linear in each operand?
bool noise_is_sum(const struct node *n);
// Is the result made of terms that may cancel, which the reference adds by their sizes where it is
// told to (reference_call.adds_sizes)?
bool noise_has_terms(const struct node *n);
// What exceeds the range of its dtype becomes infinite.
void tensor_limit_range(struct tensor *t);

#endif
