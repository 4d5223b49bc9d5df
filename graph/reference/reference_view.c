// SPDX-License-Identifier: Apache-2.0
// Views: each copies its operand, read at other strides.
#include "graph/reference/reference.h"

#include <stdlib.h>

struct view {
  const struct tensor *in;
  int64_t start, strides[GRAPH_MAX_RANK]; // of the result's dimensions
};

static struct view begin(const struct reference_call *c) {
  struct view v = {.in = call_tensor(c, 0)};
  dense_strides(v.in->rank, v.in->shape, v.strides);
  return v;
}

static bool finish(const struct reference_call *c, const struct view *v) {
  copy_strided(c, c->out[0], v->in, v->start, v->strides);
  return true;
}

static uint32_t dim_of(int64_t d, uint32_t rank) {
  return (uint32_t)(d < 0 ? d + (rank ? rank : 1) : d);
}

// The same elements in the same order.
bool reference_view(struct reference_call *c) {
  const struct tensor *in = call_tensor(c, 0);
  if (in->numel != c->out[0]->numel)
    return call_fail(c, "%lld elements do not fill a shape of %lld", (long long)in->numel,
                     (long long)c->out[0]->numel);
  memcpy(c->out[0]->at, in->at, (size_t)in->numel * sizeof *in->at);
  return true;
}

bool reference_permute(struct reference_call *c) {
  struct view v = begin(c);
  int64_t dense[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
  memcpy(dense, v.strides, sizeof dense);
  uint32_t count = call_ints(c, 1, dims);
  for (uint32_t d = 0; d < count; d++)
    v.strides[d] = dense[dim_of(dims[d], v.in->rank)];
  return finish(c, &v);
}

static bool swap(struct reference_call *c, uint32_t a, uint32_t b) {
  struct view v = begin(c);
  int64_t stride = v.strides[a];
  v.strides[a] = v.strides[b];
  v.strides[b] = stride;
  return finish(c, &v);
}

bool reference_transpose(struct reference_call *c) {
  const uint32_t rank = call_tensor(c, 0)->rank;
  return rank ? swap(c, dim_of(call_int(c, 1), rank), dim_of(call_int(c, 2), rank))
              : reference_view(c);
}

bool reference_t(struct reference_call *c) {
  return call_tensor(c, 0)->rank == 2 ? swap(c, 0, 1) : reference_view(c);
}

bool reference_expand(struct reference_call *c) {
  struct view v = begin(c);
  int64_t dense[GRAPH_MAX_RANK];
  memcpy(dense, v.strides, sizeof dense);
  const uint32_t rank = c->out[0]->rank, skipped = rank - v.in->rank;
  for (uint32_t d = 0; d < rank; d++)
    v.strides[d] = d < skipped || v.in->shape[d - skipped] == 1 ? 0 : dense[d - skipped];
  return finish(c, &v);
}

bool reference_select(struct reference_call *c) {
  struct view v = begin(c);
  const uint32_t d = dim_of(call_int(c, 1), v.in->rank);
  int64_t index = call_int(c, 2);
  index += index < 0 ? v.in->shape[d] : 0;
  if (index < 0 || index >= v.in->shape[d])
    return call_fail(c, "index %lld is out of range for a dimension of %lld",
                     (long long)call_int(c, 2), (long long)v.in->shape[d]);
  v.start = index * v.strides[d];
  memmove(v.strides + d, v.strides + d + 1, (GRAPH_MAX_RANK - d - 1) * sizeof *v.strides);
  return finish(c, &v);
}

bool reference_slice(struct reference_call *c) {
  struct view v = begin(c);
  const uint32_t d = dim_of(call_int(c, 1), v.in->rank);
  const int64_t size = v.in->shape[d];
  int64_t start = call_int_or(c, 2, 0);
  start += start < 0 ? size : 0;
  start = start < 0 ? 0 : start > size ? size : start;
  v.start = start * v.strides[d];
  const int64_t step = call_int(c, 4); // of one element any
  v.strides[d] *= step < size ? step : size;
  return finish(c, &v);
}

// Consecutive slices of dimension d as results.
static bool cut(struct reference_call *c, uint32_t d) {
  struct view v = begin(c);
  for (uint32_t i = 0; i < c->node->result_count; i++) {
    if (!c->out[i])
      return call_fail(c, "result %u is missing", i);
    copy_strided(c, c->out[i], v.in, v.start, v.strides);
    v.start += c->out[i]->shape[d] * v.strides[d];
  }
  return true;
}

bool reference_split(struct reference_call *c) {
  return cut(c, dim_of(call_int(c, 2), call_tensor(c, 0)->rank));
}

bool reference_unbind(struct reference_call *c) {
  struct view v = begin(c);
  const uint32_t d = dim_of(call_int(c, 1), v.in->rank);
  const int64_t stride = v.strides[d];
  memmove(v.strides + d, v.strides + d + 1, (GRAPH_MAX_RANK - d - 1) * sizeof *v.strides);
  for (uint32_t i = 0; i < c->node->result_count; i++)
    if (c->out[i])
      copy_strided(c, c->out[i], v.in, i * stride, v.strides);
  return true;
}

bool reference_diagonal(struct reference_call *c) {
  struct view v = begin(c);
  const uint32_t rank = v.in->rank, d1 = dim_of(call_int(c, 2), rank),
                 d2 = dim_of(call_int(c, 3), rank);
  const int64_t offset = call_int(c, 1), along = v.strides[d1] + v.strides[d2];
  v.start = offset >= 0 ? offset * v.strides[d2] : -offset * v.strides[d1];
  uint32_t kept = 0;
  for (uint32_t d = 0; d < rank; d++)
    if (d != d1 && d != d2)
      v.strides[kept++] = v.strides[d];
  v.strides[kept] = along;
  return finish(c, &v);
}

// The storage of the operand, laid out by its annotated strides. False if strides are unknown.
static bool spread(const struct reference_call *c, const struct tensor *in, int64_t *ret_strides) {
  const struct value *v = node_value(c->node, 0);
  for (uint32_t d = 0; d < in->rank; d++)
    if (!expr_eval(v->strides[d], c->graph->symbols.len, c->graph->symbols.at, c->symbols,
                   &ret_strides[d]) ||
        ret_strides[d] < 0)
      return false;
  return true;
}

bool reference_as_strided(struct reference_call *c) {
  struct view v = begin(c);
  int64_t strides[GRAPH_MAX_RANK] = {0};
  call_ints(c, 2, v.strides);
  v.start = call_int_or(c, 3, 0);
  const struct tensor *out = c->out[0];
  if (!spread(c, v.in, strides))
    return call_fail(c, "the operand's strides are not known");
  const int64_t span = tensor_span(v.in->rank, v.in->shape, strides);
  const int64_t reach = tensor_span(out->rank, out->shape, v.strides);
  bool is_positive = v.start >= 0;
  for (uint32_t d = 0; d < out->rank; d++)
    is_positive &= v.strides[d] >= 0;
  if (out->numel > 0 && (!is_positive || v.start + reach > span))
    return call_fail(c, "%lld elements of storage are reached, there are %lld",
                     (long long)(v.start + reach), (long long)span);
  struct tensor *storage = tensor_create(v.in->dtype, 1, &span);
  if (!storage)
    return call_fail(c, "out of memory for %lld elements", (long long)span);
  place_strided(c, storage, 0, strides, v.in);
  copy_strided(c, c->out[0], storage, v.start, v.strides);
  tensor_destroy(storage);
  return true;
}
