// SPDX-License-Identifier: Apache-2.0
// Shared by the functions of graph/passes/lowering.def. Each builds the results of one node, whose
// arguments are values of the new graph; it may use operators that are decomposed later.
#ifndef TILE_GRAPH_PASSES_DECOMPOSE_H
#define TILE_GRAPH_PASSES_DECOMPOSE_H

#include "graph/ir/graph_build.h"
#include "graph/ir/graph_operators.h"
#include "graph/passes/passes.h"

struct decompose {
  struct build b;
  unsigned flags; // enum decompose_flags
  bool has_wgmma;
  uint32_t stream; // of the node: the number of random operators before it in the original graph
  bool keeps;      // see decompose_keep
};

// Sets ret[i] for every result that `n` has: n->results are those of the old graph, whose shapes
// and dtypes the replacements must have. False after an error; a ret[i] left NULL is an error too.
typedef bool (*decompose_fn)(struct decompose *d, const struct node *n, struct value **ret);

#define PRIMITIVE(id)
#define NORMAL(id, function)                                                                       \
  bool decompose_##function(struct decompose *d, const struct node *n, struct value **ret);
#define DECOMPOSE(id, function) NORMAL(id, function)
#include "graph/passes/lowering.def"

// Does graph/loops/loops.h lower it? True also for rows NORMAL.
bool operator_is_primitive(enum operator_id id);
bool operator_has_lowering(enum operator_id id); // every operator must; a test checks it

// The node already has the form that loops expect: copies it.
bool decompose_keep(struct decompose *d);
// Result i is `v`, converted and expanded to its type; does nothing if the node has no such result.
// True.
bool decompose_give(struct decompose *d, const struct node *n, struct value **ret, uint32_t i,
                    struct value *v);
// The only result.
static inline bool decompose_is(struct decompose *d, const struct node *n, struct value **ret,
                                struct value *v) {
  return decompose_give(d, n, ret, 0, v);
}

// ---- arguments ----
bool node_is_word(const struct node *n, unsigned i, const char *word);
// Is it this constant? Also for floats and booleans; false for symbols.
bool node_is_number(const struct node *n, unsigned i, double number);

#endif
