// SPDX-License-Identifier: Apache-2.0
// Gradients of scaled_dot_product_attention, by the operators of other devices.
#include "graph/ir/compose.h"

#include <math.h>

// The log-sum-exp without what pads its rows and without a last dimension of 1.
static struct value *unpadded(struct build *b, struct value *sums, const struct value *query) {
  if (sums->rank == 4 && query->rank == 4 && expr_is(sums->shape[3], 1))
    sums = build_squeeze(b, sums, 3);
  if (sums && sums->rank == 3 && query->rank == 4 && sums->shape[2] != query->shape[2])
    sums = build_slice(b, sums, 2, compose_const(b, 0), query->shape[2], 1);
  return sums;
}

// Arguments of SDPA_CPU_BACKWARD, at these indices of the node; `mask` 0: none.
static struct node *attention_backward(struct build *b, struct node *n, unsigned q, unsigned out,
                                       unsigned dropout, unsigned mask, unsigned scale) {
  struct value *sums = unpadded(b, node_value(n, out + 1), node_value(n, q));
  if (!sums)
    return NULL;
  struct arg args[] = {n->args[0],
                       n->args[q],
                       n->args[q + 1],
                       n->args[q + 2],
                       n->args[out],
                       TENSOR(sums),
                       n->args[dropout],
                       n->args[dropout + (mask == 4 ? 2 : 1)],
                       mask ? n->args[mask] : (struct arg){.kind = ARG_NONE},
                       n->args[scale]};
  return graph_append(b->g, OP_SDPA_CPU_BACKWARD, args, COUNT_OF(args), b->at);
}

static void give_three(struct node *n, const struct node *from) {
  for (unsigned i = 0; from && i < 3; i++)
    n->results[i] = from->results[i];
}

// grad_out query key value out logsumexp cum_seq_q cum_seq_k max_q max_k dropout_p is_causal
// philox_seed philox_offset scale
void compose_flash_backward(struct build *b, struct node *n) {
  give_three(n, attention_backward(b, n, 1, 4, 10, 0, 14));
}

// Sums over the dimensions along which `like` is broadcast.
static struct value *sum_broadcast(struct build *b, struct value *x, const struct value *like) {
  struct dims summed = {0};
  for (uint32_t d = 0; x && d < x->rank; d++) {
    uint32_t missing = x->rank - like->rank;
    if (d < missing || (expr_is(like->shape[d - missing], 1) && !expr_is(x->shape[d], 1)))
      summed.at[summed.count++] = d;
  }
  if (summed.count)
    x = build_sum(b, x, &summed, true);
  return build_convert(b, build_view(b, x, like->rank, like->shape), like->dtype);
}

struct value *compose_bias_gradient(struct build *b, const struct attention_of *a,
                                    struct value *bias) {
  if (!a->score || !a->lse || !a->grad || !a->v || !a->out)
    return NULL;
  uint32_t rank = a->score->rank;
  struct dims row = dims_one(rank - 1);
  struct value *lse = build_unsqueeze(b, build_up(b, a->lse), rank - 1);
  struct value *p = build_unop(b, OP_EXP, build_sub(b, a->score, lse));
  p = p ? build_where(b, build_real(b, OP_EQ_TENSOR, lse, -(double)INFINITY),
                      build_number(b, 0, p->dtype), p)
        : NULL;
  struct value *delta =
      build_sum(b, build_mul(b, build_up(b, a->grad), build_up(b, a->out)), &row, true);
  struct value *dp =
      build_up(b, build_binop(b, OP_MATMUL, a->grad, build_swap(b, a->v, rank - 2, rank - 1)));
  return sum_broadcast(b, build_mul(b, p, build_sub(b, dp, delta)), bias);
}

// grad_out_:0 query:1 key:2 value:3 attn_bias:4 out:5 logsumexp:6 .. is_causal:11 scale:12
static struct value *bias_gradient(struct build *b, const struct node *n) {
  struct value *q = node_value(n, 1), *k = node_value(n, 2), *bias = node_value(n, 4);
  int64_t depth = 0;
  uint32_t rank = q->rank;
  expr_is_const(q->shape[rank - 1], &depth);
  double scale = node_is_none(n, 12) ? 1 / sqrt((double)depth) : node_real(n, 12);
  struct value *s = build_up(b, build_binop(b, OP_MATMUL, q, build_swap(b, k, rank - 2, rank - 1)));
  s = build_add(b, build_scale(b, s, scale), s ? build_convert(b, bias, s->dtype) : NULL);
  if (node_truth(n, 11) && s)
    s = build_where_else(b,
                         build_binop(b, OP_LE_TENSOR,
                                     build_iota(b, s->shape[rank - 1], rank - 1, rank),
                                     build_iota(b, s->shape[rank - 2], rank - 2, rank)),
                         s, -(double)INFINITY);
  struct attention_of a = {s, unpadded(b, node_value(n, 6), q), node_value(n, 0), node_value(n, 3),
                           node_value(n, 5)};
  return compose_bias_gradient(b, &a, bias);
}

// grad_out_ query key value attn_bias out logsumexp philox_seed philox_offset dropout_p
// grad_input_mask is_causal scale; results: gradients of query, key, value and bias
void compose_efficient_backward(struct build *b, struct node *n) {
  give_three(n, attention_backward(b, n, 1, 5, 9, 4, 12));
  if (n->results[0] && compose_is_wanted(n, 10, 3) && node_value(n, 4))
    n->results[3] = bias_gradient(b, n);
}

// grad_out query key value out logsumexp philox_seed philox_offset attn_bias cum_seq_q cum_seq_k
// max_q max_k dropout_p is_causal scale
void compose_cudnn_backward(struct build *b, struct node *n) {
  give_three(n, attention_backward(b, n, 1, 4, 13, 8, 15));
}
