// SPDX-License-Identifier: Apache-2.0
// Attention of sequences of different lengths that lie one behind the other: sequence i has the
// rows from cu[i] to cu[i + 1]. It becomes one attention over all rows, in which a query sees the
// keys first .. end - 1. Both rise with the query, so that its kernel skips other keys.
//
// Causal limits and windows count from the ends of both sequences (FlashAttention 2.1): the last
// query sees the last key.
#include "graph/ir/compose.h"

#include <math.h>

// ---- operands ----

// The arguments of an operator, by position; what it lacks is NULL or negative.
struct lengths {
  struct build *b;
  const struct node *n;
  struct value *q, *k, *v; // [batch, heads, rows, columns]
  struct value *cu_q, *cu_k;
  bool is_causal, from_start; // from_start: the first query sees the first key, and so on
  int64_t left, right;        // further keys of a window; negative: all
  double scale;
};

static const struct arg *argument(const struct node *n, const char *name) {
  int i = operator_parameter(n->op, name);
  return i < 0 || n->args[i].kind == ARG_NONE ? NULL : &n->args[i];
}

static int64_t window_side(const struct node *n, const char *name) {
  const struct arg *a = argument(n, name);
  int64_t size = -1;
  return a && expr_is_const(a->number, &size) ? size : -1;
}

// [rows, heads, columns] or [batch, rows, heads, columns] with heads outside.
static struct value *heads_outside(struct build *b, struct value *x) {
  return build_swap(b, x && x->rank == 3 ? build_unsqueeze(b, x, 0) : x, 1, 2);
}

static struct value *heads_inside(struct build *b, struct value *x, uint32_t rank) {
  x = build_swap(b, x, 1, 2);
  return rank == 3 ? build_squeeze(b, x, 0) : x;
}

static struct value *for_each_head(struct build *b, struct value *x, const struct value *q) {
  struct exprs *e = b->g->exprs;
  if (!x || x->shape[1] == q->shape[1])
    return x;
  const struct expr *each = expr_floordiv(e, q->shape[1], x->shape[1]);
  const struct expr *apart[] = {x->shape[0], x->shape[1], compose_const(b, 1), x->shape[2],
                                x->shape[3]};
  const struct expr *often[] = {x->shape[0], x->shape[1], each, x->shape[2], x->shape[3]};
  const struct expr *whole[] = {x->shape[0], q->shape[1], x->shape[2], x->shape[3]};
  return build_view(b, build_expand(b, build_view(b, x, 5, apart), 5, often), 4, whole);
}

static bool refuse(struct lengths *l, const char *name) {
  if (!argument(l->n, name))
    return false;
  compose_error(l->b, l->n, E1008, "`%s` of attention", name);
  return true;
}

static bool begin(struct lengths *l, unsigned query) {
  static const char *const refused[] = {"seqused_k", "alibi_slopes", "block_table", "seqlen_k"};
  struct value *const of[] = {node_value(l->n, query), node_value(l->n, query + 1),
                              node_value(l->n, query + 2)};
  for (size_t i = 0; i < COUNT_OF(refused); i++)
    if (operator_parameter(l->n->op, refused[i]) >= 0 && refuse(l, refused[i]))
      return false;
  const struct arg *dropout = argument(l->n, "dropout_p"), *scale = argument(l->n, "scale");
  struct node holder = {.arg_count = 1};
  holder.args = (struct arg *)(uintptr_t)dropout;
  if (dropout && node_real(&holder, 0) > 0) {
    compose_error(l->b, l->n, E1008, "dropout within attention");
    return false;
  }
  uint32_t rank = of[0]->rank;
  int64_t depth;
  if ((rank != 3 && rank != 4) || of[1]->rank != rank || of[2]->rank != rank ||
      !expr_is_const(of[0]->shape[rank - 1], &depth) || depth < 1) {
    compose_error(l->b, l->n, E1004,
                  "`query`, `key` and `value` must be [rows, heads, columns] or [batch, rows, "
                  "heads, columns], with a constant number of columns");
    return false;
  }
  holder.args = (struct arg *)(uintptr_t)scale;
  l->scale = scale ? node_real(&holder, 0) : 1 / sqrt((double)depth);
  l->q = heads_outside(l->b, of[0]);
  l->k = heads_outside(l->b, of[1]);
  l->v = heads_outside(l->b, of[2]);
  return l->q && l->k && l->v;
}

// ---- the keys that a query sees ----

// Element at + plus of the vector, for each of `at`.
static struct value *pick(struct build *b, struct value *of, struct value *at, int64_t plus) {
  return compose_index(b, of, 0, plus ? build_int(b, OP_ADD_TENSOR, at, plus) : at);
}

// The sequence of each row: the number of ends, without the last one, at or before it.
static struct value *sequence_of(struct build *b, struct value *cu, struct value *row) {
  const struct expr *last = expr_addi(b->g->exprs, cu->shape[0], -1);
  struct value *ends = build_slice(b, cu, 0, compose_const(b, 1), last, 1);
  struct dims along = dims_one(1);
  struct value *passed =
      build_binop(b, OP_LE_TENSOR, build_along(b, ends, 1, 2), build_along(b, row, 0, 2));
  return build_sum(b, build_convert(b, passed, DTYPE_I64), &along, false);
}

struct range {
  struct value *first, *end; // of keys, for each query; NULL: not bounded
};

// Of sequences: where each query's begins and ends, in i64.
struct sequences {
  struct value *position, *queries, *first, *end; // of the query within it; queries; keys
};

