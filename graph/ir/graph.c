// SPDX-License-Identifier: Apache-2.0
// Graphs, their inputs and outputs; arguments and properties of values.
#include "graph/ir/graph.h"

struct graph *graph_create(struct arena *a, struct diag_engine *diag, struct exprs *x,
                           const char *name) {
  struct graph *g = arena_new(a, struct graph);
  g->arena = a;
  g->diag = diag;
  g->exprs = x;
  g->name = arena_strdup(a, name);
  return g;
}

struct value *graph_add_input(struct graph *g, const char *name, enum dtype dtype, uint32_t rank,
                              const struct expr *const *shape, const struct expr *const *strides,
                              struct span at) {
  struct value *v = arena_new(g->arena, struct value);
  *v = (struct value){.id = g->value_count++,
                      .name = arena_strdup(g->arena, name),
                      .dtype = dtype,
                      .rank = rank,
                      .span = at};
  v->shape = arena_array(g->arena, const struct expr *, rank);
  if (rank > 0)
    memcpy(v->shape, shape, rank * sizeof *shape);
  if (strides) {
    v->strides = arena_array(g->arena, const struct expr *, rank);
    if (rank > 0)
      memcpy(v->strides, strides, rank * sizeof *strides);
  } else
    v->strides = contiguous_strides(g->exprs, g->arena, rank, shape);
  vec_push(g->arena, &g->inputs, v);
  return v;
}

void graph_add_output(struct graph *g, struct value *v) { vec_push(g->arena, &g->outputs, v); }

void graph_add_mutation(struct graph *g, struct value *input, struct value *v) {
  vec_push(g->arena, &g->mutations, (struct mutation){input, v});
}

static void count_arg(const struct arg *a, uint32_t *uses) {
  if (a->kind == ARG_VALUE)
    uses[a->value->id]++;
  else if (a->kind == ARG_LIST)
    for (size_t i = 0; i < a->list.count; i++)
      count_arg(&a->list.at[i], uses);
}

uint32_t *graph_count_uses(const struct graph *g, struct arena *a) {
  uint32_t *uses = arena_array(a, uint32_t, g->value_count);
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->arg_count; k++)
      count_arg(&g->nodes.at[i]->args[k], uses);
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i])
      uses[g->outputs.at[i]->id]++;
  for (size_t i = 0; i < g->mutations.len; i++)
    uses[g->mutations.at[i].value->id]++;
  return uses;
}

// ---- creating arguments ----

struct arg arg_int(struct graph *g, int64_t value) {
  return ARG_E(expr_const(g->exprs, value));
}

static struct arg make_list(struct graph *g, size_t count) {
  struct arg a = {.kind = ARG_LIST};
  a.list.at = arena_array(g->arena, struct arg, count);
  a.list.count = count;
  return a;
}

struct arg arg_ints(struct graph *g, size_t count, const int64_t *values) {
  struct arg a = make_list(g, count);
  for (size_t i = 0; i < count; i++)
    a.list.at[i] = arg_int(g, values[i]);
  return a;
}

struct arg arg_exprs(struct graph *g, size_t count, const struct expr *const *values) {
  struct arg a = make_list(g, count);
  for (size_t i = 0; i < count; i++)
    a.list.at[i] = ARG_E(values[i]);
  return a;
}

struct arg arg_values(struct graph *g, size_t count, struct value *const *values) {
  struct arg a = make_list(g, count);
  for (size_t i = 0; i < count; i++)
    a.list.at[i] = ARG_V(values[i]);
  return a;
}

// ---- properties of values ----

const struct expr **contiguous_strides(struct exprs *x, struct arena *a, uint32_t rank,
                                       const struct expr *const *shape) {
  const struct expr **strides = arena_array(a, const struct expr *, rank);
  const struct expr *stride = expr_const(x, 1);
  for (uint32_t i = rank; i-- > 0;) {
    strides[i] = stride;
    if (!expr_is(shape[i], 0)) // an extent of 0 counts as 1
      stride = expr_mul(x, stride, shape[i]);
  }
  return strides;
}

bool shape_is_empty(uint32_t rank, const struct expr *const *shape) {
  for (uint32_t i = 0; i < rank; i++)
    if (expr_is(shape[i], 0))
      return true;
  return false;
}

bool value_has_shape(const struct value *v, uint32_t rank, const struct expr *const *shape) {
  if (v->rank != rank)
    return false;
  for (uint32_t i = 0; i < rank; i++)
    if (v->shape[i] != shape[i])
      return false;
  return true;
}

bool value_is_contiguous(struct exprs *x, const struct value *v) {
  const struct expr *stride = expr_const(x, 1);
  if (shape_is_empty(v->rank, v->shape))
    return true;
  for (uint32_t i = v->rank; i-- > 0;) {
    if (expr_is(v->shape[i], 1))
      continue;
    if (v->strides[i] != stride)
      return false;
    stride = expr_mul(x, stride, v->shape[i]);
  }
  return true;
}

const struct expr *value_numel(struct exprs *x, const struct value *v) {
  return expr_product(x, v->shape, v->rank);
}

bool value_is_too_large(const struct value *v) {
  int64_t span = dtype_bytes(v->dtype), dense = span, step;
  for (uint32_t i = 0; i < v->rank; i++) {
    int64_t size = v->shape[i]->lo > 1 ? v->shape[i]->lo : 1;
    if (v->shape[i]->overflows && v->shape[i]->kind == EXPR_CONST)
      return true;
    int64_t stride = v->strides && v->strides[i]->lo > 0 ? v->strides[i]->lo : 0;
    if (__builtin_mul_overflow(dense, size, &dense) ||
        __builtin_mul_overflow(size - 1, stride, &step) ||
        __builtin_mul_overflow(step, (int64_t)dtype_bytes(v->dtype), &step) ||
        __builtin_add_overflow(span, step, &span))
      return true;
  }
  return dense >= GRAPH_MAX_BYTES || span >= GRAPH_MAX_BYTES;
}
