// SPDX-License-Identifier: Apache-2.0
// cond becomes a selection where computing both subgraphs costs little and cannot fail; a short
// scan is unrolled. Others stay: the program runs their subgraphs (graph/plan/control_plan.h).
#include "graph/ir/subgraph.h"
#include "graph/passes/decompose.h"

// Operators of a subgraph that is computed in vain at times; of all unrolled iterations.
enum { MOST_SELECTED = 24, MOST_UNROLLED = 8192 };

static bool may_trap(const struct node *n) {
  switch (n->op) {
  case OP_FLOOR_DIVIDE:
  case OP_REMAINDER_TENSOR:
  case OP_REMAINDER_SCALAR:
  case OP_FMOD_TENSOR:
  case OP_FMOD_SCALAR:
  case OP_DIV_TENSOR_MODE:
  case OP_DIV_SCALAR_MODE: return !dtype_is_float(n->results[0]->dtype);
  default: return false;
  }
}

static bool is_cheap(const struct graph *sub) {
  if (sub->nodes.len > MOST_SELECTED)
    return false;
  for (size_t i = 0; i < sub->nodes.len; i++) {
    const struct node *n = sub->nodes.at[i];
    enum operator_class c = operator_row(n->op)->class;
    bool is_element =
        c == CLASS_POINTWISE || c == CLASS_CREATE || (c == CLASS_VIEW && n->op != OP_AS_STRIDED);
    if (!is_element || may_trap(n))
      return false;
  }
  return true;
}

// pred true_graph false_graph operands
bool decompose_cond(struct decompose *d, const struct node *n, struct value **ret) {
  const struct graph *yes = node_graph(n, 1), *no = node_graph(n, 2);
  struct build *b = &d->b;
  struct arena *a = b->g->arena;
  struct value **operands, *pred = node_value(n, 0);
  if (!is_cheap(yes) || !is_cheap(no))
    return decompose_keep(d);
  node_tensors(n, 3, 4, a, &operands);
  struct value **left = arena_array(a, struct value *, n->result_count + 1);
  struct value **right = arena_array(a, struct value *, n->result_count + 1);
  graph_inline(b, yes, operands, left);
  graph_inline(b, no, operands, right);
  if (pred->rank)
    pred = build_view(b, pred, 0, NULL);
  for (uint32_t i = 0; i < n->result_count; i++)
    decompose_give(d, n, ret, i,
                   left[i] && right[i] ? build_where(b, pred, left[i], right[i]) : NULL);
  return true;
}

// ---- scan ----

struct unrolled {
  struct build *b;
  const struct graph *body;
  struct value **in; // carried, slices, additional
  size_t carried, sliced;
  struct value **xs, **out;
  struct value ***slices; // by further result: a value for each iteration
};

static bool unroll_step(struct unrolled *u, int64_t at) {
  struct build *b = u->b;
  for (size_t i = 0; i < u->sliced; i++)
    u->in[u->carried + i] =
        BUILD(b, OP_SELECT, TENSOR(u->xs[i]), arg_int(b->g, 0), arg_int(b->g, at));
  graph_inline(b, u->body, u->in, u->out);
  for (size_t i = 0; i < u->body->outputs.len; i++) {
    if (!u->out[i])
      return false;
    if (i < u->carried)
      u->in[i] = u->out[i];
    else
      u->slices[i - u->carried][at] = u->out[i];
  }
  return true;
}

static struct value *stacked(struct build *b, struct value **slices, int64_t length) {
  for (int64_t i = 0; i < length; i++)
    slices[i] = build_unsqueeze(b, slices[i], 0);
  for (int64_t i = 0; i < length; i++)
    if (!slices[i])
      return NULL;
  return BUILD(b, OP_CAT, arg_values(b->g, (size_t)length, slices), arg_int(b->g, 0));
}

static bool unroll(struct decompose *d, const struct node *n, int64_t length, struct value **ret) {
  struct build *b = &d->b;
  struct arena *a = b->g->arena;
  struct value **init, **rest;
  struct unrolled u = {.b = b, .body = node_graph(n, 0)};
  size_t outputs = u.body->outputs.len;
  u.carried = node_tensors(n, 1, 2, a, &init);
  u.sliced = node_tensors(n, 2, 3, a, &u.xs);
  size_t more = node_tensors(n, 3, 4, a, &rest);
  u.in = arena_array(a, struct value *, u.carried + u.sliced + more + 1);
  u.out = arena_array(a, struct value *, outputs + 1);
  u.slices = arena_array(a, struct value **, outputs + 1);
  for (size_t i = u.carried; i < outputs; i++)
    u.slices[i - u.carried] = arena_array(a, struct value *, (size_t)length + 1);
  for (size_t i = 0; i < u.carried; i++)
    u.in[i] = init[i];
  for (size_t i = 0; i < more; i++)
    u.in[u.carried + u.sliced + i] = rest[i];
  for (int64_t at = 0; at < length; at++)
    if (!unroll_step(&u, at))
      return false;
  for (uint32_t i = 0; i < n->result_count; i++)
    decompose_give(d, n, ret, i,
                   i < u.carried ? u.in[i] : stacked(b, u.slices[i - u.carried], length));
  return true;
}

// combine_fn init xs additional_inputs
bool decompose_scan(struct decompose *d, const struct node *n, struct value **ret) {
  struct value **xs;
  int64_t length, nodes = (int64_t)node_graph(n, 0)->nodes.len + 2;
  node_tensors(n, 2, 3, d->b.g->arena, &xs);
  if (!expr_is_const(xs[0]->shape[0], &length) || length == 0 || length > LIMIT_GRAPH_OPERANDS ||
      length > MOST_UNROLLED / nodes)
    return decompose_keep(d);
  return unroll(d, n, length, ret);
}
