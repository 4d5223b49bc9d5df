// SPDX-License-Identifier: Apache-2.0
// Copies a subgraph with inputs and outputs in row-major order: a program calls it on such memory.
#include "graph/passes/passes.h"

static void make_dense(struct graph *g, struct value *v) {
  v->strides = contiguous_strides(g->exprs, g->arena, v->rank, v->shape);
}

struct graph *subgraph_make_dense(struct graph *sub) {
  struct graph *g = graph_rewrite(sub, rewrite_copy, NULL);
  if (!g)
    return NULL;
  for (size_t i = 0; i < g->inputs.len; i++)
    make_dense(g, g->inputs.at[i]);
  for (size_t i = 0; i < g->outputs.len; i++) {
    struct value *v = g->outputs.at[i];
    struct arg arg = ARG_V(v);
    if (value_is_contiguous(g->exprs, v))
      continue;
    if (!(v = graph_apply(g, OP_CLONE, &arg, 1, v->span)))
      return NULL;
    make_dense(g, v);
    g->outputs.at[i] = v;
  }
  return g;
}
