// SPDX-License-Identifier: Apache-2.0
// Every attention operator becomes tile.attention, which is kept or decomposed into products and a
// softmax.
#include "graph/passes/attention_gradients.h"

#include <math.h>

#define MINUS_INFINITY (-__builtin_inf())

// ---- shapes ----

// As [batches, heads, rows, columns].
static struct value *four(struct build *b, struct value *x) {
  if (!x || x->rank == 4)
    return x;
  const struct expr *one = expr_const(b->g->exprs, 1), *shape[4] = {one, one, one, one};
  for (uint32_t i = 1; i <= 3 && i <= x->rank; i++)
    shape[4 - i] = x->shape[x->rank - i];
  if (x->rank > 4)
    shape[0] = expr_product(b->g->exprs, x->shape, x->rank - 3);
  return build_view(b, x, 4, shape);
}

// The mask, viewed for scores of queries of that rank; expanded first if its batches are merged.
static struct value *four_mask(struct build *b, struct value *mask, const struct value *query,
                               const struct value *key) {
  if (query->rank <= 4)
    return four(b, mask);
  const struct expr *shape[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i + 1 < query->rank; i++)
    shape[i] = query->shape[i];
  shape[query->rank - 1] = key->shape[key->rank - 2];
  return four(b, build_expand(b, mask, query->rank, shape));
}

// Keys of fewer heads, each repeated for the queries that share it.
static struct value *repeat_heads(struct build *b, struct value *x, const struct expr *heads) {
  if (!x || x->shape[1] == heads)
    return x;
  const struct expr *each = expr_floordiv(b->g->exprs, heads, x->shape[1]),
                    *one = expr_const(b->g->exprs, 1);
  const struct expr *apart[] = {x->shape[0], x->shape[1], one, x->shape[2], x->shape[3]};
  const struct expr *often[] = {x->shape[0], x->shape[1], each, x->shape[2], x->shape[3]};
  const struct expr *shape[] = {x->shape[0], heads, x->shape[2], x->shape[3]};
  return build_view(b, build_expand(b, build_view(b, x, 5, apart), 5, often), 4, shape);
}

// Sums over the queries that share a head.
static struct value *sum_heads(struct build *b, struct value *x, const struct expr *heads) {
  if (!x || x->shape[1] == heads)
    return x;
  const struct expr *each = expr_floordiv(b->g->exprs, x->shape[1], heads);
  const struct expr *apart[] = {x->shape[0], heads, each, x->shape[2], x->shape[3]};
  struct dims dims = dims_one(2);
  return build_sum(b, build_view(b, build_up(b, x), 5, apart), &dims, false);
}

// ---- arguments by name ----

static const struct arg *argument(const struct node *n, const char *name) {
  int i = operator_parameter(n->op, name);
  return i < 0 ? NULL : &n->args[i];
}

static struct value *mask_of(const struct node *n) {
  const struct arg *a = argument(n, "attn_mask");
  if (!a)
    a = argument(n, "attn_bias");
  return a && a->kind == ARG_VALUE ? a->value : NULL;
}

// The factor of each weight, in four dimensions.
static struct value *kept_of(struct build *b, const struct node *n) {
  const struct arg *a = argument(n, "kept");
  return a && a->kind == ARG_VALUE ? four(b, a->value) : NULL;
}

static double number_or(const struct arg *a, double otherwise) {
  if (!a || a->kind == ARG_NONE)
    return otherwise;
  struct node holder = {.args = (struct arg[]){*a}, .arg_count = 1};
  return node_real(&holder, 0);
}

static bool scale_of(struct build *b, const struct node *n, const struct value *query,
                     double *ret) {
  int64_t depth = 0;
  const struct arg *scale = argument(n, "scale");
  bool is_known = expr_is_const(query->shape[query->rank - 1], &depth);
  *ret = number_or(scale, is_known && depth > 0 ? 1 / sqrt((double)depth) : __builtin_nan(""));
  if (*ret - *ret == 0)
    return true;
  diag_help(diag_error(b->g->diag, n->span, E1004, "attention over a symbolic depth"),
            "give it a `scale`");
  return false;
}

