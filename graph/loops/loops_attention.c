// SPDX-License-Identifier: Apache-2.0
// Lowers tile.attention.
#include "graph/loops/loops_internal.h"

#include <math.h>

// The score of a query and a key from their product, within the bounds of all keys.
static const struct scalar *any_score(struct builder *b, const struct node *n,
                                      const struct scalar *product, coordinates at) {
  const struct loops_scores given = loops_scores_of(n);
  if (given.product)
    return loops_score(b, given.product, given.computed[0], product, at);
  const struct scalar *scale = scalar_real(b->s, DTYPE_F32, node_real(n, 5));
  const struct scalar *s = loops_binary(b, SCALAR_MUL, DTYPE_F32, product, scale);
  const struct scalar *never = scalar_real(b->s, DTYPE_F32, (double)-INFINITY);
  if (node_truth(n, 4)) {
    const struct scalar *in[3] = {
        loops_binary(b, SCALAR_LE, DTYPE_I1, scalar_index(b->s, at[3]), scalar_index(b->s, at[2])),
        s, never};
    s = scalar_apply(b->s, SCALAR_WHERE, DTYPE_F32, in);
  }
  const struct value *mask = node_value(n, 3);
  if (!mask)
    return s;
  const struct scalar *m = loops_broadcast(b, mask, 4, at);
  if (mask->dtype != DTYPE_I1)
    return loops_binary(b, SCALAR_ADD, DTYPE_F32, s, scalar_convert(b->s, m, DTYPE_F32));
  const struct scalar *in[3] = {m, s, never};
  return scalar_apply(b->s, SCALAR_WHERE, DTYPE_F32, in);
}

// Hides keys outside of first .. end, where the node has them.
static const struct scalar *score(struct builder *b, const struct node *n, struct attention *a,
                                  coordinates at) {
  enum { FIRST = 8, END = 9 };
  const struct scalar *s = any_score(b, n, a->product, at);
  for (unsigned i = FIRST; i <= END; i++) {
    if (!node_value(n, i))
      continue;
    const struct expr *const of_batch[] = {at[0], at[2]};
    const struct scalar *bound = loops_broadcast(b, node_value(n, i), node_value(n, i)->rank,
                                                 node_value(n, i)->rank == 1 ? at + 2 : of_batch);
    const struct scalar *key = scalar_convert(b->s, scalar_index(b->s, at[3]), bound->dtype);
    const struct scalar *in[3] = {
        loops_binary(b, i == FIRST ? SCALAR_GE : SCALAR_LT, DTYPE_I1, key, bound), s,
        scalar_real(b->s, DTYPE_F32, (double)-INFINITY)};
    const struct expr *most = expr_addi(b->x, axis_extent(at[3]), 1);
    *(i == FIRST ? &a->first : &a->end) = scalar_indirect(b->s, bound, most);
    s = scalar_apply(b->s, SCALAR_WHERE, DTYPE_F32, in);
  }
  return s;
}

// At a flattened batch index, a row and a column.
static const struct scalar *operand(struct builder *b, const struct node *n, unsigned i,
                                    const struct expr *batch, const struct expr *const *heads,
                                    const struct expr *row, const struct expr *column) {
  const struct value *v = node_value(n, i);
  const struct expr *at[4] = {heads[0], heads[1], row, column};
  const struct scalar *x = loops_broadcast(b, v, 4, at);
  bool is_cache =
      i > 0 && expr_hint(node_value(n, 0)->shape[2]) <= LOOPS_FEW_QUERIES && loops_loads_bytes(x);
  return loops_product_operand(b, n, v, x, batch, row, column, !is_cache);
}

// The buffer of logsumexp, if it is used.
static void second_result(struct builder *b, const struct node *n, struct attention *a,
                          coordinates at) {
  struct value *v = n->results[1];
  if (!v || (b->uses[v->id].count == 0 && !b->uses[v->id].is_output))
    return;
  struct assignment h = loops_assign(b, v);
  a->lse = h.buffer;
  a->lse_offset = loops_offset(b, &h, at);
  loops_stored(b, loops_deferred(b, v), &h);
}

