// SPDX-License-Identifier: Apache-2.0
// Gradients of attention by kernels of their own (attention_gradients.tile), which keep nothing
// that grows with the product of queries and keys.
#ifndef TILE_GRAPH_PASSES_ATTENTION_GRADIENTS_H
#define TILE_GRAPH_PASSES_ATTENTION_GRADIENTS_H

#include "graph/passes/decompose.h"

// Of softmax(scale q k^T) v without a mask but `is_causal`: tensors [batch, heads, rows, columns];
// k and v may have fewer heads, each for as many heads of queries. lse: [batch, heads, queries],
// f32.
struct attention_gradients {
  struct value *q, *k, *v, *out, *grad, *lse;
  bool is_causal;
  double scale;
};

// Are there kernels for it? Half precision, heads of at most 128 columns.
bool attention_gradients_fit(const struct attention_gradients *a);
// Appends them: those of q, k and v. False after an error.
bool attention_gradients_build(struct decompose *d, const struct attention_gradients *a,
                               struct value *ret[static 3]);

#endif
