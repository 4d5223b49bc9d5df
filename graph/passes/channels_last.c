// SPDX-License-Identifier: Apache-2.0
// Values of equal rank that a node reads and writes are one set, unless it is a view, a product or
// attention: a set with a convolution that gains is stored channels last (channels_last.h).
#include "graph/passes/channels_last.h"

#include "graph/ir/graph_operators.h"

enum { LEAST_CHANNELS = 16, VECTOR_CHANNELS = 8, LEAST_RANK = 3, MOST_RANK = 5 };

struct layouts {
  struct graph *g;
  uint32_t *parent; // by value id: a forest of sets
  bool *gains;      // by root
};

static uint32_t root_of(struct layouts *l, uint32_t id) {
  while (l->parent[id] != id)
    id = l->parent[id] = l->parent[l->parent[id]];
  return id;
}

static void join(struct layouts *l, const struct value *a, const struct value *b) {
  uint32_t x = root_of(l, a->id), y = root_of(l, b->id);
  l->gains[x] |= l->gains[y];
  l->parent[y] = x;
}

static bool is_image(const struct value *v) {
  return v && v->rank >= LEAST_RANK && v->rank <= MOST_RANK;
}

// Wide loads along the channels pay on both sides, and a product has few groups.
static bool gains(const struct node *n) {
  const struct value *x = node_value(n, 0), *w = node_value(n, 1);
  int64_t in, out;
  return (x->dtype == DTYPE_F16 || x->dtype == DTYPE_BF16) && expr_is(node_expr(n, 8), 1) &&
         expr_is_const(w->shape[0], &out) && expr_is_const(w->shape[1], &in) &&
         in >= LEAST_CHANNELS && in % VECTOR_CHANNELS == 0 && out % VECTOR_CHANNELS == 0;
}

static bool connects(const struct node *n) {
  if (n->op == OP_CONVOLUTION)
    return true;
  switch (operator_row(n->op)->class) {
  case CLASS_POINTWISE:
  case CLASS_POOL:
  case CLASS_NORM: return true;
  default: return n->op == OP_CAT || n->op == OP_CONSTANT_PAD_ND;
  }
}

static void join_args(struct layouts *l, const struct value *with, const struct arg *args,
                      size_t count) {
  for (size_t i = 0; i < count; i++)
    if (args[i].kind == ARG_LIST)
      join_args(l, with, args[i].list.at, args[i].list.count);
    else if (args[i].kind == ARG_VALUE && is_image(args[i].value) &&
             args[i].value->rank == with->rank)
      join(l, with, args[i].value);
}

static void see(struct layouts *l, const struct node *n) {
  const struct value *result = n->result_count ? n->results[0] : NULL;
  if (!is_image(result) || !connects(n))
    return;
  if (n->op == OP_CONVOLUTION) {
    join(l, result, node_value(n, 0));
    l->gains[root_of(l, result->id)] |= gains(n);
    return;
  }
  for (uint32_t i = 1; i < n->result_count; i++)
    if (is_image(n->results[i]) && n->results[i]->rank == result->rank)
      join(l, result, n->results[i]);
  join_args(l, result, n->args, n->arg_count);
}

// [N, C, H, W] in the order N, H, W, C.
static void store_channels_last(struct graph *g, struct value *v) {
  const struct expr *stride = v->shape[1];
  v->strides[1] = expr_const(g->exprs, 1);
  for (uint32_t d = v->rank; d-- > 2;) {
    v->strides[d] = stride;
    stride = expr_mul(g->exprs, stride, v->shape[d]);
  }
  v->strides[0] = stride;
}

static bool is_output(const struct graph *g, const struct value *v) {
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i] == v)
      return true;
  return false;
}

void graph_store_channels_last(struct graph *g) {
  struct layouts l = {.g = g};
  l.parent = arena_array(g->arena, uint32_t, g->value_count + 1);
  l.gains = arena_array(g->arena, bool, g->value_count + 1);
  for (uint32_t i = 0; i < g->value_count; i++)
    l.parent[i] = i;
  for (size_t i = 0; i < g->nodes.len; i++)
    see(&l, g->nodes.at[i]);
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->result_count; k++) {
      struct value *v = g->nodes.at[i]->results[k];
      if (is_image(v) && connects(g->nodes.at[i]) && l.gains[root_of(&l, v->id)] &&
          !is_output(g, v))
        store_channels_last(g, v);
    }
}
