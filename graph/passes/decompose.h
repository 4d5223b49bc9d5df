// SPDX-License-Identifier: Apache-2.0
// What the functions of graph/passes/lowering.def share. Each writes the results of one node, whose
// arguments belong to the graph that is built already, and may use operators that are decomposed in
// turn.
#ifndef TILE_GRAPH_PASSES_DECOMPOSE_H
#define TILE_GRAPH_PASSES_DECOMPOSE_H

#include "graph/ir/graph_build.h"
#include "graph/ir/graph_operators.h"
#include "graph/passes/passes.h"

struct decompose {
  struct build b;
  bool keeps_attention;
  uint32_t
      stream; // of the node: how many random operators stood before it in the graph that was read
  bool keeps; // see decompose_keep
};

// Fills ret[i] for every result of `n` that is there: n->results are those of the graph that is
// read, whose shapes and dtypes hold for what replaces them. False after an error; ret[i] left NULL
// is one too.
typedef bool (*decompose_fn)(struct decompose *d, const struct node *n, struct value **ret);

#define PRIMITIVE(id)
#define NORMAL(id, function)                                                                       \
  bool decompose_##function(struct decompose *d, const struct node *n, struct value **ret);
#define DECOMPOSE(id, function) NORMAL(id, function)
#include "graph/passes/lowering.def"

// Is it one of those that graph/loops/loops.h lowers? True also for rows NORMAL.
bool operator_is_primitive(enum operator_id id);
bool operator_has_lowering(enum operator_id id); // of all, which a test sees to

// The node has the form that loops expect: it is copied as it is.
bool decompose_keep(struct decompose *d);
// Result i is `v`, converted and expanded to what it shall be. Nothing where nobody can ask for it.
// True.
bool decompose_give(struct decompose *d, const struct node *n, struct value **ret, uint32_t i,
                    struct value *v);
// The only result.
static inline bool decompose_is(struct decompose *d, const struct node *n, struct value **ret,
                                struct value *v) {
  return decompose_give(d, n, ret, 0, v);
}

// ---- arguments ----
// A list of numbers for `count` dimensions: one number stands for all, none for `none`.
void node_extents(const struct node *n, unsigned i, uint32_t count, int64_t none, int64_t *ret);
bool node_is_word(const struct node *n, unsigned i, const char *word);
// Is it the number? Also for floats and truth values; false for symbols.
bool node_is_number(const struct node *n, unsigned i, double number);

#endif
