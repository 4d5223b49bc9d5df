// SPDX-License-Identifier: Apache-2.0
// Parts of a graph: the operators that some values need, from values that are given.
#include "graph/ir/graph_operators.h"
#include "graph/passes/passes.h"

static struct graph *empty_like(const struct graph *g, const char *part) {
  struct graph *to =
      graph_create(g->arena, g->diag, g->exprs, arena_printf(g->arena, "%s_%s", g->name, part));
  to->device = g->device;
  to->keeps_casts = g->keeps_casts;
  to->is_deterministic = g->is_deterministic;
  for (size_t i = 0; i < g->symbols.len; i++)
    vec_push(to->arena, &to->symbols, g->symbols.at[i]);
  return to;
}

struct part {
  struct rewrite rw;
  const struct extraction *e;
  bool *needed;
};

static bool is_needed(const struct part *p, const struct node *n) {
  for (uint32_t k = 0; k < n->result_count; k++)
    if (n->results[k] && p->needed[n->results[k]->id] && !p->e->is_given[n->results[k]->id])
      return true;
  return false;
}

static void need(bool *needed, const struct arg *args, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (args[i].kind == ARG_VALUE && args[i].value)
      needed[args[i].value->id] = true;
    if (args[i].kind == ARG_LIST)
      need(needed, args[i].list.at, args[i].list.count);
  }
}

static void give(struct part *p, const struct value *v) {
  p->rw.map[v->id] =
      graph_add_input(p->rw.to, v->name, v->dtype, v->rank, v->shape, v->strides, v->span);
}

// A part draws the numbers of the whole graph.
static void number_random(struct graph *g) {
  uint32_t count = 0;
  for (size_t i = 0; i < g->nodes.len; i++) {
    struct node *n = g->nodes.at[i];
    if (operator_row(n->op)->class != CLASS_RANDOM)
      continue;
    count++;
    n->random_number = n->random_number ? n->random_number : count;
  }
}

// What is given stays, if the operator is there for another result.
static bool copy_node(struct part *p, const struct node *n) {
  struct value **given = arena_array(p->rw.to->arena, struct value *, n->result_count + 1);
  for (uint32_t k = 0; k < n->result_count; k++)
    given[k] = n->results[k] ? p->rw.map[n->results[k]->id] : NULL;
  if (!rewrite_copy(&p->rw, n))
    return false;
  for (uint32_t k = 0; k < n->result_count; k++) {
    struct value *copy = n->results[k] ? p->rw.map[n->results[k]->id] : NULL;
    if (copy && copy->def)
      copy->strides = arena_dup(p->rw.to->arena, n->results[k]->strides,
                                sizeof *copy->strides * copy->rank, _Alignof(struct expr *));
    if (given[k])
      p->rw.map[n->results[k]->id] = given[k];
  }
  return true;
}

static void find_needed(struct part *p) {
  const struct graph *g = p->rw.from;
  for (size_t i = 0; i < p->e->count; i++)
    if (p->e->outputs[i])
      p->needed[p->e->outputs[i]->id] = true;
  for (size_t i = 0; p->e->writes && i < g->mutations.len; i++)
    p->needed[g->mutations.at[i].input->id] = p->needed[g->mutations.at[i].value->id] = true;
  for (size_t i = g->nodes.len; i-- > 0;)
    if (is_needed(p, g->nodes.at[i]))
      need(p->needed, g->nodes.at[i]->args, g->nodes.at[i]->arg_count);
}

static void give_all(struct part *p) {
  const struct graph *g = p->rw.from;
  for (size_t i = 0; i < g->inputs.len; i++)
    if (p->e->keeps_inputs || p->needed[g->inputs.at[i]->id])
      give(p, g->inputs.at[i]);
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->result_count; k++) {
      const struct value *v = g->nodes.at[i]->results[k];
      if (v && p->needed[v->id] && p->e->is_given[v->id])
        give(p, v);
    }
}

struct graph *graph_extract(struct graph *g, const struct extraction *e) {
  struct part p = {.rw = {.from = g, .to = empty_like(g, e->name)}, .e = e};
  p.needed = arena_array(g->arena, bool, g->value_count + 1);
  p.rw.map = arena_array(g->arena, struct value *, g->value_count + 1);
  number_random(g);
  find_needed(&p);
  give_all(&p);
  for (size_t i = 0; i < g->nodes.len; i++)
    if (is_needed(&p, g->nodes.at[i]) && !copy_node(&p, g->nodes.at[i]))
      return NULL;
  for (size_t i = 0; i < e->count; i++)
    graph_add_output(p.rw.to, e->outputs[i] ? p.rw.map[e->outputs[i]->id] : NULL);
  for (size_t i = 0; e->writes && i < g->mutations.len; i++)
    graph_add_mutation(p.rw.to, p.rw.map[g->mutations.at[i].input->id],
                       p.rw.map[g->mutations.at[i].value->id]);
  return p.rw.to;
}
