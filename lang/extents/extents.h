// SPDX-License-Identifier: Apache-2.0
// Which compile-time parameters of a kernel are extents of tiles, and what those tiles are used
// for: inferred from the source (arange(0, BLOCK), zeros((BM, BN)), range(0, K, BK), block shapes),
// the operations that use the tiles, and the functions of the file that the kernel calls, before
// any value is chosen. A heuristic, from which autotune/space derives a search space.
#ifndef TILE_LANG_EXTENTS_EXTENTS_H
#define TILE_LANG_EXTENTS_EXTENTS_H

#include "lang/frontend.h"

enum extent_use {
  EXTENT_NONE, // not an extent, or one that determines what is computed (attention's head dimension
               // D)
  EXTENT_ELEMENT, // of tiles that are loaded, transformed and stored
  EXTENT_ROW,     // a whole dimension in one tile: must cover a run-time length (see `covers`)
  EXTENT_DOT_M,
  EXTENT_DOT_N,
  EXTENT_DOT_K,
  EXTENT_STEP,   // of a loop: range(0, n, BLOCK), no dot in it
  EXTENT_GROUP,  // orders programs (GROUP_M): used only in arithmetic on program ids
  EXTENT_STAGES, // not an extent: range(..., num_stages=STAGES)
};
struct lang_extent {
  const char *param;
  enum extent_use use;
  bool is_tile; // a tile's extent, hence a power of two
  bool is_step; // dots too: the step of a loop, or of an offset that advances in each iteration
  // The parameter that bounds the dimension that the extent tiles, by a mask, a division or a loop.
  // NULL: none, or several.
  const char *covers;
};

// The shape of a value that is loaded, stored or multiplied.
#define LANG_TILE_RANK 6
struct lang_tile {
  unsigned rank;
  struct lang_tile_axis {
    int param;       // index into `params`, or -1
    uint64_t length; // where `param` is -1: if it is known, else 0
  } axes[LANG_TILE_RANK];
  bool is_product; // the result of a dot
};

struct lang_extents {
  struct lang_extent *params; // the kernel's compile-time parameters, in their order
  size_t count;
  struct lang_tile *tiles; // distinct
  size_t tile_count;
  bool has_dot, has_loop_with_loads, has_reduction;
  bool has_chain; // a dot whose operand is computed from another one's result
};
// On `a`. `kernel` as for lang_kernel_params.
struct lang_extents lang_extents_of(struct arena *a, const struct lang_unit *u, const char *kernel);

#endif
