// SPDX-License-Identifier: Apache-2.0
// Attention by xFormers' operators, which PyTorch has as its own: [batch, rows, heads, columns],
// also sequences behind each other in one batch, with a bias that has a gradient.
//
// The log-sum-exp is [batch, heads, rows] or [sequences, heads, longest], its rows padded to a
// multiple of 32.
#include "graph/ir/lengths.h"

enum { NO_LIMIT, FROM_START, FROM_END }; // custom_mask_type
enum { PADDED_ROWS = 32 };

static struct lengths begin(struct build *b, struct node *n, unsigned bias, unsigned kind,
                            unsigned cu) {
  int64_t limit = NO_LIMIT;
  expr_is_const(n->args[kind].number, &limit);
  struct lengths l = {.b = b,
                      .n = n,
                      .cu_q = node_value(n, cu),
                      .cu_k = node_value(n, cu + 1),
                      .bias = node_value(n, bias),
                      .is_causal = limit != NO_LIMIT,
                      .from_start = limit == FROM_START,
                      .left = lengths_window_side(n, "window_size"),
                      .right = -1};
  if (l.left > 0)
    l.left--; // a window of so many keys, with the query's own
  return l;
}

static bool bias_fits(struct lengths *l) {
  const struct value *x = l->bias;
  const struct expr *to[] = {l->q->shape[0], l->q->shape[1], l->q->shape[2], l->k->shape[2]};
  bool fits = !x || (x->rank == 4 && dtype_is_float(x->dtype));
  for (uint32_t d = 0; x && fits && d < 4; d++)
    fits = expr_is(x->shape[d], 1) || compose_same_size(l->b, x->shape[d], to[d]);
  if (!fits)
    compose_error(l->b, l->n, E1004,
                  "`bias` must be of floats and broadcast to [batch, heads, rows, keys]");
  return fits;
}

// ---- log-sum-exp by sequences ----

// The row of element j of sequence s, [sequences, most], and whether there is one.
static struct value *row_of(struct lengths *l, const struct expr *most, struct value **is_there) {
  struct build *b = l->b;
  struct exprs *e = b->g->exprs;
  struct value *cu = build_convert(b, l->cu_q, DTYPE_I64);
  if (!cu)
    return NULL;
  const struct expr *sequences = expr_addi(e, cu->shape[0], -1);
  struct value *begins = build_slice(b, cu, 0, compose_const(b, 0), sequences, 1);
  struct value *ends = build_slice(b, cu, 0, compose_const(b, 1), cu->shape[0], 1);
  struct value *at = build_add(b, build_unsqueeze(b, begins, 1), build_iota(b, most, 1, 2));
  *is_there = build_binop(b, OP_LT_TENSOR, at, build_unsqueeze(b, ends, 1));
  const struct expr *last = expr_addi(e, l->q->shape[2], -1);
  return at ? BUILD(b, OP_MINIMUM, TENSOR(at), ARG_E(last)) : NULL;
}

// [sequences, heads, most] of [1, heads, rows].
static struct value *apart(struct lengths *l, struct value *lse, const struct expr *most) {
  struct build *b = l->b;
  struct value *is_there = NULL, *row = row_of(l, most, &is_there);
  struct value *flat = row ? build_squeeze(b, lse, 0) : NULL;
  struct value *of_each = flat ? build_swap(b, compose_index(b, flat, 1, row), 0, 1) : NULL;
  return of_each ? build_where_else(b, build_unsqueeze(b, is_there, 1), of_each, 0) : NULL;
}

// [1, heads, rows] of [sequences, heads, most].
static struct value *together(struct lengths *l, struct value *lse) {
  struct build *b = l->b;
  const struct expr *most = lse->shape[2];
  struct value *cu = build_convert(b, l->cu_q, DTYPE_I64);
  struct value *row = build_iota(b, l->q->shape[2], 0, 1), *of = lengths_sequence_of(b, cu, row);
  struct value *from = of ? compose_index(b, cu, 0, of) : NULL;
  struct value *first = of ? BUILD(b, OP_MUL_TENSOR, TENSOR(of), ARG_E(most)) : NULL;
  struct value *at = from ? build_add(b, first, build_sub(b, row, from)) : NULL;
  const struct expr *flat[] = {lse->shape[1], expr_mul(b->g->exprs, lse->shape[0], most)};
  struct value *all = at ? build_view(b, build_swap(b, lse, 0, 1), 2, flat) : NULL;
  return all ? build_unsqueeze(b, compose_index(b, all, 1, at), 0) : NULL;
}

