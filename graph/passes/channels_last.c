// SPDX-License-Identifier: Apache-2.0
// Orders of dimensions spread from convolutions that gain to what they read, and on through nodes
// that give images of the same sizes, and through permutations, until nothing changes: a sweep over
// the nodes and one back, at most once for each value.
#include "graph/passes/channels_last.h"

#include "graph/ir/graph_operators.h"

enum { LEAST_CHANNELS = 16, VECTOR_CHANNELS = 8, LEAST_RANK = 3, MOST_RANK = 5 };

// Dimensions from the outermost in memory to the innermost.
struct order {
  bool is_known;
  uint8_t dims[MOST_RANK];
};

struct layouts {
  struct graph *g;
  struct order *orders; // by value id
  bool changed;
};

static bool is_image(const struct value *v) {
  return v && v->rank >= LEAST_RANK && v->rank <= MOST_RANK;
}

// [N, C, H, W] in the order N, H, W, C.
static struct order channels_last(const struct value *v) {
  struct order o = {.is_known = true};
  for (uint8_t d = 2; d < v->rank; d++)
    o.dims[d - 1] = d;
  o.dims[v->rank - 1] = 1;
  return o;
}

static void give(struct layouts *l, const struct value *v, const struct order *o) {
  if (l->orders[v->id].is_known || !o->is_known)
    return;
  l->orders[v->id] = *o;
  l->changed = true;
}

// ---- convolutions ----

// Wide loads along the channels pay on both sides, of products and of sums for each channel.
static bool gains(const struct node *n) {
  const struct value *x = node_value(n, 0), *w = node_value(n, 1);
  int64_t in, out, groups;
  return (x->dtype == DTYPE_F16 || x->dtype == DTYPE_BF16) &&
         expr_is_const(node_expr(n, 8), &groups) && expr_is_const(w->shape[0], &out) &&
         expr_is_const(x->shape[1], &in) && (groups == 1 || groups == in) && in >= LEAST_CHANNELS &&
         in % VECTOR_CHANNELS == 0 && out % VECTOR_CHANNELS == 0;
}

static void spread_convolution(struct layouts *l, const struct node *n) {
  const struct value *x = node_value(n, 0), *y = n->results[0];
  if (!is_image(y) || !is_image(x))
    return;
  struct order o = channels_last(y);
  if (gains(n) || l->orders[y->id].is_known || l->orders[x->id].is_known) {
    give(l, y, &o);
    give(l, x, &o);
  }
}

// From the gradient of the result to that of the input.
static void spread_gradient(struct layouts *l, const struct node *n) {
  const struct value *grad = node_value(n, 0), *y = n->results[0];
  if (!is_image(y) || dtype_bits(y->dtype) != 16)
    return;
  struct order o = channels_last(y);
  give(l, y, &o);
  give(l, grad, &o);
}

// ---- other nodes ----

static bool keeps_dimensions(const struct node *n) {
  switch (operator_row(n->op)->class) {
  case CLASS_POINTWISE:
  case CLASS_POOL:
  case CLASS_NORM: return true;
  default: return n->op == OP_CAT || n->op == OP_CONSTANT_PAD_ND;
  }
}

struct images {
  const struct value *at[8];
  unsigned count;
};

static void add_image(struct images *s, const struct value *v, uint32_t rank) {
  if (is_image(v) && v->rank == rank && s->count < COUNT_OF(s->at))
    s->at[s->count++] = v;
}

static void add_args(struct images *s, const struct arg *args, size_t count, uint32_t rank) {
  for (size_t i = 0; i < count; i++)
    if (args[i].kind == ARG_LIST)
      add_args(s, args[i].list.at, args[i].list.count, rank);
    else if (args[i].kind == ARG_VALUE)
      add_image(s, args[i].value, rank);
}

// All images of the node, in the order of one of them.
static void spread(struct layouts *l, const struct node *n) {
  const struct value *result = n->results[0];
  struct images s = {0};
  if (!is_image(result))
    return;
  for (uint32_t i = 0; i < n->result_count; i++)
    add_image(&s, n->results[i], result->rank);
  add_args(&s, n->args, n->arg_count, result->rank);
  const struct order *known = NULL;
  for (unsigned i = 0; i < s.count && !known; i++)
    if (l->orders[s.at[i]->id].is_known)
      known = &l->orders[s.at[i]->id];
  for (unsigned i = 0; i < s.count && known; i++)
    give(l, s.at[i], known);
}

