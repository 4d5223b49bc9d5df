// SPDX-License-Identifier: Apache-2.0
// The cut. A value that does not depend on the seeds is two nodes of the network, joined by an edge
// of as many bytes as it takes to save it; the second one leads to the operators that use it, and
// to the sink if one of these depends on the seeds. Inputs, and results that are not computed
// again, are behind the source. Cut edges are what is saved.
#include "graph/autodiff/partition.h"

#include "base/json.h"
#include "graph/autodiff/max_flow.h"
#include "graph/ir/graph_operators.h"
#include "graph/passes/passes.h"

#include <inttypes.h>

struct cut {
  struct graph *g;
  size_t outputs, seeds;
  bool *is_live, *by_seed, *used_behind; // by value id; used_behind: by what depends on a seed
  bool *is_output;                       // of the forward graph
  bool *is_again;                        // by value id: computed again although it is costly
  bool *is_saved;
};

// ---- the values ----

static int64_t bytes_of(struct cut *c, const struct value *v) {
  int64_t n = expr_hint(value_numel(c->g->exprs, v));
  return (n > 0 ? n : 1) * (int64_t)dtype_bytes(v->dtype);
}

// What saving a value adds to the memory.
static int64_t cost_of(struct cut *c, const struct value *v) {
  return !v->def || c->is_output[v->id] ? 0 : bytes_of(c, v);
}

// Fused with its users, it costs little to compute it again.
static bool is_cheap(const struct node *n) {
  switch (operator_row(n->op)->class) {
  case CLASS_POINTWISE:
  case CLASS_VIEW:
  case CLASS_SHAPE:
  case CLASS_CREATE:
  case CLASS_GATHER: return true;
  default: return false;
  }
}

// Random numbers are drawn once; what has subgraphs or a kernel of its own runs once.
static bool may_repeat(const struct node *n) {
  enum operator_class class = operator_row(n->op)->class;
  return class != CLASS_RANDOM && class != CLASS_CONTROL;
}

typedef void (*visit_fn)(struct cut *c, const struct node *n, struct value *v, void *user);

static void visit_args(struct cut *c, const struct node *n, const struct arg *args, size_t count,
                       visit_fn f, void *user) {
  for (size_t i = 0; i < count; i++) {
    if (args[i].kind == ARG_VALUE && args[i].value)
      f(c, n, args[i].value, user);
    if (args[i].kind == ARG_LIST)
      visit_args(c, n, args[i].list.at, args[i].list.count, f, user);
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
    bool behind = false;
    visit_args(c, n, n->args, n->arg_count, note_seed, &behind);
    for (uint32_t k = 0; k < n->result_count; k++)
      if (n->results[k])
        c->by_seed[n->results[k]->id] = behind;
    if (behind && !node_is_dead(c->is_live, n))
      visit_args(c, n, n->args, n->arg_count, note_use, NULL);
  }
}

// ---- the network ----

enum { SOURCE, SINK, FIRST };
static uint32_t in_of(const struct value *v) { return FIRST + 2 * v->id; }
static uint32_t out_of(const struct value *v) { return FIRST + 2 * v->id + 1; }

static void add_value(struct cut *c, struct flow *f, const struct value *v) {
  const struct node *n = v->def;
  flow_add(f, in_of(v), out_of(v), cost_of(c, v));
  if (!n || !may_repeat(n) || (!is_cheap(n) && !c->is_again[v->id]))
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
      visit_args(c, n, n->args, n->arg_count, need, needed);
  }
}

// Sets is_saved; returns the bytes.
static int64_t find_cut(struct cut *c) {
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
      visit_args(c, n, n->args, n->arg_count, add_use, &f);
  }
  flow_cut(&f, SOURCE, SINK, near);
  int64_t bytes = 0;
  memset(c->is_saved, 0, g->value_count * sizeof *c->is_saved);
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->result_count; k++) {
      const struct value *v = g->nodes.at[i]->results[k];
      if (v && !c->by_seed[v->id] && near[in_of(v)] && !near[out_of(v)]) {
        c->is_saved[v->id] = true;
        bytes += cost_of(c, v);
      }
    }
  drop_unneeded(c);
  return bytes;
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

// The saved value that saves the most bytes for its work, as one to compute again. False: none.
static bool release_one(struct cut *c) {
  struct value *best = NULL;
  double most = 0;
  for (size_t i = 0; i < c->g->nodes.len; i++) {
    const struct node *n = c->g->nodes.at[i];
    for (uint32_t k = 0; k < n->result_count; k++) {
      struct value *v = n->results[k];
      if (!v || !c->is_saved[v->id] || c->is_again[v->id] || !may_repeat(n) || is_cheap(n))
        continue;
      double gain = (double)cost_of(c, v) / work_of(c, n);
      if (gain > most)
        most = gain, best = v;
    }
  }
  if (best)
    c->is_again[best->id] = true;
  return best != NULL;
}

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
      visit_args(c, g->nodes.at[i], g->nodes.at[i]->args, g->nodes.at[i]->arg_count, need,
                 p.needed);
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
      visit_args(c, n, n->args, n->arg_count, note_again, again);
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
      bytes += is_kept[base->id] ? 0 : cost_of(c, base);
      is_kept[base->id] = true;
    }
  return bytes;
}

struct partition *graph_partition(struct graph *g, size_t outputs, size_t seeds,
                                  const struct partition_options *o) {
  struct cut c = {.g = g, .outputs = outputs, .seeds = seeds};
  struct partition *p = arena_new(g->arena, struct partition);
  bool **const maps[] = {&c.by_seed, &c.used_behind, &c.is_output, &c.is_again, &c.is_saved};
  for (size_t i = 0; i < COUNT_OF(maps); i++)
    *maps[i] = arena_array(g->arena, bool, g->value_count + 1);
  classify(&c);
  p->saved_bytes = find_cut(&c);
  while (o->budget > 0 && p->saved_bytes > o->budget && release_one(&c))
    p->saved_bytes = find_cut(&c);
  p->fits = o->budget <= 0 || p->saved_bytes <= o->budget;
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

static void write_values(const char *key, struct value *const *at, size_t n,
                         struct json_writer *w) {
  json_key(w, key), json_begin_array(w);
  for (size_t i = 0; i < n; i++) {
    struct strbuf type = {.arena = w->out->arena};
    value_type_print(at[i], false, &type);
    json_begin_object(w);
    json_key(w, "name"), json_cstring(w, at[i]->name);
    json_key(w, "type"), json_cstring(w, strbuf_cstr(&type));
    json_key(w, "operator"),
        json_cstring(w, at[i]->def ? operator_row(at[i]->def->op)->name : NULL);
    json_end_object(w);
    strbuf_finish(&type);
  }
  json_end_array(w);
}

void partition_write(const struct partition *p, struct json_writer *w) {
  json_begin_object(w);
  json_key(w, "saved_bytes"), json_int(w, p->saved_bytes);
  json_key(w, "without_bytes"), json_int(w, p->without_bytes);
  json_key(w, "fits"), json_bool(w, p->fits);
  write_values("saved", p->saved.at, p->saved.len, w);
  write_values("reads", p->reads.at, p->reads.len, w);
  write_values("recomputed", p->recomputed.at, p->recomputed.len, w);
  json_end_object(w);
}
