// SPDX-License-Identifier: Apache-2.0
// The reference interpreter: evaluates the nodes in order, each by its function of reference.def;
// frees a value after its last use.
#include "graph/reference/interpret.h"

#include "base/memory.h"
#include "graph/reference/noise.h"
#include "graph/reference/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

reference_fn operator_reference(enum operator_id id) {
  static const reference_fn functions[OPERATOR_COUNT] = {
#define REFERENCE(id, function) [OP_##id] = function,
#include "graph/reference/reference.def"
#undef REFERENCE
  };
  return id < OPERATOR_COUNT ? functions[id] : NULL;
}

// ---- nodes ----

struct run {
  const struct graph *g;
  const struct interpret_options *options;
  const int64_t *symbols;
  struct thread_pool *pool;
  struct tensor **tensors; // by value id
  uint32_t *uses;          // remaining uses, by value id
  uint32_t streams;        // random operators so far
};

static bool evaluate_shape(const struct run *r, const struct value *v, int64_t *ret) {
  for (uint32_t d = 0; d < v->rank; d++)
    if (!expr_eval(v->shape[d], r->g->symbols.len, r->g->symbols.at, r->symbols, &ret[d]))
      return false;
  return true;
}

static struct tensor *create_for(const struct run *r, const struct value *v) {
  int64_t shape[GRAPH_MAX_RANK];
  return evaluate_shape(r, v, shape) ? tensor_create(v->dtype, v->rank, shape) : NULL;
}

static bool is_half(enum dtype t) { return t == DTYPE_F16 || t == DTYPE_BF16; }

// Is a result of the node rounded to its dtype? 8-bit floats always are, as in casts from f64.
static bool is_rounded(const struct run *r, const struct node *n, enum dtype t) {
  if (r->options->rounds || dtype_bits(t) <= 8)
    return true;
  if (is_half(t))
    return r->g->keeps_casts;
  bool is_cast = n->op == OP_CONVERT_ELEMENT_TYPE || n->op == OP_TO_COPY || n->op == OP_COPY;
  return is_cast && t == DTYPE_F32 && node_value(n, n->op == OP_COPY)->dtype == DTYPE_F64;
}

static void wrap(struct tensor *t, bool rounds) {
  if (dtype_is_float(t->dtype)) {
    if (rounds && t->dtype != DTYPE_F64)
      for (int64_t i = 0; i < t->numel; i++)
        t->at[i] = element_round(t->at[i], t->dtype);
  } else if (t->dtype != DTYPE_I64 && t->dtype != DTYPE_U64) {
    for (int64_t i = 0; i < t->numel; i++)
      t->at[i] = element_convert(t->at[i], DTYPE_I64, t->dtype);
  }
}

// ---- noise ----

static struct tensor *sizes_of(const struct tensor *t) {
  struct tensor *copy = tensor_create(t->dtype, t->rank, t->shape);
  for (int64_t i = 0; copy && i < t->numel; i++)
    copy->at[i].real = fabs(t->at[i].real);
  return copy;
}

enum { MAX_OPERANDS = 4 };

// Operands replaced by their absolute values.
struct operands {
  uint32_t id[MAX_OPERANDS], count;
  struct tensor *was[MAX_OPERANDS];
};

static bool take_sizes(struct run *r, const struct node *n, struct operands *ret) {
  ret->count = 0;
  for (uint32_t i = 0; i < n->arg_count && ret->count < MAX_OPERANDS; i++) {
    const struct value *v = node_value(n, i);
    bool again = false;
    for (uint32_t k = 0; v && k < ret->count; k++)
      again |= ret->id[k] == v->id;
    if (!v || again || !dtype_is_float(v->dtype))
      continue;
    struct tensor *sizes = sizes_of(r->tensors[v->id]);
    if (!sizes)
      return false;
    ret->id[ret->count] = v->id;
    ret->was[ret->count++] = r->tensors[v->id];
    r->tensors[v->id] = sizes;
  }
  return true;
}

static void put_back(struct run *r, const struct operands *o) {
  for (uint32_t i = 0; i < o->count; i++) {
    tensor_destroy(r->tensors[o->id[i]]);
    r->tensors[o->id[i]] = o->was[i];
  }
}

