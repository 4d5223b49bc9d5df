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

// The base of a view; itself if it is none.
static const struct value *storage_of(const struct value *v) {
  while (v->def && shows_operand(v->def))
    v = node_value(v->def, 0);
  return v;
}

static void keep_until(size_t *last, const struct value *v, size_t node) {
  if (v)
    last[storage_of(v)->id] = node;
}

static void keep_arg(size_t *last, const struct arg *a, size_t node) {
  if (a->kind == ARG_VALUE)
    keep_until(last, a->value, node);
  for (size_t i = 0; a->kind == ARG_LIST && i < a->list.count; i++)
    keep_arg(last, &a->list.at[i], node);
}

static size_t *last_uses(const struct graph *g, struct arena *a) {
  size_t *last = arena_array(a, size_t, g->value_count + 1);
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t j = 0; j < g->nodes.at[i]->arg_count; j++)
      keep_arg(last, &g->nodes.at[i]->args[j], i);
  for (size_t i = 0; i < g->outputs.len; i++)
    keep_until(last, g->outputs.at[i], SIZE_MAX);
  return last;
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
      int64_t bytes =
          memory_rounded(expr_hint(value_numel(g->exprs, v)) * (int64_t)dtype_bytes(v->dtype));
      live += bytes;
      freed[last[v->id] > i ? last[v->id] : i] += bytes;
    }
    peak = live > peak ? live : peak;
    live -= freed[i];
  }
  return peak;
}
