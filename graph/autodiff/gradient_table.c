// SPDX-License-Identifier: Apache-2.0
// The table of rules: graph/autodiff/gradients.def.
#include "graph/autodiff/gradient_rules.h"
#include "graph/ir/custom.h"

static const struct {
  enum gradient_kind kind;
  gradient_fn rule;
  const char *why;
} rows[OPERATOR_COUNT] = {
#define GRADIENT(id, function) [OP_##id] = {GRADIENT_RULE, rule_##function, NULL},
#define EXPANDED(id) [OP_##id] = {GRADIENT_EXPANDED, NULL, NULL},
#define ZERO(id) [OP_##id] = {GRADIENT_ZERO, NULL, NULL},
#define NO_GRADIENT(id, why) [OP_##id] = {GRADIENT_NONE, NULL, why},
#include "graph/autodiff/gradients.def"
};

enum gradient_kind gradient_kind_of(enum operator_id op) { return rows[op].kind; }

const char *gradient_refusal(enum operator_id op) {
  return op == OP_CUSTOM ? "it is registered without `gradient` (tile/operator.h)" : rows[op].why;
}

gradient_fn gradient_rule(enum operator_id op) { return rows[op].rule; }

enum gradient_kind gradient_kind_of_node(const struct node *n) {
  if (n->op == OP_CUSTOM && !node_custom(n)->gradient)
    return GRADIENT_NONE;
  return rows[n->op].kind;
}
