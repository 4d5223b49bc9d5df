// SPDX-License-Identifier: Apache-2.0
// Gradients of attention by kernels of their own (attention_gradients.tile), which keep nothing
// that grows with the product of queries and keys.
#ifndef TILE_GRAPH_PASSES_ATTENTION_GRADIENTS_H
#define TILE_GRAPH_PASSES_ATTENTION_GRADIENTS_H

#include "graph/ir/custom.h"
#include "graph/passes/decompose.h"

// Of softmax(scale q k^T) v without a mask but `is_causal`: tensors [batch, heads, rows, columns];
// k and v may have fewer heads, each for as many heads of queries. lse: [batch, heads, queries],
// f32.
struct attention_gradients {
  struct value *q, *k, *v, *out, *grad, *lse;
  bool is_causal;
  double scale;
  struct value
      *mask; // bias, [batch, head, query, key] or broadcast to it, or a boolean; NULL: none
};

// Are there kernels for it? Half precision, heads of at most 128 columns.
bool attention_gradients_fit(const struct attention_gradients *a);
// Appends them: those of q, k and v. False after an error.
bool attention_gradients_build(struct decompose *d, const struct attention_gradients *a,
                               struct value *ret[static 3]);

// ---- of any function of scores, graph/passes/attention_score_gradients.c ----
// The same for a node tile.attention_gradients. Also f32, heads of up to 256 columns, and values
// with another number of columns.
bool attention_score_gradients_fit(const struct node *n);
// Have all rows so few queries and keys that one block holds them?
bool attention_rows_are_short(const struct value *q, const struct value *k);
bool attention_score_gradients_build(struct decompose *d, const struct node *n, struct value **ret);

// ---- shared by the operators of both ----
// Results like the second and third tensor; like the first.
bool attention_like_keys(const struct custom_operator *o, struct graph *g, const struct node *n,
                         struct custom_type *ret);
bool attention_like_queries(const struct custom_operator *o, struct graph *g, const struct node *n,
                            struct custom_type *ret);
// `o`, in the table of operators.
const struct custom_operator *attention_operator(struct custom_operator *o);

#endif
