// SPDX-License-Identifier: Apache-2.0
// Rules of pools: PyTorch's backward operators.
#include "graph/autodiff/gradient_rules.h"

// self kernel_size stride padding dilation ceil_mode; y indices
void rule_max_pool(struct gradient *d, const struct node *n, struct value *const *g) {
  if (!g[0])
    return;
  gradient_give(d, n, 0,
                BUILD(&d->b, OP_MAX_POOL2D_BACKWARD, TENSOR(g[0]), n->args[0], n->args[1],
                      n->args[2], n->args[3], n->args[4], n->args[5], TENSOR(n->results[1])));
}

// self kernel_size stride padding ceil_mode count_include_pad divisor_override
void rule_avg_pool(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0,
                BUILD(&d->b, OP_AVG_POOL2D_BACKWARD, TENSOR(g[0]), n->args[0], n->args[1],
                      n->args[2], n->args[3], n->args[4], n->args[5], n->args[6]));
}

void rule_adaptive_pool(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0,
                build_binop(&d->b, OP_ADAPTIVE_AVG_POOL2D_BACKWARD, g[0], node_value(n, 0)));
}
