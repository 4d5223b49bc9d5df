// SPDX-License-Identifier: Apache-2.0
// Which operator of a graph first makes a NaN or an infinity: kernels fuse many, so the reference
// interpreter computes all values from the same inputs.
#include "base/memory.h"
#include "graph/ir/graph_operators.h"
#include "graph/reference/interpret.h"
#include "graph/run/run_internal.h"
#include "runtime/runtime_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_ELEMENTS = 1 << 24 }; // of all values together

// ---- inputs ----

static bool is_small(const struct loaded_program *l) {
  const struct graph *g = l->p->graph;
  int64_t sum = 0, n = 0;
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->result_count; k++) {
      const struct value *v = g->nodes.at[i]->results[k];
      if (v && (!loaded_size(l, value_numel(g->exprs, v), &n) || (sum += n) > MOST_ELEMENTS))
        return false;
    }
  for (size_t i = 0; i < g->nodes.len; i++) // kernels without a reference
    if (operator_row(g->nodes.at[i]->op)->class == CLASS_CONTROL)
      return false;
  return true;
}

static tile_status keep_one(struct loaded_program *l, tile_stream *stream,
                            const struct tensor_view *v, struct tensor **ret) {
  int64_t span = tensor_span(v->rank, v->shape, v->strides);
  size_t bytes = (size_t)span * dtype_bytes(v->dtype);
  void *host = memory_alloc(bytes + 1);
  *ret = tensor_create(v->dtype, v->rank, v->shape);
  tile_status s =
      host && *ret ? TILE_OK : status_set(TILE_OUT_OF_MEMORY, "out of memory for an input");
  if (s == TILE_OK && bytes)
    s = tile_copy_to_host(l->device, stream, host, v->data, bytes);
  if (s == TILE_OK)
    tensor_load(*ret, host, v->strides);
  free(host);
  return s;
}

tile_status inputs_keep(struct loaded_program *l, tile_stream *stream,
                        const struct tensor_view *inputs, struct tensor ***ret) {
  size_t count = l->p->graph->inputs.len;
  *ret = NULL;
  if (!is_small(l))
    return TILE_OK;
  *ret = memory_zeroed(count + 1, sizeof **ret);
  tile_status s = *ret ? TILE_OK : status_set(TILE_OUT_OF_MEMORY, "out of memory for inputs");
  for (size_t i = 0; s == TILE_OK && i < count; i++)
    s = keep_one(l, stream, &inputs[i], &(*ret)[i]);
  return s;
}

void inputs_forget(const struct graph *g, struct tensor **inputs) {
  for (size_t i = 0; inputs && i < g->inputs.len; i++)
    tensor_destroy(inputs[i]);
  free(inputs);
}

// ---- the operator ----

static int64_t first_wrong(const struct tensor *t) {
  for (int64_t i = 0; dtype_is_float(t->dtype) && i < t->numel; i++)
    if (!isfinite(t->at[i].real))
      return i;
  return -1;
}

struct values {
  const struct graph *g;
  struct tensor **of; // by value id; NULL: not computed
  struct strbuf *report;
  bool reads_wrong;
};

typedef void (*value_fn)(struct values *x, const struct value *v);

static void each_operand(struct values *x, const struct arg *args, size_t count, value_fn f) {
  for (size_t i = 0; i < count; i++) {
    if (args[i].kind == ARG_VALUE && args[i].value && x->of[args[i].value->id])
      f(x, args[i].value);
    if (args[i].kind == ARG_LIST)
      each_operand(x, args[i].list.at, args[i].list.count, f);
  }
}

static void note_wrong(struct values *x, const struct value *v) {
  x->reads_wrong |= first_wrong(x->of[v->id]) >= 0;
}

static void put_range(struct values *x, const struct value *v) {
  const struct tensor *t = x->of[v->id];
  double least = INFINITY, most = -INFINITY;
  strbuf_printf(x->report, "    %s: ", v->name);
  value_type_print(v, false, x->report);
  for (int64_t i = 0; i < t->numel; i++) {
    double e = dtype_is_float(t->dtype) ? t->at[i].real : (double)t->at[i].integer;
    least = e < least ? e : least;
    most = e > most ? e : most;
  }
  if (t->numel)
    strbuf_printf(x->report, " from %.6g to %.6g", least, most);
  strbuf_putc(x->report, '\n');
}

// Made by this node: what it reads is finite.
static bool makes_wrong(struct values *x, const struct node *n) {
  for (uint32_t k = 0; k < n->result_count; k++) {
    const struct value *v = n->results[k];
    int64_t at = v && x->of[v->id] ? first_wrong(x->of[v->id]) : -1;
    if (at < 0)
      continue;
    x->reads_wrong = false;
    each_operand(x, n->args, n->arg_count, note_wrong);
    if (x->reads_wrong)
      return false;
    strbuf_printf(x->report, "first operator: `%s`, which makes `%s` %s at element %" PRId64 "\n",
                  operator_row(n->op)->name, v->name,
                  isnan(x->of[v->id]->at[at].real) ? "NaN" : "infinite", at);
    if (n->span.source) {
      struct line_col p = source_line_col(n->span.source, n->span.begin);
      struct str line = str_trim(source_line(n->span.source, p.line));
      strbuf_printf(x->report, "    at %s:%u:%u: %.*s\n", n->span.source->name, p.line, p.col,
                    STR_ARG(line));
    }
    each_operand(x, n->args, n->arg_count, put_range);
    return true;
  }
  return false;
}

// The graph with all values as outputs.
static struct graph with_all(struct arena *a, const struct graph *g) {
  struct graph all = *g;
  all.outputs.at = NULL;
  all.outputs.len = all.outputs.cap = 0;
  all.mutations.len = 0;
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->result_count; k++)
      if (g->nodes.at[i]->results[k])
        vec_push(a, &all.outputs, g->nodes.at[i]->results[k]);
  return all;
}

void find_operator(struct loaded_program *l, uint64_t seed, struct tensor *const *inputs,
                   struct strbuf *report) {
  const struct graph *g = l->p->graph;
  const struct interpret_options o = {.rounds = true, .limits_range = true, .seed = seed};
  struct graph all = with_all(g->arena, g);
  struct values x = {.g = g, .report = report};
  x.of = arena_array(g->arena, struct tensor *, g->value_count + 1);
  struct tensor **outputs = arena_array(g->arena, struct tensor *, all.outputs.len + 1);
  if (!graph_interpret(&all, &o, l->sizes, inputs, outputs))
    return;
  for (size_t i = 0; i < g->inputs.len; i++)
    x.of[g->inputs.at[i]->id] = inputs[i];
  for (size_t i = 0; i < all.outputs.len; i++)
    x.of[all.outputs.at[i]->id] = outputs[i];
  for (size_t i = 0; i < g->nodes.len; i++)
    if (makes_wrong(&x, g->nodes.at[i]))
      break;
  for (size_t i = 0; i < all.outputs.len; i++)
    tensor_destroy(outputs[i]);
}