// For each result, the sum of the absolute values of its terms; then noise in proportion to it.
static bool add_noise_of_sums(struct run *r, const struct reference_call *c, reference_fn f) {
  const struct node *n = c->node;
  struct reference_call sizes = *c;
  struct operands operands = {.count = 0};
  sizes.out = memory_zeroed(n->result_count + 1, sizeof(struct tensor *));
  sizes.adds_sizes = true;
  bool ok = sizes.out && (!noise_is_sum(n) || take_sizes(r, n, &operands));
  for (uint32_t i = 0; ok && i < n->result_count; i++)
    if (c->out[i])
      ok = (sizes.out[i] = tensor_create(c->out[i]->dtype, c->out[i]->rank, c->out[i]->shape)) !=
           NULL;
  ok = ok && f(&sizes);
  for (uint32_t i = 0; ok && i < n->result_count; i++)
    if (c->out[i] && dtype_is_float(c->out[i]->dtype))
      noise_add_sums(r->options->noise, c->out[i], ~n->results[i]->id, sizes.out[i]);
  if (sizes.out)
    put_back(r, &operands);
  for (uint32_t i = 0; sizes.out && i < n->result_count; i++)
    tensor_destroy(sizes.out[i]);
  free(sizes.out);
  return ok || call_fail(c, "out of memory for its bounds");
}

// Transposed convolutions are stored by phases of their stride, and a bias is added to what the
// phases make up.
static const struct tensor *late_bias(const struct reference_call *c) {
  const struct node *n = c->node;
  return n->op == OP_CONVOLUTION && node_value(n, 2) && node_truth(n, 6) ? call_tensor(c, 2) : NULL;
}

static bool add_noise(struct run *r, const struct reference_call *c, reference_fn f) {
  const struct noise *noise = r->options->noise;
  const struct node *n = c->node;
  if (noise_is_exact(n))
    return true;
  if ((noise_is_sum(n) || noise_has_terms(n)) && !add_noise_of_sums(r, c, f))
    return false;
  for (uint32_t i = 0; i < n->result_count; i++) {
    struct tensor *t = c->out[i];
    if (!t || !dtype_is_float(t->dtype))
      continue;
    const uint32_t id = n->results[i]->id;
    double relative = noise_of(t->dtype, noise->is_coarse && noise->is_coarse[id]);
    const struct tensor *bias = late_bias(c);
    if (bias && bias->numel)
      noise_add_before_bias(noise, t, ~id, relative, bias);
    if (operator_row(n->op)->class == CLASS_ATTENTION)
      noise_add_rows(noise, t, id, relative);
    else
      noise_add(noise, t, id, relative);
  }
  return true;
}

static void limit_range(const struct run *r, struct tensor *t) {
  const struct noise *noise = r->options->noise;
  if (t && dtype_is_float(t->dtype) &&
      (!is_half(t->dtype) || (noise && noise->limits_half_precision)))
    tensor_limit_range(t);
}

static void release(struct run *r, const struct value *v) {
  if (!v || !v->def || --r->uses[v->id] > 0) // inputs belong to the caller
    return;
  tensor_destroy(r->tensors[v->id]);
  r->tensors[v->id] = NULL;
}

static void release_args(struct run *r, const struct arg *args, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (args[i].kind == ARG_VALUE)
      release(r, args[i].value);
    else if (args[i].kind == ARG_LIST)
      release_args(r, args[i].list.at, args[i].list.count);
  }
}

static bool create_results(struct run *r, struct reference_call *c) {
  const struct node *n = c->node;
  for (uint32_t i = 0; i < n->result_count; i++) {
    const struct value *v = n->results[i];
    if (!v)
      continue;
    c->out[i] = r->tensors[v->id] = create_for(r, v);
    int64_t shape[GRAPH_MAX_RANK];
    if (!c->out[i])
      return evaluate_shape(r, v, shape) && tensor_fits(v->rank, shape)
                 ? call_fail(c, "out of memory for a result")
                 : call_fail(c, "a result is too large");
  }
  return true;
}

static bool run_node(struct run *r, const struct node *n) {
  reference_fn f = operator_reference(n->op);
  const uint32_t stream = n->random_number ? n->random_number - 1 : r->streams;
  struct reference_call c = {r->g,   n,          r->options, r->symbols, r->pool,
                             stream, r->tensors, NULL,       false};
  if (!f)
    return call_fail(&c, "writes to a tensor; such graphs are made functional when they are read");
  c.out = memory_zeroed(n->result_count ? n->result_count : 1, sizeof(struct tensor *));
  bool ok = c.out != NULL && create_results(r, &c) && f(&c);
  if (ok && r->options->noise)
    ok = add_noise(r, &c, f);
  for (uint32_t i = 0; ok && r->options->limits_range && i < n->result_count; i++)
    limit_range(r, c.out[i]);
  for (uint32_t i = 0; ok && i < n->result_count; i++)
    if (c.out[i])
      wrap(c.out[i], is_rounded(r, n, c.out[i]->dtype));
  free(c.out);
  r->streams += operator_row(n->op)->class == CLASS_RANDOM;
  release_args(r, n->args, n->arg_count);
  for (uint32_t i = 0; ok && i < n->result_count; i++)
    if (n->results[i] && r->uses[n->results[i]->id] == 0) {
      tensor_destroy(r->tensors[n->results[i]->id]);
      r->tensors[n->results[i]->id] = NULL;
    }
  return ok;
}

