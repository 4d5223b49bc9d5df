// SPDX-License-Identifier: Apache-2.0
// Gradients of graphs: reverse mode (Linnainmaa 1976; Griewank and Walther, Evaluating Derivatives,
// chapter 3). Appends ordinary operators, so that fusion sees nothing new and gradients have
// gradients.
#ifndef TILE_GRAPH_AUTODIFF_GRADIENT_H
#define TILE_GRAPH_AUTODIFF_GRADIENT_H

#include "graph/ir/graph.h"

// The vector-Jacobian product: the sum over i of seeds[i] times outputs[i], differentiated by each
// input. Outputs are floats. A seed has the shape of its output; NULL, or `seeds` NULL: 1, for an
// output of one element. Inputs are any values of the graph: an input that another one depends on
// gets the whole gradient, through it.
struct gradient_request {
  size_t output_count, input_count;
  struct value *const *outputs, *const *seeds, *const *inputs;
  bool allows_no_path; // no error if no output depends on any input: all gradients are zero
};

// Appends the gradients to `g`; ret[i] is that of input i, with its dtype and shape. Zeros for an
// input on which no output depends, NULL for an input that is not a float. False after an error,
// which is recorded: E1012 (operators without a rule, all of them), E1013 (an output or a seed that
// does not fit), E1014 (no output depends on any input), or an error of an operator.
bool graph_gradient(struct graph *g, const struct gradient_request *r, struct span at,
                    struct value **ret);
// Does `output` depend on `input` in a way that has a gradient?
bool graph_has_path(const struct graph *g, const struct value *input, const struct value *output);

// How an operator is differentiated (graph/autodiff/gradients.def).
enum gradient_kind {
  GRADIENT_MISSING,  // no row: a test checks that there is none
  GRADIENT_RULE,     // by a rule of its own
  GRADIENT_EXPANDED, // by the rules of the operators that graph/passes/lowering.def replaces it by
  GRADIENT_ZERO,     // the derivative is zero, or there is none: gradients stop
  GRADIENT_NONE      // it has no rule: an error
};
enum gradient_kind gradient_kind_of(enum operator_id op);
// Of this node: a custom operator has a rule if its author gave one.
enum gradient_kind gradient_kind_of_node(const struct node *n);
// Why an operator of GRADIENT_NONE has no rule.
const char *gradient_refusal(enum operator_id op);

#endif
