// SPDX-License-Identifier: Apache-2.0
// Shared by the encodings' files only: one function per family of encodings, and the two steps of
// all distributed ones (growing a tile dimension by dimension, fitting it to a shape).
#ifndef TILE_LAYOUTS_ENCODING_INTERNAL_H
#define TILE_LAYOUTS_ENCODING_INTERNAL_H

#include "layouts/encoding.h"

// A tensor's dimensions as bits, checked before every conversion.
struct shape_bits {
  unsigned rank;
  unsigned bits[LL_MAX_OUT];
};

// Each takes a shape of the encoding's rank (nvmma: any rank). False and *ret_why when it does not
// fit.
bool blocked_to_linear(const struct encoding *e, const struct shape_bits *shape,
                       struct linear_layout *ret, const char **ret_why);
// A dot operand whose parent is blocked: all of K in each thread's registers.
bool blocked_dot_to_linear(const struct encoding *dot, const struct shape_bits *shape,
                           struct linear_layout *ret, const char **ret_why);
bool mma_to_linear(const struct encoding *e, const struct shape_bits *shape,
                   struct linear_layout *ret, const char **ret_why);
bool mma_dot_to_linear(const struct encoding *dot, const struct shape_bits *shape,
                       struct linear_layout *ret, const char **ret_why);
bool shared_to_linear(const struct encoding *e, const struct shape_bits *shape,
                      struct linear_layout *ret, const char **ret_why);
bool nvmma_to_linear(const struct encoding *e, const struct shape_bits *shape,
                     struct linear_layout *ret, const char **ret_why);

// Registers, lanes and warps that hold one element.
struct linear_layout tile_start(unsigned rank);
// Appends `bits` zero bases of `in` (replication).
void tile_replicate(struct linear_layout *tile, enum ll_in in, unsigned bits);
// Appends `bits` bases of `in` that continue dimension `dim` where the tile ends, and grows the
// tile by them.
void tile_extend(struct linear_layout *tile, enum ll_in in, unsigned dim, unsigned bits);
// Bases of a tile beyond the shape become zero (replication); where it is smaller, registers repeat
// it, along order[0] first. Registers that only replicate are dropped.
struct linear_layout tile_fit(const struct linear_layout *tile, const struct shape_bits *shape,
                              const uint32_t *order);

// encoding_parse of a prefix of `text`; *ret_used is its length.
const struct encoding *encoding_parse_prefix(struct arena *a, struct str text, size_t *ret_used,
                                             const char **ret_error, size_t *ret_at);
// NULL, or the error in the fields of one encoding (not of its parent).
const char *encoding_problem(const struct encoding *e);

#endif
