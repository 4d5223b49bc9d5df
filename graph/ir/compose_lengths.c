// SPDX-License-Identifier: Apache-2.0
// Attention of sequences of different lengths that lie one behind the other: sequence i has the
// rows from cu[i] to cu[i + 1]. It becomes one attention over all rows, in which a query sees the
// keys first .. end - 1. Both rise with the query, so that its kernel skips other keys.
//
// Causal limits and windows count from the ends of both sequences (FlashAttention 2.1): the last
// query sees the last key.
#include "graph/ir/lengths.h"

#include <math.h>

static int64_t window_side(const struct node *n, const char *name) {
  const struct arg *a = lengths_argument(n, name);
  int64_t size = -1;
  return a && expr_is_const(a->number, &size) ? size : -1;
}

// ---- both directions ----

// The attention and the log-sum-exp.
static const struct node *attend(struct lengths *l) {
  struct build *b = l->b;
  struct key_range r = lengths_keys(l);
  struct value *k = lengths_for_each_head(b, l->k, l->q), *v = lengths_for_each_head(b, l->v, l->q);
  struct value *product = NULL, *score = NULL;
  if (l->slopes && k) {
    product = build_binop(b, OP_MATMUL, l->q, build_swap(b, k, 2, 3));
    score = lengths_alibi(l, product, &r);
  }
  const struct arg none = {.kind = ARG_NONE};
  struct arg args[] = {TENSOR(l->q),    ARG_V(k),       ARG_V(v),     none,           ARG_B(false),
                       ARG_F(l->scale), ARG_V(product), ARG_V(score), ARG_V(r.first), ARG_V(r.end)};
  return k && v && (score || !l->slopes)
             ? graph_append(b->g, OP_TILE_ATTENTION, args, COUNT_OF(args), b->at)
             : NULL;
}

static struct value *hidden_outside(struct build *b, struct value *s, struct key_range r) {
  struct value *key = s ? build_iota(b, s->shape[3], 3, 4) : NULL;
  if (r.first)
    s = build_where_else(b, build_binop(b, OP_GE_TENSOR, key, build_along(b, r.first, 2, 4)), s,
                         -(double)INFINITY);
  if (r.end)
    s = build_where_else(b, build_binop(b, OP_LT_TENSOR, key, build_along(b, r.end, 2, 4)), s,
                         -(double)INFINITY);
  return s;
}

// out and lse in the layout of tile.attention's results.
static const struct node *gradients(struct lengths *l, struct value *grad, struct value *out,
                                    struct value *lse) {
  struct build *b = l->b;
  struct dims row = dims_one(3);
  struct value *delta =
      build_sum(b, build_mul(b, build_up(b, grad), build_up(b, out)), &row, false);
  struct value *k = lengths_for_each_head(b, l->k, l->q);
  struct value *product = k ? build_binop(b, OP_MATMUL, l->q, build_swap(b, k, 2, 3)) : NULL;
  struct value *score = build_scale(b, build_up(b, product), l->scale);
  struct key_range keys = lengths_keys(l), queries = lengths_queries(l);
  score = hidden_outside(b, score, keys);
  if (!delta || !score || !lse)
    return NULL;
  struct arg args[] = {TENSOR(grad),
                       TENSOR(l->q),
                       TENSOR(l->k),
                       TENSOR(l->v),
                       TENSOR(build_up(b, lse)),
                       TENSOR(delta),
                       TENSOR(product),
                       TENSOR(score),
                       TENSOR(build_full(b, 4, score->shape, 1, score->dtype)),
                       ARG_F(l->scale),
                       ARG_V(keys.first),
                       ARG_V(keys.end),
                       ARG_V(queries.first),
                       ARG_V(queries.end)};
  return graph_append(b->g, OP_TILE_ATTENTION_GRADIENTS, args, COUNT_OF(args), b->at);
}

// ---- operators ----

static struct value *zero(struct build *b, enum dtype t) { return build_number(b, 0, t); }

// Output and log-sum-exp; the state of random numbers and the like are 0.
static void store_forward(struct lengths *l, struct node *n) {
  struct build *b = l->b;
  const struct node *all = lengths_begin_forward(l, "max_q") ? attend(l) : NULL;
  if (!all)
    return;
  uint32_t rank = node_value(n, 0)->rank;
  if (l->has_one_query) {
    n->results[0] = build_squeeze(b, all->results[0], 2);
    n->results[1] = build_swap(b, build_squeeze(b, all->results[1], 2), 0, 1);
  } else {
    n->results[0] = lengths_heads_inside(b, all->results[0], rank);
    n->results[1] = rank == 3 ? build_squeeze(b, all->results[1], 0) : all->results[1];
  }
  for (unsigned i = 2; i < n->result_count; i++)
    n->results[i] = zero(b, DTYPE_I64);
}