// Dimension i of the result is dimension dims[i] of the operand.
static void spread_permutation(struct layouts *l, const struct node *n) {
  const struct value *x = node_value(n, 0), *y = n->results[0];
  const struct arg *dims;
  if (!is_image(x) || node_list(n, 1, &dims) != x->rank)
    return;
  const struct order *from = &l->orders[x->id], *to = &l->orders[y->id];
  struct order of_y = {.is_known = from->is_known}, of_x = {.is_known = to->is_known};
  for (uint32_t k = 0; k < x->rank; k++) {
    int64_t d;
    if (!expr_is_const(dims[to->dims[k]].number, &d))
      return;
    of_x.dims[k] = (uint8_t)(d < 0 ? d + (int64_t)x->rank : d);
    for (uint8_t i = 0; i < x->rank; i++)
      if (expr_is_const(dims[i].number, &d) && (d < 0 ? d + (int64_t)x->rank : d) == from->dims[k])
        of_y.dims[k] = i;
  }
  give(l, y, &of_y);
  give(l, x, &of_x);
}

static void see(struct layouts *l, const struct node *n) {
  if (!n->result_count || !n->results[0])
    return;
  if (n->op == OP_CONVOLUTION)
    spread_convolution(l, n);
  else if (n->op == OP_CONVOLUTION_GRAD_INPUT)
    spread_gradient(l, n);
  else if (n->op == OP_PERMUTE)
    spread_permutation(l, n);
  else if (keeps_dimensions(n))
    spread(l, n);
}

// ---- strides ----

static void set_strides(struct graph *g, struct value *v, const struct order *o) {
  const struct expr *stride = expr_const(g->exprs, 1);
  for (uint32_t k = v->rank; k-- > 0;) {
    v->strides[o->dims[k]] = stride;
    stride = expr_mul(g->exprs, stride, v->shape[o->dims[k]]);
  }
}

static bool is_output(const struct graph *g, const struct value *v) {
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i] == v)
      return true;
  return false;
}

static bool has_convolution(const struct graph *g) {
  bool any = false;
  for (size_t i = 0; i < g->nodes.len; i++)
    any |= g->nodes.at[i]->op == OP_CONVOLUTION || g->nodes.at[i]->op == OP_CONVOLUTION_GRAD_INPUT;
  return any;
}

// Orders of all values, where known; none if the graph has no convolution.
static struct layouts find_orders(struct graph *g) {
  struct layouts l = {.g = g, .orders = arena_array(g->arena, struct order, g->value_count + 1)};
  l.changed = has_convolution(g);
  while (l.changed) {
    l.changed = false;
    for (size_t i = 0; i < g->nodes.len; i++)
      see(&l, g->nodes.at[i]);
    for (size_t i = g->nodes.len; i-- > 0;)
      see(&l, g->nodes.at[i]);
  }
  return l;
}

static bool has_order(const struct layouts *l, const struct node *n, const struct value *v) {
  return is_image(v) && l->orders[v->id].is_known &&
         (n->op == OP_CONVOLUTION || n->op == OP_CONVOLUTION_GRAD_INPUT || keeps_dimensions(n));
}

void graph_store_channels_last(struct graph *g) {
  struct layouts l = find_orders(g);
  g->stores_channels_last = true;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const struct node *n = g->nodes.at[i];
    for (uint32_t k = 0; k < n->result_count; k++)
      if (has_order(&l, n, n->results[k]) && !is_output(g, n->results[k]))
        set_strides(g, n->results[k], &l.orders[n->results[k]->id]);
  }
}

void graph_choose_output_strides(struct graph *g) {
  bool any = false;
  for (size_t i = 0; i < g->outputs.len; i++)
    any |= g->outputs.at[i] && g->outputs.at[i]->has_free_strides;
  if (!any)
    return;
  struct layouts l = find_orders(g);
  for (size_t i = 0; i < g->outputs.len; i++) {
    struct value *v = g->outputs.at[i];
    if (v && v->has_free_strides && v->def && has_order(&l, v->def, v))
      set_strides(g, v, &l.orders[v->id]);
  }
}
