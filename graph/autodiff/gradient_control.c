// SPDX-License-Identifier: Apache-2.0
// Rules of operators with subgraphs: the subgraph is differentiated as a graph of its own, which
// gets the gradients of its results as further operands. And of custom operators: their authors'
// rules.
//
// Recursion is the algorithm: a subgraph is a graph.
#include "graph/autodiff/gradient_rules.h"
#include "graph/ir/custom.h"
#include "graph/ir/subgraph.h"

struct values {
  struct value **at;
  size_t count;
};

static struct values values_of(struct arena *a, const struct node *n, unsigned i) {
  struct values v;
  v.count = node_tensors(n, i, i + 1, a, &v.at);
  return v;
}

static void push(struct values *to, struct value *v) { to->at[to->count++] = v; }

static struct values room(struct arena *a, size_t count) {
  return (struct values){arena_array(a, struct value *, count + 1), 0};
}

// No value is missing after an error.
static bool is_whole(struct values v) {
  for (size_t i = 0; i < v.count; i++)
    if (!v.at[i])
      return false;
  return true;
}

static bool is_float(const struct value *v) { return dtype_is_float(v->dtype); }

// An input of `sub` like `v`; `sliced`: without its first dimension.
static struct value *input_like(struct graph *sub, const struct value *v, const char *prefix,
                                bool sliced) {
  const char *name = arena_printf(sub->arena, "%s_%zu", prefix, sub->inputs.len);
  return graph_add_input(sub, name, v->dtype, v->rank - sliced, v->shape + sliced, NULL, v->span);
}

static struct graph *subgraph_like(struct build *b, const char *name) {
  struct graph *sub = graph_create(b->g->arena, b->g->diag, b->g->exprs,
                                   arena_printf(b->g->arena, "%s_gradient", name));
  sub->device = b->g->device;
  for (size_t i = 0; i < b->g->symbols.len; i++)
    vec_push(sub->arena, &sub->symbols, b->g->symbols.at[i]);
  sub->keeps_casts = b->g->keeps_casts;
  return sub;
}

static struct arg graph_arg(struct graph *g) { return (struct arg){.kind = ARG_GRAPH, .graph = g}; }

// The gradients of outputs[i] by the inputs, given those of the outputs; zeros where there is none.
static bool differentiate(struct build *b, struct values outputs, struct values seeds,
                          struct values inputs, struct value **ret) {
  struct gradient_request r = {.output_count = outputs.count,
                               .input_count = inputs.count,
                               .outputs = outputs.at,
                               .seeds = seeds.at,
                               .inputs = inputs.at,
                               .allows_no_path = true};
  return graph_gradient(b->g, &r, b->at, ret);
}

// ---- cond: pred true_graph false_graph operands ----

// A branch's gradients by those of its operands that are wanted.
static struct graph *branch_gradient(struct gradient *d, const struct graph *branch,
                                     struct values operands, struct value *const *g) {
  struct arena *a = d->b.g->arena;
  struct build b = {subgraph_like(&d->b, branch->name), d->b.at};
  size_t count = branch->outputs.len;
  struct values in = room(a, operands.count), wanted = room(a, operands.count),
                outputs = room(a, count), seeds = room(a, count);
  for (size_t i = 0; i < operands.count; i++) {
    push(&in, input_like(b.g, operands.at[i], "operand", false));
    if (gradient_wants(d, operands.at[i]))
      push(&wanted, in.at[i]);
  }
  struct value **out = arena_array(a, struct value *, count + 1);
  graph_inline(&b, branch, in.at, out);
  for (size_t i = 0; i < count; i++) {
    if (!g[i])
      continue;
    push(&seeds, input_like(b.g, g[i], "gradient", false));
    if (!out[i])
      return NULL;
    push(&outputs, out[i]);
  }
  struct value **ret = arena_array(a, struct value *, wanted.count + 1);
  if (!differentiate(&b, outputs, seeds, wanted, ret))
    return NULL;
  for (size_t i = 0; i < wanted.count; i++)
    graph_add_output(b.g, ret[i]);
  return b.g;
}

