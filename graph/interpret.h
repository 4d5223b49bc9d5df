// SPDX-License-Identifier: Apache-2.0
// The reference interpreter: every operator of the table as its definition says, in double precision and without
// rounding in between. It is the measure of everything else, so it is simple and shares no code with lowering.
#ifndef TILE_GRAPH_INTERPRET_H
#define TILE_GRAPH_INTERPRET_H

#include "graph/tensor.h"

struct interpret_options {
  bool rounds;   // each value to its dtype, as an eager program would
  uint64_t seed; // of random operators; the k-th one of the graph draws from Philox stream k, as kernels do
};

// inputs[i] belongs to graph input i, symbols[i] is the size of symbol i. On success ret_outputs[i] is a new tensor
// for output i (NULL for None), followed by one for each mutation. False with E1010 (an index out of range, a size
// too large, an operator without meaning for these values).
bool graph_interpret(const struct graph *g, const struct interpret_options *o, const int64_t *symbols,
                     struct tensor *const *inputs, struct tensor **ret_outputs);

// The function of a row of reference.def. Operands are those of the node, evaluated; NULL where it was None or a number.
struct reference_call;
typedef bool (*reference_fn)(struct reference_call *c);
reference_fn operator_reference(enum operator_id id);

// Uniform in [0, 1) as f32: element `index` of random operator number `which` (Philox 4x32-10 keyed by the seed).
// Kernels draw the same by tl.rand(seed + which * RANDOM_STRIDE, index).
#define RANDOM_STRIDE 0x9e3779b9u
float random_uniform(uint64_t seed, uint32_t which, uint64_t index);

#endif
