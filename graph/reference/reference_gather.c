// SPDX-License-Identifier: Apache-2.0
// Reads at computed indices.
#include "graph/reference/index.h"
#include "graph/reference/reference.h"

// A tensor of rank 0 has one dimension for the purpose of naming it.
static uint32_t dim_of(int64_t d, uint32_t rank) {
  return (uint32_t)(d < 0 ? d + (rank ? rank : 1) : d);
}

bool index_fail(const struct reference_call *c, int64_t index, int64_t size) {
  return call_fail(c, "index %lld is out of range for a dimension of %lld", (long long)index,
                   (long long)size);
}

// Rows of `weight` by index.
bool reference_embedding(struct reference_call *c) {
  const struct tensor *weight = call_tensor(c, 0), *indices = call_tensor(c, 1);
  const int64_t rows = weight->shape[0], width = rows ? weight->numel / rows : 0;
  for (int64_t i = 0; i < indices->numel; i++) {
    const int64_t row = indices->at[i].integer;
    if (row < 0 || row >= rows)
      return index_fail(c, row, rows);
    memcpy(c->out[0]->at + i * width, weight->at + row * width, (size_t)width * sizeof *weight->at);
  }
  return true;
}

bool along_init(struct along *a, const struct reference_call *c, const struct tensor *self,
                uint32_t d, const struct tensor *index) {
  *a = (struct along){.self = self, .index = index, .d = self->rank ? d : 0};
  if (self->rank != index->rank && self->rank > 0 && index->rank > 0)
    return call_fail(c, "the index has rank %u, the tensor %u", index->rank, self->rank);
  dense_strides(self->rank, self->shape, a->strides);
  return true;
}

bool along_next(struct along *a, const struct reference_call *c, int64_t i, int64_t *ret) {
  const int64_t size = a->self->rank ? a->self->shape[a->d] : 1, index = a->index->at[i].integer;
  int64_t offset = 0, rest = i;
  if (index < 0 || index >= size)
    return index_fail(c, index, size);
  for (uint32_t d = a->index->rank; d-- > 0; rest /= a->index->shape[d])
    offset += (d == a->d ? index : rest % a->index->shape[d]) * a->strides[d];
  *ret = offset;
  return true;
}

bool reference_gather(struct reference_call *c) {
  const struct tensor *self = call_tensor(c, 0), *index = call_tensor(c, 2);
  struct along a;
  if (!along_init(&a, c, self, dim_of(call_int(c, 1), self->rank), index))
    return false;
  for (int64_t i = 0; i < index->numel; i++) {
    int64_t offset;
    if (!along_next(&a, c, i, &offset))
      return false;
    c->out[0]->at[i] = self->at[offset];
  }
  return true;
}

bool reference_index_select(struct reference_call *c) {
  const struct tensor *self = call_tensor(c, 0), *index = call_tensor(c, 2);
  struct tensor *out = c->out[0];
  const uint32_t d = self->rank ? dim_of(call_int(c, 1), self->rank) : 0;
  int64_t inner = 1, size = self->rank ? self->shape[d] : 1;
  for (uint32_t k = d + 1; k < self->rank; k++)
    inner *= self->shape[k];
  for (int64_t i = 0; i < out->numel; i++) {
    const int64_t row = index->at[i / inner % index->numel].integer;
    if (row < 0 || row >= size)
      return index_fail(c, row, size);
    out->at[i] = self->at[(i / inner / index->numel * size + row) * inner + i % inner];
  }
  return true;
}

// ---- advanced indexing ----