static struct sequences sequences_of(struct lengths *l) {
  struct build *b = l->b;
  struct value *row = build_iota(b, l->q->shape[2], 0, 1);
  if (!l->cu_q)
    return (struct sequences){
        row,
        BUILD(b, OP_FULL, arg_exprs(b->g, 1, &l->q->shape[2]), ARG_E(l->q->shape[2]),
              ARG_D(DTYPE_I64)),
        BUILD(b, OP_FULL, arg_exprs(b->g, 1, &l->q->shape[2]), arg_int(b->g, 0), ARG_D(DTYPE_I64)),
        BUILD(b, OP_FULL, arg_exprs(b->g, 1, &l->q->shape[2]), ARG_E(l->k->shape[2]),
              ARG_D(DTYPE_I64))};
  struct value *cu_q = build_convert(b, l->cu_q, DTYPE_I64),
               *cu_k = build_convert(b, l->cu_k, DTYPE_I64), *of = sequence_of(b, cu_q, row);
  struct value *begin = pick(b, cu_q, of, 0);
  return (struct sequences){build_sub(b, row, begin), build_sub(b, pick(b, cu_q, of, 1), begin),
                            pick(b, cu_k, of, 0), pick(b, cu_k, of, 1)};
}

static struct range range_of(struct lengths *l) {
  struct build *b = l->b;
  int64_t right = l->is_causal ? 0 : l->right;
  if (!l->cu_q && right < 0 && l->left < 0)
    return (struct range){NULL, NULL};
  struct sequences s = sequences_of(l);
  struct range r = {s.first, s.end};
  struct value *shift =
      l->from_start ? NULL : build_sub(b, build_sub(b, s.end, s.first), s.queries);
  struct value *same = build_add(b, s.first, s.position); // the key beside the query
  same = shift ? build_add(b, same, shift) : same;
  if (l->left >= 0) {
    struct value *from = build_int(b, OP_ADD_TENSOR, same, -l->left);
    r.first = build_binop(b, OP_MINIMUM, build_binop(b, OP_MAXIMUM, from, s.first), s.end);
  }
  if (right >= 0) {
    struct value *to = build_int(b, OP_ADD_TENSOR, same, right + 1);
    r.end = build_binop(b, OP_MAXIMUM, build_binop(b, OP_MINIMUM, to, s.end), s.first);
  }
  r.first = build_convert(b, r.first, DTYPE_I32);
  r.end = build_convert(b, r.end, DTYPE_I32);
  return r;
}

// The queries that see a key: the same from the other side.
static struct range queries_of(const struct lengths *l) {
  struct lengths other = *l;
  other.q = l->k;
  other.k = l->q;
  other.cu_q = l->cu_k;
  other.cu_k = l->cu_q;
  other.is_causal = false;
  other.left = l->is_causal ? 0 : l->right;
  other.right = l->left;
  return range_of(&other);
}

// ---- both directions ----

// The attention and the log-sum-exp.
static const struct node *attend(struct lengths *l) {
  struct build *b = l->b;
  struct range r = range_of(l);
  struct value *k = for_each_head(b, l->k, l->q), *v = for_each_head(b, l->v, l->q);
  const struct arg none = {.kind = ARG_NONE};
  struct arg args[] = {TENSOR(l->q),    ARG_V(k), ARG_V(v), none,           ARG_B(false),
                       ARG_F(l->scale), none,     none,     ARG_V(r.first), ARG_V(r.end)};
  return k && v ? graph_append(b->g, OP_TILE_ATTENTION, args, COUNT_OF(args), b->at) : NULL;
}

static struct value *hidden_outside(struct build *b, struct value *s, struct range r) {
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
  struct value *k = for_each_head(b, l->k, l->q);
  struct value *product = k ? build_binop(b, OP_MATMUL, l->q, build_swap(b, k, 2, 3)) : NULL;
  struct value *score = build_scale(b, build_up(b, product), l->scale);
  struct range keys = range_of(l), queries = queries_of(l);
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
  const struct node *all = begin(&l, 0) ? attend(&l) : NULL;
  if (!all)
    return;
  uint32_t rank = node_value(n, 0)->rank;
  n->results[0] = heads_inside(b, all->results[0], rank);
  n->results[1] = rank == 3 ? build_squeeze(b, all->results[1], 0) : all->results[1];
  for (unsigned i = 2; i < n->result_count; i++)
    n->results[i] = zero(b, DTYPE_I64);
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
  const struct node *all = begin(&l, 0) ? attend(&l) : NULL;
  if (!all)
    return;
  n->results[0] = heads_inside(b, all->results[0], 3);
  n->results[1] = build_squeeze(b, all->results[1], 0);
  n->results[2] = zero(b, DTYPE_I64);
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
  if (!begin(&l, 1))
    return;
  const struct node *all =
      gradients(&l, heads_outside(b, node_value(n, 0)), heads_outside(b, node_value(n, 4)),
                build_unsqueeze(b, node_value(n, 5), 0));
  for (unsigned i = 0; all && i < 3; i++)
    n->results[i] = heads_inside(b, all->results[i], 3);
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
  if (!begin(&l, 1))
    return;
  struct value *lse = node_value(n, 5);
  uint32_t rank = node_value(n, 1)->rank;
  const struct node *all =
      gradients(&l, heads_outside(b, node_value(n, 0)), heads_outside(b, node_value(n, 4)),
                rank == 3 ? build_unsqueeze(b, lse, 0) : lse);
  for (unsigned i = 0; all && i < 3; i++)
    n->results[i] = heads_inside(b, all->results[i], rank);
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
  if (refuse(&l, "bias") || !begin(&l, 0))
    return;
  const struct node *all = attend(&l);
  n->results[0] = all ? heads_inside(b, all->results[0], 4) : NULL;
  if (all && !l.cu_q) // else it has padded rows for each sequence
    n->results[1] = all->results[1];
  for (unsigned i = 2; n->results[0] && i < n->result_count; i++)
    n->results[i] = zero(b, DTYPE_I64);
}