// The forward operators with dropout are composed of others, which pass the mask on.
static bool refuses_dropout(struct build *b, const struct node *n) {
  if (number_or(argument(n, "dropout_p"), 0) <= 0)
    return false;
  diag_help(diag_error(b->g->diag, n->span, E1010,
                       "gradients of attention with dropout, without the mask of its forward pass"),
            "differentiate the forward graph (`--grad`): its gradients draw the mask again");
  return true;
}

static bool is_causal(const struct node *n) {
  const struct arg *a = argument(n, "is_causal");
  return a && a->kind == ARG_BOOL && a->truth;
}

// ---- forward ----

// Rows of logsumexp, padded.
static struct value *padded_sums(struct build *b, struct value *sums, const struct value *like) {
  const struct expr *rows = sums->shape[sums->rank - 1];
  struct arg pads[2] = {arg_int(b->g, 0),
                        ARG_E(expr_sub(b->g->exprs, like->shape[like->rank - 1], rows))};
  struct arg list = {.kind = ARG_LIST, .list = {pads, 2}};
  sums = BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(sums), list, ARG_F(0));
  return build_view(b, sums, like->rank, like->shape);
}

// All operators; results are o, lse, and zeros for random seeds and sizes.
bool decompose_sdpa(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *q = node_value(n, 0), *k = node_value(n, 1), *v = node_value(n, 2),
               *mask = mask_of(n);
  double scale;
  if (!scale_of(b, n, q, &scale))
    return false;
  if (mask)
    mask = four_mask(b, mask, q, k);
  q = four(b, q);
  if (!q)
    return false;
  k = repeat_heads(b, four(b, k), q->shape[1]);
  v = repeat_heads(b, four(b, v), q->shape[1]);
  if (!k || !v || (mask_of(n) && !mask))
    return false;
  const struct arg none = {.kind = ARG_NONE};
  struct arg args[] = {TENSOR(q),    TENSOR(k), TENSOR(v), ARG_V(mask),         ARG_B(is_causal(n)),
                       ARG_F(scale),
                       none, // product, score, first, end
                       none,         none,      none,      ARG_V(kept_of(b, n))};
  struct node *whole = graph_append(b->g, OP_TILE_ATTENTION, args, COUNT_OF(args), n->span);
  if (!whole)
    return false;
  for (uint32_t i = 0; i < n->result_count; i++) {
    const struct value *old = n->results[i];
    if (!old)
      continue;
    bool is_there =
        i < 2 && value_numel(b->g->exprs, old) == value_numel(b->g->exprs, whole->results[i]);
    bool is_padded = i == 1 && n->op == OP_SDPA_EFFICIENT && node_truth(n, 4) && !is_there;
    if (is_padded)
      decompose_give(d, n, ret, i, padded_sums(b, whole->results[1], old));
    else if (is_there)
      decompose_give(d, n, ret, i, build_view(b, whole->results[i], old->rank, old->shape));
    else
      ret[i] = build_full(b, old->rank, old->shape, 0, old->dtype);
  }
  return true;
}

static struct value *product_of(struct build *b, struct value *q, struct value *k) {
  return build_binop(b, OP_MATMUL, q, build_swap(b, k, 2, 3));
}

// The product of queries and keys times the scale, masked, in f32.
static struct value *scores(struct build *b, struct value *product, struct value *mask, bool causal,
                            double scale) {
  struct value *s = build_scale(b, build_up(b, product), scale);
  if (!s)
    return NULL;
  if (mask && mask->dtype == DTYPE_I1)
    s = build_where_else(b, mask, s, MINUS_INFINITY);
  else if (mask)
    s = build_add(b, s, build_convert(b, mask, s->dtype));
  if (!causal || !s)
    return s;
  struct value *row = build_iota(b, s->shape[2], 2, 4), *column = build_iota(b, s->shape[3], 3, 4);
  return build_where_else(b, build_binop(b, OP_LE_TENSOR, column, row), s, MINUS_INFINITY);
}

// A bound of each row, maybe of each batch, beside scores.
static struct value *beside_scores(struct build *b, struct value *bound) {
  return bound->rank == 1 ? build_along(b, bound, 2, 4)
                          : build_unsqueeze(b, build_unsqueeze(b, bound, 1), 3);
}

