// SPDX-License-Identifier: Apache-2.0
// The forward and the backward graph of a cut, and the report.
#include "graph/autodiff/partition.h"

#include "base/json.h"
#include "graph/autodiff/cut.h"
#include "graph/ir/graph_operators.h"
#include "graph/passes/passes.h"

#include <inttypes.h>

// ---- the two graphs ----

static bool make_graphs(struct cut *c, struct partition *p) {
  struct graph *g = c->g;
  bool *none = arena_array(g->arena, bool, g->value_count);
  VEC(struct value *) outputs = {0};
  for (size_t i = 0; i < c->outputs; i++)
    vec_push(g->arena, &outputs, g->outputs.at[i]);
  p->first_saved = outputs.len;
  for (size_t i = 0; i < p->saved.len; i++)
    vec_push(g->arena, &outputs, p->saved.at[i]);
  struct extraction e = {.name = "forward",
                         .is_given = none,
                         .count = outputs.len,
                         .outputs = outputs.at,
                         .writes = true};
  p->forward = graph_extract(g, &e);
  e = (struct extraction){.name = "backward",
                          .is_given = c->is_saved,
                          .count = g->outputs.len - c->outputs,
                          .outputs = g->outputs.at + c->outputs};
  p->backward = graph_extract(g, &e);
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
