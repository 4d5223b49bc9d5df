// SPDX-License-Identifier: Apache-2.0
// Tensors of the reference interpreter: dense, row-major, floats as double, others as int64_t.
#ifndef TILE_GRAPH_REFERENCE_TENSOR_H
#define TILE_GRAPH_REFERENCE_TENSOR_H

#include "graph/ir/graph.h"
#include "graph/ir/scalar.h"

struct tensor {
  enum dtype dtype;
  uint32_t rank;
  int64_t shape[GRAPH_MAX_RANK];
  int64_t numel;
  union element *at; // numel elements, on the heap
};

// Is the size within the limits (2^31 elements)?
bool tensor_fits(uint32_t rank, const int64_t *shape);
// Filled with zeros. NULL if out of memory or if the size is beyond the limits.
struct tensor *tensor_create(enum dtype dtype, uint32_t rank, const int64_t *shape);
void tensor_destroy(struct tensor *t); // accepts NULL
// Converts from and to elements of `dtype` at strides (in elements) from `p`. To: rounds to the
// dtype.
void tensor_load(struct tensor *t, const void *p, const int64_t *strides);
void tensor_store(const struct tensor *t, void *p, const int64_t *strides);
// The storage in elements: from the first to the last element that strides reach.
int64_t tensor_span(uint32_t rank, const int64_t *shape, const int64_t *strides);

#endif
