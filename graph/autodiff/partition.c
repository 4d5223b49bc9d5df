// SPDX-License-Identifier: Apache-2.0
// The forward and the backward graph of a cut, and the report.
#include "graph/autodiff/partition.h"

#include "graph/autodiff/cut.h"
#include "graph/ir/graph_operators.h"
#include "graph/passes/passes.h"

#include <inttypes.h>

// ---- the two graphs ----

static struct graph *empty_like(const struct graph *g, const char *part) {
  struct graph *to =
      graph_create(g->arena, g->diag, g->exprs, arena_printf(g->arena, "%s_%s", g->name, part));
  to->device = g->device;
  to->keeps_casts = g->keeps_casts;
  for (size_t i = 0; i < g->symbols.len; i++)
    vec_push(to->arena, &to->symbols, g->symbols.at[i]);
  return to;
}

static void need(struct cut *c, const struct node *n, struct value *v, void *user) {
  (void)c;
  (void)n;
  ((bool *)user)[v->id] = true;
}

// One of the two graphs while it is made.
struct part {
  struct rewrite rw;
  const bool *is_given; // by value id: an input of this graph
  bool *needed;
};

static bool is_needed(const struct part *p, const struct node *n) {
  for (uint32_t k = 0; k < n->result_count; k++)
    if (n->results[k] && p->needed[n->results[k]->id] && !p->is_given[n->results[k]->id])
      return true;
  return false;
}

static void give(struct part *p, const struct value *v) {
  if (p->needed[v->id])
    p->rw.map[v->id] =
        graph_add_input(p->rw.to, v->name, v->dtype, v->rank, v->shape, v->strides, v->span);
}

// What is given stays, if the operator is there for another result.
static bool copy_node(struct part *p, const struct node *n) {
  struct value **given = arena_array(p->rw.to->arena, struct value *, n->result_count + 1);
  for (uint32_t k = 0; k < n->result_count; k++)
    given[k] = n->results[k] ? p->rw.map[n->results[k]->id] : NULL;
  if (!rewrite_copy(&p->rw, n))
    return false;
  for (uint32_t k = 0; k < n->result_count; k++)
    if (given[k])
      p->rw.map[n->results[k]->id] = given[k];
  return true;
}

// The graph of `outputs`, with an input for each value that is given.
static struct graph *extract(struct cut *c, const char *name, const bool *is_given, size_t count,
                             struct value *const *outputs, bool writes) {
  struct graph *g = c->g;
  struct part p = {.rw = {.from = g, .to = empty_like(g, name)}, .is_given = is_given};
  p.needed = arena_array(g->arena, bool, g->value_count);
  p.rw.map = arena_array(g->arena, struct value *, g->value_count + 1);
  for (size_t i = 0; i < count; i++)
    if (outputs[i])
      p.needed[outputs[i]->id] = true;
  for (size_t i = 0; writes && i < g->mutations.len; i++)
    p.needed[g->mutations.at[i].input->id] = p.needed[g->mutations.at[i].value->id] = true;
  for (size_t i = g->nodes.len; i-- > 0;)
    if (is_needed(&p, g->nodes.at[i]))
      cut_visit(c, g->nodes.at[i], g->nodes.at[i]->args, g->nodes.at[i]->arg_count, need, p.needed);
  for (size_t i = 0; i < g->inputs.len; i++)
    give(&p, g->inputs.at[i]);
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->result_count; k++)
      if (g->nodes.at[i]->results[k] && is_given[g->nodes.at[i]->results[k]->id])
        give(&p, g->nodes.at[i]->results[k]);
  for (size_t i = 0; i < g->nodes.len; i++)
    if (is_needed(&p, g->nodes.at[i]) && !copy_node(&p, g->nodes.at[i]))
      return NULL;
  for (size_t i = 0; i < count; i++)
    graph_add_output(p.rw.to, outputs[i] ? p.rw.map[outputs[i]->id] : NULL);
  for (size_t i = 0; writes && i < g->mutations.len; i++)
    graph_add_mutation(p.rw.to, p.rw.map[g->mutations.at[i].input->id],
                       p.rw.map[g->mutations.at[i].value->id]);
  return p.rw.to;
}