void rule_cond(struct gradient *d, const struct node *n, struct value *const *g) {
  struct arena *a = d->b.g->arena;
  struct values operands = values_of(a, n, 3), all = room(a, operands.count + n->result_count);
  struct graph *yes = branch_gradient(d, node_graph(n, 1), operands, g),
               *no = branch_gradient(d, node_graph(n, 2), operands, g);
  for (size_t i = 0; i < operands.count; i++)
    push(&all, operands.at[i]);
  for (uint32_t i = 0; i < n->result_count; i++)
    if (g[i])
      push(&all, g[i]);
  struct arg args[] = {n->args[0], graph_arg(yes), graph_arg(no),
                       arg_values(d->b.g, all.count, all.at)};
  struct node *gradients =
      yes && no ? graph_append(d->b.g, OP_COND, args, COUNT_OF(args), d->b.at) : NULL;
  for (size_t i = 0, next = 0; i < operands.count; i++)
    if (gradient_wants(d, operands.at[i]))
      gradient_add(d, operands.at[i], gradients ? gradients->results[next++] : NULL);
}

// ---- scan: combine_fn init xs additional_inputs ----

struct scan {
  struct gradient *d;
  const struct node *n;
  const struct graph *body;
  struct values init, xs, rest;
  struct value *const *g;
};

static bool wants_rest(const struct scan *s, size_t i) {
  return gradient_wants(s->d, s->rest.at[i]);
}

// What each iteration got as carried: a scan that returns it beside what it carries on.
static bool states_of(const struct scan *s, struct values *ret) {
  struct build *b = &s->d->b, inner = {subgraph_like(b, s->body->name), b->at};
  struct values in = room(b->g->arena, s->init.count + s->xs.count + s->rest.count);
  for (size_t i = 0; i < s->init.count; i++)
    push(&in, input_like(inner.g, s->init.at[i], "carried", false));
  for (size_t i = 0; i < s->xs.count; i++)
    push(&in, input_like(inner.g, s->xs.at[i], "x", true));
  for (size_t i = 0; i < s->rest.count; i++)
    push(&in, input_like(inner.g, s->rest.at[i], "additional", false));
  struct value **out = arena_array(b->g->arena, struct value *, s->body->outputs.len + 1);
  graph_inline(&inner, s->body, in.at, out);
  for (size_t i = 0; i < s->init.count; i++) {
    if (!out[i])
      return false;
    graph_add_output(inner.g, out[i]);
  }
  for (size_t i = 0; i < s->init.count; i++)
    graph_add_output(inner.g, build_unop(&inner, OP_CLONE, in.at[i]));
  struct arg args[] = {graph_arg(inner.g), s->n->args[1], s->n->args[2], s->n->args[3]};
  struct node *saved = graph_append(b->g, OP_SCAN, args, COUNT_OF(args), b->at);
  for (size_t i = 0; saved && i < s->init.count; i++)
    push(ret, saved->results[s->init.count + i]);
  return saved != NULL;
}

// One iteration backwards: gets the gradients of what it carries on and the sums of those of the
// additional inputs; what it was given, from the last to the first; the additional inputs. Returns
// the gradients of what was carried to it, the sums, and the gradients of its slices.
static struct graph *body_gradient(const struct scan *s, struct values states) {
  struct build b = {subgraph_like(&s->d->b, s->body->name), s->d->b.at};
  struct arena *a = b.g->arena;
  size_t outs = s->body->outputs.len, most = s->init.count + s->xs.count + s->rest.count;
  struct values in = room(a, most), wanted = room(a, most), outputs = room(a, outs),
                seeds = room(a, outs), sums = room(a, most);
  for (size_t i = 0; i < s->init.count; i++)
    if (is_float(s->init.at[i]))
      push(&seeds, input_like(b.g, s->init.at[i], "gradient", false));
  for (size_t i = 0; i < s->rest.count; i++)
    if (wants_rest(s, i))
      push(&sums, input_like(b.g, s->rest.at[i], "sum", false));
  for (size_t i = 0; i < states.count; i++)
    push(&in, input_like(b.g, states.at[i], "carried", true));
  for (size_t i = 0; i < s->xs.count; i++)
    push(&in, input_like(b.g, s->xs.at[i], "x", true));
  for (size_t i = s->init.count; i < outs; i++)
    if (is_float(s->n->results[i]))
      push(&seeds, input_like(b.g, s->n->results[i], "gradient", true));
  for (size_t i = 0; i < s->rest.count; i++)
    push(&in, input_like(b.g, s->rest.at[i], "additional", false));
  struct value **out = arena_array(a, struct value *, outs + 1);
  graph_inline(&b, s->body, in.at, out);
  for (size_t i = 0; i < outs; i++)
    if (out[i] && is_float(out[i]))
      push(&outputs, out[i]);
  for (size_t i = 0; i < in.count; i++) {
    bool is_rest = i >= s->init.count + s->xs.count;
    if (is_float(in.at[i]) && (!is_rest || wants_rest(s, i - s->init.count - s->xs.count)))
      push(&wanted, in.at[i]);
  }
  struct value **ret = arena_array(a, struct value *, wanted.count + 1);
  if (outputs.count != seeds.count || !differentiate(&b, outputs, seeds, wanted, ret))
    return NULL;
  // Carried, slices, sums; a scan returns what it carries first.
  size_t carried = 0, first_sum = wanted.count - sums.count;
  for (size_t i = 0; i < s->init.count; i++)
    if (is_float(s->init.at[i]))
      graph_add_output(b.g, ret[carried++]);
  for (size_t i = 0; i < sums.count; i++)
    graph_add_output(b.g, build_add(&b, sums.at[i], ret[first_sum + i]));
  for (size_t i = carried; i < first_sum; i++)
    graph_add_output(b.g, ret[i]);
  return b.g;
}

