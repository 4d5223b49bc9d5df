// SPDX-License-Identifier: Apache-2.0
// Offsets of indexed elements, for reads and writes of the reference interpreter.
#ifndef TILE_GRAPH_REFERENCE_INDEX_H
#define TILE_GRAPH_REFERENCE_INDEX_H

#include "graph/reference/reference.h"

// E1010; always false.
bool index_fail(const struct reference_call *c, int64_t index, int64_t size);

// An index along one dimension: gather and scatter.
struct along {
  const struct tensor *self, *index;
  uint32_t d;
  int64_t strides[GRAPH_MAX_RANK];
};
bool along_init(struct along *a, const struct reference_call *c, const struct tensor *self,
                uint32_t d, const struct tensor *index);
// The offset in `self` for element i of the index.
bool along_next(struct along *a, const struct reference_call *c, int64_t i, int64_t *ret);

// A list of indices, each None or a tensor: index.Tensor and index_put.
struct advanced {
  const struct tensor *self, *index[GRAPH_MAX_RANK];
  uint32_t count, rank; // of the list; of the broadcast indices
  int64_t shape[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
  uint32_t position;                         // of the indices' dimensions in the result
  uint32_t kept[GRAPH_MAX_RANK], kept_count; // dimensions without an index
  int64_t result[2 * GRAPH_MAX_RANK];        // shape
  uint32_t result_rank;
};
bool advanced_init(struct advanced *a, const struct reference_call *c, const struct tensor *self,
                   unsigned parameter);
// The offset in `self` of element i of the result.
bool advanced_offset(const struct advanced *a, const struct reference_call *c, int64_t i,
                     int64_t *ret);

#endif