// The broadcast dimensions of the indices.
static bool broadcast_indices(struct advanced *a, const struct reference_call *c) {
  for (uint32_t k = 0; k < a->count; k++)
    if (a->index[k] && a->index[k]->rank > a->rank)
      a->rank = a->index[k]->rank;
  for (uint32_t d = 0; d < a->rank; d++)
    a->shape[d] = 1;
  for (uint32_t k = 0; k < a->count; k++) {
    const struct tensor *t = a->index[k];
    for (uint32_t d = 0; t && d < t->rank; d++) {
      int64_t *size = &a->shape[a->rank - t->rank + d];
      if (*size != 1 && t->shape[d] != 1 && *size != t->shape[d])
        return call_fail(c, "the indices do not broadcast: %lld and %lld elements",
                         (long long)*size, (long long)t->shape[d]);
      *size = t->shape[d] == 1 ? *size : t->shape[d];
    }
  }
  return true;
}

// The position of the indices' dimensions in the result: at the first indexed one if all are
// adjacent; else in front.
static uint32_t position_of(const struct advanced *a) {
  uint32_t first = a->count, last = 0, found = 0;
  for (uint32_t k = 0; k < a->count; k++) {
    if (!a->index[k])
      continue;
    first = first == a->count ? k : first;
    last = k;
    found++;
  }
  return found > 0 && last - first + 1 == found ? first : 0;
}

bool advanced_init(struct advanced *a, const struct reference_call *c, const struct tensor *self,
                   unsigned parameter) {
  const struct arg *list;
  *a = (struct advanced){.self = self};
  a->count = (uint32_t)node_list(c->node, parameter, &list);
  if (a->count > self->rank)
    return call_fail(c, "there are %u indices for %u dimensions", a->count, self->rank);
  for (uint32_t k = 0; k < a->count; k++) {
    a->index[k] = arg_tensor(c, &list[k]);
    if (a->index[k] && a->index[k]->dtype == DTYPE_I1)
      return call_fail(c, "the size of what a mask selects depends on its values");
  }
  if (!broadcast_indices(a, c))
    return false;
  dense_strides(self->rank, self->shape, a->strides);
  a->position = position_of(a);
  for (uint32_t k = 0; k < self->rank; k++)
    if (k >= a->count || !a->index[k])
      a->kept[a->kept_count++] = k;
  for (uint32_t d = 0; d < a->position; d++)
    a->result[a->result_rank++] = self->shape[a->kept[d]];
  for (uint32_t d = 0; d < a->rank; d++)
    a->result[a->result_rank++] = a->shape[d];
  for (uint32_t d = a->position; d < a->kept_count; d++)
    a->result[a->result_rank++] = self->shape[a->kept[d]];
  return true;
}

static int64_t broadcast_offset(const struct tensor *t, uint32_t rank, const int64_t *at) {
  int64_t offset = 0;
  for (uint32_t d = 0; d < t->rank; d++)
    offset = offset * t->shape[d] + (t->shape[d] == 1 ? 0 : at[rank - t->rank + d]);
  return offset;
}

bool advanced_offset(const struct advanced *a, const struct reference_call *c, int64_t i,
                     int64_t *ret) {
  int64_t at[2 * GRAPH_MAX_RANK], offset = 0;
  for (uint32_t d = a->result_rank; d-- > 0; i /= a->result[d])
    at[d] = i % a->result[d];
  for (uint32_t k = 0; k < a->kept_count; k++)
    offset += at[k < a->position ? k : k + a->rank] * a->strides[a->kept[k]];
  for (uint32_t k = 0; k < a->count; k++) {
    if (!a->index[k])
      continue;
    const int64_t size = a->self->shape[k];
    const int64_t index =
        a->index[k]->at[broadcast_offset(a->index[k], a->rank, at + a->position)].integer;
    if (index < -size || index >= size)
      return index_fail(c, index, size);
    offset += (index < 0 ? index + size : index) * a->strides[k];
  }
  *ret = offset;
  return true;
}

bool reference_index(struct reference_call *c) {
  struct advanced a;
  if (!advanced_init(&a, c, call_tensor(c, 0), 1))
    return false;
  for (int64_t i = 0; i < c->out[0]->numel; i++) {
    int64_t offset;
    if (!advanced_offset(&a, c, i, &offset))
      return false;
    c->out[0]->at[i] = a.self->at[offset];
  }
  return true;
}
