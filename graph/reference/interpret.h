// SPDX-License-Identifier: Apache-2.0
// The reference interpreter: every operator of the table by its definition, in double precision and
// without intermediate rounding. All other implementations are compared with it, so it is simple
// and shares no code with lowering.
#ifndef TILE_GRAPH_REFERENCE_INTERPRET_H
#define TILE_GRAPH_REFERENCE_INTERPRET_H

#include "graph/reference/tensor.h"

struct noise;

struct interpret_options {
  bool rounds;               // each value to its dtype, as eager PyTorch does
  bool limits_range;         // f32 values beyond its range become infinite
  uint64_t seed;             // of random operators, see below
  const struct noise *noise; // graph/reference/noise.h; NULL: none
};

// inputs[i] is graph input i, symbols[i] the size of symbol i. On success ret_outputs[i] is a new
// tensor for output i (NULL for None), followed by one for each mutation. False with E1010 (an
// index out of range, a size too large, an operator undefined for these values).
bool graph_interpret(const struct graph *g, const struct interpret_options *o,
                     const int64_t *symbols, struct tensor *const *inputs,
                     struct tensor **ret_outputs);

// The function of a row of reference.def. Operands are those of the node, evaluated; NULL for None
// and for numbers.
struct reference_call;
typedef bool (*reference_fn)(struct reference_call *c);
reference_fn operator_reference(enum operator_id id); // NULL: of COPY_ only

// Random operators (class RANDOM, whether they draw or not) are numbered in graph order, from 0;
// those that passes create carry their number. Element `index` (row-major) of operator `which` is
// tl.rand(key, index) where key = seed + which * RANDOM_STRIDE modulo 2^64, passed to the kernel as
// 64 bits: Philox 4x32-10 with the key's low and high word, counter (low and high word of index, 0,
// 0). randn computes sqrt(-2 log max(u, 1e-7)) cos(2 pi v) from u, the uniform number of `which`,
// and v, that of which + RANDOM_SECOND. native_dropout keeps an element if its uniform number is >
// p, bernoulli gives 1 if it is < p.
#define RANDOM_STRIDE 0x9e3779b9u
#define RANDOM_SECOND (1u << 20) // above the number of operators of any graph
// Uniform in [0, 1) as f32.
float random_uniform(uint64_t seed, uint32_t which, uint64_t index);
// Normally distributed.
double random_normal(uint64_t seed, uint32_t which, uint64_t index);

#endif
