// SPDX-License-Identifier: Apache-2.0
// Elimination over GF(2). Vectors are the bits of a uint64_t; a span remembers for each of its
// vectors which of the added columns sum to it, so that reducing a vector also solves for it.
#ifndef TILE_LAYOUTS_GF2_H
#define TILE_LAYOUTS_GF2_H

#include "layouts/linear.h"

// Zero-initialise.
struct gf2_span {
  unsigned rank;
  uint64_t vector[64]; // by highest set bit; 0: none
  uint64_t tag[64];    // the sum of the tags of the columns that sum to it
};

// The remainder of `v` after reduction by the span; *tag (may be NULL) is xored with the tags of
// the columns used. 0 means that v is in the span.
uint64_t gf2_reduce(const struct gf2_span *s, uint64_t v, uint64_t *tag);
// Adds a column; false when it was in the span already (the span is then unchanged).
bool gf2_add(struct gf2_span *s, uint64_t v, uint64_t tag);
static inline bool gf2_contains(const struct gf2_span *s, uint64_t v) {
  return gf2_reduce(s, v, NULL) == 0;
}

// Masks with parity(ret_masks[i] & vectors[j]) = (i == j): coordinates along `n` <= 32 independent
// vectors. On what lies outside their span the masks are arbitrary but linear.
void gf2_dual(unsigned n, const uint64_t *vectors, uint64_t *ret_masks);

static inline uint32_t gf2_parity(uint64_t v) { return (uint32_t)__builtin_parityll(v); }

// A layout's bases as columns: the inputs in order, first lowest; coordinates flattened row-major,
// the last dimension in the lowest bits.
struct gf2_columns {
  unsigned count;
  uint64_t at[64];
};

// False when there are more than 64 input or output bits.
bool gf2_columns_of(const struct linear_layout *l, struct gf2_columns *ret);
// The span of the columns added from the lowest on, tags 1 << index: solutions then use no column
// that depends on lower ones, which makes each the smallest index of its element.
struct gf2_span gf2_span_of(const struct gf2_columns *c);
uint64_t gf2_flatten(const struct linear_layout *l, const uint32_t *coords);
void gf2_unflatten(unsigned rank, const unsigned *bits, uint64_t flat, uint32_t *ret);

#endif
