// SPDX-License-Identifier: Apache-2.0
// Writes at computed indices, in the order of the indices: the last write to an element wins.
#include "base/memory.h"
#include "graph/reference/index.h"

#include <stdlib.h>

// A tensor of rank 0 has one dimension for the purpose of naming it.
static uint32_t dim_of(int64_t d, uint32_t rank) {
  return (uint32_t)(d < 0 ? d + (rank ? rank : 1) : d);
}

static void copy_self(const struct reference_call *c) {
  const struct tensor *self = call_tensor(c, 0);
  memcpy(c->out[0]->at, self->at, (size_t)self->numel * sizeof *self->at);
}

static void put(struct tensor *out, int64_t offset, union element e, bool accumulates) {
  union element *to = &out->at[offset];
  if (!accumulates)
    *to = e;
  else if (dtype_is_float(out->dtype))
    to->real += e.real;
  else
    to->integer = (int64_t)((uint64_t)to->integer + (uint64_t)e.integer);
}

bool reference_index_put(struct reference_call *c) {
  struct advanced a;
  const struct tensor *values = call_tensor(c, 2);
  const bool accumulates = node_truth(c->node, 3);
  if (!advanced_init(&a, c, call_tensor(c, 0), 1))
    return false;
  copy_self(c);
  int64_t count = 1;
  for (uint32_t d = 0; d < a.result_rank; d++)
    count *= a.result[d];
  if (values->rank > a.result_rank)
    return call_fail(c, "values of rank %u are written at indices of rank %u", values->rank,
                     a.result_rank);
  const uint32_t skipped = a.result_rank - values->rank;
  for (uint32_t d = 0; d < values->rank; d++)
    if (values->shape[d] != 1 && values->shape[d] != a.result[skipped + d])
      return call_fail(c, "%lld values are written at %lld indices", (long long)values->shape[d],
                       (long long)a.result[skipped + d]);
  for (int64_t i = 0; i < count; i++) {
    int64_t offset, from = 0, rest = i, scale = 1;
    if (!advanced_offset(&a, c, i, &offset))
      return false;
    for (uint32_t d = values->rank; d-- > 0; rest /= a.result[skipped + d]) {
      from += values->shape[d] == 1 ? 0 : rest % a.result[skipped + d] * scale;
      scale *= values->shape[d];
    }
    put(c->out[0], offset, element_convert(values->at[from], values->dtype, c->out[0]->dtype),
        accumulates);
  }
  return true;
}

// The offset in `src`, which may be larger than the index.
static int64_t offset_in_source(const struct tensor *src, const struct tensor *index, int64_t i) {
  int64_t offset = 0, scale = 1;
  for (uint32_t d = index->rank; d-- > 0; i /= index->shape[d]) {
    offset += i % index->shape[d] * scale;
    scale *= src->shape[d];
  }
  return offset;
}

static bool scatter(struct reference_call *c, const struct tensor *src, union element value,
                    bool accumulates) {
  const struct tensor *self = call_tensor(c, 0), *index = call_tensor(c, 2);
  struct along a;
  if (!along_init(&a, c, self, dim_of(call_int(c, 1), self->rank), index))
    return false;
  bool fits = !src || src->rank == index->rank;
  for (uint32_t d = 0; fits && src && d < index->rank; d++)
    fits = src->shape[d] >= index->shape[d];
  if (!fits)
    return call_fail(c, "the source is smaller than the index");
  copy_self(c);
  for (int64_t i = 0; i < index->numel; i++) {
    int64_t offset;
    if (!along_next(&a, c, i, &offset))
      return false;
    put(c->out[0], offset, src ? src->at[offset_in_source(src, index, i)] : value, accumulates);
  }
  return true;
}

bool reference_scatter_value(struct reference_call *c) {
  return scatter(c, NULL, call_element(c, 3, c->out[0]->dtype), false);
}

bool reference_scatter_src(struct reference_call *c) {
  return scatter(c, call_tensor(c, 3), from_int(0), false);
}

bool reference_scatter_add(struct reference_call *c) {
  return scatter(c, call_tensor(c, 3), from_int(0), true);
}

bool reference_embedding_backward(struct reference_call *c) {
  const struct tensor *gradient = call_tensor(c, 0), *indices = call_tensor(c, 1);
  struct tensor *out = c->out[0];
  const int64_t rows = out->shape[0], width = rows ? out->numel / rows : 0;
  const int64_t padding = call_int(c, 3);
  int64_t *counts = node_truth(c->node, 4) ? memory_zeroed((size_t)rows + 1, sizeof *counts) : NULL;
  bool ok = true;
  for (int64_t i = 0; ok && i < indices->numel; i++) {
    const int64_t row = indices->at[i].integer;
    ok = row >= 0 && row < rows ? true : index_fail(c, row, rows);
    if (ok && counts)
      counts[row]++;
  }
  for (int64_t i = 0; ok && i < indices->numel; i++) {
    const int64_t row = indices->at[i].integer;
    const double scale = counts ? 1 / (double)counts[row] : 1;
    for (int64_t j = 0; j < width && row != padding; j++)
      out->at[row * width + j].real += gradient->at[i * width + j].real * scale;
  }
  free(counts);
  return ok;
}
