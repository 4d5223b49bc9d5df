// SPDX-License-Identifier: Apache-2.0
// Attention with dropout: its random operator draws which weights are kept, in the order of all
// weights, [batch, heads, queries, keys]: the same as dropout of a softmax that is written out.
// Kernels of attention compute this again and do not store it.
#include "graph/ir/compose_dropout.h"

#include "graph/ir/compose.h"

static const struct arg *argument(const struct node *n, const char *name) {
  int i = operator_parameter(n->op, name);
  return i < 0 ? NULL : &n->args[i];
}

static struct arg given_or_none(const struct node *n, const char *name) {
  const struct arg *a = argument(n, name);
  return a ? *a : (struct arg){.kind = ARG_NONE};
}

// 1 / (1 - p) for weights that are kept, else 0.
static struct value *draw(struct build *b, const struct value *q, const struct value *k, double p) {
  const struct expr *shape[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d + 1 < q->rank; d++)
    shape[d] = q->shape[d];
  shape[q->rank - 1] = k->shape[k->rank - 2];
  struct value *ones = build_full(b, q->rank, shape, 1, DTYPE_F32);
  return ones ? BUILD(b, OP_NATIVE_DROPOUT, TENSOR(ones), ARG_F(p), ARG_B(true)) : NULL;
}

// The log-sum-exp as the operator gives it: padded to rows of 32, or with a last dimension of 1.
static struct value *sums_of(struct build *b, const struct node *n, struct value *sums) {
  uint32_t last = sums->rank - 1;
  if (n->op == OP_SDPA_CUDNN)
    return build_unsqueeze(b, sums, sums->rank);
  if (n->op != OP_SDPA_EFFICIENT)
    return sums;
  if (!node_truth(n, 4))
    return build_slice(b, sums, last, compose_const(b, 0), compose_const(b, 0), 1);
  struct exprs *x = b->g->exprs;
  const struct expr *rows = sums->shape[last],
                    *padded = expr_muli(x, expr_cdiv(x, rows, expr_const(x, 32)), 32);
  struct arg pads[2] = {arg_int(b->g, 0), ARG_E(expr_sub(x, padded, rows))};
  struct arg list = {.kind = ARG_LIST, .list = {pads, 2}};
  return BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(sums), list, ARG_F(0));
}

void compose_dropout_attention(struct build *b, struct node *n) {
  int at = operator_parameter(n->op, "dropout_p");
  double p = node_real(n, (unsigned)at);
  struct value *q = node_value(n, 0), *k = node_value(n, 1);
  if (!(p > 0 && p <= 1)) {
    compose_error(b, n, E1004, "`dropout_p` is %g\nit is a probability: write 0 to 1", p);
    return;
  }
  if (q->rank < 2 || k->rank < 2) {
    compose_error(b, n, E1004, "queries and keys have at least 2 dimensions");
    return;
  }
  struct value *kept = draw(b, q, k, p);
  if (!kept)
    return;
  struct arg mask = given_or_none(
      n, n->op == OP_SDPA_EFFICIENT || n->op == OP_SDPA_CUDNN ? "attn_bias" : "attn_mask");
  struct arg args[] = {n->args[0],
                       n->args[1],
                       n->args[2],
                       TENSOR(kept),
                       *argument(n, "is_causal"),
                       mask,
                       given_or_none(n, "scale")};
  struct node *whole = graph_append(b->g, OP_TILE_DROPOUT_ATTENTION, args, COUNT_OF(args), b->at);
  if (!whole)
    return;
  n->results[0] = whole->results[0];
  if (n->op == OP_SDPA) // dense, unlike those of the other operators
    n->results[0]->strides =
        contiguous_strides(b->g->exprs, b->g->arena, q->rank, n->results[0]->shape);
  if (n->result_count > 1)
    n->results[1] = sums_of(b, n, whole->results[1]);
}