// ---- operators ----

static struct value *padded(struct build *b, struct value *lse, const struct expr *to) {
  struct arg sides[] = {arg_int(b->g, 0), ARG_E(expr_sub(b->g->exprs, to, lse->shape[2]))};
  struct arg list = {.kind = ARG_LIST, .list = {sides, COUNT_OF(sides)}};
  return BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(lse), list, ARG_F(0));
}

// lse is [batch, heads, rows].
static struct value *given_sums(struct lengths *l, struct value *lse) {
  struct exprs *e = l->b->g->exprs;
  const struct arg *longest = lengths_argument(l->n, "max_seqlen_q");
  const struct expr *rows = l->cu_q && longest ? longest->number : l->q->shape[2];
  rows = expr_muli(e, expr_cdiv(e, rows, expr_const(e, PADDED_ROWS)), PADDED_ROWS);
  return l->cu_q ? apart(l, lse, rows) : padded(l->b, lse, rows);
}

static struct value *no_sums(struct lengths *l) {
  const struct value *q = l->q;
  const struct expr *batches =
      l->cu_q ? expr_addi(l->b->g->exprs, l->cu_q->shape[0], -1) : q->shape[0];
  const struct expr *shape[] = {batches, q->shape[1], compose_const(l->b, 0)};
  return build_full(l->b, 3, shape, 0, DTYPE_F32);
}

// query:0 key value bias:3 cu_seqlens_q:4 cu_seqlens_k max_seqlen_q max_seqlen_k dropout_p
// custom_mask_type:9 compute_log_sumexp:10 scale seqlen_k window_size; results: output logsumexp
// philox_seed philox_offset
void compose_efficient_attention_forward(struct build *b, struct node *n) {
  struct lengths l = begin(b, n, 3, 9, 4);
  if (!lengths_begin(&l, 0) || !bias_fits(&l))
    return;
  const struct node *all = lengths_attend(&l);
  n->results[0] = all ? lengths_heads_inside(b, all->results[0], 4) : NULL;
  if (all)
    n->results[1] = node_truth(n, 10) ? given_sums(&l, all->results[1]) : no_sums(&l);
  for (unsigned i = 2; n->results[0] && i < n->result_count; i++)
    n->results[i] = build_number(b, 0, DTYPE_I64);
}

// grad_out_:0 query:1 key value bias:4 out:5 cu_seqlens_q:6 cu_seqlens_k max_seqlen_q max_seqlen_k
// logsumexp:10 dropout_p philox_seed philox_offset custom_mask_type:14 bias_requires_grad:15 scale
// num_splits_key window_size shared_storage_dqdkdv; results: gradients of query, key, value, bias
void compose_efficient_attention_backward(struct build *b, struct node *n) {
  struct lengths l = begin(b, n, 4, 14, 6);
  struct value *lse = node_value(n, 10);
  if (!lengths_begin(&l, 1) || !bias_fits(&l))
    return;
  if (lse->rank != 3) {
    compose_error(b, n, E1004, "`logsumexp` must be [batch or sequences, heads, rows]");
    return;
  }
  struct value *grad = lengths_heads_outside(b, node_value(n, 0)),
               *out = lengths_heads_outside(b, node_value(n, 5));
  lse = l.cu_q ? together(&l, lse) : build_slice(b, lse, 2, compose_const(b, 0), l.q->shape[2], 1);
  const struct node *all = lse ? lengths_gradients(&l, grad, out, lse) : NULL;
  for (unsigned i = 0; all && i < 3; i++)
    n->results[i] = lengths_heads_inside(b, all->results[i], 4);
  if (!all || !l.bias || !node_truth(n, 15))
    return;
  struct value *k = lengths_for_each_head(b, l.k, l.q), *v = lengths_for_each_head(b, l.v, l.q);
  struct value *product = k ? build_binop(b, OP_MATMUL, l.q, build_swap(b, k, 2, 3)) : NULL;
  struct attention_of a = {lengths_scores(&l, product, lengths_keys(&l)), lse, grad, v, out};
  n->results[3] = compose_bias_gradient(b, &a, l.bias);
}
