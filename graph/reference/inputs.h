// SPDX-License-Identifier: Apache-2.0
// Plausible inputs for a graph: random, but valid. The uses of an input constrain its values: an
// index is below the size of the dimension it selects from, a variance is positive, weights of
// products are small. Scalar floats are positive.
#ifndef TILE_GRAPH_REFERENCE_INPUTS_H
#define TILE_GRAPH_REFERENCE_INPUTS_H

#include "graph/reference/tensor.h"

enum input_use {
  INPUT_PLAIN,     // floats: around 0 with deviation `scale`
  INPUT_POSITIVE,  // from 0.5 on
  INPUT_LOGARITHM, // around log(scale)
  INPUT_INDEX,     // integers in [0, limit)
  INPUT_ENDS,      // integers in [0, limit), ascending: the ends of groups
  INPUT_WINDOWS    // of each window of pooling a position in it
};

// Windows of pooling along one dimension.
struct input_window {
  int64_t size, count; // of the image; windows
  int64_t kernel, stride, padding, dilation;
};

struct input_hint {
  enum input_use use;
  double scale;
  int64_t limit;
  struct input_window window[2]; // INPUT_WINDOWS
};

// The constraints of input i by its uses.
bool graph_hint_input(const struct graph *g, const int64_t *symbols, size_t i,
                      struct input_hint *ret);

// A new tensor for each input, with values that its dtype can represent; the same for the same
// seed. False if out of memory or if a size is beyond the limits; then there are none.
bool graph_make_inputs(const struct graph *g, const int64_t *symbols, uint64_t seed,
                       struct tensor **ret);

#endif
