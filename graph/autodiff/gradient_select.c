// SPDX-License-Identifier: Apache-2.0
// Rules of selections, bounds and conversions: a gradient goes to the operand that is taken.
#include "graph/autodiff/gradient_rules.h"

// Also of conversions and broadcasts, which gradient_add undoes.
void rule_same(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0, g[0]);
}

// The value of the second operand.
void rule_copy(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 1, g[0]);
}

// Equal operands share the gradient, as in PyTorch.
void rule_extremum(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *half = build_scale(b, g[0], 0.5);
  struct value *is_equal = BUILD(b, OP_EQ_TENSOR, n->args[0], n->args[1]);
  for (unsigned i = 0; i < 2; i++) {
    if (!gradient_wants_arg(d, n, i))
      continue;
    struct arg other = n->args[1 - i];
    enum operator_id loses = n->op == OP_MAXIMUM ? OP_LT_TENSOR : OP_GT_TENSOR;
    struct value *is_other = BUILD(b, loses, n->args[i], other);
    struct value *share = build_where(b, is_equal, half, g[0]);
    gradient_give(d, n, i, build_where(b, is_other, build_number(b, 0, g[0]->dtype), share));
  }
}

// Is x within the bound? True for None.
static struct value *within(struct build *b, const struct node *n, unsigned bound,
                            enum operator_id compare, struct value *so_far) {
  if (node_is_none(n, bound))
    return so_far;
  struct value *is = BUILD(b, compare, n->args[0], n->args[bound]);
  return so_far ? build_binop(b, OP_LOGICAL_AND, so_far, is) : is;
}

// Bound `i` is the result where x is beyond it; of crossed bounds it is the upper one.
static void give_bound(struct gradient *d, const struct node *n, unsigned i, struct value *g) {
  struct build *b = &d->b;
  if (!gradient_wants_arg(d, n, i))
    return;
  struct value *is = BUILD(b, i == 1 ? OP_LT_TENSOR : OP_GT_TENSOR, n->args[0], n->args[i]);
  if (!node_is_none(n, 3 - i)) {
    struct value *crossed = BUILD(b, OP_LT_TENSOR, n->args[i], n->args[3 - i]);
    is = build_binop(b, i == 1 ? OP_LOGICAL_AND : OP_LOGICAL_OR, is, crossed);
  }
  gradient_give(d, n, i, build_where_else(b, is, g, 0));
}

// self min max, numbers or tensors; PyTorch passes the gradient on at the bounds.
void rule_clamp(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *is = within(b, n, 1, OP_GE_TENSOR, NULL);
  is = within(b, n, 2, OP_LE_TENSOR, is);
  gradient_give(d, n, 0, is ? build_where_else(b, is, g[0], 0) : g[0]);
  give_bound(d, n, 1, g[0]);
  give_bound(d, n, 2, g[0]);
}

void rule_clamp_one(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  enum operator_id compare = n->op == OP_CLAMP_MIN ? OP_GE_TENSOR : OP_LE_TENSOR;
  gradient_give(d, n, 0, build_where_else(b, within(b, n, 1, compare, NULL), g[0], 0));
}

// condition self other
void rule_where(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *condition = node_value(n, 0), *zero = build_number(b, 0, g[0]->dtype);
  if (gradient_wants_arg(d, n, 1))
    gradient_give(d, n, 1, build_where(b, condition, g[0], zero));
  if (gradient_wants_arg(d, n, 2))
    gradient_give(d, n, 2, build_where(b, condition, zero, g[0]));
}

// self mask value
void rule_masked_fill(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *mask = node_value(n, 1), *zero = build_number(b, 0, g[0]->dtype);
  if (gradient_wants_arg(d, n, 0))
    gradient_give(d, n, 0, build_where(b, mask, zero, g[0]));
  if (gradient_wants_arg(d, n, 2))
    gradient_give(d, n, 2, build_where(b, mask, g[0], zero));
}
