// SPDX-License-Identifier: Apache-2.0
// The sweep of reverse mode: marks what depends on the inputs, then visits the operators backwards
// and applies the rule of each to the gradients of its results.
//
// Recursion is the algorithm: an operator without a rule of its own is replaced by others
// (gradient_expand), and these are swept in turn. Values that they compute again are equal nodes,
// which graph_simplify merges.
#include "graph/autodiff/gradient_check.h"
#include "graph/autodiff/gradient_rules.h"
#include "graph/passes/passes.h"

// ---- what depends on the inputs ----

static void reserve(struct gradient *d) {
  while (d->wants.len < d->b.g->value_count) {
    vec_push(d->b.g->arena, &d->wants, false);
    vec_push(d->b.g->arena, &d->sums, NULL);
  }
}

static bool wants_any(const struct gradient *d, const struct arg *args, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (args[i].kind == ARG_VALUE && gradient_wants(d, args[i].value))
      return true;
    if (args[i].kind == ARG_LIST && wants_any(d, args[i].list.at, args[i].list.count))
      return true;
  }
  return false;
}

static void mark(struct gradient *d, size_t first, size_t last) {
  reserve(d);
  for (size_t i = first; i < last; i++) {
    const struct node *n = d->b.g->nodes.at[i];
    if (gradient_kind_of_node(n) == GRADIENT_ZERO || !wants_any(d, n->args, n->arg_count))
      continue;
    for (uint32_t k = 0; k < n->result_count; k++)
      if (n->results[k] && dtype_is_float(n->results[k]->dtype))
        d->wants.at[n->results[k]->id] = true;
  }
}

// ---- sums ----

static bool is_empty(struct build *b, const struct value *v) {
  return expr_is(value_numel(b->g->exprs, v), 0);
}

// `g`, summed over the dimensions along which a value of that shape was broadcast.
static struct value *sum_to(struct build *b, struct value *g, const struct value *like) {
  uint32_t more = g->rank > like->rank ? g->rank - like->rank : 0;
  struct dims dims = {0};
  for (uint32_t i = 0; i < g->rank; i++)
    if (i < more || (expr_is(like->shape[i - more], 1) && !expr_is(g->shape[i], 1)))
      dims.at[dims.count++] = i;
  if (dims.count)
    g = build_sum(b, g, &dims, true);
  return build_view(b, g, like->rank, like->shape);
}

void gradient_add(struct gradient *d, struct value *v, struct value *g) {
  if (!gradient_wants(d, v))
    return;
  struct build *b = &d->b;
  g = g && is_empty(b, v) ? gradient_zeros(b, v) : g;
  g = g ? build_convert(b, sum_to(b, g, v), v->dtype) : NULL;
  struct value **sum = &d->sums.at[v->id];
  *sum = *sum ? build_add(b, *sum, g) : g;
  d->failed |= !*sum;
}

// ---- the sweep ----

static bool take_gradients(struct gradient *d, const struct node *n, struct value **g) {
  bool any = false;
  for (uint32_t i = 0; i < n->result_count; i++) {
    const struct value *v = n->results[i];
    g[i] = v && v->id < d->sums.len && !is_empty(&d->b, v) ? d->sums.at[v->id] : NULL;
    any |= g[i] != NULL;
  }
  return any;
}

static void sweep(struct gradient *d, size_t first, size_t last) {
  for (size_t i = last; !d->failed && i-- > first;) {
    const struct node *n = d->b.g->nodes.at[i];
    struct value **g = arena_array(d->b.g->arena, struct value *, n->result_count + 1);
    if (!wants_any(d, n->args, n->arg_count) || !take_gradients(d, n, g))
      continue;
    d->b.at = n->span;
    if (gradient_kind_of(n->op) == GRADIENT_EXPANDED)
      gradient_expand(d, n, g);
    else if (gradient_rule(n->op))
      gradient_rule(n->op)(d, n, g);
  }
}