// A program keeps a block of queries and results in registers; its index over all batches and heads
// is an i32.
enum { MOST_ELEMENTS = 1024 };

static bool is_above(const struct expr *size, int64_t most) {
  int64_t extent;
  return expr_is_const(size, &extent) && extent > most;
}

// False, with an error, unless a kernel can compute it.
static bool is_supported(struct builder *b, const struct node *n) {
  const struct value *q = node_value(n, 0), *k = node_value(n, 1), *v = node_value(n, 2);
  if (!n->results[0] || q->rank != 4 || k->rank != 4 || v->rank != 4)
    return loops_refuse(b, n, "its operands must have four dimensions");
  if (is_above(q->shape[3], MOST_ELEMENTS) || is_above(v->shape[3], MOST_ELEMENTS))
    return loops_refuse(b, n, "heads of more than %d elements; write out its products and softmax",
                        MOST_ELEMENTS);
  if (is_above(expr_mul(b->x, q->shape[0], q->shape[1]), INT32_MAX))
    return loops_refuse(b, n, "more than %d heads", INT32_MAX);
  return true;
}

// The stage over batch, m and n; its buffer is assigned later.
static struct stage *attention_stage(struct builder *b, const struct node *n, struct attention *a,
                                     coordinates axes) {
  struct stage *s = loops_stage(b, STAGE_ATTENTION, n);
  for (s->rank = 0; s->rank < 3; s->rank++)
    s->axes[s->rank] = axes[s->rank];
  s->dtype = DTYPE_F32;
  s->attention = a;
  return s;
}

bool loops_lower_attention(struct builder *b, const struct node *n) {
  if (!is_supported(b, n))
    return false;
  const struct value *q = node_value(n, 0), *k = node_value(n, 1), *v = node_value(n, 2);
  struct value *out = n->results[0];
  struct deferred *z = loops_deferred(b, out);
  struct attention *a = arena_new(b->arena, struct attention);
  const struct expr *rows = loops_symbol(b, 'm', 0, q->shape[2]);
  const struct expr *columns = loops_symbol(b, 'n', 0, v->shape[3]);
  const struct expr *batch = expr_mul(b->x, q->shape[0], q->shape[1]);
  const struct expr *both = loops_symbol(b, 'b', 0, batch), *heads[2];
  loops_unravel(b, both, 2, q->shape, heads);
  a->key = loops_symbol(b, 'j', 0, k->shape[2]);
  a->depth = loops_symbol(b, 'd', 0, q->shape[3]);
  a->q = operand(b, n, 0, both, heads, rows, a->depth);
  a->k = operand(b, n, 1, both, heads, a->key, a->depth);
  a->v = operand(b, n, 2, both, heads, a->key, columns);
  a->product = scalar_load(b->s, NULL, expr_const(b->x, 0));
  const struct expr *pair[4] = {heads[0], heads[1], rows, a->key};
  a->score = score(b, n, a, pair);
  const struct value *kept = loops_scores_of(n).computed[2];
  if (kept)
    a->kept = scalar_convert(b->s, loops_broadcast(b, kept, 4, pair), DTYPE_F32);
  a->zero_empty_rows = true;
  struct assignment h = loops_assign(b, out);
  second_result(b, n, a, pair);
  const struct expr *axes[3] = {both, rows, columns};
  struct stage *s = attention_stage(b, n, a, axes);
  s->out = h.buffer;
  const struct expr *to[4] = {heads[0], heads[1], rows, columns};
  s->offset = loops_offset(b, &h, to);
  loops_inherit(b, z, n);
  loops_take_origins(b, z, s);
  loops_stored(b, z, &h);
  return true;
}