static bool make_graphs(struct cut *c, struct partition *p) {
  struct graph *g = c->g;
  bool *none = arena_array(g->arena, bool, g->value_count);
  VEC(struct value *) outputs = {0};
  for (size_t i = 0; i < c->outputs; i++)
    vec_push(g->arena, &outputs, g->outputs.at[i]);
  p->first_saved = outputs.len;
  for (size_t i = 0; i < p->saved.len; i++)
    vec_push(g->arena, &outputs, p->saved.at[i]);
  p->forward = extract(c, "forward", none, outputs.len, outputs.at, true);
  p->backward = extract(c, "backward", c->is_saved, g->outputs.len - c->outputs,
                        g->outputs.at + c->outputs, false);
  return p->forward && p->backward;
}

// ---- results ----

static void note_again(struct cut *c, const struct node *n, struct value *v, void *user) {
  (void)n;
  if (!c->by_seed[v->id] && !c->is_saved[v->id])
    ((bool *)user)[v->id] = true;
}

// What the backward graph computes again, and the inputs that it reads.
static void find_again(struct cut *c, struct partition *p) {
  struct graph *g = c->g;
  bool *again = arena_array(g->arena, bool, g->value_count);
  for (size_t i = 0; i < g->inputs.len; i++)
    again[g->inputs.at[i]->id] = c->used_behind[g->inputs.at[i]->id];
  for (size_t i = g->nodes.len; i-- > 0;) {
    const struct node *n = g->nodes.at[i];
    bool is_behind = false;
    for (uint32_t k = 0; k < n->result_count; k++) {
      const struct value *v = n->results[k];
      bool here =
          v && !c->by_seed[v->id] && !c->is_saved[v->id] && (again[v->id] || c->used_behind[v->id]);
      if (here)
        vec_push(g->arena, &p->recomputed, n->results[k]);
      is_behind |= here;
    }
    if (is_behind)
      cut_visit(c, n, n->args, n->arg_count, note_again, again);
  }
  for (size_t i = 0; i < g->inputs.len; i++)
    if (again[g->inputs.at[i]->id] && !c->by_seed[g->inputs.at[i]->id])
      vec_push(g->arena, &p->reads, g->inputs.at[i]);
}

// What a view is a view of.
static const struct value *base_of(const struct value *v) {
  while (v->def && operator_row(v->def->op)->class == CLASS_VIEW)
    v = node_value(v->def, 0);
  return v;
}

// All that the backward graph reads.
static int64_t bytes_without(struct cut *c) {
  bool *is_kept = arena_array(c->g->arena, bool, c->g->value_count);
  int64_t bytes = 0;
  for (size_t i = 0; i < c->g->nodes.len; i++)
    for (uint32_t k = 0; k < c->g->nodes.at[i]->result_count; k++) {
      const struct value *v = c->g->nodes.at[i]->results[k];
      if (!v || !c->used_behind[v->id] || c->by_seed[v->id])
        continue;
      const struct value *base = base_of(v);
      bytes += is_kept[base->id] ? 0 : cut_cost(c, base);
      is_kept[base->id] = true;
    }
  return bytes;
}

struct partition *graph_partition(struct graph *g, size_t outputs, size_t seeds,
                                  const struct partition_options *o) {
  struct cut c = cut_create(g, outputs, seeds, o);
  struct partition *p = arena_new(g->arena, struct partition);
  p->saved_bytes = c.saved_bytes;
  p->fits = c.fits;
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->result_count; k++) {
      struct value *v = g->nodes.at[i]->results[k];
      if (v && c.is_saved[v->id])
        vec_push(g->arena, &p->saved, v);
    }
  p->without_bytes = bytes_without(&c);
  find_again(&c, p);
  return make_graphs(&c, p) ? p : NULL;
}

// ---- the report ----

void partition_print(const struct partition *p, struct strbuf *out) {
  strbuf_printf(out,
                "saved: %zu values, %" PRId64 " bytes; %" PRId64
                " bytes if nothing were computed again\n",
                p->saved.len, p->saved_bytes, p->without_bytes);
  for (size_t i = 0; i < p->saved.len; i++) {
    const struct value *v = p->saved.at[i];
    strbuf_printf(out, "  %s ", v->name);
    value_type_print(v, false, out);
    strbuf_printf(out, ", of %s\n", operator_row(v->def->op)->name);
  }
  strbuf_printf(out, "inputs that the backward graph reads: %zu\ncomputed again: %zu operators\n",
                p->reads.len, p->recomputed.len);
  for (size_t i = p->recomputed.len; i-- > 0;)
    strbuf_printf(out, "  %s = %s\n", p->recomputed.at[i]->name,
                  operator_row(p->recomputed.at[i]->def->op)->name);
}