void gradient_expand(struct gradient *d, const struct node *n, struct value *const *g) {
  struct graph *graph = d->b.g;
  struct value **results = arena_array(graph->arena, struct value *, n->result_count + 1);
  size_t first = graph->nodes.len;
  if (!graph_decompose_node(graph, n, results)) {
    d->failed = true;
    return;
  }
  size_t last = graph->nodes.len;
  mark(d, first, last);
  for (uint32_t i = 0; i < n->result_count; i++)
    if (g[i] && results[i])
      gradient_add(d, results[i], g[i]);
  sweep(d, first, last);
}

// ---- requests ----

// The inputs are where sums are kept; what they depend on gets its part too.
static void mark_inputs(struct gradient *d, const struct gradient_request *r) {
  reserve(d);
  for (size_t i = 0; i < r->input_count; i++)
    if (dtype_is_float(r->inputs[i]->dtype))
      d->wants.at[r->inputs[i]->id] = true;
  mark(d, 0, d->b.g->nodes.len);
}

static struct value *seed_of(struct build *b, const struct gradient_request *r, size_t i) {
  const struct value *v = r->outputs[i];
  struct value *seed = r->seeds ? r->seeds[i] : NULL;
  if (!b->g->recomputes)
    return seed ? seed : build_full(b, v->rank, v->shape, 1, v->dtype);
  struct value *one = BUILD(b, OP_TILE_SEED, arg_exprs(b->g, v->rank, v->shape), ARG_D(v->dtype));
  return seed ? build_mul(b, seed, one) : one;
}

bool graph_gradient(struct graph *g, const struct gradient_request *r, struct span at,
                    struct value **ret) {
  struct gradient d = {.b = {g, at}};
  size_t last = g->nodes.len;
  uint32_t region = g->region;
  mark_inputs(&d, r);
  if (!gradient_check(&d, r, at))
    return false;
  g->region = REGION_GRADIENT;
  for (size_t i = 0; i < r->output_count; i++)
    if (gradient_wants(&d, r->outputs[i]))
      gradient_add(&d, r->outputs[i], seed_of(&d.b, r, i));
  sweep(&d, 0, last);
  for (size_t i = 0; i < r->input_count && !d.failed; i++) {
    const struct value *v = r->inputs[i];
    ret[i] = d.sums.at[v->id];
    if (!ret[i] && dtype_is_float(v->dtype))
      d.failed = !(ret[i] = gradient_zeros(&d.b, v));
  }
  g->region = region;
  return !d.failed;
}

bool graph_has_path(const struct graph *g, const struct value *input, const struct value *output) {
  struct graph reader = *g; // not changed: only marked
  struct gradient d = {.b = {&reader, SPAN_NONE}};
  struct value *in = (struct value *)(uintptr_t)input;
  mark_inputs(&d, &(struct gradient_request){.input_count = 1, .inputs = &in});
  return gradient_wants(&d, output);
}

// ---- helpers of rules ----

struct value *gradient_zeros(struct build *b, const struct value *like) {
  return build_full(b, like->rank, like->shape, 0, like->dtype);
}

struct value *gradient_or_zeros(struct build *b, struct value *g, const struct value *result) {
  return g ? g : gradient_zeros(b, result);
}

struct arg gradient_shape(struct build *b, const struct value *v) {
  return arg_exprs(b->g, v->rank, v->shape);
}

struct value *gradient_unreduced(struct build *b, const struct node *n, unsigned dims,
                                 struct value *v) {
  const struct value *x = node_value(n, 0);
  struct dims all = dims_from(0, x->rank);
  struct dims d = dims < n->arg_count ? dims_of(n, dims, x->rank) : all;
  const struct expr *shape[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < x->rank; i++)
    shape[i] = dims_has(&d, i) ? expr_const(b->g->exprs, 1) : x->shape[i];
  return build_view(b, v, x->rank, shape);
}

struct arg gradient_mask(struct build *b, size_t count, const bool *at) {
  struct arg a = {.kind = ARG_LIST};
  a.list.at = arena_array(b->g->arena, struct arg, count);
  a.list.count = count;
  for (size_t i = 0; i < count; i++)
    a.list.at[i] = ARG_B(at[i]);
  return a;
}
