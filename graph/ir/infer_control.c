// SPDX-License-Identifier: Apache-2.0
// Rules of higher-order operators: cond, while_loop, scan. Operands must have the types of the
// subgraph's inputs; what a loop carries keeps its type.
#include "graph/ir/custom.h"
#include "graph/ir/infer.h"
#include "graph/ir/subgraph.h"

static bool same_type(struct infer *in, const struct value *a, const struct value *b) {
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (uint32_t d = 0; same && d < a->rank; d++)
    same = graph_require_equal(in->g, a->shape[d], b->shape[d], in->n->span);
  return same;
}

// One operand for each input of the subgraph, of its type.
static bool check_operands(struct infer *in, const struct graph *sub, size_t count,
                           struct value *const *operands) {
  if (sub->inputs.len != count)
    return infer_error(in, E1003, "the subgraph `%s` has %s, but gets %s", sub->name,
                       count_text(in->g->arena, sub->inputs.len, "input"),
                       count_text(in->g->arena, count, "operand"));
  for (size_t i = 0; i < count; i++)
    if (!same_type(in, sub->inputs.at[i], operands[i]))
      return infer_error(in, E1004, "input `%s` of the subgraph `%s` is %s, its operand is %s",
                         sub->inputs.at[i]->name, sub->name, infer_type_text(in, sub->inputs.at[i]),
                         infer_type_text(in, operands[i]));
  return true;
}

static bool check_graph(struct infer *in, const struct graph *sub) {
  if (graph_has_class(sub, CLASS_RANDOM))
    return infer_error(in, E1008, "the subgraph `%s` draws random numbers; pass them as operands",
                       sub->name);
  for (size_t i = 0; i < sub->outputs.len; i++)
    if (!sub->outputs.at[i])
      return infer_error(in, E1008, "the subgraph `%s` returns None", sub->name);
  return true;
}

static bool is_predicate(const struct value *v) {
  bool one = v->dtype == DTYPE_I1;
  for (uint32_t d = 0; one && d < v->rank; d++)
    one = expr_is(v->shape[d], 1);
  return one;
}

static bool result_like(struct infer *in, unsigned i, const struct value *v) {
  return infer_result(in, i, v->dtype, v->rank, v->shape, NULL);
}

static bool holds_graph(const struct arg *a) {
  bool holds = a->kind == ARG_GRAPH;
  for (size_t i = 0; a->kind == ARG_LIST && i < a->list.count && !holds; i++)
    holds = holds_graph(&a->list.at[i]);
  return holds;
}

// Arguments from `first` on are tensors, not further subgraphs.
static bool check_arguments(struct infer *in, unsigned first) {
  for (unsigned i = first; i < in->n->arg_count; i++)
    if (holds_graph(&in->n->args[i]))
      return infer_error(in, E1003, "argument %u is a subgraph, or holds one", i);
  return true;
}

// ---- cond: pred true_graph false_graph operands ----

bool infer_cond(struct infer *in) {
  const struct graph *yes = node_graph(in->n, 1), *no = node_graph(in->n, 2);
  struct value **operands;
  size_t count = node_tensors(in->n, 3, 4, in->g->arena, &operands);
  const struct value *pred = infer_value(in, 0);
  if (!is_predicate(pred))
    return infer_error(in, E1005, "`pred` is %s; it is a boolean of one element",
                       infer_type_text(in, pred));
  if (!check_arguments(in, 3) || !check_graph(in, yes) || !check_graph(in, no) ||
      !check_operands(in, yes, count, operands) || !check_operands(in, no, count, operands))
    return false;
  if (yes->outputs.len != no->outputs.len)
    return infer_error(in, E1003, "`%s` returns %s, `%s` returns %s", yes->name,
                       count_text(in->g->arena, yes->outputs.len, "value"), no->name,
                       count_text(in->g->arena, no->outputs.len, "value"));
  infer_results(in, (uint32_t)yes->outputs.len);
  for (uint32_t i = 0; i < yes->outputs.len; i++) {
    const struct value *a = yes->outputs.at[i], *b = no->outputs.at[i];
    if (!same_type(in, a, b))
      return infer_error(in, E1004, "result %u of `%s` is %s, that of `%s` is %s", i, yes->name,
                         infer_type_text(in, a), no->name, infer_type_text(in, b));
    if (!result_like(in, i, a))
      return false;
  }
  return true;
}

// ---- loops ----

// The first `count` results of the body are what the next iteration gets.
static bool check_carried(struct infer *in, const struct graph *body, size_t count,
                          struct value *const *carried) {
  for (size_t i = 0; i < count; i++)
    if (!same_type(in, body->outputs.at[i], carried[i]))
      return infer_error(in, E1004,
                         "`%s` is carried as %s, but `%s` returns %s for it; what a loop carries "
                         "keeps its type",
                         carried[i]->name, infer_type_text(in, carried[i]), body->name,
                         infer_type_text(in, body->outputs.at[i]));
  return true;
}

