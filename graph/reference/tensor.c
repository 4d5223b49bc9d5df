// SPDX-License-Identifier: Apache-2.0
// Tensors of the reference interpreter, and conversion to and from elements in memory.
#include "graph/reference/tensor.h"

#include "base/memory.h"

#include <stdlib.h>

#define TENSOR_MAX_NUMEL ((int64_t)1 << 31)

// The number of elements; -1 beyond the limits.
static int64_t numel_of(uint32_t rank, const int64_t *shape) {
  int64_t numel = 1;
  bool is_empty = false;
  if (rank > GRAPH_MAX_RANK)
    return -1;
  for (uint32_t d = 0; d < rank; d++) {
    if (shape[d] < 0 || shape[d] > TENSOR_MAX_NUMEL)
      return -1;
    is_empty |= shape[d] == 0;
    if (shape[d] != 0 && numel > TENSOR_MAX_NUMEL / shape[d])
      numel = TENSOR_MAX_NUMEL + 1;
    else if (shape[d] != 0)
      numel *= shape[d];
  }
  return is_empty ? 0 : numel > TENSOR_MAX_NUMEL ? -1 : numel;
}

bool tensor_fits(uint32_t rank, const int64_t *shape) { return numel_of(rank, shape) >= 0; }

struct tensor *tensor_create(enum dtype dtype, uint32_t rank, const int64_t *shape) {
  int64_t numel = numel_of(rank, shape);
  struct tensor *t = numel < 0 ? NULL : memory_zeroed(1, sizeof *t);
  if (!t)
    return NULL;
  t->dtype = dtype;
  t->rank = rank;
  for (uint32_t d = 0; d < rank; d++)
    t->shape[d] = shape[d];
  t->numel = numel;
  t->at = memory_zeroed((size_t)(numel ? numel : 1), sizeof *t->at);
  if (!t->at) {
    free(t);
    return NULL;
  }
  return t;
}

void tensor_destroy(struct tensor *t) {
  if (t)
    free(t->at);
  free(t);
}

int64_t tensor_span(uint32_t rank, const int64_t *shape, const int64_t *strides) {
  int64_t lo = 0, hi = 0;
  for (uint32_t d = 0; d < rank; d++) {
    if (shape[d] == 0)
      return 0;
    int64_t reach = (shape[d] - 1) * strides[d];
    lo += reach < 0 ? reach : 0;
    hi += reach > 0 ? reach : 0;
  }
  return hi - lo + 1;
}

// Integers by their bits: a double has only 53.
static union element load(enum dtype t, const char *p) {
  if (dtype_is_float(t))
    return (union element){.real = dtype_load(t, p)};
  int64_t i = 0;
  switch (t) {
  case DTYPE_I64:
  case DTYPE_U64: memcpy(&i, p, sizeof i); break;
  default: i = (int64_t)dtype_load(t, p);
  }
  return (union element){.integer = i};
}

static void store(enum dtype t, char *p, union element e) {
  if (dtype_is_float(t)) {
    dtype_store(t, p, e.real);
  } else if (t == DTYPE_I64 || t == DTYPE_U64) {
    memcpy(p, &e.integer, sizeof e.integer);
  } else {
    dtype_store(t, p, (double)element_convert(e, DTYPE_I64, t).integer);
  }
}

// Visits the offset of each element, in row-major order of the index.
struct odometer {
  int64_t index[GRAPH_MAX_RANK], offset;
};

static void advance(struct odometer *o, const struct tensor *t, const int64_t *strides) {
  for (uint32_t d = t->rank; d-- > 0;) {
    o->offset += strides[d];
    if (++o->index[d] < t->shape[d])
      return;
    o->offset -= t->shape[d] * strides[d];
    o->index[d] = 0;
  }
}

void tensor_load(struct tensor *t, const void *p, const int64_t *strides) {
  const int64_t bytes = dtype_bytes(t->dtype);
  struct odometer o = {0};
  for (int64_t i = 0; i < t->numel; i++, advance(&o, t, strides))
    t->at[i] = load(t->dtype, (const char *)p + o.offset * bytes);
}

void tensor_store(const struct tensor *t, void *p, const int64_t *strides) {
  const int64_t bytes = dtype_bytes(t->dtype);
  struct odometer o = {0};
  for (int64_t i = 0; i < t->numel; i++, advance(&o, t, strides))
    store(t->dtype, (char *)p + o.offset * bytes, t->at[i]);
}
