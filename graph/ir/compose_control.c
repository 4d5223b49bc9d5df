// SPDX-License-Identifier: Apache-2.0
// Higher-order operators that are others: calls of subgraphs, map, associative_scan.
#include "graph/ir/compose.h"
#include "graph/ir/subgraph.h"

static bool has_types(struct build *b, const struct node *n, const struct graph *sub, size_t count,
                      struct value *const *args) {
  if (sub->inputs.len != count) {
    compose_error(b, n, E1003, "the subgraph `%s` has %s, but gets %s", sub->name,
                  count_text(b->g->arena, sub->inputs.len, "input"),
                  count_text(b->g->arena, count, "operand"));
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    const struct value *in = sub->inputs.at[i];
    bool same = in->dtype == args[i]->dtype && in->rank == args[i]->rank;
    for (uint32_t d = 0; same && d < in->rank; d++)
      same = graph_require_equal(b->g, in->shape[d], args[i]->shape[d], b->at);
    if (!same) {
      compose_error(b, n, E1004,
                    "input `%s` of the subgraph `%s` does not have the type of its "
                    "operand",
                    in->name, sub->name);
      return false;
    }
  }
  return true;
}

static void make_results(struct build *b, struct node *n, size_t count) {
  n->result_count = (uint32_t)count;
  n->results = arena_array(b->g->arena, struct value *, count + 1);
}

// A call of the graph among the arguments, with the last argument as operands. Under torch.no_grad
// its results are detached.
void compose_call(struct build *b, struct node *n) {
  const struct graph *sub = NULL;
  struct value **args;
  for (uint32_t i = 0; i < n->arg_count; i++)
    sub = n->args[i].kind == ARG_GRAPH ? n->args[i].graph : sub;
  size_t count = node_tensors(n, n->arg_count - 1, n->arg_count, b->g->arena, &args);
  if (!has_types(b, n, sub, count, args))
    return;
  make_results(b, n, sub->outputs.len);
  graph_inline(b, sub, args, n->results);
  bool has_no_gradient = n->op == OP_WRAP_SET_GRAD && !node_truth(n, 0);
  for (size_t i = 0; has_no_gradient && i < sub->outputs.len; i++)
    if (n->results[i])
      n->results[i] = build_unop(b, OP_DETACH, n->results[i]);
}

// f xs pos_args: a scan that carries nothing.
void compose_map(struct build *b, struct node *n) {
  const struct arg args[] = {n->args[0], {.kind = ARG_LIST}, n->args[1], n->args[2]};
  struct node *scan = graph_append(b->g, OP_SCAN, args, COUNT_OF(args), b->at);
  if (!scan)
    return;
  n->result_count = scan->result_count;
  n->results = scan->results;
}

// ---- associative_scan ----

// Elements from `begin` to `end` of the first dimension.
static void take(struct build *b, size_t count, struct value *const *xs, int64_t begin, int64_t end,
                 struct value **ret) {
  for (size_t i = 0; i < count; i++)
    ret[i] = build_slice(b, xs[i], 0, compose_const(b, begin), compose_const(b, end), 1);
}

// The subgraph on slices x[begin..end) of the first dimension: it is elementwise, so that whole
// slices are combined at once.
static bool is_elementwise(const struct graph *sub) {
  for (size_t i = 0; i < sub->nodes.len; i++) {
    enum operator_class c = operator_row(sub->nodes.at[i]->op)->class;
    if (c != CLASS_POINTWISE && c != CLASS_CREATE)
      return false;
  }
  return true;
}

static bool check_associative(struct build *b, const struct node *n, const struct graph *sub,
                              size_t count, struct value *const *xs, size_t more,
                              int64_t *ret_length) {
  bool fits = count > 0 && sub->outputs.len == count;
  for (size_t i = 0; fits && i < count; i++)
    fits = xs[i]->rank > 0 && xs[i]->shape[0] == xs[0]->shape[0] && sub->outputs.at[i] &&
           sub->outputs.at[i]->dtype == xs[i]->dtype;
  if (!fits || sub->inputs.len != 2 * count + more)
    compose_error(b, n, E1003,
                  "`%s` must take two elements of each of `xs`, which have one first "
                  "dimension, and return one of each",
                  sub->name);
  else if (!expr_is_const(xs[0]->shape[0], ret_length))
    compose_error(b, n, E1008, "a symbolic length; write it as `higher_order.scan`");
  else if (!is_elementwise(sub))
    compose_error(b, n, E1008,
                  "`%s` is not elementwise; write it as `higher_order.scan`, or with "
                  "combine_mode='generic'",
                  sub->name);
  else
    return true;
  return false;
}

// One step: element i becomes the combination of elements i - distance and i.
static bool double_prefixes(struct build *b, const struct graph *sub, size_t count,
                            struct value **at, size_t more, struct value *const *rest,
                            int64_t distance, int64_t length) {
  struct value **in = arena_array(b->g->arena, struct value *, 2 * count + more + 1);
  struct value **out = arena_array(b->g->arena, struct value *, count + 1);
  take(b, count, at, 0, length - distance, in);
  take(b, count, at, distance, length, in + count);
  for (size_t i = 0; i < more; i++)
    in[2 * count + i] = rest[i];
  graph_inline(b, sub, in, out);
  for (size_t i = 0; i < count; i++) {
    struct value *head, *parts[2];
    take(b, 1, &at[i], 0, distance, &head);
    parts[0] = head, parts[1] = out[i];
    if (!head || !out[i])
      return false;
    at[i] = BUILD(b, OP_CAT, arg_values(b->g, 2, parts), arg_int(b->g, 0));
    if (!at[i])
      return false;
  }
  return true;
}

// combine_fn xs additional_inputs. Inclusive, along the first dimension: log2(length) steps.
void compose_associative_scan(struct build *b, struct node *n) {
  const struct graph *sub = node_graph(n, 0);
  struct value **xs, **rest;
  size_t count = node_tensors(n, 1, 2, b->g->arena, &xs);
  size_t more = node_tensors(n, 2, 3, b->g->arena, &rest);
  int64_t length = 0;
  if (!check_associative(b, n, sub, count, xs, more, &length))
    return;
  for (int64_t distance = 1; distance < length; distance *= 2)
    if (!double_prefixes(b, sub, count, xs, more, rest, distance, length))
      return;
  make_results(b, n, count);
  for (size_t i = 0; i < count; i++)
    n->results[i] = xs[i];
}