static struct value *flipped(struct build *b, struct value *x) {
  return BUILD(b, OP_FLIP, TENSOR(x), arg_ints(b->g, 1, (int64_t[]){0}));
}

// The scan backwards over the body's gradient, and its results to the operands.
static void scan_back(const struct scan *s, struct graph *body, struct values states) {
  struct build *b = &s->d->b;
  size_t most = s->init.count + s->xs.count + s->rest.count + s->n->result_count;
  struct values init = room(b->g->arena, most), xs = room(b->g->arena, most);
  for (size_t i = 0; i < s->init.count; i++)
    if (is_float(s->init.at[i]))
      push(&init, gradient_or_zeros(b, s->g[i], s->init.at[i]));
  for (size_t i = 0; i < s->rest.count; i++)
    if (wants_rest(s, i))
      push(&init, gradient_zeros(b, s->rest.at[i]));
  for (size_t i = 0; i < states.count; i++)
    push(&xs, flipped(b, states.at[i]));
  for (size_t i = 0; i < s->xs.count; i++)
    push(&xs, flipped(b, s->xs.at[i]));
  for (size_t i = s->init.count; i < s->n->result_count; i++)
    if (is_float(s->n->results[i]))
      push(&xs, flipped(b, gradient_or_zeros(b, s->g[i], s->n->results[i])));
  struct arg args[] = {graph_arg(body), arg_values(b->g, init.count, init.at),
                       arg_values(b->g, xs.count, xs.at), s->n->args[3]};
  struct node *all = is_whole(init) && is_whole(xs)
                         ? graph_append(b->g, OP_SCAN, args, COUNT_OF(args), b->at)
                         : NULL;
  size_t next = 0;
  for (size_t i = 0; i < s->init.count; i++)
    if (is_float(s->init.at[i]))
      gradient_add(s->d, s->init.at[i], all ? all->results[next++] : NULL);
  for (size_t i = 0; i < s->rest.count; i++)
    if (wants_rest(s, i))
      gradient_add(s->d, s->rest.at[i], all ? all->results[next++] : NULL);
  for (size_t i = 0; i < s->xs.count; i++)
    if (is_float(s->xs.at[i]))
      gradient_add(s->d, s->xs.at[i], all ? flipped(b, all->results[next++]) : NULL);
}

void rule_scan(struct gradient *d, const struct node *n, struct value *const *g) {
  struct arena *a = d->b.g->arena;
  struct scan s = {.d = d,
                   .n = n,
                   .body = node_graph(n, 0),
                   .init = values_of(a, n, 1),
                   .xs = values_of(a, n, 2),
                   .rest = values_of(a, n, 3),
                   .g = g};
  struct values states = room(a, s.init.count);
  struct graph *body = states_of(&s, &states) ? body_gradient(&s, states) : NULL;
  if (body)
    scan_back(&s, body, states);
  else
    d->failed = true;
}

// ---- custom operators ----

void rule_custom(struct gradient *d, const struct node *n, struct value *const *g) {
  const struct custom_operator *o = node_custom(n);
  const struct arg *args = node_custom_args(n);
  struct value **ret = arena_array(d->b.g->arena, struct value *, o->count + 1);
  if (!o->gradient(o, d->b.g, n, g, ret)) {
    d->failed = true;
    return;
  }
  for (size_t i = 0; i < o->count; i++)
    if (args[i].kind == ARG_VALUE && ret[i])
      gradient_add(d, args[i].value, ret[i]);
}
