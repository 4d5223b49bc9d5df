// SPDX-License-Identifier: Apache-2.0
// Custom operators (include/tile/operator.h): the table of this process. One that other operators
// define is expanded when it is appended; one with a kernel is a node OP_CUSTOM.
#ifndef TILE_GRAPH_IR_CUSTOM_H
#define TILE_GRAPH_IR_CUSTOM_H

#include "graph/ir/graph_operators.h"

#include <tile/operator.h>

struct custom_type {
  enum dtype dtype;
  uint32_t rank;
  const struct expr *shape[GRAPH_MAX_RANK];
};

struct custom_operator {
  const char *name;   // "mylib.scale.default"
  const char *schema; // for messages
  struct parameter parameters[OPERATOR_MAX_PARAMETERS];
  size_t count;
  uint32_t results;
  tile_operator given; // with copies of its strings
  // What follows is not for users. The kernel takes tensors as they are stored, if rows are
  // contiguous, rows and the first element at multiples of 16 bytes. Then `arguments` has x_start
  // and x_stride0, .. as well.
  bool takes_strides;
  // The tensors from `product` on are a product of queries and keys, scores computed from it, and
  // the derivative of the scores, each [batch, head, query, key]; then, if given, the keys that a
  // query sees and the queries that see a key (first, end, first_query, end_query), which rise with
  // it. The kernel has the product of a pair, and computes the rest by functions
  // (graph/emit/call_functions.c).
  bool computes_scores;
  unsigned num_stages; // 0: the default
  // Set by the room's C API (graph/capture/operator.c): calls given.build; the results of `n`, NULL
  // after an error. And given.infer.
  bool (*build)(const struct custom_operator *o, struct graph *g, struct node *n);
  bool (*infer)(const struct custom_operator *o, struct graph *g, const struct node *n,
                struct custom_type *ret);
  // And given.gradient, if it has one; ret[i] is the gradient of argument i, NULL: none.
  bool (*gradient)(const struct custom_operator *o, struct graph *g, const struct node *n,
                   struct value *const *gradients, struct value **ret);
  // And given.reference, if it has one; numbers[i] is the value of argument i, an integer.
  tile_status (*interpret)(const struct custom_operator *o, const struct arg *args,
                           const int64_t *numbers, const tile_reference_tensor *in, size_t count,
                           const tile_reference_tensor *out);
};

// Thread-safe. The table owns the operator, which lives as long as the process. NULL: unknown.
const struct custom_operator *custom_find(struct str name);
// Parses the schema into name, parameters and results; strings are copied. NULL, or what is wrong.
const char *custom_parse(struct custom_operator *o, const char *schema);
void custom_free(struct custom_operator *o); // one that is not in the table
// False: the name is taken. Takes ownership if true.
bool custom_add(struct custom_operator *o);

// Appends it (graph/ir/graph.c), as graph_append does: a node OP_CUSTOM, or what its `build`
// appends; then the returned node is not part of the graph and only has the results.
struct node *graph_append_custom(struct graph *g, const struct custom_operator *o,
                                 const struct arg *args, size_t arg_count, struct span at);
// The operator of a node OP_CUSTOM, and its arguments, one for each of its parameters.
const struct custom_operator *node_custom(const struct node *n);
const struct arg *node_custom_args(const struct node *n);

#endif
