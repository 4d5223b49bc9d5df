// SPDX-License-Identifier: Apache-2.0
// Tensors that callers pass to programs and functions: normalises them and checks them against a
// graph.
#include "graph/run/tensor_views.h"

#include "base/memory.h"
#include "graph/ir/sizes.h"
#include "graph/run/run.h"
#include "runtime/runtime_internal.h"

#include <stdlib.h>

// ---- views ----

// Strides of a dense tensor; false if its size does not fit.
static bool dense_strides(uint32_t rank, const int64_t *shape, int64_t *ret) {
  int64_t step = 1;
  for (uint32_t d = rank; d-- > 0;) {
    ret[d] = step;
    if (__builtin_mul_overflow(step, shape[d] > 1 ? shape[d] : 1, &step))
      return false;
  }
  return true;
}

bool tensor_view_is_dense(const struct tensor_view *t) {
  int64_t strides[GRAPH_MAX_RANK];
  if (!dense_strides(t->rank, t->shape, strides))
    return false;
  for (uint32_t d = 0; d < t->rank; d++)
    if (t->shape[d] > 1 && t->strides[d] != strides[d])
      return false;
  return true;
}

// Takes memory for the strides from *strides where the tensor has none.
static bool view(const tile_tensor *t, int64_t **strides, struct tensor_view *ret) {
  bool ok = t->rank >= 0 && t->rank <= GRAPH_MAX_RANK && (t->rank == 0 || t->shape) &&
            (unsigned)t->type < DTYPE_COUNT;
  for (int d = 0; ok && d < t->rank; d++)
    ok = t->shape[d] >= 0 && (!t->strides || t->strides[d] >= 0);
  if (!ok)
    return false;
  *ret =
      (struct tensor_view){t->data, (enum dtype)t->type, (uint32_t)t->rank, t->shape, t->strides};
  if (t->strides)
    return true;
  int64_t *own = *strides;
  ret->strides = own;
  *strides += GRAPH_MAX_RANK;
  return dense_strides(ret->rank, t->shape, own);
}

static size_t without_strides(const tile_tensor *tensors, size_t count) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++)
    n += !tensors[i].strides;
  return n;
}

tile_status tensor_views_create(const tile_tensor *inputs, size_t input_count,
                                const tile_tensor *outputs, size_t output_count,
                                struct tensor_views *ret) {
  size_t count = input_count + output_count;
  ret->input_count = input_count;
  ret->count = count;
  ret->at = NULL;
  if (input_count > GRAPH_MAX_NODES || output_count > GRAPH_MAX_NODES || (input_count && !inputs) ||
      (output_count && !outputs))
    return status_set(TILE_INVALID_ARGUMENT, "no tensors");
  // Strides that the caller has not given are stored after the views.
  size_t missing = without_strides(inputs, input_count) + without_strides(outputs, output_count);
  size_t bytes = count * sizeof(struct tensor_view) + missing * GRAPH_MAX_RANK * sizeof(int64_t);
  ret->at = bytes <= sizeof ret->few ? ret->few : memory_zeroed(bytes, 1);
  if (!ret->at)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for %zu tensors", count);
  int64_t *strides = (int64_t *)(void *)(ret->at + count);
  for (size_t i = 0; i < count; i++) {
    bool is_input = i < input_count;
    size_t n = is_input ? i : i - input_count;
    if (!view(is_input ? &inputs[n] : &outputs[n], &strides, &ret->at[i]))
      return status_set(
          TILE_INVALID_ARGUMENT,
          "%s %zu is not a tensor: a dtype, at most %d sizes from 0 on, strides from 0 on",
          is_input ? "input" : "output", n, GRAPH_MAX_RANK);
  }
  return TILE_OK;
}

void tensor_views_finish(struct tensor_views *v) {
  if (v->at != v->few)
    free(v->at);
  v->at = NULL;
}

// ---- checks against a graph ----

static bool evaluate(const struct graph *g, const struct expr *e, const int64_t *sizes,
                     int64_t *ret) {
  return expr_eval(e, g->symbols.len, g->symbols.at, sizes, ret);
}