// The scores, hidden outside of the keys that each query sees.
static struct value *within(struct build *b, struct value *s, struct value *first,
                            struct value *end) {
  struct value *key = s ? build_iota(b, s->shape[3], 3, 4) : NULL;
  if (first)
    s = build_where_else(b, build_binop(b, OP_GE_TENSOR, key, beside_scores(b, first)), s,
                         MINUS_INFINITY);
  if (end)
    s = build_where_else(b, build_binop(b, OP_LT_TENSOR, key, beside_scores(b, end)), s,
                         MINUS_INFINITY);
  return s;
}

// query:0 key:1 value:2 attn_mask:3 is_causal:4 scale:5 product:6 score:7 first:8 end:9 kept:10
bool decompose_attention(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  if (d->flags & KEEPS_ATTENTION)
    return decompose_keep(d);
  struct value *v = node_value(n, 2), *mask = node_value(n, 3), *s = node_value(n, 7);
  struct value *first = node_value(n, 8), *end = node_value(n, 9);
  bool may_be_empty = mask || s || first || end;
  if (!s)
    s = scores(b, product_of(b, node_value(n, 0), node_value(n, 1)), mask, node_truth(n, 4),
               node_real(n, 5));
  s = within(b, s, first, end);
  struct dims row = dims_one(3);
  struct value *top = build_amax(b, s, &row, true), *is_empty = NULL;
  if (may_be_empty && top) { // rows without an entry
    is_empty = build_real(b, OP_EQ_TENSOR, top, MINUS_INFINITY);
    top = build_where(b, is_empty, build_number(b, 0, top->dtype), top);
  }
  struct value *e = build_unop(b, OP_EXP, build_sub(b, s, top)), *sum = build_sum(b, e, &row, true);
  struct value *p = build_div(b, e, sum);
  if (is_empty && p)
    p = build_where(b, is_empty, build_number(b, 0, p->dtype), p);
  struct value *weights = node_value(n, 10) ? build_mul(b, p, node_value(n, 10)) : p;
  decompose_give(d, n, ret, 0, build_binop(b, OP_MATMUL, build_convert(b, weights, v->dtype), v));
  struct value *lse = build_add(b, top, build_unop(b, OP_LOG, sum));
  const struct value *old = n->results[1];
  return !old || decompose_give(d, n, ret, 1, build_view(b, lse, old->rank, old->shape));
}

// ---- backward ----

static bool give_gradients(struct decompose *d, const struct node *n, struct value **ret,
                           struct value *const all[static 3]) {
  for (uint32_t i = 0; i < 3; i++)
    if (n->results[i])
      decompose_give(d, n, ret, i,
                     build_view(&d->b, all[i], n->results[i]->rank, n->results[i]->shape));
  return true;
}

static struct value *of_rows(struct build *b, struct value *v, struct value *like) {
  return v ? build_view(b, v, 3, like->shape) : NULL;
}

// By kernels for plain attention, where there are some.
static bool has_plain_kernels(struct decompose *d, const struct node *n,
                              struct attention_gradients *a) {
  if (!(d->flags & HAS_GRADIENT_KERNELS) || mask_of(n) || !a->lse || a->lse->dtype != DTYPE_F32)
    return false;
  if (argument(n, "kept"))
    return false;
  a->is_causal = is_causal(n);
  return !attention_rows_are_short(a->q, a->k) && attention_gradients_fit(a);
}

