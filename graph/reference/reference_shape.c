// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: concatenation, padding, repetition, reversal, replaced slices.
#include "graph/reference/reference.h"

// A tensor of rank 0 has one dimension for the purpose of naming it.
static uint32_t dim_of(int64_t d, uint32_t rank) {
  return (uint32_t)(d < 0 ? d + (rank ? rank : 1) : d);
}

// Fills the result from `in`, which has its shape.
static void copy_whole(const struct reference_call *c, const struct tensor *in) {
  int64_t strides[GRAPH_MAX_RANK];
  dense_strides(in->rank, in->shape, strides);
  copy_strided(c, c->out[0], in, 0, strides);
}

bool reference_cat(struct reference_call *c) {
  const struct arg *list;
  const size_t count = node_list(c->node, 0, &list);
  struct tensor *out = c->out[0];
  const uint32_t d = dim_of(call_int(c, 1), out->rank);
  int64_t strides[GRAPH_MAX_RANK], start = 0;
  dense_strides(out->rank, out->shape, strides);
  for (size_t i = 0; i < count; i++) {
    const struct tensor *in = arg_tensor(c, &list[i]);
    if (in->rank != out->rank) // an empty tensor of rank 1 is ignored
      continue;
    place_strided(c, out, start, strides, in);
    start += in->shape[d] * strides[d];
  }
  return true;
}

bool reference_stack(struct reference_call *c) {
  const struct arg *list;
  const size_t count = node_list(c->node, 0, &list);
  struct tensor *out = c->out[0];
  const uint32_t d = dim_of(call_int(c, 1), out->rank);
  int64_t strides[GRAPH_MAX_RANK + 1];
  dense_strides(out->rank, out->shape, strides);
  const int64_t along = strides[d];
  memmove(strides + d, strides + d + 1, (out->rank - d - 1) * sizeof *strides);
  for (size_t i = 0; i < count; i++)
    place_strided(c, out, (int64_t)i * along, strides, arg_tensor(c, &list[i]));
  return true;
}

bool reference_pad(struct reference_call *c) {
  const struct tensor *in = call_tensor(c, 0);
  struct tensor *out = c->out[0], part = *in;
  const union element value = call_element(c, 2, out->dtype);
  int64_t pad[2 * GRAPH_MAX_RANK] = {0}, from[GRAPH_MAX_RANK], to[GRAPH_MAX_RANK];
  int64_t read = 0, written = 0;
  const struct arg *list;
  const size_t count = node_list(c->node, 1, &list);
  if (count > 2 * (size_t)in->rank)
    return call_fail(c, "there are more paddings than dimensions");
  for (size_t k = 0; k < count; k++)
    pad[k] = arg_integer(c, &list[k]);
  for (int64_t i = 0; i < out->numel; i++)
    out->at[i] = value;
  dense_strides(in->rank, in->shape, from);
  dense_strides(out->rank, out->shape, to);
  // Negative padding crops.
  for (uint32_t d = 0; d < in->rank; d++) {
    int64_t before = pad[2 * (in->rank - 1 - d)], after = pad[2 * (in->rank - 1 - d) + 1];
    read += before < 0 ? -before * from[d] : 0;
    written += before > 0 ? before * to[d] : 0;
    part.shape[d] += (before < 0 ? before : 0) + (after < 0 ? after : 0);
    if (part.shape[d] <= 0)
      return true;
  }
  struct tensor *cropped = tensor_create(in->dtype, in->rank, part.shape);
  if (!cropped)
    return call_fail(c, "out of memory for the part that is kept");
  copy_strided(c, cropped, in, read, from);
  place_strided(c, out, written, to, cropped);
  tensor_destroy(cropped);
  return true;
}

// ---- elements by source index ----

struct indexing {
  const struct tensor *in;
  struct tensor *out;
  int64_t strides[GRAPH_MAX_RANK], shift[GRAPH_MAX_RANK]; // of the operand
  bool flips[GRAPH_MAX_RANK];
  uint32_t skipped; // additional dimensions of the result
};

// result[index] = operand[(index - shift) mod size], reversed along flipped dimensions.
static void index_row(void *user, int64_t i) {
  const struct indexing *x = user;
  const uint32_t rank = x->out->rank;
  const int64_t length = rank ? x->out->shape[rank - 1] : 1;
  for (int64_t k = i * length; k < (i + 1) * length; k++) {
    int64_t offset = 0, rest = k;
    for (uint32_t d = rank; d-- > 0; rest /= x->out->shape[d]) {
      if (d < x->skipped)
        break;
      const uint32_t e = d - x->skipped;
      const int64_t size = x->in->shape[e];
      int64_t index = rest % x->out->shape[d] % size;
      index = x->flips[e] ? size - 1 - index : (index - x->shift[e] % size + size) % size;
      offset += index * x->strides[e];
    }
    x->out->at[k] = x->in->at[offset];
  }
}

static bool run_indexing(const struct reference_call *c, struct indexing *x) {
  x->in = x->in ? x->in : call_tensor(c, 0);
  x->out = c->out[0];
  dense_strides(x->in->rank, x->in->shape, x->strides);
  if (x->out->numel == 0)
    return true;
  const int64_t length = x->out->rank ? x->out->shape[x->out->rank - 1] : 1;
  call_for(c, x->out->numel / length, length, index_row, x);
  return true;
}

