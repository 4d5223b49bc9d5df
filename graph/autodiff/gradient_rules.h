// SPDX-License-Identifier: Apache-2.0
// Shared by the rules of graph/autodiff/gradients.def. A rule gets a node and the gradients of its
// results (NULL: zero; at least one is not) and gives the gradients of its operands. It builds by
// graph/ir/graph_build.h, whose calls accept NULL, so that a rule needs no checks.
#ifndef TILE_GRAPH_AUTODIFF_GRADIENT_RULES_H
#define TILE_GRAPH_AUTODIFF_GRADIENT_RULES_H

#include "graph/autodiff/gradient.h"
#include "graph/ir/graph_build.h"
#include "graph/ir/graph_operators.h"

// A sweep over a graph.
struct gradient {
  struct build b;
  VEC(struct value *) sums; // by value id: the gradient so far; NULL: zero
  VEC(bool) wants;          // by value id: depends on an input of the request
  bool failed;
};

typedef void (*gradient_fn)(struct gradient *d, const struct node *n, struct value *const *g);
#define GRADIENT(id, function)                                                                     \
  void rule_##function(struct gradient *d, const struct node *n, struct value *const *g);
#define EXPANDED(id)
#define ZERO(id)
#define NO_GRADIENT(id, why)
#include "graph/autodiff/gradients.def"
gradient_fn gradient_rule(enum operator_id op); // NULL: it has none of its own

// Is the gradient of this operand asked for? False for numbers and None.
static inline bool gradient_wants(const struct gradient *d, const struct value *v) {
  return v && v->id < d->wants.len && d->wants.at[v->id];
}
static inline bool gradient_wants_arg(const struct gradient *d, const struct node *n, unsigned i) {
  return gradient_wants(d, node_value(n, i));
}
// Adds to the gradient of `v`, if it is asked for: converts `g` to its dtype and sums over the
// dimensions that were broadcast.
void gradient_add(struct gradient *d, struct value *v, struct value *g);
// The same for argument `i`, which may be a number.
static inline void gradient_give(struct gradient *d, const struct node *n, unsigned i,
                                 struct value *g) {
  gradient_add(d, node_value(n, i), g);
}
// Differentiates what graph/passes/lowering.def replaces the node by.
void gradient_expand(struct gradient *d, const struct node *n, struct value *const *g);

// ---- helpers ----
struct value *gradient_zeros(struct build *b, const struct value *like);
// `g` or zeros like the result.
struct value *gradient_or_zeros(struct build *b, struct value *g, const struct value *result);
struct arg gradient_shape(struct build *b, const struct value *v); // as a list of sizes
// A reduction's result, or its gradient, with the reduced dimensions of argument `dims` as ones.
struct value *gradient_unreduced(struct build *b, const struct node *n, unsigned dims,
                                 struct value *v);
// The list of truth values for the last argument of PyTorch's backward operators.
struct arg gradient_mask(struct build *b, size_t count, const bool *at);

#endif
