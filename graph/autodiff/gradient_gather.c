// SPDX-License-Identifier: Apache-2.0
// Rules of gathers and scatters: each is the other's gradient. An element that is gathered several
// times gets the sum.
#include "graph/autodiff/gradient_rules.h"

// weight indices padding_idx scale_grad_by_freq sparse
void rule_embedding(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0,
                BUILD(&d->b, OP_EMBEDDING_DENSE_BACKWARD, TENSOR(g[0]), n->args[1],
                      ARG_E(node_value(n, 0)->shape[0]), n->args[2], n->args[3]));
}

// self dim index
void rule_gather(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  gradient_give(d, n, 0,
                BUILD(b, OP_SCATTER_ADD, TENSOR(gradient_zeros(b, node_value(n, 0))), n->args[1],
                      n->args[2], TENSOR(g[0])));
}

// self indices
void rule_index(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  gradient_give(d, n, 0,
                BUILD(b, OP_INDEX_PUT, TENSOR(gradient_zeros(b, node_value(n, 0))), n->args[1],
                      TENSOR(g[0]), ARG_B(true)));
}

// self dim index
void rule_index_select(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  gradient_give(d, n, 0,
                BUILD(b, OP_INDEX_ADD, TENSOR(gradient_zeros(b, node_value(n, 0))), n->args[1],
                      n->args[2], TENSOR(g[0])));
}

// self indices values accumulate
void rule_index_put(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *values = node_value(n, 2);
  if (gradient_wants_arg(d, n, 0)) {
    struct value *zeros = build_full(b, values->rank, values->shape, 0, g[0]->dtype);
    gradient_give(d, n, 0,
                  node_truth(n, 3) ? g[0]
                                   : BUILD(b, OP_INDEX_PUT, TENSOR(g[0]), n->args[1], TENSOR(zeros),
                                           ARG_B(false)));
  }
  if (gradient_wants(d, values))
    gradient_give(d, n, 2, BUILD(b, OP_INDEX, TENSOR(g[0]), n->args[1]));
}

// The gradient of `src`, of which only the part with indices is used.
static struct value *padded(struct build *b, struct value *g, const struct value *src) {
  struct exprs *e = b->g->exprs;
  const struct expr *widths[2 * GRAPH_MAX_RANK];
  if (!g || value_same_shape(g, src))
    return g;
  for (uint32_t i = 0; i < src->rank; i++) {
    uint32_t dim = src->rank - 1 - i;
    widths[2 * i] = expr_const(e, 0);
    widths[2 * i + 1] = expr_sub(e, src->shape[dim], g->shape[dim]);
  }
  return BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(g), arg_exprs(b->g, 2 * src->rank, widths), ARG_F(0));
}

// self dim index src or value
void rule_scatter(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  if (gradient_wants_arg(d, n, 0))
    gradient_give(d, n, 0,
                  n->op == OP_SCATTER_ADD ? g[0]
                                          : BUILD(b, OP_SCATTER_VALUE, TENSOR(g[0]), n->args[1],
                                                  n->args[2], arg_int(b->g, 0)));
  if (gradient_wants_arg(d, n, 3))
    gradient_give(
        d, n, 3,
        padded(b, BUILD(b, OP_GATHER, TENSOR(g[0]), n->args[1], n->args[2]), node_value(n, 3)));
}