// ---- uses ----

static void count_args(uint32_t *uses, const struct arg *args, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (args[i].kind == ARG_VALUE && args[i].value)
      uses[args[i].value->id]++;
    else if (args[i].kind == ARG_LIST)
      count_args(uses, args[i].list.at, args[i].list.count);
  }
}

static void count_uses(const struct graph *g, uint32_t *uses) {
  for (size_t i = 0; i < g->nodes.len; i++)
    count_args(uses, g->nodes.at[i]->args, g->nodes.at[i]->arg_count);
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i])
      uses[g->outputs.at[i]->id]++;
  for (size_t i = 0; i < g->mutations.len; i++)
    uses[g->mutations.at[i].value->id]++;
}

// ---- the graph ----

static bool check_input(const struct run *r, const struct value *v, const struct tensor *t) {
  int64_t shape[GRAPH_MAX_RANK];
  bool same = t && t->dtype == v->dtype && t->rank == v->rank && evaluate_shape(r, v, shape);
  for (uint32_t d = 0; same && d < v->rank; d++)
    same = t->shape[d] == shape[d];
  if (!same)
    diag_error(r->g->diag, v->span, E1010, "the tensor for input `%s` has another type or shape",
               v->name);
  return same;
}

static struct tensor *take_copy(const struct tensor *t) {
  struct tensor *copy = tensor_create(t->dtype, t->rank, t->shape);
  if (copy)
    memcpy(copy->at, t->at, (size_t)t->numel * sizeof *t->at);
  return copy;
}

// Copies a tensor that is still used; its last use takes the tensor itself.
static bool give(struct run *r, const struct value *v, struct tensor **ret) {
  if (v->def && --r->uses[v->id] == 0) {
    *ret = r->tensors[v->id];
    r->tensors[v->id] = NULL;
    return true;
  }
  *ret = take_copy(r->tensors[v->id]);
  if (!*ret)
    diag_error(r->g->diag, v->span, E0991, "out of memory for output `%s`", v->name);
  return *ret != NULL;
}

static bool give_outputs(struct run *r, struct tensor **ret) {
  const struct graph *g = r->g;
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i] && !give(r, g->outputs.at[i], &ret[i]))
      return false;
  for (size_t i = 0; i < g->mutations.len; i++)
    if (!give(r, g->mutations.at[i].value, &ret[g->outputs.len + i]))
      return false;
  return true;
}

static bool run_graph(struct run *r, struct tensor *const *inputs, struct tensor **ret) {
  const struct graph *g = r->g;
  for (size_t i = 0; i < g->inputs.len; i++) {
    if (!check_input(r, g->inputs.at[i], inputs[i]))
      return false;
    r->tensors[g->inputs.at[i]->id] = inputs[i];
  }
  count_uses(g, r->uses);
  for (size_t i = 0; i < g->nodes.len; i++)
    if (!run_node(r, g->nodes.at[i]))
      return false;
  return give_outputs(r, ret);
}

bool graph_interpret(const struct graph *g, const struct interpret_options *o,
                     const int64_t *symbols, struct tensor *const *inputs,
                     struct tensor **ret_outputs) {
  const size_t outputs = g->outputs.len + g->mutations.len, values = g->value_count + 1;
  struct run r = {.g = g, .options = o, .symbols = symbols, .pool = thread_pool_create(0)};
  r.tensors = memory_zeroed(values, sizeof(struct tensor *));
  r.uses = memory_zeroed(values, sizeof *r.uses);
  for (size_t i = 0; i < outputs; i++)
    ret_outputs[i] = NULL;
  bool ok = r.tensors && r.uses && run_graph(&r, inputs, ret_outputs);
  for (size_t i = 0; r.tensors && i < g->inputs.len; i++)
    r.tensors[g->inputs.at[i]->id] = NULL;
  for (size_t i = 0; r.tensors && i < values; i++)
    tensor_destroy(r.tensors[i]);
  for (size_t i = 0; !ok && i < outputs; i++) {
    tensor_destroy(ret_outputs[i]);
    ret_outputs[i] = NULL;
  }
  free(r.tensors);
  free(r.uses);
  thread_pool_destroy(r.pool);
  return ok;
}
