// SPDX-License-Identifier: Apache-2.0
// Attention of sequences by their lengths (compose_lengths.c): operands and the keys that a query
// sees.
#ifndef TILE_GRAPH_IR_LENGTHS_H
#define TILE_GRAPH_IR_LENGTHS_H

#include "graph/ir/compose.h"

// The arguments of an operator; what it lacks is NULL or negative.
struct lengths {
  struct build *b;
  const struct node *n;
  struct value *q, *k, *v; // [batch, heads, rows, columns]
  struct value *cu_q,
      *cu_k;          // where sequences begin, and the end of the last; else batches are sequences
  struct value *used; // keys of each sequence that count
  struct value *slopes;       // of ALiBi: [heads] or [sequences, heads]
  struct value *bias;         // added to scores: broadcasts to [batch, heads, rows, keys]
  bool has_one_query;         // sequences have at most one query each, and are batches therefore
  bool is_causal, from_start; // from_start: the first query sees the first key, and so on
  int64_t left, right;        // further keys of a window; negative: all
  double scale;
};

// The argument of that name; NULL: the operator has none, or it is None.
const struct arg *lengths_argument(const struct node *n, const char *name);
// The size of a window's side, -1 without one.
int64_t lengths_window_side(const struct node *n, const char *name);

// ---- operands (lengths_operands.c) ----
// Reads query, key and value, of which `query` is the first argument, pages among them, and what
// goes with them. False: reported.
bool lengths_begin(struct lengths *l, unsigned query);
// The same where each sequence has at most one query and the operator says so by `most`: each row
// is a batch then, with the keys of its sequence.
bool lengths_begin_forward(struct lengths *l, const char *most);
// [rows, heads, columns] or [batch, rows, heads, columns] with heads outside, and back.
struct value *lengths_heads_outside(struct build *b, struct value *x);
struct value *lengths_heads_inside(struct build *b, struct value *x, uint32_t rank);
// Keys or values with a head for each of the queries'.
struct value *lengths_for_each_head(struct build *b, struct value *x, const struct value *q);

// ---- what a query sees (lengths_ranges.c) ----
// Of keys, for each query, [rows] or [batch, rows] in i32; NULL: not bounded. `beside`, in i64, is
// the key at the query's position, counted as causal limits are.
struct key_range {
  struct value *first, *end, *beside;
};
// The sequence of each row by where sequences begin, in i64.
struct value *lengths_sequence_of(struct build *b, struct value *cu, struct value *row);
struct key_range lengths_keys(const struct lengths *l);
// The queries that see a key: the same from the other side.
struct key_range lengths_queries(const struct lengths *l);
// Scores of ALiBi from the product of queries and keys, in f32: each key loses slope times its
// distance (Press, Smith and Lewis, "Train Short, Test Long"; as FlashAttention counts it).
struct value *lengths_alibi(const struct lengths *l, struct value *product,
                            const struct key_range *keys);

// ---- both directions (compose_lengths.c) ----
// The attention, [batch, heads, rows, columns], and its log-sum-exp, [batch, heads, rows]; NULL:
// reported.
const struct node *lengths_attend(struct lengths *l);
// The product of queries and keys with scale and bias, -inf where a query does not see a key.
struct value *lengths_scores(struct lengths *l, struct value *product, struct key_range keys);
// Gradients of query, key and value; `out` and `lse` as lengths_attend gives them.
const struct node *lengths_gradients(struct lengths *l, struct value *grad, struct value *out,
                                     struct value *lse);

#endif