tile_status tensor_views_sizes(const struct graph *g, const struct tensor_view *inputs,
                               int64_t *ret) {
  for (size_t i = 0; i < g->symbols.len; i++)
    ret[i] = 0;
  for (size_t i = 0; i < g->given_sizes.len; i++) {
    const struct given_size *given = &g->given_sizes.at[i];
    if (!given->is_given)
      return status_set(TILE_INVALID_ARGUMENT,
                        "no extent or stride of an input determines the size `%s`: give it, by "
                        "`tile_program_set_size`",
                        g->symbols.at[given->symbol]->symbol->name);
    ret[given->symbol] = given->value;
  }
  for (size_t i = 0; i < g->size_sources.len; i++) {
    const struct size_source *s = &g->size_sources.at[i];
    const struct tensor_view *t = &inputs[s->input];
    const int64_t *from = s->is_stride ? t->strides : t->shape;
    int64_t coefficient, rest;
    if (s->dim >= t->rank)
      continue;
    const struct value *v = g->inputs.at[s->input];
    if (!s->coefficient)
      ret[s->symbol] = size_solve(s->is_stride ? v->strides[s->dim] : v->shape[s->dim],
                                  g->symbols.len, g->symbols.at, ret, s->symbol, from[s->dim]);
    else if (evaluate(g, s->coefficient, ret, &coefficient) && evaluate(g, s->rest, ret, &rest) &&
             coefficient > 0)
      ret[s->symbol] = (from[s->dim] - rest) / coefficient;
  }
  return TILE_OK;
}

static tile_status mismatch(const struct value *v, const char *what, size_t i,
                            const struct tensor_view *t) {
  struct strbuf want = {0}, got = {0};
  value_type_print(v, true, &want);
  strbuf_printf(&got, "%s[", dtype_name(t->dtype));
  for (uint32_t d = 0; d < t->rank; d++)
    strbuf_printf(&got, "%s%lld", d ? ", " : "", (long long)t->shape[d]);
  strbuf_puts(&got, "][");
  for (uint32_t d = 0; d < t->rank; d++)
    strbuf_printf(&got, "%s%lld", d ? ", " : "", (long long)t->strides[d]);
  tile_status s = want.failed || got.failed
                      ? status_set(TILE_OUT_OF_MEMORY, "out of memory for a message")
                      : status_set(TILE_INVALID_ARGUMENT, "%s %zu is %s], but the graph has %s",
                                   what, i, strbuf_cstr(&got), strbuf_cstr(&want));
  strbuf_finish(&want);
  strbuf_finish(&got);
  return s;
}

static bool has_size(const struct graph *g, const struct expr *e, const int64_t *sizes, int64_t n) {
  int64_t want;
  return evaluate(g, e, sizes, &want) && want == n;
}

static tile_status check(const struct graph *g, const struct value *v, const int64_t *sizes,
                         const char *what, size_t i, const struct tensor_view *t, bool wants_data) {
  bool fits = v->dtype == t->dtype && v->rank == t->rank, is_empty = false;
  for (uint32_t d = 0; fits && d < v->rank; d++) {
    fits = has_size(g, v->shape[d], sizes, t->shape[d]) &&
           (t->shape[d] < 2 || has_size(g, v->strides[d], sizes, t->strides[d]));
    is_empty |= t->shape[d] == 0;
  }
  if (!fits)
    return mismatch(v, what, i, t);
  if (wants_data && !t->data && !is_empty)
    return status_set(TILE_INVALID_ARGUMENT, "%s %zu has no memory", what, i);
  return TILE_OK;
}

tile_status tensor_views_check_into(const struct graph *g, const struct tensor_views *v,
                                    bool wants_data, int64_t *sizes) {
  size_t outputs = v->count - v->input_count;
  if (v->input_count != g->inputs.len || outputs != g->outputs.len)
    return status_set(TILE_INVALID_ARGUMENT,
                      "the graph has %zu inputs and %zu outputs, not %zu and %zu", g->inputs.len,
                      g->outputs.len, v->input_count, outputs);
  tile_status s = tensor_views_sizes(g, v->at, sizes);
  for (size_t k = 0; s == TILE_OK && k < g->size_sources.len; k++) {
    uint32_t i = g->size_sources.at[k].symbol;
    const struct symbol *of = g->symbols.at[i]->symbol;
    if (sizes[i] < of->lo || sizes[i] > of->hi)
      s = status_set(TILE_INVALID_ARGUMENT, "the size `%s` is %lld, and may be from %lld to %lld",
                     of->name, (long long)sizes[i], (long long)of->lo, (long long)of->hi);
  }
  for (size_t i = 0; s == TILE_OK && i < v->input_count; i++)
    s = check(g, g->inputs.at[i], sizes, "input", i, &v->at[i], wants_data);
  for (size_t i = 0; s == TILE_OK && i < outputs; i++)
    if (g->outputs.at[i])
      s = check(g, g->outputs.at[i], sizes, "output", i, &v->at[v->input_count + i], wants_data);
  return s;
}

tile_status tensor_views_check(const struct graph *g, const struct tensor_views *v,
                               bool wants_data) {
  int64_t *sizes = memory_zeroed(g->symbols.len + 1, sizeof *sizes);
  if (!sizes)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for sizes");
  tile_status s = tensor_views_check_into(g, v, wants_data, sizes);
  free(sizes);
  return s;
}
