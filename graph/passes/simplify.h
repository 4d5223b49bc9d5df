// SPDX-License-Identifier: Apache-2.0
// Shared by the parts of graph_simplify: value facts, and rules that replace nodes by simpler
// values.
#ifndef TILE_GRAPH_PASSES_SIMPLIFY_H
#define TILE_GRAPH_PASSES_SIMPLIFY_H

#include "graph/ir/graph_build.h"
#include "graph/ir/graph_operators.h"
#include "graph/passes/passes.h"

// Statically known elements of a value.
enum fact_kind {
  FACT_NONE,
  FACT_AFFINE, // integers and bools: base + sum of coefficient[d] * index[d]; coefficient 0 for
               // dimensions of size 1
  FACT_REAL    // floats: every element is `real`
};

struct fact {
  enum fact_kind kind;
  int64_t base, coefficient[GRAPH_MAX_RANK];
  double real;
};

struct simplify {
  struct build b;         // of the new graph
  const bool *is_live;    // of the old graph, by value id
  VEC(struct fact) facts; // by id of the new graph's values
  size_t nodes_seen;      // nodes of it with facts
  bool is_learning;       // computing the facts of the next node
  struct {
    struct node **slots;
    size_t count, cap;
  } nodes; // by operator and arguments
  bool changed;
};

// ---- facts (graph/passes/simplify_facts.c, graph/passes/simplify_affine.c) ----
const struct fact *fact_of(struct simplify *s, const struct value *v);
// Is the fact uniform? Then the element as an argument.
bool fact_is_uniform(const struct fact *f);
bool value_is_uniform(struct simplify *s, const struct value *v, struct arg *ret);
// Is the argument, a value or a number, uniformly this number?
bool arg_is_number(struct simplify *s, const struct arg *a, double number);
// Is there a fact about the argument? For a number it is uniform of dtype t.
bool fact_of_arg(struct simplify *s, const struct arg *a, enum dtype t, struct fact *ret);
// a - b over a shape that both broadcast to; false if that is not affine.
bool fact_difference(struct simplify *s, const struct arg *a, const struct arg *b,
                     const struct value *shape, struct fact *ret);
// The smallest and largest value of an affine fact over a shape; false if unknown.
bool fact_range(const struct fact *f, const struct value *shape, int64_t *ret_low,
                int64_t *ret_high);
bool fact_uniform(struct arg number, enum dtype t, struct fact *ret);
bool fact_broadcast(const struct fact *f, const struct value *from, const struct value *to,
                    struct fact *ret);
struct fact fact_of_node(struct simplify *s, const struct node *n); // of its only result
struct fact fact_of_view(struct simplify *s,
                         const struct node *n); // affine facts through views, cat and flip
bool fact_fits(const struct fact *f, const struct value *v); // every value fits the dtype
bool fact_of_pointwise(struct simplify *s, const struct node *n, struct fact *ret);
bool fact_scale(struct fact *f, int64_t by);
bool fact_add(struct fact *f, const struct fact *g, int64_t sign);

// ---- rules: a simpler value for a node whose arguments are in the new graph, or NULL.
// n->results[0] has the type ----
struct value *simplify_known(struct simplify *s, const struct node *n, const struct fact *f);
struct value *simplify_pointwise(struct simplify *s, const struct node *n);
struct value *simplify_view(struct simplify *s, const struct node *n);
struct value *simplify_data(struct simplify *s, const struct node *n);
// Changes arguments without changing results; false if there is nothing to change.
bool simplify_attention(struct simplify *s, const struct node *n, struct arg *args);

// v in the dtype and shape of the result.
struct value *simplify_fit(struct simplify *s, const struct node *n, struct value *v);

#endif