// query key value cum_seq_q cum_seq_k max_q max_k dropout_p is_causal return_debug_mask scale
// window_size_left window_size_right seqused_k alibi_slopes block_table num_splits; results: output
// softmax_logsumexp rng_state unused debug_attn_mask
void compose_flash_attention_forward(struct build *b, struct node *n) {
  struct lengths l = {.b = b,
                      .n = n,
                      .cu_q = node_value(n, 3),
                      .cu_k = node_value(n, 4),
                      .is_causal = node_truth(n, 8),
                      .left = window_side(n, "window_size_left"),
                      .right = window_side(n, "window_size_right")};
  store_forward(&l, n);
}

// The two numbers of a window, -1 without one.
static void window_of(const struct node *n, unsigned i, struct lengths *l) {
  const struct arg *list;
  l->left = l->right = -1;
  if (node_list(n, i, &list) == 2) {
    expr_is_const(list[0].number, &l->left);
    expr_is_const(list[1].number, &l->right);
  }
}

// query key value cu_seq_q cu_seq_k max_q max_k is_causal scale window_size ..; results: output
// lse rng_state
void compose_varlen_attention(struct build *b, struct node *n) {
  struct lengths l = {.b = b,
                      .n = n,
                      .cu_q = node_value(n, 3),
                      .cu_k = node_value(n, 4) ? node_value(n, 4) : node_value(n, 3),
                      .is_causal = node_truth(n, 7)};
  window_of(n, 9, &l);
  store_forward(&l, n);
}

// grad_out query key value out lse cu_seq_q cu_seq_k max_q max_k is_causal rng_state scale
// window_size ..
void compose_varlen_attention_backward(struct build *b, struct node *n) {
  struct lengths l = {.b = b,
                      .n = n,
                      .cu_q = node_value(n, 6),
                      .cu_k = node_value(n, 7),
                      .is_causal = node_truth(n, 10)};
  window_of(n, 13, &l);
  if (!lengths_begin(&l, 1))
    return;
  const struct node *all = gradients(&l, lengths_heads_outside(b, node_value(n, 0)),
                                     lengths_heads_outside(b, node_value(n, 4)),
                                     build_unsqueeze(b, node_value(n, 5), 0));
  for (unsigned i = 0; all && i < 3; i++)
    n->results[i] = lengths_heads_inside(b, all->results[i], 3);
}

// grad_out query key value out logsumexp cum_seq_q cum_seq_k max_q max_k dropout_p is_causal
// rng_state unused scale window_size_left window_size_right
void compose_flash_attention_backward(struct build *b, struct node *n) {
  struct lengths l = {.b = b,
                      .n = n,
                      .cu_q = node_value(n, 6),
                      .cu_k = node_value(n, 7),
                      .is_causal = node_truth(n, 11),
                      .left = window_side(n, "window_size_left"),
                      .right = window_side(n, "window_size_right")};
  if (!lengths_begin(&l, 1))
    return;
  struct value *lse = node_value(n, 5);
  uint32_t rank = node_value(n, 1)->rank;
  const struct node *all = gradients(&l, lengths_heads_outside(b, node_value(n, 0)),
                                     lengths_heads_outside(b, node_value(n, 4)),
                                     rank == 3 ? build_unsqueeze(b, lse, 0) : lse);
  for (unsigned i = 0; all && i < 3; i++)
    n->results[i] = lengths_heads_inside(b, all->results[i], rank);
}

// The log-sum-exp that nobody asked for.
static struct value *without_rows(struct build *b, const struct value *lse) {
  const struct expr *shape[] = {lse->shape[0], lse->shape[1], compose_const(b, 0)};
  return build_full(b, 3, shape, 0, lse->dtype);
}

// query key value bias cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k dropout_p
// custom_mask_type compute_log_sumexp scale seqlen_k window_size; results: output logsumexp
// philox_seed philox_offset
void compose_efficient_attention_forward(struct build *b, struct node *n) {
  enum { NOTHING, FROM_START, FROM_END };
  int64_t kind = NOTHING;
  expr_is_const(n->args[9].number, &kind);
  struct lengths l = {.b = b,
                      .n = n,
                      .cu_q = node_value(n, 4),
                      .cu_k = node_value(n, 5),
                      .is_causal = kind != NOTHING,
                      .from_start = kind == FROM_START,
                      .left = window_side(n, "window_size"),
                      .right = -1};
  if (l.left > 0)
    l.left--; // a window of so many keys, with the query's own
  if (lengths_refuse(&l, "bias") || !lengths_begin(&l, 0))
    return;
  const struct node *all = attend(&l);
  n->results[0] = all ? lengths_heads_inside(b, all->results[0], 4) : NULL;
  if (all && !l.cu_q) // else it has padded rows for each sequence
    n->results[1] = node_truth(n, 10) ? all->results[1] : without_rows(b, all->results[1]);
  for (unsigned i = 2; n->results[0] && i < n->result_count; i++)
    n->results[i] = zero(b, DTYPE_I64);
}
