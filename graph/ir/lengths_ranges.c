// SPDX-License-Identifier: Apache-2.0
// Which keys a query sees by the lengths of sequences, causal limits and windows: a range for each
// query, whose ends rise with the query.
#include "graph/ir/lengths.h"

// Element at + plus of the vector, for each of `at`.
static struct value *pick(struct build *b, struct value *of, struct value *at, int64_t plus) {
  return compose_index(b, of, 0, plus ? build_int(b, OP_ADD_TENSOR, at, plus) : at);
}

// The number of ends, without the last one, at or before it.
struct value *lengths_sequence_of(struct build *b, struct value *cu, struct value *row) {
  if (!cu || !row)
    return NULL;
  const struct expr *last = expr_addi(b->g->exprs, cu->shape[0], -1);
  struct value *ends = build_slice(b, cu, 0, compose_const(b, 1), last, 1);
  struct dims along = dims_one(1);
  struct value *passed =
      build_binop(b, OP_LE_TENSOR, build_along(b, ends, 1, 2), build_along(b, row, 0, 2));
  return build_sum(b, build_convert(b, passed, DTYPE_I64), &along, false);
}

// Of sequences, for each query, [rows] or [batch, rows] in i64: its position, the number of
// queries, the first key and the end of the keys.
struct sequences {
  struct value *position, *queries, *first, *end;
  struct value *of; // the sequence; NULL: batches are sequences
};

static struct value *filled(struct build *b, struct value *like, struct arg with) {
  return BUILD(b, OP_FULL, arg_exprs(b->g, like->rank, like->shape), with, ARG_D(DTYPE_I64));
}

// Each batch is a sequence; with a number of keys in use its queries have a row of their own.
static struct sequences batches(const struct lengths *l) {
  struct build *b = l->b;
  struct value *row = build_iota(b, l->q->shape[2], 0, 1);
  const struct expr *each[] = {l->q->shape[0], l->q->shape[2]};
  if (l->used)
    row = build_expand(b, build_unsqueeze(b, row, 0), 2, each);
  if (!row)
    return (struct sequences){0};
  struct value *end = filled(b, row, ARG_E(l->k->shape[2]));
  if (l->used) {
    struct value *used = build_along(b, build_convert(b, l->used, DTYPE_I64), 0, 2);
    end = build_expand(b, used, 2, each);
  }
  return (struct sequences){row, filled(b, row, ARG_E(l->q->shape[2])),
                            filled(b, row, arg_int(b->g, 0)), end, NULL};
}

static struct sequences sequences_of(const struct lengths *l) {
  struct build *b = l->b;
  if (!l->cu_q)
    return batches(l);
  struct value *row = build_iota(b, l->q->shape[2], 0, 1);
  struct value *cu_q = build_convert(b, l->cu_q, DTYPE_I64),
               *cu_k = build_convert(b, l->cu_k, DTYPE_I64),
               *of = lengths_sequence_of(b, cu_q, row);
  struct value *begin = pick(b, cu_q, of, 0), *first = pick(b, cu_k, of, 0);
  struct value *end =
      l->used ? build_add(b, first, pick(b, build_convert(b, l->used, DTYPE_I64), of, 0))
              : pick(b, cu_k, of, 1);
  return (struct sequences){build_sub(b, row, begin), build_sub(b, pick(b, cu_q, of, 1), begin),
                            first, end, of};
}

static struct value *beside(const struct lengths *l, const struct sequences *s) {
  struct build *b = l->b;
  struct value *at = build_add(b, s->first, s->position);
  return l->from_start ? at
                       : build_add(b, at, build_sub(b, build_sub(b, s->end, s->first), s->queries));
}

struct key_range lengths_keys(const struct lengths *l) {
  struct build *b = l->b;
  int64_t right = l->is_causal ? 0 : l->right;
  bool is_bounded = l->cu_q || l->used || right >= 0 || l->left >= 0;
  if (!is_bounded && !l->slopes)
    return (struct key_range){0};
  struct sequences s = sequences_of(l);
  struct key_range r = {s.first, s.end, beside(l, &s)};
  if (!is_bounded)
    return (struct key_range){.beside = r.beside};
  if (l->left >= 0) {
    struct value *from = build_int(b, OP_ADD_TENSOR, r.beside, -l->left);
    r.first = build_binop(b, OP_MINIMUM, build_binop(b, OP_MAXIMUM, from, s.first), s.end);
  }
  if (right >= 0) {
    struct value *to = build_int(b, OP_ADD_TENSOR, r.beside, right + 1);
    r.end = build_binop(b, OP_MAXIMUM, build_binop(b, OP_MINIMUM, to, s.end), s.first);
  }
  r.first = build_convert(b, r.first, DTYPE_I32);
  r.end = build_convert(b, r.end, DTYPE_I32);
  return r;
}

struct key_range lengths_queries(const struct lengths *l) {
  struct lengths other = *l;
  other.q = l->k;
  other.k = l->q;
  other.cu_q = l->cu_k;
  other.cu_k = l->cu_q;
  other.is_causal = false;
  other.left = l->is_causal ? 0 : l->right;
  other.right = l->left;
  return lengths_keys(&other);
}

// ---- ALiBi ----

// [batch or 1, heads, rows or 1, 1]
static struct value *slope_of_each(const struct lengths *l) {
  struct build *b = l->b;
  if (l->slopes->rank == 1)
    return build_along(b, l->slopes, 1, 4);
  struct value *s = l->slopes;
  if (!l->cu_q) // [batch, heads]
    return build_unsqueeze(b, build_unsqueeze(b, s, 2), 3);
  s = build_swap(b, compose_index(b, s, 0, sequences_of(l).of), 0, 1);
  return build_unsqueeze(b, build_unsqueeze(b, s, 0), 3);
}

struct value *lengths_alibi(const struct lengths *l, struct value *product,
                            const struct key_range *keys) {
  struct build *b = l->b;
  struct value *at = keys->beside;
  if (!product || !at)
    return NULL;
  at = at->rank == 1 ? build_along(b, at, 2, 4) : build_unsqueeze(b, build_unsqueeze(b, at, 1), 3);
  struct value *away =
      build_unop(b, OP_ABS, build_sub(b, build_iota(b, product->shape[3], 3, 4), at));
  product = build_up(b, product);
  struct value *slope = build_convert(b, slope_of_each(l), product->dtype);
  struct value *loss = build_mul(b, build_convert(b, away, product->dtype), slope);
  return build_sub(b, build_scale(b, product, l->scale), loss);
}
