// SPDX-License-Identifier: Apache-2.0
// Passes over graphs: each reads one and builds the next on the same arena. NULL after an error,
// which is recorded.
#ifndef TILE_GRAPH_PASSES_PASSES_H
#define TILE_GRAPH_PASSES_PASSES_H

#include "graph/ir/graph.h"

// Operators that are combinations of others are written out (softmax, norms, losses, gelu,
// attention's backward, linear, addmm, dropout, pooling, ...), until only those are left that
// graph/loops/loops.h lowers itself: rows PRIMITIVE of lowering.def. Compute dtypes are made
// explicit: what is computed on bf16 or f16 is done in f32 and rounded where the result is visible.
// With `keeps_attention`, SDPA operators stay whole.
struct graph *graph_decompose(struct graph *g, bool keeps_attention);

// Folds operators of uniform tensors and small constants; no-ops (views that change nothing,
// clones, alias, adding 0, multiplying by 1, masks that are all true); masks made of iota and
// comparisons into predicates of indices; common subexpressions; what nothing uses. Repeats until
// nothing changes.
struct graph *graph_simplify(struct graph *g);

// ---- the walk that passes share (graph/passes/rewrite.c) ----
struct rewrite {
  struct graph *from, *to;
  struct value **map; // by id of `from`'s values: what stands for it in `to`
  void *user;
};
// Builds one node's replacement in rw->to; entries of rw->map for its results are set. By default
// rewrite_copy.
typedef bool (*rewrite_fn)(struct rewrite *rw, const struct node *n);
struct graph *graph_rewrite(struct graph *g, rewrite_fn f, void *user);
bool rewrite_copy(struct rewrite *rw, const struct node *n);
struct value *rewrite_value(struct rewrite *rw, const struct node *n,
                            unsigned i);                            // mapped argument
struct arg *rewrite_args(struct rewrite *rw, const struct node *n); // all of them
// `to` stands for v, and has its name if it was made since there were `first_id` values.
void rewrite_name(struct rewrite *rw, const struct value *v, struct value *to, uint32_t first_id);
// Which values outputs and mutations depend on, by value id. On the graph's arena.
bool *graph_live(const struct graph *g);
// No result of the node is live.
bool node_is_dead(const bool *is_live, const struct node *n);

#endif
