// SPDX-License-Identifier: Apache-2.0
// Rewriting: reads a graph node by node and builds the next one.
#include "graph/passes/passes.h"

static struct graph *graph_like(const struct graph *from) {
  struct graph *to = graph_create(from->arena, from->diag, from->exprs, from->name);
  to->device = from->device;
  to->keeps_casts = from->keeps_casts;
  to->is_deterministic = from->is_deterministic;
  to->recomputes = from->recomputes;
  to->saved_limit = from->saved_limit;
  to->regions = from->regions;
  for (size_t i = 0; i < from->symbols.len; i++)
    vec_push(to->arena, &to->symbols, from->symbols.at[i]);
  return to;
}

static bool copy_inputs(struct rewrite *rw) {
  for (size_t i = 0; i < rw->from->inputs.len; i++) {
    const struct value *v = rw->from->inputs.at[i];
    struct value *copy =
        graph_add_input(rw->to, v->name, v->dtype, v->rank, v->shape, v->strides, v->span);
    if (!copy)
      return false;
    rw->map[v->id] = copy;
  }
  return true;
}

static struct arg map_arg(struct rewrite *rw, const struct arg *a) {
  struct arg copy = *a;
  if (a->kind == ARG_VALUE && a->value)
    copy.value = rw->map[a->value->id];
  if (a->kind == ARG_LIST) {
    copy.list.at = arena_array(rw->to->arena, struct arg, a->list.count + 1);
    for (size_t i = 0; i < a->list.count; i++)
      copy.list.at[i] = map_arg(rw, &a->list.at[i]);
  }
  return copy;
}

struct arg *rewrite_args(struct rewrite *rw, const struct node *n) {
  struct arg *args = arena_array(rw->to->arena, struct arg, n->arg_count + 1);
  for (uint32_t i = 0; i < n->arg_count; i++)
    args[i] = map_arg(rw, &n->args[i]);
  return args;
}

struct value *rewrite_value(struct rewrite *rw, const struct node *n, unsigned i) {
  struct value *v = node_value(n, i);
  return v ? rw->map[v->id] : NULL;
}

void rewrite_name(struct rewrite *rw, const struct value *v, struct value *to, uint32_t first_id) {
  rw->map[v->id] = to;
  if (to->def && to->id >= first_id)
    to->name = v->name;
}

bool rewrite_copy(struct rewrite *rw, const struct node *n) {
  struct node *copy = graph_append(rw->to, n->op, rewrite_args(rw, n), n->arg_count, n->span);
  if (!copy)
    return false;
  copy->random_number = n->random_number;
  for (uint32_t i = 0; i < n->result_count; i++)
    if (n->results[i])
      rewrite_name(rw, n->results[i], copy->results[i], 0);
  return true;
}

// ---- outputs ----

static bool has_strides(const struct value *v, const struct value *as) {
  for (uint32_t i = 0; i < v->rank; i++)
    if (v->strides[i] != as->strides[i] && !expr_is(v->shape[i], 1))
      return false;
  return true;
}

static void take_strides(struct graph *g, struct value *v, const struct value *from) {
  v->strides = arena_dup(g->arena, from->strides, sizeof *v->strides * v->rank,
                         _Alignof(const struct expr *));
}

// The replacement of output `v`, with v's strides: if they differ, its own strides are changed, or
// it is cloned if it is an input or already an output.
static struct value *output_of(struct rewrite *rw, const struct value *v, bool *is_taken) {
  struct value *to = rw->map[v->id];
  if (!to || has_strides(to, v))
    return to;
  if (!to->def || is_taken[to->id]) {
    struct arg arg = ARG_V(to);
    to = graph_apply(rw->to, OP_CLONE, &arg, 1, v->span);
    if (!to)
      return NULL;
  }
  take_strides(rw->to, to, v);
  return to;
}

static bool copy_outputs(struct rewrite *rw) {
  // At most one clone for each output; its id is only looked up after the clone exists.
  bool *is_taken =
      arena_array(rw->to->arena, bool, rw->to->value_count + rw->from->outputs.len + 1);
  for (size_t i = 0; i < rw->from->outputs.len; i++) {
    const struct value *v = rw->from->outputs.at[i];
    struct value *to = v ? output_of(rw, v, is_taken) : NULL;
    if (v && !to)
      return false;
    if (to)
      is_taken[to->id] = true;
    graph_add_output(rw->to, to);
  }
  for (size_t i = 0; i < rw->from->mutations.len; i++) {
    const struct mutation *m = &rw->from->mutations.at[i];
    graph_add_mutation(rw->to, rw->map[m->input->id], rw->map[m->value->id]);
  }
  return true;
}

struct graph *graph_rewrite(struct graph *g, rewrite_fn f, void *user) {
  struct rewrite rw = {.from = g, .to = graph_like(g), .user = user};
  rw.map = arena_array(g->arena, struct value *, g->value_count + 1);
  if (!rw.to || !rw.map || !copy_inputs(&rw))
    return NULL;
  for (size_t i = 0; i < g->nodes.len; i++) {
    rw.to->region = g->nodes.at[i]->region;
    if (!f(&rw, g->nodes.at[i]))
      return NULL;
  }
  rw.to->region = 0;
  return copy_outputs(&rw) ? rw.to : NULL;
}

// ---- liveness ----

static void mark_args(bool *is_live, const struct arg *args, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (args[i].kind == ARG_VALUE && args[i].value)
      is_live[args[i].value->id] = true;
    if (args[i].kind == ARG_LIST)
      mark_args(is_live, args[i].list.at, args[i].list.count);
  }
}

static bool any_live(const bool *is_live, const struct node *n) {
  for (uint32_t i = 0; i < n->result_count; i++)
    if (n->results[i] && is_live[n->results[i]->id])
      return true;
  return false;
}

bool *graph_live(const struct graph *g) {
  bool *is_live = arena_array(g->arena, bool, g->value_count + 1);
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i])
      is_live[g->outputs.at[i]->id] = true;
  for (size_t i = 0; i < g->mutations.len; i++)
    is_live[g->mutations.at[i].value->id] = true;
  for (size_t i = g->nodes.len; i-- > 0;)
    if (any_live(is_live, g->nodes.at[i]))
      mark_args(is_live, g->nodes.at[i]->args, g->nodes.at[i]->arg_count);
  return is_live;
}

bool node_is_dead(const bool *is_live, const struct node *n) {
  for (uint32_t i = 0; i < n->result_count; i++)
    if (n->results[i] && is_live[n->results[i]->id])
      return false;
  return true;
}