bool reference_repeat(struct reference_call *c) {
  struct indexing x = {.skipped = c->out[0]->rank - call_tensor(c, 0)->rank};
  return run_indexing(c, &x);
}

bool reference_flip(struct reference_call *c) {
  struct indexing x = {0};
  int64_t dims[GRAPH_MAX_RANK];
  const uint32_t count = call_ints(c, 1, dims);
  for (uint32_t k = 0; k < count; k++)
    x.flips[dim_of(dims[k], c->out[0]->rank)] = true;
  return run_indexing(c, &x);
}

bool reference_roll(struct reference_call *c) {
  struct indexing x = {0};
  int64_t shifts[GRAPH_MAX_RANK] = {0}, dims[GRAPH_MAX_RANK];
  const uint32_t count = call_ints(c, 1, shifts), named = call_ints(c, 2, dims);
  struct tensor whole = *c->out[0], in = *call_tensor(c, 0);
  for (uint32_t k = 0; k < named && k < count; k++)
    x.shift[dim_of(dims[k], whole.rank)] += shifts[k];
  if (named > 0)
    return run_indexing(c, &x);
  // Without `dims` it rolls the flattened tensor.
  whole.rank = in.rank = 1;
  whole.shape[0] = in.shape[0] = in.numel;
  x.shift[0] = shifts[0];
  x.in = &in;
  struct tensor *results[1] = {&whole};
  struct reference_call flat = *c;
  flat.out = results;
  return run_indexing(&flat, &x);
}

// ---- replaced slices ----

// A strided view: elements `start`, `start` + step, ... of dimension d of the result.
static void place_part(const struct reference_call *c, const struct tensor *part, uint32_t d,
                       int64_t start, int64_t step, bool drops) {
  int64_t strides[GRAPH_MAX_RANK + 1];
  dense_strides(c->out[0]->rank, c->out[0]->shape, strides);
  const int64_t along = strides[d];
  if (drops)
    memmove(strides + d, strides + d + 1, (c->out[0]->rank - d - 1) * sizeof *strides);
  else
    strides[d] *= step;
  place_strided(c, c->out[0], start * along, strides, part);
}

// The index of parameter `i` in dimension d.
static bool wrapped_index(const struct reference_call *c, unsigned i, int64_t size, int64_t *ret) {
  *ret = call_int(c, i);
  *ret += *ret < 0 ? size : 0;
  if (*ret >= 0 && *ret < size)
    return true;
  return call_fail(c, "index %lld is out of range for a dimension of %lld",
                   (long long)call_int(c, i), (long long)size);
}

static int64_t clamped(int64_t index, int64_t size) {
  index += index < 0 ? size : 0;
  return index < 0 ? 0 : index > size ? size : index;
}

// Parameters d, d + 1, ...: dimension, start, end, step.
static bool place_slice(const struct reference_call *c, const struct tensor *part, unsigned i) {
  const struct tensor *out = c->out[0];
  const uint32_t d = dim_of(call_int(c, i), out->rank);
  const int64_t size = out->shape[d], start = clamped(call_int_or(c, i + 1, 0), size),
                end = clamped(call_int_or(c, i + 2, INT64_MAX), size), step = call_int(c, i + 3);
  const int64_t length = end > start ? (end - start + step - 1) / step : 0;
  if (part->rank != out->rank || part->shape[d] != length)
    return call_fail(c, "the part has %lld elements along dimension %u, the slice %lld",
                     (long long)(d < part->rank ? part->shape[d] : 0), d, (long long)length);
  place_part(c, part, d, start, step, false);
  return true;
}

bool reference_select_scatter(struct reference_call *c) {
  const struct tensor *in = call_tensor(c, 0);
  const uint32_t d = dim_of(call_int(c, 2), in->rank);
  int64_t index;
  if (!wrapped_index(c, 3, in->shape[d], &index))
    return false;
  copy_whole(c, in);
  place_part(c, call_tensor(c, 1), d, index, 1, true);
  return true;
}

bool reference_slice_scatter(struct reference_call *c) {
  copy_whole(c, call_tensor(c, 0));
  return place_slice(c, call_tensor(c, 1), 2);
}

bool reference_select_backward(struct reference_call *c) {
  const uint32_t d = dim_of(call_int(c, 2), c->out[0]->rank);
  int64_t index;
  if (!wrapped_index(c, 3, c->out[0]->shape[d], &index))
    return false;
  place_part(c, call_tensor(c, 0), d, index, 1, true);
  return true;
}

bool reference_slice_backward(struct reference_call *c) {
  return place_slice(c, call_tensor(c, 0), 2);
}

// ---- triangles ----

static bool triangle(struct reference_call *c, bool upper) {
  const struct tensor *in = call_tensor(c, 0);
  if (in->rank < 2)
    return call_fail(c, "a triangle takes two dimensions");
  const int64_t columns = in->shape[in->rank - 1], rows = in->shape[in->rank - 2];
  const int64_t diagonal = call_int(c, 1);
  for (int64_t i = 0; i < in->numel; i++) {
    int64_t offset = i % columns - i / columns % rows;
    if (upper ? offset >= diagonal : offset <= diagonal)
      c->out[0]->at[i] = in->at[i];
  }
  return true;
}

bool reference_tril(struct reference_call *c) { return triangle(c, false); }
bool reference_triu(struct reference_call *c) { return triangle(c, true); }
