// SPDX-License-Identifier: Apache-2.0
// Checks a graph: every value is defined before its uses, and equals the result of its operator's
// rule.
#include "graph/ir/infer.h"

struct check {
  struct graph *g;
  const struct value **made; // by id: the value defined so far
};

static bool add_value(struct check *c, const struct value *v) {
  if (v->id >= c->g->value_count || c->made[v->id]) {
    diag_error(c->g->diag, v->span, E1007, "`%s` is defined twice, or its id is out of range",
               v->name);
    return false;
  }
  c->made[v->id] = v;
  return true;
}

static bool is_made(struct check *c, const struct value *v, struct span at) {
  if (v->id < c->g->value_count && c->made[v->id] == v)
    return true;
  diag_error(c->g->diag, at, E1007,
             "`%s` is used before its definition, or belongs to another graph",
             v->name ? v->name : "?");
  return false;
}

static bool check_arg(struct check *c, const struct arg *a, struct span at) {
  if (a->kind == ARG_VALUE)
    return is_made(c, a->value, at);
  if (a->kind == ARG_GRAPH)
    return graph_verify(a->graph);
  bool ok = true;
  if (a->kind == ARG_LIST)
    for (size_t i = 0; i < a->list.count && ok; i++)
      ok = check_arg(c, &a->list.at[i], at);
  return ok;
}

// Applies the rule again, to a copy of the node, and compares the results.
static bool check_results(struct check *c, struct node *n) {
  struct graph *g = c->g;
  const struct operator_row *row = operator_row(n->op);
  uint32_t values = g->value_count;
  struct node copy = *n;
  copy.result_count = row->results;
  copy.results = arena_array(g->arena, struct value *, row->results);
  struct infer in = {g, &copy, row};
  bool ok = row->infer(&in);
  g->value_count = values;
  if (!ok)
    return false;
  if (copy.result_count != n->result_count)
    return infer_error(&in, E1006, "%u results, but its rule gives %u", n->result_count,
                       copy.result_count);
  for (uint32_t i = 0; i < n->result_count; i++) {
    const struct value *have = n->results[i], *want = copy.results[i];
    if (!have) // left out
      continue;
    bool same = want && have->dtype == want->dtype && have->rank == want->rank;
    for (uint32_t d = 0; same && d < have->rank; d++)
      same = infer_same_size(&in, have->shape[d], want->shape[d]);
    if (!same)
      return infer_error(&in, E1006, "result `%s` is %s, but its rule gives %s", have->name,
                         infer_type_text(&in, have), want ? infer_type_text(&in, want) : "none");
    if (have->def != n || have->result != i) {
      diag_error(g->diag, n->span, E1007, "`%s` is recorded as the result of another operator",
                 have->name);
      return false;
    }
  }
  return true;
}

static bool check_node(struct check *c, struct node *n) {
  size_t count;
  operator_parameters(n->op, &count);
  if (n->arg_count != count) {
    diag_error(c->g->diag, n->span, E1003, "`%s` takes %zu arguments, %u are given",
               operator_row(n->op)->name, count, n->arg_count);
    return false;
  }
  for (uint32_t i = 0; i < n->arg_count; i++)
    if (!check_arg(c, &n->args[i], n->span))
      return false;
  if (!check_results(c, n))
    return false;
  bool ok = true;
  for (uint32_t i = 0; i < n->result_count && ok; i++)
    ok = !n->results[i] || add_value(c, n->results[i]);
  return ok;
}

static bool is_input(const struct graph *g, const struct value *v) {
  for (size_t i = 0; i < g->inputs.len; i++)
    if (g->inputs.at[i] == v)
      return true;
  return false;
}

static bool check_mutation(struct check *c, const struct mutation *m) {
  if (!is_input(c->g, m->input)) {
    diag_error(c->g->diag, m->input->span, E1007, "`%s` is written to, but is not an input",
               m->input->name);
    return false;
  }
  return is_made(c, m->value, m->value->span);
}

bool graph_verify(struct graph *g) {
  struct check c = {g, arena_array(g->arena, const struct value *, g->value_count)};
  bool ok = true;
  for (size_t i = 0; i < g->inputs.len && ok; i++)
    ok = add_value(&c, g->inputs.at[i]);
  for (size_t i = 0; i < g->nodes.len && ok; i++)
    ok = check_node(&c, g->nodes.at[i]);
  for (size_t i = 0; i < g->outputs.len && ok; i++)
    ok = !g->outputs.at[i] || is_made(&c, g->outputs.at[i], g->outputs.at[i]->span);
  for (size_t i = 0; i < g->mutations.len && ok; i++)
    ok = check_mutation(&c, &g->mutations.at[i]);
  return ok;
}
