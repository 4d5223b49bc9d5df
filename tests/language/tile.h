// SPDX-License-Identifier: Apache-2.0
// Shapes of tiles: indices, and the source text of a tile's offsets.
#ifndef TESTS_LANGUAGE_TILE_H
#define TESTS_LANGUAGE_TILE_H

#include "suite.h"

#define TILE_RANK 6

struct tile {
  unsigned rank;
  unsigned dim[TILE_RANK];
};

#define TILE(...)                                                                                  \
  ((struct tile){sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned), {__VA_ARGS__}})

size_t tile_count(struct tile t);
void tile_index(struct tile t, size_t linear, unsigned ret[TILE_RANK]);
size_t tile_linear(struct tile t, const unsigned index[TILE_RANK]);
struct tile tile_without(struct tile t, unsigned axis); // a rank less

// "8, 16"
const char *tile_text(struct suite *s, struct tile t);
// Row-major offsets as an expression: "arange(0, 8)[:, None] * 16 + arange(0, 16)[None, :]".
const char *tile_offsets(struct suite *s, struct tile t);

// The text with each $ replaced.
const char *tile_text_with(struct suite *s, const char *text, const char *dollar);

// A kernel that loads its operands as tiles, computes `expr` of a, b, c and stores it.
struct tile_kernel {
  const char *prelude; // functions in front, or NULL
  const char *body;    // statements before the result, each indented and ended, or NULL
  const char *expr;
  unsigned arity;
  struct tile in[3];
  enum dtype type[3];
  struct tile out;
  enum dtype out_type;
};
void tile_kernel_source(struct suite *s, const struct tile_kernel *k);

// An operation that moves elements: the result's element at `index` is the element of operand
// *ret_operand at the returned offset.
typedef size_t (*source_fn)(const struct tile_kernel *k, const unsigned *index,
                            const unsigned *param, unsigned *ret_operand);
// Cases of all widths of types, one number of warps each, and all numbers of warps.
void rearrange(struct suite *s, const char *name, struct tile_kernel *k, source_fn source,
               const unsigned *param);

#endif
