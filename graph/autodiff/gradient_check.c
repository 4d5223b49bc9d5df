// SPDX-License-Identifier: Apache-2.0
// Errors of requests: outputs that are no losses, operators without a rule, no path.
#include "graph/autodiff/gradient_check.h"

// ---- outputs and seeds ----

static const char *type_of(const struct graph *g, const struct value *v) {
  struct strbuf text = {.arena = g->arena};
  value_type_print(v, false, &text);
  const char *ret = arena_strdup(g->arena, strbuf_cstr(&text));
  strbuf_finish(&text);
  return ret;
}

static bool check_output(struct graph *g, const struct value *v, const struct value *seed,
                         struct span at) {
  struct span where = v->def ? v->span : at;
  if (!dtype_is_float(v->dtype)) {
    diag_help(diag_error(g->diag, where, E1013, "`%s` is %s: only floats have gradients", v->name,
                         type_of(g, v)),
              "differentiate by floats; `x.to(torch.float32)` in the model makes one");
    return false;
  }
  if (!seed && !expr_is(value_numel(g->exprs, v), 1)) {
    diag_help(diag_error(g->diag, where, E1013, "`%s` is %s: a loss without a seed is one number",
                         v->name, type_of(g, v)),
              "sum it, or give a seed of its shape, by which its gradients are weighted");
    return false;
  }
  if (seed && (!value_same_shape(seed, v) || !dtype_is_float(seed->dtype))) {
    diag_error(g->diag, where, E1013, "the seed `%s` of `%s` is %s; it must be a float like %s",
               seed->name, v->name, type_of(g, seed), type_of(g, v));
    return false;
  }
  return true;
}

// ---- operators without a rule ----

static void reach_args(bool *is_reached, const struct arg *args, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (args[i].kind == ARG_VALUE && args[i].value)
      is_reached[args[i].value->id] = true;
    if (args[i].kind == ARG_LIST)
      reach_args(is_reached, args[i].list.at, args[i].list.count);
  }
}

static bool is_reached(const struct gradient *d, const bool *reached, const struct node *n) {
  for (uint32_t i = 0; i < n->result_count; i++)
    if (n->results[i] && reached[n->results[i]->id] && gradient_wants(d, n->results[i]))
      return true;
  return false;
}

static const char *name_of(const struct node *n) {
  return n->op == OP_CUSTOM ? n->args[0].string.ptr : operator_row(n->op)->name;
}

// One error names all of them.
static bool check_rules(const struct gradient *d, const struct gradient_request *r) {
  const struct graph *g = d->b.g;
  enum { MOST_SHOWN = 40 };
  bool *reached = arena_array(g->arena, bool, g->value_count + 1);
  VEC(const struct node *) missing = {0};
  for (size_t i = 0; i < r->output_count; i++)
    reached[r->outputs[i]->id] = true;
  for (size_t i = g->nodes.len; i-- > 0;) {
    const struct node *n = g->nodes.at[i];
    if (!is_reached(d, reached, n))
      continue;
    reach_args(reached, n->args, n->arg_count);
    if (gradient_kind_of_node(n) == GRADIENT_NONE)
      vec_push(g->arena, &missing, n);
  }
  if (missing.len == 0)
    return true;
  const struct node *first = missing.at[missing.len - 1];
  struct diag *e =
      diag_error(g->diag, first->span, E1012, "%zu operator%s without a gradient: `%s`",
                 missing.len, missing.len == 1 ? "" : "s", name_of(first));
  diag_note(e, first->span, "%s", gradient_refusal(first->op));
  for (size_t i = missing.len - 1; i-- > 0 && missing.len - i <= MOST_SHOWN;)
    diag_note(e, missing.at[i]->span, "`%s`: %s", name_of(missing.at[i]),
              gradient_refusal(missing.at[i]->op));
  diag_help(e, "cut the path by `aten.detach.default`, or ask for fewer gradients");
  return false;
}

// ---- paths ----

static bool check_path(const struct gradient *d, const struct gradient_request *r, struct span at) {
  const struct graph *g = d->b.g;
  if (r->allows_no_path)
    return true;
  for (size_t i = 0; i < r->output_count; i++)
    if (gradient_wants(d, r->outputs[i]))
      return true;
  struct strbuf names = {.arena = g->arena};
  for (size_t i = 0; i < r->input_count && i < 8; i++)
    strbuf_printf(&names, "%s`%s`", i ? ", " : "", r->inputs[i]->name);
  if (r->input_count > 8)
    strbuf_printf(&names, " and %zu more", r->input_count - 8);
  bool has_output = r->output_count > 0;
  struct diag *e =
      diag_error(g->diag, has_output && r->outputs[0]->def ? r->outputs[0]->span : at, E1014,
                 "`%s` does not depend on %s", has_output ? r->outputs[0]->name : "nothing",
                 names.len ? strbuf_cstr(&names) : "any float");
  diag_help(e, "gradients stop at integers, comparisons, rounding and `detach`");
  strbuf_finish(&names);
  return false;
}

bool gradient_check(const struct gradient *d, const struct gradient_request *r, struct span at) {
  bool ok = true;
  for (size_t i = 0; i < r->output_count; i++)
    ok &= check_output(d->b.g, r->outputs[i], r->seeds ? r->seeds[i] : NULL, at);
  return ok && check_path(d, r, at) && check_rules(d, r);
}