// cond_fn body_fn carried_inputs additional_inputs
bool infer_while_loop(struct infer *in) {
  const struct graph *cond = node_graph(in->n, 0), *body = node_graph(in->n, 1);
  struct value **operands, **carried;
  size_t count = node_tensors(in->n, 2, 4, in->g->arena, &operands);
  size_t kept = node_tensors(in->n, 2, 3, in->g->arena, &carried);
  if (!check_arguments(in, 2) || !check_graph(in, cond) || !check_graph(in, body) ||
      !check_operands(in, cond, count, operands) || !check_operands(in, body, count, operands))
    return false;
  if (cond->outputs.len != 1 || !is_predicate(cond->outputs.at[0]))
    return infer_error(in, E1005, "`%s` must return a boolean of one element", cond->name);
  if (body->outputs.len != kept)
    return infer_error(in, E1003, "`%s` returns %s for %zu that the loop carries", body->name,
                       count_text(in->g->arena, body->outputs.len, "value"), kept);
  if (!check_carried(in, body, kept, carried))
    return false;
  infer_results(in, (uint32_t)kept);
  for (uint32_t i = 0; i < kept; i++)
    if (!result_like(in, i, carried[i]))
      return false;
  return true;
}

// x without its first dimension, which is that of the iterations.
static bool slice_of(struct infer *in, const struct value *x, const struct value *of_first,
                     struct value *ret) {
  if (x->rank == 0 || !graph_require_equal(in->g, x->shape[0], of_first->shape[0], in->n->span))
    return infer_error(in, E1004, "`xs` are %s and %s; all have one first dimension",
                       infer_type_text(in, of_first), infer_type_text(in, x));
  *ret = *x;
  ret->rank--;
  ret->shape++;
  ret->strides++;
  return true;
}

// operator operands: the operator's own rule.
bool infer_custom(struct infer *in) {
  const struct custom_operator *o = custom_find(in->n->args[0].string);
  if (!o || !o->infer || in->n->args[1].kind != ARG_LIST || in->n->args[1].list.count != o->count)
    return infer_error(in, E1002, "no operator `%.*s` with a kernel is registered",
                       STR_ARG(in->n->args[0].string));
  struct custom_type *types = arena_array(in->g->arena, struct custom_type, o->results + 1);
  if (!o->infer(o, in->g, in->n, types))
    return false;
  infer_results(in, o->results);
  for (uint32_t i = 0; i < o->results; i++)
    if (!infer_result(in, i, types[i].dtype, types[i].rank, types[i].shape, NULL))
      return false;
  return true;
}

// combine_fn init xs additional_inputs
bool infer_scan(struct infer *in) {
  const struct graph *body = node_graph(in->n, 0);
  struct value **init, **xs, **rest, **all;
  struct arena *a = in->g->arena;
  size_t carried = node_tensors(in->n, 1, 2, a, &init), sliced = node_tensors(in->n, 2, 3, a, &xs);
  size_t more = node_tensors(in->n, 3, 4, a, &rest), count = 0;
  if (!check_arguments(in, 1))
    return false;
  if (sliced == 0)
    return infer_error(in, E1003, "`xs` is empty");
  all = arena_array(a, struct value *, carried + sliced + more + 1);
  for (size_t i = 0; i < carried; i++)
    all[count++] = init[i];
  for (size_t i = 0; i < sliced; i++) {
    struct value *slice = arena_new(a, struct value);
    if (!slice_of(in, xs[i], xs[0], slice))
      return false;
    all[count++] = slice;
  }
  for (size_t i = 0; i < more; i++)
    all[count++] = rest[i];
  if (!check_graph(in, body) || !check_operands(in, body, count, all))
    return false;
  if (body->outputs.len < carried)
    return infer_error(in, E1003, "`%s` returns %s for %zu that the loop carries", body->name,
                       count_text(in->g->arena, body->outputs.len, "value"), carried);
  if (!check_carried(in, body, carried, init))
    return false;
  infer_results(in, (uint32_t)body->outputs.len);
  for (uint32_t i = 0; i < body->outputs.len; i++) {
    const struct value *v = body->outputs.at[i];
    const struct expr *shape[GRAPH_MAX_RANK + 1] = {xs[0]->shape[0]};
    for (uint32_t d = 0; d < v->rank; d++)
      shape[d + 1] = v->shape[d];
    if (i < carried ? !result_like(in, i, init[i])
                    : !infer_result(in, i, v->dtype, v->rank + 1, shape, NULL))
      return false;
  }
  return true;
}