// Recomputes P = exp(scores - lse); dS = P (dO V^T - sum(dO O)) scale; dQ = dS K, dK = dS^T Q, dV =
// P^T dO
// grad_out:0 query:1 key:2 value:3 out:4 logsumexp:5
bool decompose_sdpa_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *g = four(b, node_value(n, 0)), *q = four(b, node_value(n, 1)),
               *o = four(b, node_value(n, 4)), *mask = mask_of(n);
  struct value *k = four(b, node_value(n, 2)), *v = four(b, node_value(n, 3)),
               *given = node_value(n, 5), *gradients[3];
  double scale;
  if (refuses_dropout(b, n) || !scale_of(b, n, node_value(n, 1), &scale) || !q || !k || !v || !g ||
      !o)
    return false;
  if (mask)
    mask = four_mask(b, mask, node_value(n, 1), node_value(n, 2));
  bool has_weights = given->rank == node_value(n, 1)->rank; // instead of logsumexp
  struct value *lse = has_weights ? NULL : build_up(b, of_rows(b, given, q));
  struct attention_gradients plain = {
      .q = q, .k = k, .v = v, .out = o, .grad = g, .lse = lse, .scale = scale};
  if (has_plain_kernels(d, n, &plain))
    return attention_gradients_build(d, &plain, gradients) && give_gradients(d, n, ret, gradients);
  struct value *product = product_of(b, q, repeat_heads(b, k, q->shape[1])), *score, *delta;
  if (has_weights) {
    score = build_unop(b, OP_LOG, build_up(b, four(b, given)));
    lse = build_full(b, 3, q->shape, 0, DTYPE_F32);
  } else {
    score = scores(b, product, mask, is_causal(n), scale);
  }
  struct dims row = dims_one(3);
  delta = build_sum(b, build_mul(b, build_up(b, g), build_up(b, o)), &row, false);
  if (!score || !lse || !delta)
    return false;
  struct value *factor = build_full(b, 4, score->shape, 1, score->dtype);
  const struct arg none = {.kind = ARG_NONE};
  struct arg args[] = {TENSOR(g),
                       TENSOR(q),
                       TENSOR(k),
                       TENSOR(v),
                       TENSOR(lse),
                       TENSOR(delta),
                       TENSOR(product),
                       TENSOR(score),
                       TENSOR(factor),
                       ARG_F(scale),
                       none, // bounds of keys, of queries
                       none,
                       none,
                       none,
                       ARG_V(kept_of(b, n))};
  const struct node *all =
      graph_append(b->g, OP_TILE_ATTENTION_GRADIENTS, args, COUNT_OF(args), b->at);
  return all && give_gradients(d, n, ret, all->results);
}

// grad:0 query:1 key:2 value:3 logsumexp:4 delta:5 product:6 score:7 factor:8 scale:9
// first:10 end:11 first_query:12 end_query:13 kept:14
bool decompose_attention_gradients(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *g = node_value(n, 0), *q = node_value(n, 1), *keys = node_value(n, 2),
               *values = node_value(n, 3), *lse = node_value(n, 4), *score = node_value(n, 7);
  if ((d->flags & HAS_GRADIENT_KERNELS) && lse->dtype == DTYPE_F32 && score->dtype == DTYPE_F32 &&
      attention_score_gradients_fit(n))
    return attention_score_gradients_build(d, n, ret);
  const struct expr *column[] = {q->shape[0], q->shape[1], q->shape[2], expr_const(b->g->exprs, 1)};
  struct value *k = repeat_heads(b, keys, q->shape[1]), *v = repeat_heads(b, values, q->shape[1]);
  score = within(b, score, node_value(n, 10), node_value(n, 11));
  lse = build_view(b, lse, 4, column);
  struct value *p = build_unop(b, OP_EXP, build_sub(b, score, lse)); // 0 in rows without an entry
  p = build_where(b, build_real(b, OP_EQ_TENSOR, lse, MINUS_INFINITY),
                  p ? build_number(b, 0, p->dtype) : NULL, p);
  struct value *dp = build_up(b, product_of(b, g, v)), *kept = node_value(n, 14), *weights = p;
  if (kept) {
    dp = build_mul(b, dp, kept);
    weights = build_mul(b, p, kept);
  }
  struct value *ds = build_mul(b, p, build_sub(b, dp, build_view(b, node_value(n, 5), 4, column)));
  ds = build_scale(b, build_mul(b, ds, node_value(n, 8)), node_real(n, 9));
  ds = build_convert(b, ds, q->dtype);
  struct value *dv =
      build_binop(b, OP_MATMUL, build_swap(b, build_convert(b, weights, q->dtype), 2, 3), g);
  struct value *dk = build_binop(b, OP_MATMUL, build_swap(b, ds, 2, 3), q);
  decompose_give(d, n, ret, 0, build_binop(b, OP_MATMUL, ds, k));
  decompose_give(d, n, ret, 1, sum_heads(b, dk, keys->shape[1]));
  return decompose_give(d, n, ret, 2, sum_heads(b, dv, values->shape[1]));
}
