// SPDX-License-Identifier: Apache-2.0
// Rounding errors as random noise: each value of a graph is perturbed by about the rounding error
// that kernels may have. Runs that differ only in their noise show how far rounding errors
// propagate to each element of an output: Monte Carlo arithmetic (D. S. Parker, 1997).
#ifndef TILE_GRAPH_REFERENCE_NOISE_H
#define TILE_GRAPH_REFERENCE_NOISE_H

#include "graph/reference/tensor.h"

struct noise {
  uint64_t seed;
  double sign;                // 1 or -1: two runs of one seed perturb each value in both directions
  const bool *is_coarse;      // by value id: noise_find_coarse; NULL: none is
  bool limits_half_precision; // f16 and bf16 values beyond their range become infinite, as when
                              // they are stored
};

// f32 values that only contribute to half-precision results: kernels compute these to the accuracy
// of half precision. By value id, on `a`.
const bool *noise_find_coarse(const struct graph *g, struct arena *a);
// The relative error of one operation with a result of that dtype, with a margin.
double noise_of(enum dtype t, bool is_coarse);
// Adds noise to floats. `which` selects the random stream of a tensor. Zeros and small integers are
// exact.
void noise_add(const struct noise *noise, struct tensor *t, uint32_t which, double relative);
// The same, but equal elements stay equal, also of different tensors: a graph may compare an input
// with its saved maximum.
void noise_add_equal(const struct noise *noise, struct tensor *t, double relative);

// The error of a node's sums of products, which may be large relative to a small result: `relative`
// times the sum of absolute values. `sizes` is the node's result for the absolute values of its
// operands.
void noise_add_sums(const struct noise *noise, struct tensor *t, uint32_t which,
                    const struct tensor *sizes);
// Of [N, C, ..]: the error of a result that is rounded before a bias of [C] is added to it.
void noise_add_before_bias(const struct noise *noise, struct tensor *t, uint32_t which,
                           double relative, const struct tensor *bias);
// A fraction of the largest element of each row, for attention, whose weights are in half
// precision.
void noise_add_rows(const struct noise *noise, struct tensor *t, uint32_t which, double relative);

// Is the result one of the operands' elements, or a comparison of them?
bool noise_is_exact(const struct node *n);
// Is the result a sum, linear in each operand?
bool noise_is_sum(const struct node *n);
// Is the result a sum of terms that may cancel? The reference adds their absolute values if
// reference_call.adds_sizes.
bool noise_has_terms(const struct node *n);
// Values beyond the range of their dtype become infinite.
void tensor_limit_range(struct tensor *t);

#endif
