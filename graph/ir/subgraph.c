// SPDX-License-Identifier: Apache-2.0
// Arguments that are graphs, their operands, and inlining.
#include "graph/ir/subgraph.h"

struct graph *node_graph(const struct node *n, unsigned i) {
  assert(i < n->arg_count && n->args[i].kind == ARG_GRAPH);
  return n->args[i].graph;
}

static size_t list_tensors(const struct arg *a, struct value **ret, size_t at) {
  if (a->kind == ARG_VALUE) {
    if (ret)
      ret[at] = a->value;
    return at + 1;
  }
  for (size_t i = 0; a->kind == ARG_LIST && i < a->list.count; i++)
    at = list_tensors(&a->list.at[i], ret, at);
  return at;
}

size_t node_list_tensors(const struct node *n, unsigned first, unsigned last, struct value **ret) {
  size_t count = 0;
  for (unsigned i = first; i < last && i < n->arg_count; i++)
    count = list_tensors(&n->args[i], ret, count);
  return count;
}

size_t node_tensors(const struct node *n, unsigned first, unsigned last, struct arena *a,
                    struct value ***ret) {
  *ret = arena_array(a, struct value *, node_list_tensors(n, first, last, NULL) + 1);
  return node_list_tensors(n, first, last, *ret);
}

// ---- inlining ----

static struct arg mapped(struct build *b, const struct arg *a, struct value *const *map) {
  struct arg copy = *a;
  if (a->kind == ARG_VALUE)
    copy.value = map[a->value->id];
  if (a->kind == ARG_LIST) {
    copy.list.at = arena_array(b->g->arena, struct arg, a->list.count + 1);
    for (size_t i = 0; i < a->list.count; i++)
      copy.list.at[i] = mapped(b, &a->list.at[i], map);
  }
  return copy;
}

static bool inline_node(struct build *b, const struct node *n, struct value **map) {
  struct arg *args = arena_array(b->g->arena, struct arg, n->arg_count + 1);
  for (uint32_t i = 0; i < n->arg_count; i++)
    args[i] = mapped(b, &n->args[i], map);
  struct node *copy = graph_append(b->g, n->op, args, n->arg_count, n->span);
  for (uint32_t i = 0; copy && i < n->result_count; i++)
    if (n->results[i])
      map[n->results[i]->id] = copy->results[i];
  return copy != NULL;
}

void graph_inline(struct build *b, const struct graph *sub, struct value *const *args,
                  struct value **ret) {
  struct value **map = arena_array(b->g->arena, struct value *, sub->value_count + 1);
  bool ok = true;
  for (size_t i = 0; i < sub->inputs.len; i++) {
    map[sub->inputs.at[i]->id] = args[i];
    ok = ok && args[i];
  }
  for (size_t i = 0; ok && i < sub->nodes.len; i++)
    ok = inline_node(b, sub->nodes.at[i], map);
  for (size_t i = 0; i < sub->outputs.len; i++)
    ret[i] = ok && sub->outputs.at[i] ? map[sub->outputs.at[i]->id] : NULL;
}

const char *count_text(struct arena *a, size_t count, const char *what) {
  return arena_printf(a, "%zu %s%s", count, what, count == 1 ? "" : "s");
}

// ---- contents ----

static void keep_casts_of(const struct arg *a, bool keeps) {
  if (a->kind == ARG_GRAPH)
    graph_keep_casts(a->graph, keeps);
  for (size_t i = 0; a->kind == ARG_LIST && i < a->list.count; i++)
    keep_casts_of(&a->list.at[i], keeps);
}

void graph_keep_casts(struct graph *g, bool keeps) {
  g->keeps_casts = keeps;
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->arg_count; k++)
      keep_casts_of(&g->nodes.at[i]->args[k], keeps);
}

static bool has_class(const struct arg *args, size_t count, enum operator_class class) {
  for (size_t i = 0; i < count; i++)
    if ((args[i].kind == ARG_GRAPH && graph_has_class(args[i].graph, class)) ||
        (args[i].kind == ARG_LIST && has_class(args[i].list.at, args[i].list.count, class)))
      return true;
  return false;
}

bool graph_has_class(const struct graph *g, enum operator_class class) {
  for (size_t i = 0; i < g->nodes.len; i++) {
    const struct node *n = g->nodes.at[i];
    if (operator_row(n->op)->class == class || has_class(n->args, n->arg_count, class))
      return true;
  }
  return false;
}
