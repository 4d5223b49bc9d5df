// SPDX-License-Identifier: Apache-2.0
// The memory that temporaries take in eager execution: each result is live from its operator to its
// last use. Views share the memory of their base; outputs and bases of outputs belong to the
// caller.
#include "graph/ir/graph_operators.h"
#include "graph/plan/memory_plan.h"

static bool shows_operand(const struct node *n) {
  enum operator_class c = operator_row(n->op)->class;
  return c == CLASS_VIEW || c == CLASS_MUTATE;
}

// By value id: the base of a view; of other results themselves; of inputs NULL.
static const struct value **storages(const struct graph *g, struct arena *a) {
  const struct value **of = arena_array(a, const struct value *, g->value_count + 1);
  for (size_t i = 0; i < g->nodes.len; i++) {
    const struct node *n = g->nodes.at[i];
    const struct value *base = shows_operand(n) ? node_value(n, 0) : NULL;
    if (base && of[base->id])
      base = of[base->id];
    for (uint32_t j = 0; j < n->result_count; j++)
      if (n->results[j])
        of[n->results[j]->id] = base ? base : n->results[j];
  }
  return of;
}

struct last_uses {
  const struct value **storage; // by value id
  size_t *node;                 // by value id: the last one that uses it
};

static void keep_until(struct last_uses *l, const struct value *v, size_t node) {
  const struct value *storage = v ? l->storage[v->id] : NULL;
  if (storage)
    l->node[storage->id] = node;
}

static void keep_arg(struct last_uses *l, const struct arg *a, size_t node) {
  if (a->kind == ARG_VALUE)
    keep_until(l, a->value, node);
  for (size_t i = 0; a->kind == ARG_LIST && i < a->list.count; i++)
    keep_arg(l, &a->list.at[i], node);
}

static size_t *last_uses(const struct graph *g, struct arena *a) {
  struct last_uses l = {storages(g, a), arena_array(a, size_t, g->value_count + 1)};
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t j = 0; j < g->nodes.at[i]->arg_count; j++)
      keep_arg(&l, &g->nodes.at[i]->args[j], i);
  for (size_t i = 0; i < g->outputs.len; i++)
    keep_until(&l, g->outputs.at[i], SIZE_MAX);
  return l.node;
}

int64_t memory_eager_peak(const struct graph *g, struct arena *a) {
  size_t n = g->nodes.len, *last = last_uses(g, a);
  int64_t *freed = arena_array(a, int64_t, n + 1), live = 0, peak = 0;
  for (size_t i = 0; i < n; i++) {
    const struct node *node = g->nodes.at[i];
    for (uint32_t j = 0; j < node->result_count && !shows_operand(node); j++) {
      const struct value *v = node->results[j];
      if (!v || last[v->id] == SIZE_MAX)
        continue;
      int64_t bytes = memory_likely(value_numel(g->exprs, v), v->dtype);
      live += bytes;
      freed[last[v->id] > i ? last[v->id] : i] += bytes;
    }
    peak = live > peak ? live : peak;
    live -= freed[i];
  }
  return peak;
}
