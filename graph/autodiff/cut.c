// SPDX-License-Identifier: Apache-2.0
// The cut. A value that does not depend on the seeds is two nodes of the network, joined by an edge
// of as many bytes as it takes to save it; the second one leads to the operators that use it, and
// to the sink if one of these depends on the seeds. Inputs, and results that are not computed
// again, are behind the source. Cut edges are what is saved.
#include "graph/autodiff/cut.h"

#include "graph/autodiff/max_flow.h"
#include "graph/ir/graph_operators.h"
#include "graph/passes/passes.h"

// ---- the values ----

static int64_t bytes_of(struct cut *c, const struct value *v) {
  int64_t n = expr_hint(value_numel(c->g->exprs, v));
  return (n > 0 ? n : 1) * (int64_t)dtype_bytes(v->dtype);
}

// What saving a value adds to the memory.
int64_t cut_cost(struct cut *c, const struct value *v) {
  return !v->def || c->is_output[v->id] ? 0 : bytes_of(c, v);
}

// Fused with its users, it costs little to compute it again. Random numbers follow from the run's
// seed, the number of the operator and the index.
static bool is_cheap(const struct node *n) {
  if (n->op == OP_TILE_RAND)
    return true;
  switch (operator_row(n->op)->class) {
  case CLASS_POINTWISE:
  case CLASS_VIEW:
  case CLASS_SHAPE:
  case CLASS_CREATE:
  case CLASS_GATHER: return true;
  default: return false;
  }
}

// What has subgraphs or a kernel of its own runs once.
static bool may_repeat(const struct node *n) {
  enum operator_class class = operator_row(n->op)->class;
  return n->op == OP_TILE_RAND || (class != CLASS_RANDOM && class != CLASS_CONTROL);
}

void cut_visit(struct cut *c, const struct node *n, const struct arg *args, size_t count,
               cut_visit_fn f, void *user) {
  for (size_t i = 0; i < count; i++) {
    if (args[i].kind == ARG_VALUE && args[i].value)
      f(c, n, args[i].value, user);
    if (args[i].kind == ARG_LIST)
      cut_visit(c, n, args[i].list.at, args[i].list.count, f, user);
  }
}

static void note_seed(struct cut *c, const struct node *n, struct value *v, void *user) {
  (void)n;
  *(bool *)user |= c->by_seed[v->id];
}

static void note_use(struct cut *c, const struct node *n, struct value *v, void *user) {
  (void)n;
  (void)user;
  c->used_behind[v->id] = true;
}

static void classify(struct cut *c) {
  struct graph *g = c->g;
  c->is_live = graph_live(g);
  for (size_t i = 0; i < c->seeds; i++)
    c->by_seed[g->inputs.at[g->inputs.len - 1 - i]->id] = true;
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i])
      (i < c->outputs ? c->is_output : c->used_behind)[g->outputs.at[i]->id] = true;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const struct node *n = g->nodes.at[i];
    bool behind = n->op == OP_TILE_SEED;
    cut_visit(c, n, n->args, n->arg_count, note_seed, &behind);
    for (uint32_t k = 0; k < n->result_count; k++)
      if (n->results[k])
        c->by_seed[n->results[k]->id] = behind;
    if (behind && !node_is_dead(c->is_live, n))
      cut_visit(c, n, n->args, n->arg_count, note_use, NULL);
  }
}

bool cut_is_behind(const struct cut *c, const struct node *n) {
  for (uint32_t k = 0; k < n->result_count; k++)
    if (n->results[k] && c->by_seed[n->results[k]->id])
      return true;
  return false;
}

bool cut_is_forward(const struct cut *c, const struct node *n) {
  return n->region != REGION_GRADIENT && !cut_is_behind(c, n) && !node_is_dead(c->is_live, n);
}

// ---- regions ----

// What another region uses, or none, is saved: it is where the region's recomputation ends.
static void note_region(struct cut *c, const struct node *n, struct value *v, void *user) {
  (void)user;
  if (v->def && c->regions[n->id] != c->regions[v->def->id])
    c->is_inner[v->id] = false;
}

static void find_inner(struct cut *c) {
  struct graph *g = c->g;
  memset(c->is_inner, 0, g->value_count * sizeof *c->is_inner);
  for (size_t i = 0; i < g->nodes.len; i++) {
    const struct node *n = g->nodes.at[i];
    for (uint32_t k = 0; k < n->result_count; k++)
      if (n->results[k] && c->regions[n->id] && may_repeat(n))
        c->is_inner[n->results[k]->id] = true;
  }
  for (size_t i = 0; i < g->nodes.len; i++) {
    const struct node *n = g->nodes.at[i];
    if (cut_is_forward(c, n))
      cut_visit(c, n, n->args, n->arg_count, note_region, NULL);
  }
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i])
      c->is_inner[g->outputs.at[i]->id] = false;
}

// ---- the network ----

enum { SOURCE, SINK, FIRST };
static uint32_t in_of(const struct value *v) { return FIRST + 2 * v->id; }
static uint32_t out_of(const struct value *v) { return FIRST + 2 * v->id + 1; }

static void add_value(struct cut *c, struct flow *f, const struct value *v) {
  const struct node *n = v->def;
  flow_add(f, in_of(v), out_of(v), c->is_inner[v->id] ? FLOW_UNBOUNDED : cut_cost(c, v));
  bool is_new = n && n->region == REGION_GRADIENT; // the forward graph does not compute it
  bool is_edge = n && c->regions[n->id] && !c->is_inner[v->id];
  bool is_free = n && (is_cheap(n) || c->is_again[v->id] || c->is_inner[v->id] || is_new);
  if (!n || !may_repeat(n) || is_edge || !is_free)
    flow_add(f, SOURCE, in_of(v), FLOW_UNBOUNDED);
  if (c->used_behind[v->id])
    flow_add(f, out_of(v), SINK, FLOW_UNBOUNDED);
}

