// SPDX-License-Identifier: Apache-2.0
// Passes over graphs: each reads one and builds the next on the same arena. NULL after an error,
// which is recorded.
#ifndef TILE_GRAPH_PASSES_PASSES_H
#define TILE_GRAPH_PASSES_PASSES_H

#include "graph/ir/graph.h"

// Decomposes operators that are combinations of others (softmax, norms, losses, gelu, attention's
// backward, linear, addmm, dropout, pooling, ...) until only those are left that
// graph/loops/loops.h lowers: rows PRIMITIVE and NORMAL of lowering.def. Makes computation dtypes
// explicit: bf16 and f16 are computed in f32 and rounded where results are visible.
enum decompose_flags {
  KEEPS_ATTENTION = 1,     // SDPA operators are kept
  HAS_GRADIENT_KERNELS = 2 // gradients of attention become kernels (attention_gradients.h)
};
// has_wgmma: of the target, for the blocks of those kernels.
struct graph *graph_decompose(struct graph *g, unsigned flags, bool has_wgmma);

// Appends to `g` what graph_decompose replaces its node `n` by, once: ret[i] for each result that
// `n` has. False after an error, and for a primitive operator.
bool graph_decompose_node(struct graph *g, const struct node *n, struct value **ret);

// Folds operators on uniform tensors and small constants; removes no-ops (views that change
// nothing, clones, alias, adding 0, multiplying by 1, masks that are all true); turns masks made of
// iota and comparisons into predicates of indices; merges common subexpressions; drops dead code.
// Repeats until nothing changes.
struct graph *graph_simplify(struct graph *g);

// The subgraph for a program of its own: inputs and outputs in row-major order
// (graph/passes/subgraph_dense.c).
struct graph *subgraph_make_dense(struct graph *sub);

// ---- rewriting (graph/passes/rewrite.c) ----
struct rewrite {
  struct graph *from, *to;
  struct value **map; // by id of `from`'s values: the replacement in `to`
  void *user;
};
// Builds one node's replacement in rw->to and sets the entries of rw->map for its results. Default:
// rewrite_copy.
typedef bool (*rewrite_fn)(struct rewrite *rw, const struct node *n);
struct graph *graph_rewrite(struct graph *g, rewrite_fn f, void *user);
bool rewrite_copy(struct rewrite *rw, const struct node *n);
struct value *rewrite_value(struct rewrite *rw, const struct node *n,
                            unsigned i);                            // mapped argument
struct arg *rewrite_args(struct rewrite *rw, const struct node *n); // all of them
// `to` replaces v, and takes its name if it is new: its id is `first_id` or above.
void rewrite_name(struct rewrite *rw, const struct value *v, struct value *to, uint32_t first_id);
// ---- parts (graph/passes/extract.c) ----
// The operators that some values need.
struct extraction {
  const char *name;     // of the part: a suffix of the graph's
  const bool *is_given; // by value id: inputs of the part, if it needs them
  size_t count;
  struct value *const *outputs; // entries may be NULL
  bool writes;                  // the graph's writes too
  bool keeps_inputs;            // all inputs of the graph, also those that it does not need
};
// A graph with the graph's inputs, then the given values, as inputs; those that it needs, in their
// order. NULL after an error.
struct graph *graph_extract(struct graph *g, const struct extraction *e);

// The values that outputs and mutations depend on, by value id. On the graph's arena.
bool *graph_live(const struct graph *g);
// No result of the node is live.
bool node_is_dead(const bool *is_live, const struct node *n);

#endif
