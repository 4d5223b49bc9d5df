// SPDX-License-Identifier: Apache-2.0
// Plausible inputs for a graph: random, but such that it runs. What uses an input says what it may
// hold: an index stays below the size of what it chooses from, a variance is positive, weights of
// products are small. Single floats are positive.
#ifndef TILE_GRAPH_REFERENCE_INPUTS_H
#define TILE_GRAPH_REFERENCE_INPUTS_H

#include "graph/reference/tensor.h"

enum input_use {
  INPUT_PLAIN,     // floats: around 0 with deviation `scale`
  INPUT_POSITIVE,  // from 0.5 on
  INPUT_LOGARITHM, // about log(scale)
  INPUT_INDEX      // integers in [0, limit)
};

struct input_hint {
  enum input_use use;
  double scale;
  int64_t limit;
};

// What the graph's uses of input i say about it.
bool graph_hint_input(const struct graph *g, const int64_t *symbols, size_t i,
                      struct input_hint *ret);

// A new tensor for each input, of values that its dtype can hold; equal for equal seeds. False if
// memory is out or a size beyond the limits; then there are none.
bool graph_make_inputs(const struct graph *g, const int64_t *symbols, uint64_t seed,
                       struct tensor **ret);

#endif