static void add_use(struct cut *c, const struct node *n, struct value *v, void *user) {
  (void)c;
  for (uint32_t k = 0; k < n->result_count; k++)
    if (n->results[k])
      flow_add(user, out_of(v), in_of(n->results[k]), FLOW_UNBOUNDED);
}

static void need(struct cut *c, const struct node *n, struct value *v, void *user) {
  (void)c;
  (void)n;
  ((bool *)user)[v->id] = true;
}

// An edge of no bytes is cut also where nothing needs the value.
static void drop_unneeded(struct cut *c) {
  struct graph *g = c->g;
  bool *needed = arena_array(g->arena, bool, g->value_count);
  memcpy(needed, c->used_behind, g->value_count * sizeof *needed);
  for (size_t i = g->nodes.len; i-- > 0;) {
    const struct node *n = g->nodes.at[i];
    bool is_again = false;
    for (uint32_t k = 0; k < n->result_count; k++) {
      const struct value *v = n->results[k];
      if (!v || c->by_seed[v->id])
        continue;
      c->is_saved[v->id] &= needed[v->id];
      is_again |= needed[v->id] && !c->is_saved[v->id];
    }
    if (is_again)
      cut_visit(c, n, n->args, n->arg_count, need, needed);
  }
}

static void find_cut(struct cut *c) {
  struct graph *g = c->g;
  struct flow f = flow_create(g->arena, FIRST + 2 * g->value_count);
  bool *near = arena_array(g->arena, bool, f.count);
  for (size_t i = 0; i < g->inputs.len; i++)
    if (!c->by_seed[g->inputs.at[i]->id])
      add_value(c, &f, g->inputs.at[i]);
  for (size_t i = 0; i < g->nodes.len; i++) {
    const struct node *n = g->nodes.at[i];
    bool behind = false;
    for (uint32_t k = 0; k < n->result_count; k++) {
      behind |= n->results[k] && c->by_seed[n->results[k]->id];
      if (n->results[k] && !c->by_seed[n->results[k]->id])
        add_value(c, &f, n->results[k]);
    }
    if (!behind)
      cut_visit(c, n, n->args, n->arg_count, add_use, &f);
  }
  flow_cut(&f, SOURCE, SINK, near);
  int64_t bytes = 0;
  memset(c->is_saved, 0, g->value_count * sizeof *c->is_saved);
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->result_count; k++) {
      const struct value *v = g->nodes.at[i]->results[k];
      if (v && !c->by_seed[v->id] && near[in_of(v)] && !near[out_of(v)]) {
        c->is_saved[v->id] = true;
        bytes += cut_cost(c, v);
      }
    }
  drop_unneeded(c);
  c->saved_bytes = bytes;
}

// ---- the budget ----

// Elements read for each element of the result: operations of a product, a reduction.
static double work_of(struct cut *c, const struct node *n) {
  double in = 0, out = 1;
  for (uint32_t i = 0; i < n->arg_count; i++)
    if (n->args[i].kind == ARG_VALUE && n->args[i].value)
      in += (double)expr_hint(value_numel(c->g->exprs, n->args[i].value));
  const struct value *x = node_value(n, 0), *y = n->results[0];
  bool is_product = operator_row(n->op)->class == CLASS_PRODUCT && x && x->rank && y;
  if (is_product)
    out = (double)expr_hint(value_numel(c->g->exprs, y)) * (double)expr_hint(x->shape[x->rank - 1]);
  return in + out + 1;
}

bool cut_release_one(struct cut *c) {
  struct value *best = NULL;
  double most = 0;
  for (size_t i = 0; i < c->g->nodes.len; i++) {
    const struct node *n = c->g->nodes.at[i];
    for (uint32_t k = 0; k < n->result_count; k++) {
      struct value *v = n->results[k];
      if (!v || !c->is_saved[v->id] || c->is_again[v->id] || !may_repeat(n) || is_cheap(n))
        continue;
      double gain = (double)cut_cost(c, v) / work_of(c, n);
      if (gain > most)
        most = gain, best = v;
    }
  }
  if (!best)
    return false;
  c->is_again[best->id] = true;
  find_cut(c);
  return true;
}

struct cut cut_begin(struct graph *g, size_t outputs, size_t seeds) {
  struct cut c = {.g = g, .outputs = outputs, .seeds = seeds};
  bool **const maps[] = {&c.by_seed,  &c.used_behind, &c.is_output,
                         &c.is_again, &c.is_inner,    &c.is_saved};
  for (size_t i = 0; i < COUNT_OF(maps); i++)
    *maps[i] = arena_array(g->arena, bool, g->value_count + 1);
  c.regions = arena_array(g->arena, uint32_t, g->nodes.len + 1);
  for (size_t i = 0; i < g->nodes.len; i++)
    c.regions[i] = g->nodes.at[i]->region == REGION_GRADIENT ? 0 : g->nodes.at[i]->region;
  classify(&c);
  find_inner(&c);
  find_cut(&c);
  return c;
}

void cut_set_regions(struct cut *c, const uint32_t *regions) {
  memcpy(c->regions, regions, c->g->nodes.len * sizeof *regions);
  find_inner(c);
  find_cut(c);
}
